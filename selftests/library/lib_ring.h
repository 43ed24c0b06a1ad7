/* SPDX-License-Identifier: GPL-2.0 */
/* The ring of a set, by way of libdevepoll. */
#ifndef SELFTESTS_LIB_RING_H
#define SELFTESTS_LIB_RING_H

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "devepoll_events.h"
#include "core/fadvise_filter.h"
#include "core/fadvise_param.h"
#include "library/lib_helpers.h"

#define CONSUMERS	2
#define SLOTS		8

/* What an edge costs nothing of, once it is in the set. */
#define EDGE		(EPOLLIN | EPOLLET)

FIXTURE(lib_ring)
{
	int set;
	struct devepoll_consumer c[CONSUMERS];
	struct devepoll_consumer *me;
	struct devepoll_event event;
};

FIXTURE_SETUP(lib_ring)
{
	memset(&self->event, 0x5a, sizeof(self->event));
	self->me = &self->c[0];
	self->set = devepoll_events_open(0);
	ASSERT_LE(0, self->set);
	ASSERT_EQ(0, devepoll_events_ring(self->set, self->c, CONSUMERS,
					  SLOTS));
}

FIXTURE_TEARDOWN(lib_ring)
{
	devepoll_events_ring_unmap(self->c, CONSUMERS);
	close(self->set);
}

static inline int change(int set, int op, int fd, uint32_t events,
			 uint16_t flags)
{
	struct devepoll_change change = {
		.op = op, .flags = flags, .fd = fd, .events = events,
		.data = 0x100000000 + fd,
	};
	int ret = devepoll_events_update(set, &change, 1, NULL);

	return ret == 1 ? change.result : ret;
}

/* An eventfd in the set, or -errno. */
static inline int add_eventfd(int set, uint32_t events, uint16_t flags)
{
	int fd = eventfd_new();
	int err = fd < 0 ? fd : change(set, DEVEPOLL_ADD, fd, events, flags);

	return err ?: fd;
}

static inline int add_trusted(int set)
{
	return add_eventfd(set, EDGE, DEVEPOLL_TRUST);
}

/* The fd of the only event that there is; -ENOMSG if there is none. */
static inline int take_one(struct devepoll_consumer *c, int64_t timeout)
{
	struct devepoll_event event, other;
	int n = devepoll_events_consume(c, timeout);

	if (n < 0)
		return n;
	if (!devepoll_events_next(c, &event))
		return -ENOMSG;
	if (devepoll_events_next(c, &other))
		return -EMSGSIZE;
	return event.data == 0x100000000 + (uint64_t)event.fd ? event.fd :
								-EXDEV;
}

/* From here on no request of the device succeeds. */
static inline int refuse_requests(void)
{
	return refuse_call(SYS_ioctl, EPERM) ?: refuse_fadvise(EPERM);
}

#endif /* SELFTESTS_LIB_RING_H */
