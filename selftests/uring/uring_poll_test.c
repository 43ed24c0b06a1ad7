// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring's own poll on a set: the way to wait that every kernel has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_ring.h"

#define POLL		55
#define REMOVAL		56

FIXTURE(uring_poll) {
	struct ring ring;
	struct eset set;
	int event;	/* in the set, edge-triggered */
};

FIXTURE_VARIANT(uring_poll) {
	const struct eset_ops *ops;
	const struct ring_kind *kind;
};

FIXTURE_VARIANT_ADD(uring_poll, devepoll) {
	.ops = &eset_devepoll,
	.kind = &ring_plain,
};

FIXTURE_VARIANT_ADD(uring_poll, devepoll_polled) {
	.ops = &eset_devepoll,
	.kind = &ring_polled,
};

FIXTURE_VARIANT_ADD(uring_poll, devepoll_deferred) {
	.ops = &eset_devepoll,
	.kind = &ring_deferred,
};

FIXTURE_VARIANT_ADD(uring_poll, sysepoll) {
	.ops = &eset_sysepoll,
	.kind = &ring_plain,
};

FIXTURE_SETUP(uring_poll)
{
	ASSERT_EQ(0, ring_open(&self->ring, variant->kind))
		TH_LOG("no %s ring here", variant->kind->name);
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(uring_poll)
{
	ring_close(&self->ring);
	eset_close(&self->set);
}

static int poll_set(struct ring *ring, int set, bool multishot)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);

	if (!sqe)
		return -EBUSY;
	if (multishot)
		io_uring_prep_poll_multishot(sqe, set, POLLIN);
	else
		io_uring_prep_poll_add(sqe, set, POLLIN);
	sqe->user_data = POLL;
	return ring_submit(ring);
}

static int remove_poll(struct ring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_poll_remove(sqe, POLL);
	sqe->user_data = REMOVAL;
	return ring_submit(ring);
}

TEST_F(uring_poll, tells_that_there_is_an_event)
{
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, false));
		ASSERT_TRUE(ring_waits(&self->ring));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(POLLIN, ring_result(&self->ring, POLL));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	}
}

typedef FIXTURE_DATA(uring_poll) uring_poll_data;

/* Waits as another thread; returns the events of the one fd, or -ENOMSG. */
static long wait_apart(void *arg)
{
	uring_poll_data *self = arg;

	return eset_wait_one(&self->set, self->event, 0);
}

/*
 * Its command may poll the set at any moment in the thread that made it, which may
 * still use an event of an object.
 */
TEST_F(uring_poll, is_no_step_back_of_its_thread)
{
	int told = eventfd_new();
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = told,
		.events = EPOLLIN,
		.data = told,
	};
	struct task task;

	if (variant->ops == &eset_sysepoll)
		SKIP(return, "epoll tells of no close");
	ASSERT_EQ(0, dep_change(self->set.fd, &change));
	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, true));
	ASSERT_EQ(0, eventfd_post(told));
	ASSERT_EQ(POLLIN, ring_result(&self->ring, POLL));
	ASSERT_EQ(EPOLLIN, eset_wait_one(&self->set, told, 0));
	/* This thread has an event of it now. */
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(POLLIN, ring_result(&self->ring, POLL));
	ASSERT_EQ(0, close(told));
	ASSERT_EQ(0, task_start(&task, wait_apart, self));
	EXPECT_EQ(EPOLLIN, task_join(&task));
	/* One that begins polls it, too. */
	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, false));
	ASSERT_EQ(0, task_start(&task, wait_apart, self));
	EXPECT_EQ(-ENOMSG, task_join(&task));
	/* Nobody can tell what else polls in its name: only a wait counts. */
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, told, 0));
}

TEST_F(uring_poll, tells_of_what_was_there_before)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, false));
	EXPECT_EQ(POLLIN, ring_result(&self->ring, POLL));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(uring_poll, tells_of_what_is_added)
{
	int other = eventfd_new();

	ASSERT_EQ(0, eventfd_post(other));
	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, false));
	ASSERT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN));
	EXPECT_EQ(POLLIN, ring_result(&self->ring, POLL));
}

TEST_F(uring_poll, tells_each_time_when_asked_once)
{
	struct io_uring_cqe cqe;
	int i;

	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, true));
	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(ring_waits(&self->ring));
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(POLL, cqe.user_data);
		EXPECT_EQ(POLLIN, cqe.res);
		EXPECT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	}
	ASSERT_EQ(0, remove_poll(&self->ring));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(cqe.user_data == POLL ? -ECANCELED : 0, cqe.res);
	}
}

TEST_F(uring_poll, tells_of_sets_in_the_set)
{
	struct eset outer;

	ASSERT_EQ(0, eset_open(&outer, variant->ops));
	ASSERT_EQ(0, eset_add(&outer, self->set.fd, EPOLLIN));
	ASSERT_EQ(0, poll_set(&self->ring, outer.fd, false));
	ASSERT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, ring_result(&self->ring, POLL));
	eset_close(&outer);
}

TEST_F(uring_poll, leaves_waiting_threads_their_events)
{
	struct ewaiter waiter = {};

	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, true));
	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(uring_poll, ends_with_its_ring)
{
	struct ring other;

	ASSERT_EQ(0, ring_open(&other, variant->kind));
	ASSERT_EQ(0, poll_set(&other, self->set.fd, true));
	ASSERT_TRUE(ring_waits(&other));
	ring_close(&other);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(uring_poll, outlives_the_fd_of_the_set)
{
	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, false));
	ASSERT_TRUE(ring_waits(&self->ring));
	eset_close(&self->set);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, ring_result(&self->ring, POLL));
}

/* A ring's completions make it readable: sets that watch it must notice. */
TEST_F(uring_poll, does_not_go_round_in_a_ring_that_is_a_member)
{
	struct io_uring_sqe *sqe;
	struct io_uring_cqe cqe;
	int completions = 0;

	ASSERT_EQ(0, eset_add(&self->set, self->ring.uring.ring_fd,
			      EPOLLIN | EPOLLET));
	ASSERT_EQ(0, poll_set(&self->ring, self->set.fd, true));
	sqe = io_uring_get_sqe(&self->ring.uring);
	ASSERT_NE(NULL, sqe);
	io_uring_prep_nop(sqe);
	ASSERT_EQ(0, ring_submit(&self->ring));
	while (completions < 64 && !ring_waits(&self->ring)) {
		if (!ring_peek(&self->ring, &cqe))
			completions++;
	}
	EXPECT_LE(1, completions);
	EXPECT_GT(64, completions);
}

TEST_HARNESS_MAIN
