// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands: what they take, and when they end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_set.h"

#define MS		1000000LL

TEST_F(uring, takes_what_is_ready)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(self->out[0], self->event, EPOLLIN);
	EXPECT_EQ(0, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, takes_what_is_ready_as_epoll_has_it)
{
	struct epoll_event out[2];
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = 2,
		.timeout = DEVEPOLL_FOREVER,
		.flags = DEVEPOLL_WAIT_EPOLL,
	};

	memset(out, 0xa5, sizeof(out));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EQ(42, out[0].data.u64);
	EXPECT_EQ(EPOLLIN, out[0].events);
}

/* Nobody knows when a program has dealt with the events of a completion. */
TEST_F(uring, refuses_a_set_whose_fds_report_their_close)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = eventfd_new(),
		.events = EPOLLIN,
		.data = 43,
	};

	ASSERT_EQ(0, dep_change(self->set, &change));
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
					 &args));
	ASSERT_EQ(0, close(change.fd));
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
					 &args));
	ASSERT_EQ(1, dep_wait(self->set, self->out, 2, 0));
	EXPECT_EQ(DEVEPOLL_CLOSED, self->out[0].events);
}

TEST_F(uring, puts_events_into_the_mapping)
{
	struct devepoll_wait_args args = {
		.events = 16 * sizeof(struct devepoll_event),
		.max_events = 2,
		.timeout = DEVEPOLL_FOREVER,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};
	struct devepoll_event *map = dep_map_events(self->set, 4096);

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(map[16], self->event, EPOLLIN);
}

TEST_F(uring, does_not_wait_where_no_time_is_given)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);

	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	args.min_events = 2;
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, refuses_a_signal_mask)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	uint64_t mask = 0;

	args.sigmask = address_of(&mask);
	args.sigsetsize = sizeof(mask);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EINVAL, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
				     &args));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 1, 0));
}

/* One change, and a wait for ever, unless the kernel refuses one. */
static struct devepoll_wait_args
change_and_wait(const struct devepoll_change *change,
		struct devepoll_event *out)
{
	struct devepoll_wait_args args = wait_args(out, 2, 0);

	if (kernel_can_wait())
		args.timeout = DEVEPOLL_FOREVER;
	args.changes = address_of(change);
	args.nr_changes = 1;
	args.change_size = sizeof(*change);
	return args;
}

TEST_F(uring, makes_the_changes_of_a_wait_first)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.fd = eventfd_new(),
		.events = EPOLLOUT,
		.data = 42,
		.result = POISON,
	};
	struct devepoll_wait_args args = change_and_wait(&change, self->out);

	args.nr_tried = POISON;
	args.nr_failed = POISON;
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(self->out[0], change.fd, EPOLLOUT);
	EXPECT_EQ(0, change.result);
	EXPECT_EQ(1, args.nr_tried);
	EXPECT_EQ(0, args.nr_failed);
}

TEST_F(uring, does_not_wait_after_a_change_that_failed)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_MOD, .fd = self->set, .result = POISON,
	};
	struct devepoll_wait_args args = change_and_wait(&change, self->out);

	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EQ(-EINVAL, change.result);
	EXPECT_EQ(1, args.nr_failed);
}

