// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll, epoll's calls under a prefix: cancellation, compared with
 * epoll's own.
 */
#include <pthread.h>

#include "kselftest_harness.h"

#include "library/lib_waits.h"

CALLS_FIXTURE(epoll)

/* gcc's address sanitizer takes the unwound stack for an overflow. */
#ifdef __SANITIZE_ADDRESS__
#define BEARS_CANCELLATION	false
#else
#define BEARS_CANCELLATION	true
#endif

TEST_F(epoll, blocked_wait_is_cancelled)
{
	struct wait_task w;
	void *result;
	int way;

	NEEDS_THREADS();
	if (!BEARS_CANCELLATION)
		SKIP(return, "the sanitizer does not bear it");
	for (way = 0; way < NR_WAYS; way++) {
		ASSERT_EQ(0, wait_task_start(&w, variant->calls, way,
					     self->set, -1));
		ASSERT_EQ(0, pthread_cancel(w.task.thread));
		ASSERT_EQ(0, pthread_join(w.task.thread, &result));
		EXPECT_TRUE(result == PTHREAD_CANCELED)
			TH_LOG("%s", way_names[way]);
	}
	/* The set survives it. */
	EXPECT_EQ(0, wait_by(variant->calls, WAIT, self->set, &w.out, 0, NULL));
}

struct cancelled {
	const struct calls *calls;
	enum way way;
	int set;
	bool disabled;
	bool passed;
};

static void *cancel_oneself(void *arg)
{
	struct cancelled *c = arg;
	struct epoll_event out;

	if (c->disabled)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	wait_by(c->calls, c->way, c->set, &out, 0, NULL);
	c->passed = true;
	return NULL;
}

TEST_F(epoll, wait_that_does_not_sleep_is_a_cancellation_point_too)
{
	pthread_t thread;
	void *result;
	int i;

	NEEDS_THREADS();
	if (!BEARS_CANCELLATION)
		SKIP(return, "the sanitizer does not bear it");
	for (i = 0; i < 2 * NR_WAYS; i++) {
		struct cancelled c = {
			.calls = variant->calls,
			.way = i / 2,
			.set = self->set,
			.disabled = i % 2,
		};

		ASSERT_EQ(0, pthread_create(&thread, NULL, cancel_oneself,
					    &c));
		ASSERT_EQ(0, pthread_join(thread, &result));
		EXPECT_EQ(c.disabled, c.passed);
		EXPECT_EQ(c.disabled, result != PTHREAD_CANCELED);
	}
}

static void *change_cancelled(void *arg)
{
	struct cancelled *c = arg;
	int fd = eventfd_new();

	pthread_cancel(pthread_self());
	c->set = c->calls->create1(EPOLL_CLOEXEC);
	add(c->calls, c->set, fd, EPOLLIN);
	c->calls->ctl(c->set, EPOLL_CTL_DEL, fd, NULL);
	c->passed = true;
	return NULL;
}

TEST_F(epoll, changing_a_set_is_no_cancellation_point)
{
	struct cancelled c = { .calls = variant->calls, .set = -1 };
	pthread_t thread;

	NEEDS_THREADS();
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_cancelled, &c));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_TRUE(c.passed);
	EXPECT_EQ(0, close(c.set));
}

TEST_HARNESS_MAIN
