// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_CANCEL: waits of an io_uring that are cancelled by their cookies.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_cookie.h"
#include "uring/uring_set.h"
#include "uring/uring_shot.h"

#define MS		1000000LL
#define WAITS		4
#define COOKIE		0xfedcba9876543210ULL

/* Starts waits for one event each, with these cookies; their data are 0... */
#define START_WAITS(args, cookies)					\
	do {								\
		unsigned int __i;					\
									\
		for (__i = 0; __i < ARRAY_SIZE(cookies); __i++) {	\
			(args)[__i] = wait_args(&self->out[__i], 1, -1); \
			ASSERT_EQ(0, begin_wait(&self->ring, self->set,	\
						&(args)[__i],		\
						(cookies)[__i], __i));	\
			ASSERT_TRUE(ring_waits_for_all(&self->ring));	\
		}							\
	} while (0)

TEST_F(uring, cancels_the_one_that_has_the_cookie)
{
	const uint64_t cookies[] = { 1, COOKIE, 3, 0 };
	struct devepoll_wait_args args[WAITS];
	int i;

	NEEDS_WAITS();
	START_WAITS(args, cookies);
	ASSERT_EQ(1, cancel(self->set, COOKIE));
	EXPECT_EQ(-ECANCELED, ring_result(&self->ring, 1));
	EXPECT_EQ(0xa5a5a5a5a5a5a5a5, self->out[1].data);
	/* The others go on, in their order. */
	for (i = 0; i < WAITS; i++) {
		if (i == 1)
			continue;
		ASSERT_TRUE(ring_waits(&self->ring));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, ring_result(&self->ring, i));
		EXPECT_EVENT(self->out[i], self->event, EPOLLIN);
	}
}

TEST_F(uring, cancels_all_that_have_the_cookie)
{
	const uint64_t cookies[] = { COOKIE, COOKIE, COOKIE - 1, COOKIE };
	struct devepoll_wait_args args[WAITS];
	bool done[WAITS] = {};
	struct io_uring_cqe cqe;
	int i;

	NEEDS_WAITS();
	START_WAITS(args, cookies);
	ASSERT_EQ(3, cancel(self->set, COOKIE));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(-ECANCELED, cqe.res);
		ASSERT_GT(WAITS, cqe.user_data);
		EXPECT_FALSE(done[cqe.user_data]);
		done[cqe.user_data] = true;
	}
	EXPECT_FALSE(done[2]);
	EXPECT_TRUE(ring_waits(&self->ring));
	EXPECT_EQ(1, cancel(self->set, COOKIE - 1));
	EXPECT_EQ(-ECANCELED, ring_result(&self->ring, 2));
}

TEST_F(uring, finds_no_wait_that_is_over)
{
	struct devepoll_wait_args args = wait_args(self->out, 1, -1);
	int i;

	EXPECT_EQ(-ENOENT, cancel(self->set, COOKIE));
	/* This one never was pending. */
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, begin_wait(&self->ring, self->set, &args, COOKIE, 1));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
	EXPECT_EQ(-ENOENT, cancel(self->set, COOKIE));
	NEEDS_WAITS();
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, begin_wait(&self->ring, self->set, &args, COOKIE,
					i));
		ASSERT_TRUE(ring_waits_for_all(&self->ring));
		EXPECT_EQ(-ENOENT, cancel(self->set, COOKIE ^ 1));
		EXPECT_EQ(-ENOENT, cancel(self->set, COOKIE >> 32));
		EXPECT_TRUE(ring_waits(&self->ring));
		if (i == 1) {
			ASSERT_EQ(0, eventfd_post(self->event));
			EXPECT_EQ(1, ring_result(&self->ring, i));
		} else {
			EXPECT_EQ(1, cancel(self->set, COOKIE));
			EXPECT_EQ(-ECANCELED, ring_result(&self->ring, i));
		}
		EXPECT_EQ(-ENOENT, cancel(self->set, COOKIE));
	}
}

