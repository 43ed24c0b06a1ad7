/* SPDX-License-Identifier: GPL-2.0 */
/* Polling of the network device before a call sleeps. */
#ifndef DEVEPOLL_BUSY_H
#define DEVEPOLL_BUSY_H

#include <linux/ktime.h>

#include "core/instance.h"

#ifdef CONFIG_NET_RX_BUSY_POLL
void dep_busy_poll_for(struct dep_instance *inst, ktime_t deadline, u32 seen);
#else
static inline void dep_busy_poll_for(struct dep_instance *inst,
				     ktime_t deadline, u32 seen)
{
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

/**
 * dep_busy_poll() - poll the network device of a set, if the program wants that
 * @inst: the instance
 * @deadline: when the call gives up; KTIME_MAX: never, 0: at once
 * @seen: dep_instance.nr_ready as the caller saw it
 *
 * Ends when that has changed, or when a set of 2001 has events; when the time
 * of the set, or that of the call, has passed; and when a signal is pending.
 * The caller finds out which.
 *
 * Context: process, with nothing held; may call cond_resched().
 */
static inline void dep_busy_poll(struct dep_instance *inst, ktime_t deadline,
				 u32 seen)
{
	if (dep_busy_is_on(inst))
		dep_busy_poll_for(inst, deadline, seen);
}

#endif /* DEVEPOLL_BUSY_H */
