// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands and complete many times, with buffers of
 * the ring.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_shot.h"

TEST_F(uring_shot, completes_for_each_event)
{
	int i;

	for (i = 0; i < BUFFERS; i++)
		GIVE(i);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(ring_waits(&self->ring));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_SHOT(self->event, EPOLLIN, 42);
	}
	EXPECT_TRUE(ring_waits(&self->ring));
	EXPECT_EQ(0, dep_wait(self->set, self->out, 8, 0));
}

TEST_F(uring_shot, goes_on_as_buffers_are_given)
{
	int i;

	GIVE(0);
	GIVE(1);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_SHOT(self->event, EPOLLIN, 42);
		GIVE(i % 2);
	}
	EXPECT_TRUE(ring_waits(&self->ring));
}

TEST_F(uring_shot, takes_what_was_ready_before)
{
	const struct devepoll_event *events;
	int other = eventfd_new();

	ASSERT_EQ(0, add(self->set, other, EPOLLIN | EPOLLET, 43));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(other));
	GIVE(0);
	GIVE(1);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	events = next_shot(&self->ring, &self->buffers, 2);
	ASSERT_NE(NULL, events);
	EXPECT_EQ(42, events[0].data);
	EXPECT_EQ(43, events[1].data);
	EXPECT_TRUE(ring_waits(&self->ring));
}

TEST_F(uring_shot, takes_no_more_than_it_is_told)
{
	int other = eventfd_new();

	self->args.max_events = 1;
	ASSERT_EQ(0, add(self->set, other, EPOLLIN | EPOLLET, 43));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(other));
	GIVE(0);
	GIVE(1);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	EXPECT_SHOT(self->event, EPOLLIN, 42);
	EXPECT_SHOT(other, EPOLLIN, 43);
}

TEST_F(uring_shot, takes_no_more_than_a_buffer_holds)
{
	int other = eventfd_new();

	ASSERT_EQ(0, add(self->set, other, EPOLLIN | EPOLLET, 43));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(other));
	ring_buffer_give(&self->buffers, 0, EVENT_SIZE);
	ring_buffer_give(&self->buffers, 1, 2 * EVENT_SIZE - 1);
	ring_buffer_give(&self->buffers, 2, EVENT_SIZE);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	EXPECT_SHOT(self->event, EPOLLIN, 42);
	EXPECT_SHOT(other, EPOLLIN, 43);
	EXPECT_TRUE(ring_waits(&self->ring));
}

TEST_F(uring_shot, ends_when_buffers_run_out)
{
	GIVE(0);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_SHOT(self->event, EPOLLIN, 42);
	EXPECT_EQ(-ENOBUFS, last_shot(&self->ring));
	/* What comes now stays, and the next wait can have it. */
	ASSERT_EQ(0, eventfd_post(self->event));
	GIVE(1);
	GIVE(2);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	EXPECT_SHOT(self->event, EPOLLIN, 42);
	EXPECT_TRUE(ring_waits(&self->ring));
}

TEST_F(uring_shot, ends_at_once_without_buffers)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	EXPECT_EQ(-ENOBUFS, last_shot(&self->ring));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 8, 0));
}

TEST_F(uring_shot, ends_at_a_buffer_that_is_too_small)
{
	ring_buffer_give(&self->buffers, 0, EVENT_SIZE - 1);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	EXPECT_EQ(-EMSGSIZE, last_shot(&self->ring));
	ASSERT_EQ(1, dep_wait(self->set, self->out, 8, 0));
	EXPECT_EQ(42, self->out[0].data);
}

TEST_F(uring_shot, ends_at_a_buffer_that_can_not_be_written)
{
	char *memory = self->buffers.memory;

	self->buffers.memory = (char *)4096;
	GIVE(0);
	self->buffers.memory = memory;
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	EXPECT_EQ(-EFAULT, last_shot(&self->ring));
	ASSERT_EQ(1, dep_wait(self->set, self->out, 8, 0));
	EXPECT_EQ(42, self->out[0].data);
}

/* As long as the fd is ready: so a level has to be read between two shots. */
TEST_F(uring_shot, tells_of_a_level_until_buffers_run_out)
{
	int i, other = eventfd_new();

	ASSERT_EQ(0, add(self->set, other, EPOLLIN, 43));
	for (i = 0; i < BUFFERS; i++)
		GIVE(i);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	ASSERT_EQ(0, eventfd_post(other));
	for (i = 0; i < BUFFERS; i++)
		EXPECT_SHOT(other, EPOLLIN, 43);
	EXPECT_EQ(-ENOBUFS, last_shot(&self->ring));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 8, 0));
}