TEST_F(uring, finds_no_wait_of_another_set)
{
	struct devepoll_wait_args args = wait_args(self->out, 1, -1);
	int other = dep_open();

	NEEDS_WAITS();
	ASSERT_LE(0, other);
	ASSERT_EQ(0, begin_wait(&self->ring, self->set, &args, COOKIE, 1));
	ASSERT_TRUE(ring_waits_for_all(&self->ring));
	EXPECT_EQ(-ENOENT, cancel(other, COOKIE));
	EXPECT_TRUE(ring_waits(&self->ring));
	EXPECT_EQ(1, cancel(self->set, COOKIE));
	EXPECT_EQ(-ECANCELED, ring_result(&self->ring, 1));
	close(other);
}

TEST_F(uring, cancels_waits_by_a_command)
{
	struct devepoll_cancel arg = { .cookie = COOKIE };
	struct devepoll_wait_args args[2];
	struct io_uring_cqe cqe;
	int i;

	EXPECT_EQ(-ENOENT, ring_call(&self->ring, self->set, DEVEPOLL_CANCEL,
				     &arg));
	NEEDS_WAITS();
	if (variant->kind->sqe_flags & IOSQE_ASYNC)
		SKIP(return, "workers begin in any order");
	/* In one go: it finds what stands before it. */
	for (i = 0; i < 2; i++) {
		args[i] = wait_args(&self->out[i], 1, -1);
		ASSERT_NE(NULL, prepare_wait(&self->ring, self->set, &args[i],
					     COOKIE, i));
	}
	ASSERT_EQ(0, ring_request(&self->ring, self->set, DEVEPOLL_CANCEL,
				  &arg, 2));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(cqe.user_data == 2 ? 2 : -ECANCELED, cqe.res);
	}
}

TEST_F(uring, cancels_waits_of_every_kind)
{
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD,
		.fd = eventfd_new(),
		.events = EPOLLIN | EPOLLET,
		.data = 43,
	};
	struct devepoll_wait_args args[] = {
		wait_args(&self->out[0], 1, 3600 * 1000 * MS),
		wait_args(&self->out[1], 2, -1),
		wait_args(&self->out[3], 2, -1),
	};
	int i;

	NEEDS_WAITS();
	ASSERT_EQ(0, dep_change(self->set, &add));
	args[1].min_events = 2;
	args[2].min_events = 2;
	args[2].timeout = 3600 * 1000 * MS;
	/* The latter two have too little. */
	for (i = 0; i < 3; i++) {
		if (i)
			ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, begin_wait(&self->ring, self->set, &args[i],
					COOKIE, i));
		ASSERT_TRUE(ring_waits_for_all(&self->ring));
		ASSERT_EQ(1, cancel(self->set, COOKIE));
		EXPECT_EQ(-ECANCELED, ring_result(&self->ring, i));
	}
	/* The event is still there. */
	EXPECT_EQ(1, dep_wait(self->set, self->out, 2, 0));
	EXPECT_EVENT(self->out[0], self->event, EPOLLIN);
}

TEST_F(uring, cancels_one_among_many)
{
	static struct devepoll_wait_args args[1024];
	static struct devepoll_event out[ARRAY_SIZE(args)];
	const unsigned int kinds = 8;
	struct io_uring_cqe cqe;
	unsigned int i, kind;

	NEEDS_WAITS();
	for (i = 0; i < ARRAY_SIZE(args); i++) {
		args[i] = wait_args(&out[i], 1, -1);
		ASSERT_NE(NULL, prepare_wait(&self->ring, self->set, &args[i],
					     1 + i % kinds, i % kinds));
		if (i % 32 == 31) {
			ASSERT_EQ(0, ring_submit(&self->ring));
			ASSERT_TRUE(ring_waits_for_all(&self->ring));
		}
	}
	for (kind = 0; kind < kinds; kind++) {
		ASSERT_EQ(ARRAY_SIZE(args) / kinds,
			  cancel(self->set, 1 + kind));
		for (i = 0; i < ARRAY_SIZE(args) / kinds; i++) {
			ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
			ASSERT_EQ(kind, cqe.user_data);
			ASSERT_EQ(-ECANCELED, cqe.res);
		}
		EXPECT_TRUE(ring_waits(&self->ring));
	}
}

