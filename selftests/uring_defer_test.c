// SPDX-License-Identifier: GPL-2.0
/*
 * Waits of rings whose completions come only when their task enters: they keep
 * nothing from those who can come.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring_ring.h"

/* A relay that looks who has come would take no longer. */
#define AT_ONCE_NS	(200 * NSEC_PER_MSEC)

static const struct ring_kind deferred = {
	.name = "deferred",
	.setup = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE(uring_defer) {
	struct ring ring;
	struct eset set;
	int event;
	struct devepoll_event out[1];
	struct devepoll_wait_args args;
};

FIXTURE_SETUP(uring_defer)
{
	NEEDS_WAITS();
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll));
	ASSERT_EQ(0, ring_open(&self->ring, &deferred));
	self->args = wait_args(self->out, 1, -1);
}

FIXTURE_TEARDOWN(uring_defer)
{
	ring_close(&self->ring);
	eset_close(&self->set);
}

/* How long it takes a thread that sleeps to have the event, or -errno. */
static int64_t post_to(struct ewaiter *waiter, int event)
{
	uint64_t start = now_ns();
	int ret = eventfd_post(event);

	if (!ret && !await(atomic_load(&waiter->task.done)))
		ret = -ETIMEDOUT;
	return ret ?: (int64_t)(now_ns() - start);
}

TEST_F(uring_defer, leaves_events_to_a_thread_while_its_task_is_elsewhere)
{
	struct ewaiter waiter;
	int64_t took;
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, ring_request(&self->ring, self->set.fd, DEVEPOLL_WAIT,
				  &self->args, 1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
		took = post_to(&waiter, self->event);
		TH_LOG("the thread has it after %ld us", (long)took / 1000);
		EXPECT_LE(0, took);
		EXPECT_GT(AT_ONCE_NS, took);
		EXPECT_EQ(1, ewaiter_join(&waiter));
	}
	/* It is still there, and takes the next. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
}

TEST_F(uring_defer, leaves_exclusive_events_to_another_set)
{
	const uint32_t events = EPOLLIN | EPOLLET | EPOLLEXCLUSIVE;
	struct ewaiter waiter;
	struct eset other;
	int64_t took;
	int i;

	ASSERT_EQ(0, eset_open(&other, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&self->set, self->event, events));
	ASSERT_EQ(0, eset_add(&other, self->event, events));
	for (i = 0; i < 3; i++) {
		/* Each takes its turn, so the ring is first once. */
		ASSERT_EQ(0, ring_request(&self->ring, self->set.fd,
					  DEVEPOLL_WAIT, &self->args, i));
		ASSERT_EQ(0, ewaiter_start(&waiter, &other, -1));
		took = post_to(&waiter, self->event);
		EXPECT_LE(0, took);
		EXPECT_GT(AT_ONCE_NS, took);
		EXPECT_EQ(1, ewaiter_join(&waiter));
	}
	eset_close(&other);
}

/* Waits in a ring of its own, inside the kernel. */
struct enterer {
	struct eset set;
	struct task task;
};

static long enter(void *arg)
{
	struct enterer *enterer = arg;
	struct devepoll_event out[1];
	struct devepoll_wait_args args = wait_args(out, 1, -1);
	struct ring ring;
	long ret;

	ret = ring_open(&ring, &deferred);
	if (ret)
		return ret;
	ret = ring_request(&ring, enterer->set.fd, DEVEPOLL_WAIT, &args, 1);
	ret = ret ?: ring_result(&ring, 1);
	ring_close(&ring);
	return ret;
}

TEST_F(uring_defer, takes_its_turn_while_its_task_waits_in_it)
{
	struct enterer enterer = { .set = self->set };
	struct ewaiter waiter;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, task_start(&enterer.task, enter, &enterer));
	ASSERT_EQ(0, await_sleep(enterer.task.tid, __NR_io_uring_enter));
	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&enterer.task));
	EXPECT_TRUE(ewaiter_undisturbed(&waiter));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ewaiter_join(&waiter));
}

TEST_HARNESS_MAIN
