/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of the device: their arguments, with poison where the answer goes,
 * and the two ways to make them.
 */
#ifndef SELFTESTS_REQUEST_H
#define SELFTESTS_REQUEST_H

#include "core/eset.h"

/* What stands where an answer goes, until one is written. */
#define POISON	0x5a5a5a5a

/* A change of a file whose number is its data. */
#define CHANGE(what, number, asked)					\
	{ .op = DEVEPOLL_##what, .fd = number, .events = asked,		\
	  .result = POISON, .data = number }

/* Arguments of DEVEPOLL_CTL: so many changes. */
static inline struct devepoll_ctl ctl_args(struct devepoll_change *changes,
					   unsigned int nr)
{
	return (struct devepoll_ctl) {
		.changes = address_of(changes),
		.nr = nr,
		.change_size = sizeof(*changes),
		.nr_failed = POISON,
	};
}

/* Arguments of DEVEPOLL_WAIT: at most @max events at @out. */
static inline struct devepoll_wait_args
wait_args(struct devepoll_event *out, unsigned int max, int64_t timeout)
{
	return (struct devepoll_wait_args) {
		.events = address_of(out),
		.max_events = max,
		.timeout = timeout,
	};
}

/* Each test by ioctl(2), and by fadvise64(2). */
#define REQUEST_VARIANTS(fixture)					\
	FIXTURE_VARIANT(fixture) {					\
		int (*request)(int fd, unsigned long request, void *arg); \
	};								\
	FIXTURE_VARIANT_ADD(fixture, by_ioctl) {			\
		.request = dep_request,					\
	};								\
	FIXTURE_VARIANT_ADD(fixture, by_fadvise) {			\
		.request = dep_request_by_fadvise,			\
	}

#endif /* SELFTESTS_REQUEST_H */
