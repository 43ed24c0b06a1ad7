// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands and end at a point in time, in a time
 * namespace: the thread that makes the wait may be one of the ring's.
 */
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/timens.h"
#include "uring/uring_set.h"

/* Waits in a namespace; 0, an errno, or 255 if it ended at another time. */
static int wait_in(int64_t shift, int set, const struct ring_kind *kind)
{
	struct devepoll_event out[1];
	struct devepoll_wait_args args = wait_args(out, 1, 0);
	int ret = timens_enter(shift);
	uint64_t took, begun;
	struct ring ring;

	if (ret || ring_open(&ring, kind))
		return ret ? -ret : ENODEV;
	begun = now_ns();
	args.timeout = begun + TIMENS_WAIT_NS;
	args.flags = DEVEPOLL_WAIT_ABSTIME;
	ret = ring_call(&ring, set, DEVEPOLL_WAIT, &args);
	took = now_ns() - begun;
	if (ret)
		return ret < 0 ? -ret : ENOMSG;
	return took < TIMENS_WAIT_NS || took >= TIMENS_LATER_NS ? 255 : 0;
}

TEST_F(uring, wait_ends_at_a_point_in_time_of_its_namespace)
{
	const int64_t shifts[] = TIMENS_SHIFTS;
	size_t i;
	pid_t pid;

	NEEDS_WAITS();
	for (i = 0; i < ARRAY_SIZE(shifts); i++) {
		/* The child has none of the ring's threads. */
		pid = fork();
		if (!pid)
			_exit(wait_in(shifts[i], self->set, variant->kind));
		EXPECT_EQ(0, reap(pid));
	}
}

TEST_HARNESS_MAIN