TEST_F(uring, keeps_events_that_can_not_be_written)
{
	struct devepoll_wait_args args = wait_args((void *)4096, 2, -1);

	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EFAULT, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
				     &args));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, refuses_to_wait_where_it_could_not_be_ended)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	struct devepoll_change change = {
		.op = DEVEPOLL_DEL, .fd = self->event, .result = POISON,
	};
	struct io_uring_cqe cqe;

	if (kernel_can_wait())
		SKIP(return, "this kernel can take commands back");
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set,
					 DEVEPOLL_WAIT, &args));
	args.timeout = 50 * MS;
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set,
					 DEVEPOLL_WAIT, &args));
	args.changes = address_of(&change);
	args.nr_changes = 1;
	args.change_size = sizeof(change);
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set,
					 DEVEPOLL_WAIT, &args));
	EXPECT_EQ(POISON, change.result);
	args.changes = 0;
	args.nr_changes = 0;
	args.change_size = 0;
	/* Nothing is left of it, and nothing is lost. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EAGAIN, ring_peek(&self->ring, &cqe));
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, waits_until_there_is_an_event)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	int i;

	NEEDS_WAITS();
	for (i = 0; i < 3; i++) {
		memset(self->out, 0xa5, sizeof(self->out));
		START_WAIT(&args, i);
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, ring_result(&self->ring, i));
		EXPECT_EVENT(self->out[0], self->event, EPOLLIN);
	}
	EXPECT_EQ(0, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, misses_no_event_that_comes_when_it_begins)
{
	struct devepoll_wait_args args = wait_args(self->out, 1, -1);
	struct racer racer = { .event = self->event };
	struct task task;
	int i;

	NEEDS_WAITS();
	for (i = 0; i < 100; i++) {
		atomic_store(&racer.start, 0);
		ASSERT_EQ(0, task_start(&task, post_when_told, &racer));
		atomic_store(&racer.start, 1);
		ASSERT_EQ(0, ring_request(&self->ring, self->set, DEVEPOLL_WAIT,
					  &args, i));
		ASSERT_EQ(1, ring_result(&self->ring, i));
		ASSERT_EQ(0, task_join(&task));
	}
}

TEST_F(uring, reads_its_arguments_when_it_begins)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);

	NEEDS_WAITS();
	if (variant->kind->sqe_flags & IOSQE_ASYNC ||
	    variant->kind->setup & IORING_SETUP_SQPOLL)
		SKIP(return, "nobody can tell when it begins");
	START_WAIT(&args, 1);
	memset(&args, 0xff, sizeof(args));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
}

TEST_F(uring, waits_into_the_mapping)
{
	struct devepoll_wait_args args = {
		.max_events = 2,
		.timeout = DEVEPOLL_FOREVER,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};
	struct devepoll_event *map = dep_map_events(self->set, 4096);

	NEEDS_WAITS();
	ASSERT_NE(MAP_FAILED, map);
	START_WAIT(&args, 1);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_result(&self->ring, 1));
	EXPECT_EVENT(map[0], self->event, EPOLLIN);
}

TEST_F(uring, waits_no_longer_than_it_is_told)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 20 * MS);
	uint64_t begun = now_ns();

	NEEDS_WAITS();
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_LE(20 * MS, now_ns() - begun);
	/* Its time-out ends with it. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, waits_until_a_point_in_time)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	uint64_t until = now_ns() + 20 * MS;

	NEEDS_WAITS();
	args.timeout = until;
	args.flags = DEVEPOLL_WAIT_ABSTIME;
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_LE(until, now_ns());
	args.timeout = 1;
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	args.timeout = 0;
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, waits_until_there_are_enough)
{
	struct devepoll_wait_args args = wait_args(self->out, 4, -1);
	int other = eventfd_new();
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .fd = other, .events = EPOLLIN, .data = 43,
	};

	NEEDS_WAITS();
	ASSERT_EQ(0, dep_change(self->set, &add));
	args.min_events = 2;
	START_WAIT(&args, 1);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(ring_waits(&self->ring));
	/* It waits for what is ready, not for what has happened. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, eventfd_post(other));
	ASSERT_EQ(2, ring_result(&self->ring, 1));
	EXPECT_EQ(42 + 43, self->out[0].data + self->out[1].data);
}

TEST_F(uring, takes_fewer_when_the_time_is_over)
{
	struct devepoll_wait_args args = wait_args(self->out, 4, 20 * MS);

	NEEDS_WAITS();
	args.min_events = 2;
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(self->out[0], self->event, EPOLLIN);
}

TEST_F(uring, is_told_of_what_is_added_while_it_waits)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD,
		.fd = eventfd_new(),
		.events = EPOLLOUT,
		.data = 42,
	};

	NEEDS_WAITS();
	START_WAIT(&args, 1);
	ASSERT_EQ(0, dep_change(self->set, &add));
	ASSERT_EQ(1, ring_result(&self->ring, 1));
	EXPECT_EVENT(self->out[0], add.fd, EPOLLOUT);
}

TEST_F(uring, stays_asleep_for_what_is_over)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	struct devepoll_event out;

	NEEDS_WAITS();
	START_WAIT(&args, 1);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	/* Whether it looked in between or not. */
	if (ring_waits(&self->ring)) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, ring_result(&self->ring, 1));
	}
	EXPECT_EQ(0, dep_wait(self->set, &out, 1, 0));
}

TEST_F(uring, gives_each_event_to_one_of_many_waits)
{
	struct devepoll_event out[8][1];
	struct devepoll_wait_args args[8];
	struct io_uring_cqe cqe;
	bool done[8] = {};
	int i;

	NEEDS_WAITS();
	for (i = 0; i < 8; i++) {
		args[i] = wait_args(out[i], 1, -1);
		START_WAIT(&args[i], i);
	}
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(1, cqe.res);
		ASSERT_GT(8, cqe.user_data);
		EXPECT_FALSE(done[cqe.user_data]);
		done[cqe.user_data] = true;
		EXPECT_EVENT(out[cqe.user_data][0], self->event, EPOLLIN);
		EXPECT_EQ(-EAGAIN, ring_peek(&self->ring, &cqe));
	}
}

/* Counts in @taken what has come to either ring. */
static int shared_taken(struct ring *ring, struct ring *other, int *taken)
{
	struct io_uring_cqe cqe;

	*taken += !ring_peek(ring, &cqe);
	*taken += !ring_peek(other, &cqe);
	return *taken;
}

TEST_F(uring, shares_a_set_with_rings_and_threads)
{
	struct devepoll_event out[2][1];
	struct devepoll_wait_args args[2] = {
		wait_args(out[0], 1, -1), wait_args(out[1], 1, -1),
	};
	struct ewaiter waiter = {};
	struct eset set;
	struct ring other;
	int i, taken = 0;

	NEEDS_WAITS();
	ASSERT_EQ(0, ring_open(&other, &ring_plain));
	ASSERT_EQ(0, eset_adopt(&set, &eset_devepoll, dup(self->set)));
	START_WAIT(&args[0], 1);
	ASSERT_EQ(0, ring_request(&other, self->set, DEVEPOLL_WAIT, &args[1],
				  2));
	ASSERT_EQ(0, ewaiter_start(&waiter, &set, -1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_TRUE(await(shared_taken(&self->ring, &other, &taken) +
				  ewaiters_done(&waiter, 1) == i + 1));
	}
	EXPECT_EQ(2, taken);
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(0, dep_wait(self->set, out[0], 1, 0));
	eset_close(&set);
	ring_close(&other);
}

TEST_HARNESS_MAIN
