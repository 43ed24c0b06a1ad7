// SPDX-License-Identifier: GPL-2.0
/*
 * The ring: events that a program takes from memory, without a call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "ring/ring_set.h"

TEST_F(ring, has_an_event_that_nobody_asked_for)
{
	long asks = count_asks(&self->ring.set);

	ASSERT_LE(0, asks);
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(self->event, self->me.out[0].data);
	EXPECT_EQ(self->event, self->me.out[0].fd);
	EXPECT_EQ(EPOLLIN, self->me.out[0].events);
	EXPECT_FALSE(self->me.ask);
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(asks, count_asks(&self->ring.set));
}

TEST_F(ring, has_each_edge_once)
{
	int i;

	for (i = 0; i < 5 * SLOTS; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
		ASSERT_EQ(-ENOMSG, consumer_take_one(&self->me, self->event));
	}
}

/* Also if the kernel has learned of the exchange by an event of another. */
TEST_F(ring, has_an_edge_of_each_of_two_after_each_exchange)
{
	int other = eventfd_new(), i;

	ASSERT_EQ(0, ring_add(&self->ring, other, EPOLLIN));
	for (i = 0; i < 2 * SLOTS; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, consumer_take(&self->me));
		ASSERT_EQ(0, eventfd_post(other));
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, eventfd_post(other));
		ASSERT_EQ(2, consumer_take(&self->me));
		EXPECT_EQ(other, self->me.out[0].fd);
		EXPECT_EQ(self->event, self->me.out[1].fd);
	}
}

TEST_F(ring, gathers_events_of_an_fd_in_one_slot)
{
	int fds[2], i;

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, ring_add(&self->ring, fds[0], EPOLLIN | EPOLLOUT));
	EXPECT_EQ(EPOLLOUT, consumer_take_one(&self->me, fds[0]));
	ASSERT_EQ(0, fill(fds[0]));
	for (i = 0; i < 3 * SLOTS; i++)
		ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, empty(fds[1]));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, consumer_take_one(&self->me, fds[0]));
	EXPECT_EQ(1, self->me.count);
	EXPECT_EQ(-ENOMSG, consumer_take_one(&self->me, fds[0]));
}

TEST_F(ring, has_what_is_ready_at_add_and_at_a_change)
{
	int ready = eventfd_new();

	ASSERT_EQ(0, eventfd_post(ready));
	ASSERT_EQ(0, ring_add(&self->ring, ready, EPOLLIN));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, ready));
	ASSERT_EQ(0, ring_mod(&self->ring, ready, EPOLLIN));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, ready));
	EXPECT_EQ(-ENOMSG, consumer_take_one(&self->me, ready));
}

TEST_F(ring, forgets_what_was_removed)
{
	int kept = post_with_another(&self->ring, self->event);

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, eset_del(&self->ring.set, self->event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, kept));
	EXPECT_EQ(2, self->me.count);
}

TEST_F(ring, forgets_what_was_closed)
{
	int kept = post_with_another(&self->ring, self->event);

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, close(self->event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, kept));
	EXPECT_EQ(2, self->me.count);
	EXPECT_EQ(0, consumer_take(&self->me));
}

TEST_F(ring, forgets_what_came_before_a_change)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, ring_ctl(&self->ring, DEVEPOLL_MOD, self->event,
			      EPOLLIN | EPOLLET, DEVEPOLL_TRUST, 1234));
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(1234, self->me.out[0].data);
	EXPECT_EQ(1, self->me.count);

	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(0, ring_mod(&self->ring, self->event, EPOLLIN));
	EXPECT_EQ(0, consumer_take(&self->me));
}

