/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of a preloaded program, with a ring (DEVEPOLL_RING=1).  One program has
 * one file that includes this.
 */
#ifndef SELFTESTS_PRELOAD_RING_H
#define SELFTESTS_PRELOAD_RING_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/fadvise_filter.h"
#include "core/helpers.h"
#include "preload/preloaded.h"

#define EDGE		(EPOLLIN | EPOLLET)
#define NR		16

/* Before this program starts itself again, with the library. */
static __attribute__((constructor(101))) void ask_for_rings(void)
{
	setenv("DEVEPOLL_RING", "1", 0);
}

FIXTURE(preload_ring) {
	int set;
	int edge;
	struct epoll_event out[NR];
};

FIXTURE_SETUP(preload_ring)
{
	self->set = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_TRUE(is_set_of_the_device(self->set));
	self->edge = eventfd_new();
	ASSERT_EQ(0, add(self->set, self->edge, EDGE));
}

FIXTURE_TEARDOWN(preload_ring)
{
	close(self->set);
}

/* From here on a request of the device fails, and so does a wait by one. */
static inline int refuse_requests(void)
{
	return refuse_call(SYS_ioctl, EPERM) ?: refuse_fadvise(EPERM);
}

/* Ends the requests of this process. */
static inline bool needs_no_call(int set, int edge)
{
	struct epoll_event out;

	return !eventfd_post(edge) && epoll_wait(set, &out, 1, 0) == 1 &&
	       !refuse_requests() && !eventfd_post(edge) &&
	       epoll_wait(set, &out, 1, -1) == 1;
}

static inline int add_eventfd(int set, uint32_t events)
{
	int fd = eventfd_new();
	int err = add(set, fd, events);

	return err ?: fd;
}

/* How many parts of rings this process has mapped. */
static inline int mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	while (maps && fgets(line, sizeof(line), maps))
		n += !!strstr(line, "/dev/epoll");
	if (maps)
		fclose(maps);
	return n;
}

#endif /* SELFTESTS_PRELOAD_RING_H */
