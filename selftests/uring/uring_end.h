/* SPDX-License-Identifier: GPL-2.0 */
/* A set, a ring, and waits that are pending when the ring goes. */
#ifndef SELFTESTS_URING_END_H
#define SELFTESTS_URING_END_H

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "uring/uring_ring.h"

#define PENDING		3

FIXTURE(uring_end) {
	struct ring ring;
	int set;
	int event;	/* in the set, edge-triggered */
	struct devepoll_event out[PENDING];
	struct devepoll_wait_args args[PENDING];
	long references;
};

static inline int set_with(int event)
{
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD,
		.fd = event,
		.events = EPOLLIN | EPOLLET,
		.data = 42,
	};
	int set = dep_open();

	return set < 0 ? set : dep_change(set, &add) ?: set;
}

FIXTURE_SETUP(uring_end)
{
	int i;

	/* A ring of an earlier program may still be ending. */
	await(module_references() == 0);
	self->references = module_references();
	ASSERT_LE(0, self->references);
	ASSERT_EQ(0, ring_open(&self->ring, &ring_plain));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	self->set = set_with(self->event);
	ASSERT_LT(0, self->set);
	memset(self->out, 0xa5, sizeof(self->out));
	for (i = 0; i < PENDING; i++)
		self->args[i] = wait_args(&self->out[i], 1, -1);
	/* One of them has a timer. */
	self->args[1].timeout = 3600 * 1000000000LL;
}

FIXTURE_TEARDOWN(uring_end)
{
	close(self->set);
	EXPECT_TRUE(await(module_references() == self->references));
}

static inline int begin_waits(struct ring *ring, int set,
			      struct devepoll_wait_args *args)
{
	int i, ret = 0;

	for (i = 0; !ret && i < PENDING; i++)
		ret = ring_request(ring, set, DEVEPOLL_WAIT, &args[i], i);
	return ret;
}

/* Is the set as if nobody had ever waited on it? */
static inline bool event_comes_through(int set, int event)
{
	struct devepoll_event out[2];

	return !eventfd_post(event) && dep_wait(set, out, 2, 0) == 1 &&
	       out[0].data == 42 && dep_wait(set, out, 2, 0) == 0;
}

/* A ring ends its waits some time after its close. */
#define EXPECT_END(set, event) \
	EXPECT_TRUE(await(event_comes_through(set, event)))

#endif /* SELFTESTS_URING_END_H */
