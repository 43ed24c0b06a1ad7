// SPDX-License-Identifier: GPL-2.0
/*
 * The ring: events that a program takes from memory, without a call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "ring.h"

#define SLOTS	16

FIXTURE(ring) {
	struct ring ring;
	struct consumer me;
	struct consumer other;
	int event;	/* in the set, an edge, trusted */
};

FIXTURE_SETUP(ring)
{
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, ring_open(&self->ring, 2, SLOTS))
		TH_LOG("no ring here");
	consumer_init(&self->me, &self->ring, 0);
	consumer_init(&self->other, &self->ring, 1);
	self->event = ring_add_eventfd(&self->ring);
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(ring)
{
	ring_close(&self->ring);
}

static long count_asks(struct ring *ring)
{
	struct devepoll_stats stats = { .asks = ~0ULL };
	int ret = dep_request(ring->set.fd, DEVEPOLL_STATS, &stats);

	return ret ?: (long)stats.asks;
}

TEST_F(ring, has_an_event_that_nobody_asked_for)
{
	long asks = count_asks(&self->ring);

	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(self->event, self->me.out[0].data);
	EXPECT_EQ(self->event, self->me.out[0].fd);
	EXPECT_EQ(EPOLLIN, self->me.out[0].events);
	EXPECT_FALSE(self->me.ask);
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(asks, count_asks(&self->ring));
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
	int kept = ring_add_eventfd(&self->ring);

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(kept));
	ASSERT_EQ(0, eset_del(&self->ring.set, self->event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, kept));
	EXPECT_EQ(2, self->me.count);
}

TEST_F(ring, forgets_what_was_closed)
{
	int kept = ring_add_eventfd(&self->ring);

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(kept));
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
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, fds[0]));
	EXPECT_TRUE(self->me.ask);
	/* It may say once more what it has; the rest is a lie. */
	ring_wait(&self->ring, 0);
	EXPECT_LE(consumer_take(&self->me), 1);
	EXPECT_EQ(0, self->me.out[0].events & EPOLLPRI);
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

TEST_F(ring, lets_other_waits_take_one_shot)
{
	ASSERT_EQ(0, ring_mod(&self->ring, self->event,
			      EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->ring.set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->ring.set, self->event, 0));
}

TEST_F(ring, lets_other_waits_take_what_is_there)
{
	int second = ring_add_eventfd(&self->ring);
	struct epoll_event out[4];

	ASSERT_LE(0, second);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(second));
	ASSERT_EQ(2, eset_wait(&self->ring.set, out, 4, 0));
	EXPECT_EQ(self->event, out[0].data.u64);
	EXPECT_EQ(second, out[1].data.u64);
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_FALSE(self->me.ask);
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_F(ring, gets_back_what_another_wait_leaves)
{
	int second = ring_add_eventfd(&self->ring);
	struct epoll_event out[1];

	ASSERT_LE(0, second);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(second));
	ASSERT_EQ(1, eset_wait(&self->ring.set, out, 1, 0));
	EXPECT_EQ(self->event, out[0].data.u64);
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_TRUE(self->me.ask);
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, second));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_F(ring, wakes_who_sleeps_in_another_wait)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->ring.set, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(EPOLLIN, waiter.out[0].events);
	EXPECT_EQ(0, consumer_take(&self->me));
}

TEST_F(ring, reports_a_close_once)
{
	ASSERT_EQ(0, ring_ctl(&self->ring, DEVEPOLL_MOD, self->event,
			      EPOLLIN | EPOLLET,
			      DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED, 77));
	ASSERT_EQ(0, close(self->event));
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_TRUE(self->me.ask);
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(DEVEPOLL_CLOSED, self->me.out[0].events);
	EXPECT_EQ(77, self->me.out[0].data);
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(0, eset_drain(&self->ring.set));
}

TEST_F(ring, lets_other_waits_take_a_close)
{
	struct devepoll_event out[2];

	ASSERT_EQ(0, ring_ctl(&self->ring, DEVEPOLL_MOD, self->event,
			      EPOLLIN | EPOLLET,
			      DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED, 77));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	ASSERT_EQ(1, dep_wait(self->ring.set.fd, out, 2, 0));
	EXPECT_EQ(DEVEPOLL_CLOSED, out[0].events);
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(0, dep_wait(self->ring.set.fd, out, 2, 0));
}

/* With a close in the ring that nobody takes: nothing leaks. */
TEST_F(ring, goes_with_a_close_in_it)
{
	ASSERT_EQ(0, ring_ctl(&self->ring, DEVEPOLL_MOD, self->event,
			      EPOLLIN | EPOLLET,
			      DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED, 77));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
}

