// SPDX-License-Identifier: GPL-2.0
/* libdevepoll: consumers of a ring that sleep. */
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "library/lib_ring.h"

struct sleeper {
	struct devepoll_consumer *consumer;
	int64_t timeout;
};

static long sleep_for_one(void *arg)
{
	struct sleeper *s = arg;

	return take_one(s->consumer, s->timeout);
}

static int start_sleeper(struct task *task, struct sleeper *s)
{
	return task_start(task, sleep_for_one, s) ?:
	       await_sleep(task->tid, fadvise_param() == 'N' ? SYS_ioctl :
							       SYS_FADVISE);
}

TEST_F(lib_ring, consumer_sleeps_until_an_event)
{
	struct sleeper s = { self->me, DEVEPOLL_FOREVER };
	int fd = add_trusted(self->set);
	struct task task;

	NEEDS_THREADS();
	ASSERT_EQ(0, start_sleeper(&task, &s));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, task_join(&task));
	/* With a limit that is far away, and with one that can't be told. */
	s.timeout = 1LL << 62;
	ASSERT_EQ(0, start_sleeper(&task, &s));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, task_join(&task));
	s.timeout = INT64_MAX;
	ASSERT_EQ(0, start_sleeper(&task, &s));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, task_join(&task));
}

TEST_F(lib_ring, consumer_sleeps_as_long_as_it_wants_to)
{
	uint64_t begin = now_ns();

	EXPECT_EQ(0, devepoll_events_consume(self->me, 20 * NSEC_PER_MSEC));
	EXPECT_LE(20 * NSEC_PER_MSEC, now_ns() - begin);
	EXPECT_EQ(0, devepoll_events_consume(self->me, 1));
}

static void on_signal(int signo)
{
	(void)signo;
}

TEST_F(lib_ring, signal_interrupts_a_consumer_that_sleeps)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };
	struct sleeper s = { self->me, DEVEPOLL_FOREVER };
	int fd = add_trusted(self->set);
	struct task task;

	NEEDS_THREADS();
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, start_sleeper(&task, &s));
	ASSERT_EQ(0, pthread_kill(task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&task));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, take_one(self->me, -1));
}

TEST_HARNESS_MAIN
