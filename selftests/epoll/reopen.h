/* SPDX-License-Identifier: GPL-2.0 */
/* A set and its further opens. */
#ifndef SELFTESTS_REOPEN_H
#define SELFTESTS_REOPEN_H

#include <sys/epoll.h>

#include "core/eset.h"

FIXTURE(reopen) {
	int set;
	int member;
};

FIXTURE_VARIANT(reopen) {
	int (*request)(int fd, unsigned long request, void *arg);
};

FIXTURE_VARIANT_ADD(reopen, by_ioctl) {
	.request = dep_request,
};

FIXTURE_VARIANT_ADD(reopen, by_fadvise) {
	.request = dep_request_by_fadvise,
};

FIXTURE_SETUP(reopen)
{
	self->set = dep_open();
	ASSERT_LE(0, self->set) TH_LOG("no /dev/epoll here");
	self->member = eventfd_new();
	ASSERT_LE(0, self->member);
}

FIXTURE_TEARDOWN(reopen)
{
}

#define REOPEN(fd, flags)						\
	variant->request(fd, DEVEPOLL_REOPEN, (void *)(uintptr_t)(flags))

static inline int add(int set, int fd, uint32_t events)
{
	const struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .fd = fd, .events = events, .data = 42,
	};

	return dep_change(set, &change);
}

static inline int remove_fd(int set, int fd)
{
	const struct devepoll_change change = { .op = DEVEPOLL_DEL, .fd = fd };

	return dep_change(set, &change);
}

static inline long items(int set)
{
	struct devepoll_stats stats;
	int ret = dep_request(set, DEVEPOLL_STATS, &stats);

	return ret ?: (long)stats.items;
}

#endif /* SELFTESTS_REOPEN_H */
