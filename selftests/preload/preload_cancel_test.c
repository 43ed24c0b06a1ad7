// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: a wait is a cancellation point, as that of the C
 * library is.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_filter.h"
#include "core/fadvise_param.h"
#include "core/helpers.h"
#include "preload/preloaded.h"

#define CANCELED	42

static void exit_canceled(void *arg)
{
	(void)arg;
	_exit(CANCELED);
}

/* Cancels itself before a wait; the child of a fork(2) has no other thread. */
static void cancel_and_wait(int set, int ms)
{
	struct epoll_event out;

	pthread_cleanup_push(exit_canceled, NULL);
	pthread_cancel(pthread_self());
	epoll_wait(set, &out, 1, ms);
	pthread_cleanup_pop(0);
	_exit(0);
}

TEST(only_thread_can_cancel_itself)
{
	static const int times[] = { 0, 1000, -1 };
	int set = epoll_create1(0);
	int i, fd = eventfd_new();
	pid_t child;

	ASSERT_EQ(0, add(set, fd, EPOLLIN));
	for (i = 0; i < 6; i++) {
		/* With an event, and without. */
		if (i == 3)
			ASSERT_EQ(0, eventfd_post(fd));
		child = fork();
		ASSERT_LE(0, child);
		if (!child)
			cancel_and_wait(set, times[i % 3]);
		EXPECT_EQ(CANCELED, reap(child));
	}
	EXPECT_EQ(fd, ready(set));
}

static void *wait_for_ever(void *arg)
{
	struct epoll_event out;

	atomic_store((atomic_int *)arg, gettid());
	epoll_wait(early_set, &out, 1, -1);
	return NULL;
}

TEST(wait_of_a_thread_can_be_canceled_in_its_sleep)
{
	atomic_int tid = 0;
	pthread_t thread;
	void *result = NULL;

	NEEDS_THREADS();
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever, &tid));
	while (!atomic_load(&tid))
		sched_yield();
	ASSERT_EQ(0, await_sleep(tid, fadvise_param() == 'N' ? SYS_ioctl :
							      SYS_FADVISE));
	ASSERT_EQ(0, pthread_cancel(thread));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_TRUE(result == PTHREAD_CANCELED);
	EXPECT_TRUE(works(early_set));
}

TEST_HARNESS_MAIN
