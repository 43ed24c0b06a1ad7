/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The monotonic clock, for the programs in this folder.
 */
#ifndef TOOLS_CLOCK_H
#define TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static inline long now_ms(void)
{
	return now_ns() / 1000000;
}

static inline double now_seconds(void)
{
	return now_ns() / 1e9;
}

#endif /* TOOLS_CLOCK_H */
