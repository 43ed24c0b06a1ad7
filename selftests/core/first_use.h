/* SPDX-License-Identifier: GPL-2.0 */
/* First uses of a set, by each of the interfaces. */
#ifndef SELFTESTS_FIRST_USE_H
#define SELFTESTS_FIRST_USE_H

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/eset.h"

/* Each is a first use of a set by one of the interfaces. */
static inline int use_alloc(int fd, int member)
{
	return dep_alloc(fd, 10);
}

static inline int use_ctl(int fd, int member)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.fd = member,
		.events = EPOLLIN,
	};

	return dep_change(fd, &change);
}

static inline int use_wait(int fd, int member)
{
	struct devepoll_event out;

	return dep_wait(fd, &out, 1, 0);
}

static inline int use_fadvise_ctl(int fd, int member)
{
	struct epoll_event event = { .events = EPOLLIN };

	return dep_epoll_ctl(fd, EPOLL_CTL_ADD, member, &event);
}

static inline int use_fadvise_wait(int fd, int member)
{
	struct epoll_event out;

	return dep_epoll_wait(fd, &out, 1, 0);
}

static inline int use_map(int fd, int member)
{
	void *map = dep_map_events(fd, getpagesize());

	if (map == MAP_FAILED)
		return -errno;
	return munmap(map, getpagesize()) ? -errno : 0;
}

#endif /* SELFTESTS_FIRST_USE_H */
