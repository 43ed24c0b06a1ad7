/* SPDX-License-Identifier: GPL-2.0 */
/* Looking for an event for a while before a call sleeps. */
#ifndef DEVEPOLL_SPIN_H
#define DEVEPOLL_SPIN_H

#include <linux/ktime.h>
#include <linux/types.h>

#include "core/instance.h"
#include "spin/busy.h"

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

void dep_spin_look(struct dep_instance *inst, struct dep_look *look,
		   const struct dep_waiter *waiter, ktime_t until);

#endif /* DEVEPOLL_SPIN_H */