TEST_F(ring, gives_a_reused_number_a_slot_of_its_own)
{
	int kept = ring_add_eventfd(&self->ring), i;

	ASSERT_EQ(0, eventfd_post(kept));
	for (i = 1; i < SLOTS; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, close(self->event));
		ASSERT_EQ(self->event, ring_add_eventfd(&self->ring));
	}
	/* The set is full of holes: no wait is for more. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_wait_min(&self->ring, -1, 2));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, kept));
	EXPECT_EQ(SLOTS, self->me.count);
	EXPECT_TRUE(self->me.ask);
	EXPECT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
}

TEST_F(ring, uses_slots_again_when_all_are_withdrawn)
{
	int i;

	for (i = 0; i < 3 * SLOTS; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, eset_del(&self->ring.set, self->event));
		ASSERT_EQ(0, eventfd_take(self->event));
		ASSERT_EQ(0, ring_add(&self->ring, self->event, EPOLLIN));
	}
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_wait(&self->ring, -1));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
	EXPECT_EQ(1, self->me.count);
}

TEST_F(ring, says_what_has_to_be_asked)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, ring_add(&self->ring, fds[0], EPOLLIN));
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_TRUE(self->me.ask);
	EXPECT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLHUP, consumer_take_one(&self->me, fds[0]));
	EXPECT_FALSE(self->me.ask);
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_F(ring, asks_also_while_events_are_there)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, ring_add(&self->ring, fds[0], EPOLLIN));
	ASSERT_EQ(0, close(fds[1]));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
	ASSERT_TRUE(self->me.ask);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(2, ring_wait(&self->ring, 0));
	EXPECT_EQ(2, consumer_take(&self->me));
}

/* Wake-ups of sockets always claim it. */
TEST_F(ring, does_not_believe_in_urgent_data)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, ring_add(&self->ring, fds[0], EPOLLIN | EPOLLPRI));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_TRUE(await(atomic_load(self->ring.word) & DEVEPOLL_RING_ASK));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_TRUE(self->me.ask);
	EXPECT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, fds[0]));
	ASSERT_EQ(0, empty(fds[0]));
	ASSERT_EQ(1, send(fds[1], "u", 1, MSG_OOB));
	ASSERT_TRUE(await(poll_now(fds[0], POLLPRI)));
	ASSERT_LE(1, ring_wait(&self->ring, 0));
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(EPOLLPRI, self->me.out[0].events & EPOLLPRI);
}

TEST_F(ring, keeps_what_does_not_fit)
{
	int events[2 * SLOTS], i;

	for (i = 0; i < 2 * SLOTS; i++) {
		events[i] = ring_add_eventfd(&self->ring);
		ASSERT_LE(0, events[i]);
	}
	for (i = 0; i < 2 * SLOTS; i++)
		ASSERT_EQ(0, eventfd_post(events[i]));
	EXPECT_EQ(SLOTS, consumer_take(&self->me));
	EXPECT_TRUE(self->me.ask);
	EXPECT_EQ(SLOTS, ring_wait(&self->ring, 0));
	EXPECT_EQ(SLOTS, consumer_take(&self->me));
	EXPECT_FALSE(self->me.ask);
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_F(ring, has_a_level_until_it_is_over)
{
	int level = eventfd_new(), i;

	ASSERT_EQ(0, eset_add(&self->ring.set, level, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(level));
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_TRUE(self->me.ask);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(1, ring_wait(&self->ring, 0));
		EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, level));
		EXPECT_TRUE(self->me.ask);
	}
	ASSERT_EQ(0, eventfd_take(level));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_FALSE(self->me.ask);
}

TEST_F(ring, asks_for_an_edge_that_is_not_trusted)
{
	int edge = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->ring.set, edge, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(edge));
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_TRUE(self->me.ask);
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, edge));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));

	/* What is over is not reported. */
	ASSERT_EQ(0, eventfd_post(edge));
	ASSERT_EQ(0, eventfd_take(edge));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_F(ring, disarms_one_shot_when_it_posts)
{
	ASSERT_EQ(0, ring_mod(&self->ring, self->event,
			      EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
	ASSERT_EQ(0, ring_mod(&self->ring, self->event,
			      EPOLLIN | EPOLLONESHOT));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_HARNESS_MAIN
