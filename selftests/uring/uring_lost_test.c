// SPDX-License-Identifier: GPL-2.0
/*
 * No event is lost, and none comes late, when threads wait with commands of
 * io_uring, or let a ring poll the set.  $DEVEPOLL_LOST_EVENTS as in lost_test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>

#include "kselftest_harness.h"

#include "core/lost.h"
#include "uring/uring_ring.h"

#define EVENTS	6000

/* Each consumer has a ring, made by the thread that uses it. */
struct lost_rings {
	const struct ring_kind *kind;
	struct ring rings[LOST_CONSUMERS];
	bool open[LOST_CONSUMERS];
};

static struct lost_rings rings;

static struct ring *ring_of(unsigned int consumer)
{
	struct ring *ring = &rings.rings[consumer];

	if (!rings.open[consumer] && ring_open(ring, rings.kind))
		return NULL;
	rings.open[consumer] = true;
	return ring;
}

/* The next completion, however long it takes. */
static int await_result(struct ring *ring)
{
	struct io_uring_cqe *cqe;
	int ret;

	do {
		ret = io_uring_wait_cqe(&ring->uring, &cqe);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(&ring->uring, cqe);
	return ret;
}

static int command_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	struct devepoll_event out[LOST_OUT];
	struct devepoll_wait_args args =
		wait_args(out, lost_room(consumer), -1);
	struct ring *ring = ring_of(consumer);
	int i, n;

	if (!ring)
		return -EMFILE;
	n = ring_request(ring, l->fd, DEVEPOLL_WAIT, &args, 1);
	if (!n)
		n = await_result(ring);
	for (i = 0; i < n; i++)
		data[i] = out[i].data;
	return n;
}

static int poll_wait(struct lost *l, unsigned int consumer, uint64_t *data)
{
	struct ring *ring = ring_of(consumer);
	struct io_uring_sqe *sqe;
	int ret;

	if (!ring)
		return -EMFILE;
	sqe = io_uring_get_sqe(&ring->uring);
	io_uring_prep_poll_add(sqe, l->fd, POLLIN);
	ret = ring_submit(ring);
	if (!ret)
		ret = await_result(ring);
	return ret < 0 ? ret : lost_set_take(&l->sets[0], consumer, data, 0);
}

static const struct lost_way commands = {
	.name = "commands of a ring", .consumers = 3,
	.events = EPOLLIN | EPOLLET, .ops = &eset_devepoll, .sets = 1,
	.open = lost_set_open, .add = lost_set_add, .del = lost_set_del,
	.wait = command_wait,
};

static const struct lost_way polls = {
	.name = "polls of a ring", .consumers = 3,
	.events = EPOLLIN | EPOLLET, .ops = &eset_devepoll, .sets = 1,
	.open = lost_set_open, .add = lost_set_add, .del = lost_set_del,
	.wait = poll_wait,
};

FIXTURE(uring_lost) {
	struct lost run;
};

RING_VARIANTS(uring_lost);

FIXTURE_SETUP(uring_lost)
{
	rings.kind = variant->kind;
}

FIXTURE_TEARDOWN(uring_lost)
{
}

TEST_F_TIMEOUT(uring_lost, commands_lose_none, 36000)
{
	NEEDS_WAITS();
	ASSERT_EQ(0, lost_run(&self->run, &commands, lost_goal(EVENTS)));
}

TEST_F_TIMEOUT(uring_lost, polls_lose_none, 36000)
{
	ASSERT_EQ(0, lost_run(&self->run, &polls, lost_goal(EVENTS)));
}

TEST_HARNESS_MAIN
