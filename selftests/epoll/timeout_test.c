// SPDX-License-Identifier: GPL-2.0
/*
 * How long a wait lasts: nanoseconds from now or up to a point in time.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/timens.h"

FIXTURE(timeout) {
	struct eset set;
	int event;
};

ESET_VARIANTS(timeout);

FIXTURE_SETUP(timeout)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(timeout)
{
	eset_close(&self->set);
}

/* What a wait of this many nanoseconds returns, and how many it took. */
static int wait_ns(struct eset *set, uint64_t ns, uint64_t *took)
{
	struct timespec timeout = {
		.tv_sec = ns / 1000000000,
		.tv_nsec = ns % 1000000000,
	};
	struct epoll_event out[2];
	uint64_t start = now_ns();
	int ret;

	ret = eset_pwait2(set, out, 2, &timeout, NULL);
	*took = now_ns() - start;
	return ret;
}

TEST_F(timeout, is_not_over_early)
{
	static const uint64_t times[] = {
		1, 10, 999, 1000, 1001, 99999, 100000, 123456, 999999,
		1000000, 1000001, 2000000, 4000001, 9999999, 50000000,
	};
	uint64_t took;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		EXPECT_EQ(0, wait_ns(&self->set, times[i], &took));
		EXPECT_LE(times[i], took) TH_LOG("after %llu ns",
						 (unsigned long long)times[i]);
	}
}

TEST_F(timeout, in_milliseconds_is_not_over_early)
{
	static const int times[] = { 1, 2, 3, 5, 10, 50 };
	uint64_t start;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		start = now_ns();
		EXPECT_EQ(-ENOMSG,
			  eset_wait_one(&self->set, self->event, times[i]));
		EXPECT_LE(times[i] * NSEC_PER_MSEC, now_ns() - start);
	}
}

/* Rounded up to milliseconds it could not be this short. */
TEST_F(timeout, is_finer_than_milliseconds)
{
	struct timespec brief = { .tv_nsec = 100000 }, tick;
	uint64_t start, took, wait = -1ULL, sleep = -1ULL;
	int i;

	/* As on the debug kernel, which finds no better clock in QEMU. */
	ASSERT_EQ(0, clock_getres(CLOCK_MONOTONIC, &tick));
	if (tick.tv_nsec > 1)
		SKIP(return, "the clock of this guest has but ticks");
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, wait_ns(&self->set, 100000, &took));
		wait = took < wait ? took : wait;
		start = now_ns();
		nanosleep(&brief, NULL);
		took = now_ns() - start;
		sleep = took < sleep ? took : sleep;
	}
	EXPECT_GT(sleep + NSEC_PER_MSEC / 2, wait);
}

TEST_F(timeout, of_0_does_not_sleep)
{
	long before = status_field(getpid(), "voluntary_ctxt_switches");
	uint64_t took;
	int i;

	ASSERT_LE(0, before);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, wait_ns(&self->set, 0, &took));
	/* Reading the field may itself sleep now and then. */
	EXPECT_GT(before + 10,
		  status_field(getpid(), "voluntary_ctxt_switches"));
}

TEST_F(timeout, that_is_huge_is_none)
{
	static const uint64_t times[] = { 1000000000000000000ULL, LLONG_MAX };
	uint64_t took;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, wait_ns(&self->set, times[i], &took));
	}
}

/* The waits by the device's own argument. */
FIXTURE(device) {
	struct eset set;
	int event;
};

FIXTURE_SETUP(device)
{
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(device)
{
	eset_close(&self->set);
}

struct timed {
	int fd;
	int64_t timeout;
	uint32_t flags;
	struct devepoll_event out[2];
};

static long timed_call(void *arg)
{
	struct timed *timed = arg;
	struct devepoll_wait_args args = {
		.events = address_of(timed->out),
		.max_events = 2,
		.timeout = timed->timeout,
		.flags = timed->flags,
	};

	return dep_request(timed->fd, DEVEPOLL_WAIT, &args);
}

TEST_F(device, waits_up_to_a_point_in_time)
{
	static const uint64_t times[] = { 1000, 100000, 1000000, 20000000 };
	struct timed timed = {
		.fd = self->set.fd,
		.flags = DEVEPOLL_WAIT_ABSTIME,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		timed.timeout = now_ns() + times[i];
		EXPECT_EQ(0, timed_call(&timed));
		EXPECT_LE(timed.timeout, now_ns());
	}
}

TEST_F(device, waits_up_to_a_point_in_time_of_its_namespace)
{
	struct timed timed = {
		.fd = self->set.fd,
		.flags = DEVEPOLL_WAIT_ABSTIME,
	};
	static const int64_t past[] = { 0, 1, NSEC_PER_MSEC };
	size_t i;

	EXPECT_ENDS_IN_NAMESPACE(timed.timeout, timed_call(&timed));
	ASSERT_EQ(0, timens_enter(TIMENS_LATER_NS));
	for (i = 0; i < ARRAY_SIZE(past); i++) {
		timed.timeout = past[i];
		EXPECT_EQ(0, timed_call(&timed));
	}
}

TEST_F(device, does_not_sleep_for_a_point_in_the_past)
{
	struct timed timed = {
		.fd = self->set.fd,
		.flags = DEVEPOLL_WAIT_ABSTIME,
	};
	const int64_t points[] = { 0, 1, now_ns() - 1, now_ns() / 2 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		timed.timeout = points[i];
		EXPECT_EQ(0, timed_call(&timed));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, timed_call(&timed));
	}
}

TEST_F(device, sleeps_for_ever_where_time_is_negative_or_huge)
{
	static const int64_t times[] = {
		DEVEPOLL_FOREVER, -2, -1000000000, INT64_MIN, INT64_MIN + 1,
		INT64_MAX, INT64_MAX - 1, INT64_MAX / 2,
	};
	struct timed timed = { .fd = self->set.fd };
	struct task task;
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(times); i++) {
		timed.timeout = times[i / 2];
		timed.flags = i & 1 ? DEVEPOLL_WAIT_ABSTIME : 0;
		ASSERT_EQ(0, task_start(&task, timed_call, &timed));
		ASSERT_EQ(0, await_sleep(task.tid, eset_devepoll.wait_syscall))
			TH_LOG("time-out %lld, flags %x",
			       (long long)timed.timeout, timed.flags);
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, task_join(&task));
	}
}

TEST_F(device, ends_at_a_point_in_time_though_woken_meanwhile)
{
	struct timed timed = {
		.fd = self->set.fd,
		.flags = DEVEPOLL_WAIT_ABSTIME,
	};
	struct task task;

	/* Woken by an event that is over before it looks, it sleeps on. */
	ASSERT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN));
	timed.timeout = now_ns() + 50 * NSEC_PER_MSEC;
	ASSERT_EQ(0, task_start(&task, timed_call, &timed));
	while (now_ns() < (uint64_t)timed.timeout &&
	       !atomic_load(&task.done)) {
		eset_mod(&self->set, self->event, EPOLLIN);
		pause_briefly();
	}
	EXPECT_EQ(0, task_join(&task));
	EXPECT_LE(timed.timeout, now_ns());
}

TEST_HARNESS_MAIN