TEST_F(uring, cancels_waits_by_an_open_for_reading)
{
	struct devepoll_wait_args args = wait_args(self->out, 1, -1);
	int reader = dep_request(self->set, DEVEPOLL_REOPEN,
				 (void *)(uintptr_t)O_RDONLY);
	int sets[] = { self->set, reader };
	int i;

	ASSERT_LE(0, reader);
	EXPECT_EQ(-ENOENT, cancel(reader, COOKIE));
	NEEDS_WAITS();
	/* They are the process's own, whichever open began them. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, begin_wait(&self->ring, sets[i], &args, COOKIE,
					i));
		ASSERT_TRUE(ring_waits_for_all(&self->ring));
		EXPECT_EQ(1, cancel(sets[!i], COOKIE));
		EXPECT_EQ(-ECANCELED, ring_result(&self->ring, i));
	}
	close(reader);
}

/* Another process: it may not cancel those of its parent, but its own. */
static void child_cancel(int set, int reader, const struct ring_kind *kind)
{
	struct devepoll_event out[1];
	struct devepoll_wait_args args = wait_args(out, 1, -1);
	struct ring ring;

	if (cancel(set, COOKIE) != -ENOENT || cancel(reader, COOKIE) != -ENOENT)
		_exit(1);
	if (ring_open(&ring, kind) ||
	    begin_wait(&ring, reader, &args, COOKIE, 1) ||
	    !ring_waits_for_all(&ring))
		_exit(2);
	if (cancel(reader, COOKIE) != 1 || ring_result(&ring, 1) != -ECANCELED)
		_exit(3);
	_exit(0);
}

TEST_F(uring, is_cancelled_by_no_other_process)
{
	struct devepoll_wait_args args = wait_args(self->out, 1, -1);
	int reader = dep_request(self->set, DEVEPOLL_REOPEN,
				 (void *)(uintptr_t)O_RDONLY);
	pid_t pid;

	NEEDS_WAITS();
	ASSERT_LE(0, reader);
	ASSERT_EQ(0, begin_wait(&self->ring, self->set, &args, COOKIE, 1));
	ASSERT_TRUE(ring_waits_for_all(&self->ring));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		child_cancel(self->set, reader, variant->kind);
	EXPECT_EQ(0, reap(pid));
	EXPECT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
	close(reader);
}

static long cancel_when_told(void *arg)
{
	struct racer *racer = arg;

	while (!atomic_load(&racer->start))
		;
	return cancel(racer->event, COOKIE);
}

#define RACES		100

/* Its racers start together; @cancelled: what the cancelling one says. */
#define RACE(cancelled)							\
	do {								\
		struct racer poster = { .event = self->event };		\
		struct racer canceller = { .event = self->set };	\
		struct task tasks[2];					\
									\
		ASSERT_EQ(0, task_start(&tasks[0], post_when_told,	\
					&poster));			\
		ASSERT_EQ(0, task_start(&tasks[1], cancel_when_told,	\
					&canceller));			\
		atomic_store(&poster.start, 1);				\
		atomic_store(&canceller.start, 1);			\
		ASSERT_EQ(0, task_join(&tasks[0]));			\
		(cancelled) = task_join(&tasks[1]);			\
	} while (0)

TEST_F(uring, is_cancelled_or_takes_the_event)
{
	struct devepoll_wait_args args = wait_args(self->out, 1, -1);
	struct io_uring_cqe cqe;
	int i, taken = 0;
	long cancelled;

	NEEDS_WAITS();
	for (i = 0; i < RACES / slowness(); i++) {
		ASSERT_EQ(0, begin_wait(&self->ring, self->set, &args, COOKIE,
					i));
		ASSERT_TRUE(ring_waits_for_all(&self->ring));
		RACE(cancelled);
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		ASSERT_EQ(i, cqe.user_data);
		ASSERT_TRUE(cancelled == 1 || cancelled == -ENOENT);
		ASSERT_TRUE(cqe.res == 1 ||
			    (cqe.res == -ECANCELED && cancelled == 1));
		/* One completion, and one event, here or there. */
		EXPECT_TRUE(ring_waits(&self->ring));
		ASSERT_EQ(cqe.res == 1 ? 0 : 1,
			  dep_wait(self->set, &self->out[1], 1, 0));
		taken += cqe.res == 1;
	}
	TH_LOG("%d of %d waits took the event", taken, i);
}

/* A wait that was woken for it and cancelled passes it on. */
TEST_F(uring, leaves_the_event_to_the_next_wait)
{
	struct devepoll_wait_args args[2] = {
		wait_args(&self->out[0], 1, -1),
		wait_args(&self->out[1], 1, -1),
	};
	struct io_uring_cqe cqe;
	int results[2];
	long cancelled;
	int i, j;

	NEEDS_WAITS();
	for (i = 0; i < RACES / slowness(); i++) {
		/* The first one is cancelled. */
		for (j = 0; j < 2; j++) {
			ASSERT_EQ(0, begin_wait(&self->ring, self->set,
						&args[j], j ? 0 : COOKIE, j));
			ASSERT_TRUE(ring_waits_for_all(&self->ring));
			results[j] = 0;
		}
		RACE(cancelled);
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		ASSERT_GT(2, cqe.user_data);
		results[cqe.user_data] = cqe.res;
		/* If the first one took the event, the other needs one. */
		if (results[0] == 1)
			ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		ASSERT_GT(2, cqe.user_data);
		ASSERT_EQ(0, results[cqe.user_data]);
		results[cqe.user_data] = cqe.res;
		ASSERT_TRUE(results[0] == 1 ||
			    (results[0] == -ECANCELED && cancelled == 1));
		ASSERT_EQ(1, results[1]);
	}
	EXPECT_EQ(0, dep_wait(self->set, self->out, 1, 0));
}

static long begin_and_end(void *arg)
{
	struct racer *racer = arg;
	struct devepoll_wait_args args[8];
	struct devepoll_event out[8];
	struct ring ring;
	int i, err;

	for (i = 0; i < 8; i++)
		args[i] = wait_args(&out[i], 1, -1);
	while (!atomic_load(&racer->start)) {
		err = ring_open(&ring, &ring_plain);
		for (i = 0; !err && i < 8; i++)
			err = begin_wait(&ring, racer->event, &args[i], COOKIE,
					 i);
		if (err)
			return err;
		ring_close(&ring);
	}
	return 0;
}

TEST(a_ring_that_goes_meanwhile_leaves_nothing_behind)
{
	struct racer racer = { .event = dep_open() };
	uint64_t end = now_ns() + 1000 * MS;
	struct task task;
	long references;

	NEEDS_WAITS();
	ASSERT_LE(0, racer.event);
	references = module_references();
	ASSERT_EQ(0, task_start(&task, begin_and_end, &racer));
	while (now_ns() < end)
		cancel(racer.event, COOKIE);
	atomic_store(&racer.start, 1);
	ASSERT_EQ(0, task_join(&task));
	EXPECT_TRUE(await(cancel(racer.event, COOKIE) == -ENOENT));
	close(racer.event);
	EXPECT_TRUE(await(module_references() < references));
}

TEST_F(uring_shot, ends_when_it_is_cancelled)
{
	struct io_uring_sqe *sqe;
	int i;

	for (i = 0; i < BUFFERS; i++)
		GIVE(i);
	for (i = 0; i < 2; i++) {
		sqe = prepare_wait(&self->ring, self->set, &self->args, COOKIE,
				   SHOT);
		ASSERT_NE(NULL, sqe);
		sqe->rw_flags = IORING_URING_CMD_MULTISHOT;
		sqe->flags |= IOSQE_BUFFER_SELECT;
		sqe->buf_group = RING_GROUP;
		ASSERT_EQ(0, ring_submit(&self->ring));
		ASSERT_TRUE(ring_waits_for_all(&self->ring));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_SHOT(self->event, EPOLLIN, 42);
		ASSERT_TRUE(ring_waits(&self->ring));
		ASSERT_EQ(1, cancel(self->set, COOKIE));
		EXPECT_EQ(-ECANCELED, last_shot(&self->ring));
		EXPECT_EQ(-ENOENT, cancel(self->set, COOKIE));
	}
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(ring_waits(&self->ring));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 8, 0));
}

TEST_HARNESS_MAIN
