/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an event costs a real-time task on the processor where it happens.  With
 * $DEVEPOLL_ICOUNT the clock counts instructions, and the bound is checked
 * exactly; otherwise the figures are only printed.
 */
#ifndef SELFTESTS_BUDGET_H
#define SELFTESTS_BUDGET_H

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "core/helpers.h"

/* Bound of the write and the interrupts after it, in instructions. */
#define BOUND		1000000

/* How long the task watches for lost time, and the shortest gap it notes. */
#define WATCH_NS	(60 * NSEC_PER_MSEC)
#define GAP_NS		3000

struct cost {
	uint64_t write;		/* write() itself, with the interrupts in it */
	uint64_t later;		/* what was taken from the task afterwards */
	uint64_t longest;	/* the largest single part of this */
};

static inline bool counts_instructions(void)
{
	return getenv("DEVEPOLL_ICOUNT");
}

/* Posts an event; 0 or -errno. */
static inline int measure(int event, struct cost *cost)
{
	struct sched_param normal = { 0 }, real_time = { .sched_priority = 50 };
	uint64_t start, end, last, now;
	int ret;

	*cost = (struct cost){ 0 };
	if (sched_setscheduler(0, SCHED_FIFO, &real_time))
		return -errno;
	now_ns();
	start = now_ns();
	ret = eventfd_post(event);
	end = now_ns();
	cost->write = end - start;
	for (last = end; last - end < WATCH_NS; last = now) {
		now = now_ns();
		if (now - last < GAP_NS)
			continue;
		cost->later += now - last;
		if (now - last > cost->longest)
			cost->longest = now - last;
	}
	sched_setscheduler(0, SCHED_OTHER, &normal);
	return ret;
}

/* Prints the cost, and checks it against the bound if the clock permits. */
#define EXPECT_CHEAP(cost, sets) do {					\
	TH_LOG("%d sets: write %lu, later %lu, at once %lu %s", sets,	\
	       (unsigned long)(cost).write, (unsigned long)(cost).later, \
	       (unsigned long)(cost).longest,				\
	       counts_instructions() ? "instructions" : "ns");		\
	if (counts_instructions())					\
		EXPECT_GT(BOUND, (cost).write + (cost).later);		\
} while (0)

#endif /* SELFTESTS_BUDGET_H */
