/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy of the scheduler.
 */
#ifndef BENCH_POLICY_H
#define BENCH_POLICY_H

#include <err.h>
#include <sched.h>

/*
 * SCHED_FIFO is for processes that wake each other: who is woken runs when its
 * waker sleeps, and so each wait sleeps.  By SCHED_OTHER the scheduler decides
 * from what each process had before, and on 7.3 the same code costs 12000 in
 * one run and 15000 in the next.
 */
static inline void policy_set(int policy)
{
	const struct sched_param param = {
		.sched_priority = policy == SCHED_FIFO,
	};

	if (sched_setscheduler(0, policy, &param))
		err(1, "sched_setscheduler");
}

#endif /* BENCH_POLICY_H */
