/* SPDX-License-Identifier: GPL-2.0 */
/* Looking for an event, or polling the network device, before a call sleeps. */
#ifndef DEVEPOLL_SPIN_H
#define DEVEPOLL_SPIN_H

#include <linux/ktime.h>

#include "core/instance.h"
#include "core/waiter.h"

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

/**
 * struct dep_spin - how a set's calls look before they sleep; see spin.c
 * @look: what dep_instance.look points to
 * @busy: busy polling of network devices
 * @flags: one bit: a call looks.  Whoever has set it owns @seen to @ns; others
 *	read the counters as a hint
 * @usecs: how long a call looks, in microseconds; 0: not at all.  Read and
 *	written without a lock: each value is as good as any other
 * @seen: @usecs when a call looked last
 * @rest: how many calls sleep at once before one looks again
 * @misses: how many looks in a row brought nothing, up to DEP_SPIN_MISSES
 * @looks: number of looks
 * @hits: looks that a wake-up ended
 * @ns: time of all looks, in nanoseconds
 */
struct dep_spin {
	struct dep_look look;
	struct dep_busy busy;
	unsigned long flags;
	u32 usecs;
	u32 seen;
	u32 rest;
	u32 misses;
	u64 looks;
	u64 hits;
	u64 ns;
};

/**
 * dep_spin_was_woken() - has a waiter been woken?
 * @waiter: the caller, who was queued when it found nothing
 *
 * Return: true if it has; a hint: the caller looks again under L.
 */
static inline bool dep_spin_was_woken(const struct dep_waiter *waiter)
{
	return !READ_ONCE(waiter->queued);
}

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

#endif /* DEVEPOLL_SPIN_H */