TEST_F(uring_shot, is_nothing_for_changes)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_DEL, .fd = self->event, .result = POISON,
	};
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	struct io_uring_sqe *sqe;

	GIVE(0);
	sqe = ring_prepare(&self->ring, self->set, DEVEPOLL_CTL, &ctl, SHOT);
	ASSERT_NE(NULL, sqe);
	sqe->rw_flags = IORING_URING_CMD_MULTISHOT;
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = RING_GROUP;
	ASSERT_EQ(0, ring_submit(&self->ring));
	EXPECT_EQ(-EINVAL, last_shot(&self->ring));
	EXPECT_EQ(POISON, change.result);
	EXPECT_EQ(POISON, ctl.nr_failed);
	/* It is still watched. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 1, 0));
}

/* It would hide a change that failed.  Nor does it use the set. */
TEST_F(uring_shot, ends_if_a_change_fails)
{
	struct devepoll_change changes[2] = {
		{ .op = DEVEPOLL_ADD, .fd = -1, .events = EPOLLIN },
		{ .op = DEVEPOLL_ADD, .fd = self->event, .events = EPOLLIN },
	};
	int fresh = dep_open();

	ASSERT_LE(0, fresh);
	self->args.changes = address_of(changes);
	self->args.change_size = sizeof(changes[0]);
	self->args.nr_changes = 1;
	GIVE(0);
	ASSERT_EQ(0, shoot(&self->ring, fresh, &self->args));
	EXPECT_EQ(-ECANCELED, last_shot(&self->ring));
	EXPECT_EQ(1, self->args.nr_tried);
	EXPECT_EQ(1, self->args.nr_failed);
	EXPECT_EQ(-EBADF, changes[0].result);
	/* That is for a set of no interface, or of 2001. */
	EXPECT_EQ(0, dep_request(fresh, EP_ALLOC, (void *)10));
	ASSERT_EQ(0, close(fresh));

	fresh = dep_open();
	ASSERT_LE(0, fresh);
	self->args.nr_changes = 2;
	ASSERT_EQ(0, shoot(&self->ring, fresh, &self->args));
	EXPECT_EQ(-ECANCELED, last_shot(&self->ring));
	EXPECT_EQ(0, changes[1].result);
	EXPECT_EQ(-EBUSY, dep_request(fresh, EP_ALLOC, (void *)10));
	ASSERT_EQ(0, close(fresh));
	EXPECT_TRUE(ring_waits(&self->ring));
}

TEST_F(uring_shot, refuses_what_only_one_wait_can_have)
{
	struct devepoll_wait_args args = self->args;

	GIVE(0);
	GIVE(1);
	args.min_events = 2;
	ASSERT_EQ(0, shoot(&self->ring, self->set, &args));
	EXPECT_EQ(-EINVAL, last_shot(&self->ring));
	args = self->args;
	args.timeout = 0;
	ASSERT_EQ(0, shoot(&self->ring, self->set, &args));
	EXPECT_EQ(-EINVAL, last_shot(&self->ring));
	args = self->args;
	args.events = address_of(self->out);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &args));
	EXPECT_EQ(-EINVAL, last_shot(&self->ring));
	args = self->args;
	args.flags = DEVEPOLL_WAIT_EPOLL;
	ASSERT_EQ(0, shoot(&self->ring, self->set, &args));
	EXPECT_EQ(-EINVAL, last_shot(&self->ring));
	ASSERT_NE(MAP_FAILED, dep_map_events(self->set, 4096));
	args.flags = DEVEPOLL_WAIT_MAPPED;
	ASSERT_EQ(0, shoot(&self->ring, self->set, &args));
	EXPECT_EQ(-EINVAL, last_shot(&self->ring));
}

TEST_F(uring_shot, ends_with_its_ring)
{
	struct ring other;
	struct ring_buffers buffers;

	ASSERT_EQ(0, ring_open(&other, variant->kind));
	ASSERT_EQ(0, ring_buffers_open(&other, &buffers, BUFFERS,
				       EVENT_SIZE));
	ring_buffer_give(&buffers, 0, EVENT_SIZE);
	ASSERT_EQ(0, shoot(&other, self->set, &self->args));
	ASSERT_TRUE(ring_waits(&other));
	ring_close(&other);
	/* It goes some time after its close. */
	EXPECT_TRUE(await(!eventfd_post(self->event) &&
			  dep_wait(self->set, self->out, 8, 0) == 1));
}

TEST_HARNESS_MAIN
