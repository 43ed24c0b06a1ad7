/* SPDX-License-Identifier: GPL-2.0 */
/* Polling of the network device before a call sleeps. */
#ifndef DEVEPOLL_BUSY_H
#define DEVEPOLL_BUSY_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/ktime.h>
#include <linux/types.h>

struct dep_instance;
struct dep_waiter;

/**
 * struct dep_busy - busy polling of network devices
 * @usecs: for how long to poll, in microseconds; 0: not at all
 * @budget: how many packets at once; 0 means BUSY_POLL_BUDGET
 * @prefer: interrupts of the device are held back meanwhile
 * @queue: the queue to poll (its NAPI id), or 0 if none is known
 * @next: the number at which the search for a queue goes on
 *
 * All are read and written without a lock: each is as good as any other.
 */
struct dep_busy {
	u32 usecs;
	u16 budget;
	bool prefer;
	unsigned int queue;
	unsigned int next;
};

bool dep_busy_poll(struct dep_instance *inst, struct dep_busy *busy,
		   const struct dep_waiter *waiter, ktime_t deadline);

/**
 * dep_busy_is_on() - does the program want calls to poll the device?
 * @busy: how the set's calls poll
 *
 * Return: true if the program wants it and the kernel can do it.
 */
static __always_inline bool dep_busy_is_on(const struct dep_busy *busy)
{
	return IS_ENABLED(CONFIG_NET_RX_BUSY_POLL) && READ_ONCE(busy->usecs);
}

#endif /* DEVEPOLL_BUSY_H */
