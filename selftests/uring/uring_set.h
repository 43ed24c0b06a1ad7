/* SPDX-License-Identifier: GPL-2.0 */
/* A set, an eventfd in it, and an io_uring for its requests. */
#ifndef SELFTESTS_URING_SET_H
#define SELFTESTS_URING_SET_H

#include <string.h>
#include <unistd.h>

#include "uring/uring_ring.h"

FIXTURE(uring) {
	struct ring ring;
	int set;
	int event;	/* in the set, edge-triggered */
	struct devepoll_event out[WAITER_ROOM];
};

RING_VARIANTS(uring);

FIXTURE_SETUP(uring)
{
	struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN | EPOLLET, .data = 42,
	};

	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	add.fd = self->event;
	ASSERT_EQ(0, ring_open(&self->ring, variant->kind))
		TH_LOG("no %s ring here", variant->kind->name);
	self->set = dep_open();
	ASSERT_LE(0, self->set);
	ASSERT_EQ(0, dep_change(self->set, &add));
	memset(self->out, 0xa5, sizeof(self->out));
}

FIXTURE_TEARDOWN(uring)
{
	ring_close(&self->ring);
	close(self->set);
}

/* Starts a wait that does not end by itself. */
#define START_WAIT(args, data)						\
	do {								\
		ASSERT_EQ(0, ring_request(&self->ring, self->set,	\
					  DEVEPOLL_WAIT, args, data));	\
		ASSERT_TRUE(ring_waits(&self->ring));			\
	} while (0)

#define EXPECT_EVENT(event, fd_, events_)				\
	do {								\
		EXPECT_EQ(42, (event).data);				\
		EXPECT_EQ(fd_, (event).fd);				\
		EXPECT_EQ(events_, (event).events);			\
	} while (0)

#endif /* SELFTESTS_URING_SET_H */