/* As epoll, and unlike other sets of the device. */
TEST_F(ring, has_a_stale_number_until_a_request_sees_it)
{
	int kept = dup(self->event), fds[2];

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
	/* A wait finds the number, if it finds the fd. */
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(0, eset_drain(&self->ring.set));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(0, consumer_take(&self->me));

	/* So does a request that asks. */
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, ring_add(&self->ring, fds[0], EPOLLIN));
	kept = dup(fds[0]);
	ASSERT_EQ(0, close(fds[0]));
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
	EXPECT_EQ(0, consumer_take(&self->me));
}

TEST_F(ring, is_readable_while_events_are_in_it)
{
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	struct eset outer;

	ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_ADD, self->ring.set.fd,
			       &event));
	ASSERT_EQ(0, eset_open(&outer, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&outer, self->ring.set.fd, EPOLLIN));
	EXPECT_EQ(0, poll_now(self->ring.set.fd, POLLIN));
	EXPECT_EQ(0, epoll_wait(epfd, &event, 1, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, poll_now(self->ring.set.fd, POLLIN));
	EXPECT_EQ(1, epoll_wait(epfd, &event, 1, 10000));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&outer, self->ring.set.fd, 10000));
	EXPECT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(0, poll_now(self->ring.set.fd, POLLIN));
	EXPECT_EQ(0, epoll_wait(epfd, &event, 1, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&outer, self->ring.set.fd, 0));
	/* And again, now that somebody may sleep for it. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, epoll_wait(epfd, &event, 1, 10000));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&outer, self->ring.set.fd, 10000));
	EXPECT_EQ(1, consumer_take(&self->me));
	eset_close(&outer);
	close(epfd);
}

TEST_F(ring, is_readable_while_something_has_to_be_asked)
{
	int level = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->ring.set, level, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(level));
	EXPECT_EQ(POLLIN, poll_now(self->ring.set.fd, POLLIN));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_TRUE(self->me.ask);
	/* What poll(2) found is not lost. */
	EXPECT_EQ(POLLIN, poll_now(self->ring.set.fd, POLLIN));
	EXPECT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, level));
}

TEST_F(ring, gives_each_consumer_a_set_of_its_own)
{
	int second = ring_add_eventfd(&self->ring), i;

	ASSERT_LE(0, second);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
		ASSERT_EQ(0, eventfd_post(second));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&self->other, second));
		ASSERT_NE(self->me.spare, self->other.spare);
	}
}

/* A consumer that saw events which another has taken meanwhile. */
TEST_F(ring, survives_an_exchange_for_nothing)
{
	int i;

	for (i = 0; i < 10; i++) {
		uint64_t old;

		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
		old = atomic_exchange(self->ring.word,
				      (uint64_t)self->other.spare <<
				      DEVEPOLL_RING_SET_SHIFT);
		ASSERT_EQ(0, (uint32_t)old);
		self->other.spare = old >> DEVEPOLL_RING_SET_SHIFT;
		ASSERT_NE(self->me.spare, self->other.spare);
	}
}

TEST_F(ring, counts_what_was_taken)
{
	struct devepoll_stats stats;

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, consumer_take(&self->me));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, dep_request(self->ring.set.fd, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(1, stats.events);
	EXPECT_EQ(1, stats.harvests);
	EXPECT_EQ(1, stats.ready);
	EXPECT_EQ(2, stats.wakes);
}

TEST_F(ring, is_named_in_fdinfo)
{
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d",
		 self->ring.set.fd);
	f = fopen(path, "re");
	ASSERT_TRUE(!!f);
	do {
		ASSERT_TRUE(!!fgets(line, sizeof(line), f));
	} while (strncmp(line, "interface:", 10));
	EXPECT_STREQ("interface:\textended, ring\n", line);
	fclose(f);
}

/* Of exclusive fds that no thread sleeps for all are told, as with epoll. */
TEST_F(ring, tells_all_exclusive_sets_if_nobody_sleeps)
{
	struct consumer second;
	struct ring ring;
	int event = eventfd_new();

	ASSERT_EQ(0, ring_open(&ring, 1, SLOTS));
	consumer_init(&second, &ring, 0);
	ASSERT_EQ(0, ring_add(&self->ring, event, EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, ring_add(&ring, event, EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&second, event));
	ring_close(&ring);
}

static long sleep_in_ring(void *arg)
{
	return ring_wait(arg, -1);
}

TEST_F(ring, tells_an_exclusive_set_in_which_somebody_sleeps)
{
	struct consumer second;
	struct task task;
	struct ring ring;
	int event = eventfd_new();

	ASSERT_EQ(0, ring_open(&ring, 1, SLOTS));
	consumer_init(&second, &ring, 0);
	ASSERT_EQ(0, ring_add(&self->ring, event, EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, ring_add(&ring, event, EPOLLIN | EPOLLEXCLUSIVE));
	ASSERT_EQ(0, task_start(&task, sleep_in_ring, &ring));
	ASSERT_EQ(0, await_sleep(task.tid, eset_devepoll.wait_syscall));
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(1, task_join(&task));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&second, event));
	EXPECT_EQ(0, consumer_take(&self->me));
	ring_close(&ring);
}

TEST_HARNESS_MAIN
