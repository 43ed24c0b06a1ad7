// SPDX-License-Identifier: GPL-2.0
/*
 * The ring beside the other ways to learn of events: waits, polls, closes,
 * other consumers and other sets.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/slow_file.h"
#include "ring/ring_set.h"

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
	int second = post_with_another(&self->ring, self->event);
	struct epoll_event out[4];

	ASSERT_LE(0, second);
	ASSERT_EQ(2, eset_wait(&self->ring.set, out, 4, 0));
	EXPECT_EQ(self->event, out[0].data.u64);
	EXPECT_EQ(second, out[1].data.u64);
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_FALSE(self->me.ask);
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_F(ring, gets_back_what_another_wait_leaves)
{
	int second = post_with_another(&self->ring, self->event);
	struct epoll_event out[1];

	ASSERT_LE(0, second);
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

/* Closes a number, which the ring reports with this data. */
static int close_and_tell(struct ring *ring, int fd, uint64_t data)
{
	int err = eset_del(&ring->set, fd) ?:
		  ring_ctl(ring, DEVEPOLL_ADD, fd, EPOLLIN | EPOLLET,
			   DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED, data);

	return err ?: close(fd) ? -errno : 0;
}

TEST_F(ring, reports_a_close_once)
{
	ASSERT_EQ(0, close_and_tell(&self->ring, self->event, 77));
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_TRUE(self->me.ask);
	ASSERT_EQ(1, consumer_wait(&self->me, 0));
	ASSERT_EQ(1, consumer_wait(&self->me, 0));
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(DEVEPOLL_CLOSED, self->me.out[0].events);
	EXPECT_EQ(77, self->me.out[0].data);
	EXPECT_EQ(0, consumer_wait(&self->me, 0));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(0, eset_drain(&self->ring.set));
}

TEST_F(ring, lets_other_waits_take_a_close)
{
	struct devepoll_event out[2];

	ASSERT_EQ(0, close_and_tell(&self->ring, self->event, 77));
	ASSERT_EQ(1, consumer_wait(&self->me, 0));
	ASSERT_EQ(1, dep_wait(self->ring.set.fd, out, 2, 0));
	EXPECT_EQ(DEVEPOLL_CLOSED, out[0].events);
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(0, dep_wait(self->ring.set.fd, out, 2, 0));
}

/* With a close in the ring that nobody takes: nothing leaks. */
TEST_F(ring, goes_with_a_close_in_it)
{
	ASSERT_EQ(0, close_and_tell(&self->ring, self->event, 77));
	ASSERT_EQ(1, consumer_wait(&self->me, 0));
}

/*
 * Another wait has taken the event out of the ring, and polls a file that is
 * slow.  Until it is done, only a request can tell whether there is an event.
 */
TEST_F(ring, has_to_be_asked_while_another_wait_has_its_events)
{
	struct slow_file slow;
	struct ewaiter waiter;
	int err = slow_open(&slow);

	if (err == -EOPNOTSUPP)
		SKIP(return, "not root, or no /dev/fuse");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, eset_add(&self->ring.set, slow.fd, EPOLLIN | EPOLLET));
	slow_hold(&slow);
	ASSERT_EQ(0, slow_stir(&slow));
	/* The program has seen that it has to ask, and does not do so yet. */
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_TRUE(self->me.ask);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, (uint32_t)atomic_load(self->ring.word));
	ASSERT_EQ(0, ewaiter_launch(&waiter, &self->ring.set, WAITER_ROOM,
				    -1));
	ASSERT_TRUE(slow_is_asked(&slow));
	EXPECT_EQ(DEVEPOLL_RING_ASK, (uint32_t)atomic_load(self->ring.word));
	slow_go_on(&slow, 0);
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(self->event, waiter.out[0].data.u64);
	EXPECT_EQ(0, (uint32_t)atomic_load(self->ring.word));
	EXPECT_EQ(0, slow_close(&slow));
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

/* The wake-up of a file with one set has a path of its own. */
TEST_F(ring, has_each_edge_that_another_set_has_too)
{
	struct consumer second;
	struct ring ring;
	int i;

	ASSERT_EQ(0, ring_open(&ring, 1, SLOTS));
	consumer_init(&second, &ring, 0);
	ASSERT_EQ(0, ring_add(&ring, self->event, EPOLLIN));
	for (i = 0; i < 2 * SLOTS; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&second, self->event));
		ASSERT_EQ(0, consumer_take(&self->me));
		ASSERT_EQ(0, consumer_take(&second));
	}
	ring_close(&ring);
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
