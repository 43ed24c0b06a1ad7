/* SPDX-License-Identifier: GPL-2.0 */
/* A time namespace, whose processes read another CLOCK_MONOTONIC. */
#ifndef SELFTESTS_TIMENS_H
#define SELFTESTS_TIMENS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "core/helpers.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* How long a test waits, and how much another clock may add to that. */
#define TIMENS_WAIT_NS	(30 * NSEC_PER_MSEC)
#define TIMENS_LATER_NS	(10000 * NSEC_PER_MSEC)

/* A clock that is later, and one that is earlier by half the machine's time. */
#define TIMENS_SHIFTS { TIMENS_LATER_NS, -(int64_t)(now_ns() / 2) }

/*
 * Moves the process, which has one thread, to a new namespace in which the
 * clock shows @shift nanoseconds more; 0 or -errno.
 */
static inline int timens_enter(int64_t shift)
{
	const int64_t second = 1000 * NSEC_PER_MSEC;
	int64_t seconds = shift / second - (shift % second < 0);
	int ns, ret;
	FILE *file;

	if (unshare(CLONE_NEWTIME))
		return -errno;
	file = fopen("/proc/self/timens_offsets", "w");
	if (!file)
		return -errno;
	fprintf(file, "monotonic %lld %lld\n", (long long)seconds,
		(long long)(shift - seconds * second));
	if (fclose(file))
		return -errno;
	ns = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return -errno;
	ret = setns(ns, CLONE_NEWTIME) ? -errno : 0;
	close(ns);
	return ret;
}

/*
 * Does @call, given a point in time that is 30 ms from now, return 0 then?
 * Without the namespace's clock it would be over at once, or last 10 s.
 */
#define EXPECT_ENDS_IN_NAMESPACE(point, call) do {			\
	const int64_t shifts_[] = TIMENS_SHIFTS;			\
	size_t i_;							\
									\
	for (i_ = 0; i_ < ARRAY_SIZE(shifts_); i_++) {			\
		uint64_t took_;						\
									\
		ASSERT_EQ(0, timens_enter(shifts_[i_]));		\
		took_ = now_ns();					\
		(point) = took_ + TIMENS_WAIT_NS;			\
		EXPECT_EQ(0, call);					\
		took_ = now_ns() - took_;				\
		EXPECT_LE(TIMENS_WAIT_NS, took_);			\
		EXPECT_GT(TIMENS_LATER_NS, took_);			\
	}								\
} while (0)

#endif /* SELFTESTS_TIMENS_H */
