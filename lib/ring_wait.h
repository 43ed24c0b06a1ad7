/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The argument of DEVEPOLL_RING_WAIT, shared by the library and the preload
 * library.
 */
#ifndef DEVEPOLL_RING_WAIT_H
#define DEVEPOLL_RING_WAIT_H

#include <stdint.h>
#include <string.h>
#include <time.h>

#include <linux/devepoll.h>

static inline int64_t monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* The wait may take several requests, so its end is a point in time. */
static inline struct devepoll_ring_wait_args ring_wait_args(int64_t timeout)
{
	struct devepoll_ring_wait_args args;

	memset(&args, 0, sizeof(args));
	args.timeout = timeout;
	if (timeout > 0 &&
	    !__builtin_add_overflow(timeout, monotonic_ns(), &args.timeout))
		args.flags = DEVEPOLL_WAIT_ABSTIME;
	else if (timeout > 0)
		args.timeout = DEVEPOLL_FOREVER;
	return args;
}

#endif /* DEVEPOLL_RING_WAIT_H */
