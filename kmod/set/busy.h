/* SPDX-License-Identifier: GPL-2.0 */
/* Polling of the network device before a call sleeps. */
#ifndef DEVEPOLL_BUSY_H
#define DEVEPOLL_BUSY_H

#include <linux/ktime.h>

#include "core/instance.h"
#include "core/waiter.h"

#ifdef CONFIG_NET_RX_BUSY_POLL
bool dep_busy_poll(struct dep_instance *inst, const struct dep_waiter *waiter,
		   ktime_t deadline);
#else
static inline bool dep_busy_poll(struct dep_instance *inst,
				 const struct dep_waiter *waiter,
				 ktime_t deadline)
{
	return false;
}
#endif

/**
 * dep_busy_is_on() - does the program want calls to poll the device?
 * @inst: the instance
 *
 * Return: true if it does.
 */
static inline bool dep_busy_is_on(const struct dep_instance *inst)
{
	return unlikely(READ_ONCE(inst->busy.usecs));
}

#endif /* DEVEPOLL_BUSY_H */
