// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_RING_WAIT: sleeping until there are events in the ring.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"
#include "core/timens.h"

#define SLOTS	16

FIXTURE(ring_wait) {
	struct ring ring;
	struct consumer me;
	int event;	/* in the set, an edge, trusted */
};

FIXTURE_SETUP(ring_wait)
{
	ASSERT_EQ(0, ring_open(&self->ring, 2, SLOTS))
		TH_LOG("no ring here");
	consumer_init(&self->me, &self->ring, 0);
	self->event = ring_add_eventfd(&self->ring);
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(ring_wait)
{
	ring_close(&self->ring);
}

/* A thread in one wait. */
struct sleeper {
	struct task task;
	struct ring *ring;
	int ms;
	uint32_t min;
};

static long sleeper_call(void *arg)
{
	struct sleeper *s = arg;

	return ring_wait_min(s->ring, s->ms, s->min);
}

static int sleeper_start(struct sleeper *s, struct ring *ring, int ms,
			 uint32_t min)
{
	int err;

	*s = (struct sleeper){ .ring = ring, .ms = ms, .min = min };
	err = task_start(&s->task, sleeper_call, s);
	return err ?: await_sleep(s->task.tid, eset_devepoll.wait_syscall);
}

TEST_F(ring_wait, returns_at_once_if_there_is_an_event)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_wait(&self->ring, -1));
	/* It takes nothing. */
	EXPECT_EQ(1, ring_wait(&self->ring, -1));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
}

TEST_F(ring_wait, sleeps_until_an_event)
{
	struct sleeper sleeper;

	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&sleeper.task));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->event));
}

TEST_F(ring_wait, sleeps_until_something_that_must_be_asked)
{
	struct sleeper sleeper;
	int fds[2], level = eventfd_new();

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, ring_add(&self->ring, fds[0], EPOLLIN));
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 0));
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(1, task_join(&sleeper.task));
	EXPECT_EQ(EPOLLHUP, consumer_take_one(&self->me, fds[0]));

	ASSERT_EQ(0, eset_add(&self->ring.set, level, EPOLLIN));
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 0));
	ASSERT_EQ(0, eventfd_post(level));
	EXPECT_EQ(1, task_join(&sleeper.task));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, level));
}

TEST_F(ring_wait, sleeps_until_an_fd_is_added_that_is_ready)
{
	int ready = eventfd_new();
	struct sleeper sleeper;

	ASSERT_EQ(0, eventfd_post(ready));
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 0));
	ASSERT_EQ(0, ring_add(&self->ring, ready, EPOLLIN));
	EXPECT_EQ(1, task_join(&sleeper.task));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, ready));
}

TEST_F(ring_wait, sleeps_on_if_what_woke_it_is_nothing)
{
	struct sleeper sleeper;
	int edge = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->ring.set, edge, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 0));
	/* Another consumer takes it, and may be faster. */
	ASSERT_EQ(0, eventfd_post(self->event));
	if (consumer_take(&self->me))
		ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&sleeper.task));
}

TEST_F(ring_wait, ends_when_its_time_is_over)
{
	uint64_t begun = now_ns();

	EXPECT_EQ(0, ring_wait(&self->ring, 30));
	EXPECT_LE(30 * NSEC_PER_MSEC, now_ns() - begun);
}

TEST_F(ring_wait, ends_at_a_point_in_time)
{
	struct devepoll_ring_wait_args args = {
		.timeout = now_ns() + 30 * NSEC_PER_MSEC,
		.flags = DEVEPOLL_WAIT_ABSTIME,
	};

	EXPECT_EQ(0, dep_request(self->ring.set.fd, DEVEPOLL_RING_WAIT,
				 &args));
	EXPECT_LE(args.timeout, now_ns());
	/* The past. */
	args.timeout = 1;
	EXPECT_EQ(0, dep_request(self->ring.set.fd, DEVEPOLL_RING_WAIT,
				 &args));
}

TEST_F(ring_wait, ends_at_a_point_in_time_of_its_namespace)
{
	struct devepoll_ring_wait_args args = {
		.flags = DEVEPOLL_WAIT_ABSTIME,
	};

	EXPECT_ENDS_IN_NAMESPACE(args.timeout,
				 dep_request(self->ring.set.fd,
					     DEVEPOLL_RING_WAIT, &args));
}

TEST_F(ring_wait, can_be_made_by_the_fast_path)
{
	struct devepoll_ring_wait_args args = { .timeout = 0 };

	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, dep_request_by_fadvise(self->ring.set.fd,
					    DEVEPOLL_RING_WAIT, &args));
}

TEST_F(ring_wait, waits_for_as_many_as_it_wants)
{
	int second = ring_add_eventfd(&self->ring);
	int third = ring_add_eventfd(&self->ring);
	struct sleeper sleeper;

	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 3));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(second));
	ASSERT_EQ(0, eventfd_post(second));
	ASSERT_EQ(0, await_sleep(sleeper.task.tid,
				 eset_devepoll.wait_syscall));
	ASSERT_EQ(0, eventfd_post(third));
	EXPECT_EQ(3, task_join(&sleeper.task));
	EXPECT_EQ(3, consumer_take(&self->me));
}

TEST_F(ring_wait, gives_less_when_its_time_is_over)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_wait_min(&self->ring, 20, 2));
	EXPECT_EQ(1, ring_wait_min(&self->ring, 0, 2));
	EXPECT_EQ(1, consumer_take(&self->me));
}

/* Some of them on the list: what is watched for its level stays there. */
TEST_F(ring_wait, waits_for_as_many_of_any_kind)
{
	struct sleeper sleeper;
	int fds[2], level = eventfd_new();

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, eset_add(&self->ring.set, level, EPOLLIN));
	ASSERT_EQ(0, ring_add(&self->ring, fds[0], EPOLLIN));
	ASSERT_EQ(0, eventfd_post(level));
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 3));
	ASSERT_EQ(0, close(fds[1]));
	ASSERT_EQ(0, await_sleep(sleeper.task.tid,
				 eset_devepoll.wait_syscall));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(3, task_join(&sleeper.task));
	EXPECT_EQ(3, consumer_take(&self->me));
}

static void on_signal(int signo)
{
}

static void catch_signal(int signo)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(signo, &action, NULL);
}

TEST_F(ring_wait, is_ended_by_a_signal)
{
	struct sleeper sleeper;

	catch_signal(SIGUSR1);
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 0));
	ASSERT_EQ(0, pthread_kill(sleeper.task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&sleeper.task));

	/* With less than it wants it has that. */
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 2));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, pthread_kill(sleeper.task.thread, SIGUSR1));
	EXPECT_EQ(1, task_join(&sleeper.task));
}

TEST_F(ring_wait, has_a_signal_mask_of_its_own)
{
	struct devepoll_ring_wait_args args = {
		.timeout = -1,
		.sigsetsize = 8,
	};
	sigset_t blocked, none, now;

	catch_signal(SIGUSR1);
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	args.sigmask = address_of(&none);
	ASSERT_EQ(0, sigprocmask(SIG_SETMASK, &blocked, NULL));
	ASSERT_EQ(0, raise(SIGUSR1));
	EXPECT_EQ(-EINTR, dep_request(self->ring.set.fd, DEVEPOLL_RING_WAIT,
				      &args));
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, NULL, &now));
	EXPECT_EQ(1, sigismember(&now, SIGUSR1));

	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, dep_request(self->ring.set.fd, DEVEPOLL_RING_WAIT,
				 &args));
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, NULL, &now));
	EXPECT_EQ(1, sigismember(&now, SIGUSR1));
}

/* How many of them have returned? */
static int sleepers_done(struct sleeper *s, int n)
{
	int done = 0;

	while (n--)
		done += atomic_load(&s[n].task.done);
	return done;
}

TEST_F(ring_wait, wakes_one_for_an_event_and_another_for_the_next)
{
	struct sleeper s[2];
	struct consumer c;
	uint64_t start;
	int done;

	ASSERT_EQ(0, sleeper_start(&s[0], &self->ring, -1, 0));
	ASSERT_EQ(0, sleeper_start(&s[1], &self->ring, -1, 0));
	start = now_ns();
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(sleepers_done(s, 2) > 0));
	/* It takes them, and is busy then. */
	consumer_init(&c, &self->ring, 0);
	EXPECT_EQ(EPOLLIN, consumer_take_one(&c, self->event));
	done = sleepers_done(s, 2);
	if (!may_be_given_up(start))
		EXPECT_EQ(1, done);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&s[0].task));
	EXPECT_EQ(1, task_join(&s[1].task));
}

/* One that was woken and takes nothing holds nothing back from others. */
TEST_F(ring_wait, wakes_another_if_who_came_does_not_take)
{
	struct sleeper s[2];

	ASSERT_EQ(0, sleeper_start(&s[0], &self->ring, -1, 0));
	ASSERT_EQ(0, sleeper_start(&s[1], &self->ring, -1, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&s[0].task));
	EXPECT_EQ(1, task_join(&s[1].task));
}

TEST_F(ring_wait, wakes_this_or_another_wait_but_not_both)
{
	struct ewaiter waiter;
	struct sleeper sleeper;
	bool quick = true;
	uint64_t start;
	int i, done;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->ring.set, -1));
	ASSERT_EQ(0, sleeper_start(&sleeper, &self->ring, -1, 0));
	for (i = 0; i < 2; i++) {
		start = now_ns();
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_TRUE(await((done = atomic_load(&waiter.task.done) +
				   atomic_load(&sleeper.task.done)) > i));
		quick = quick && !may_be_given_up(start);
		if (quick)
			EXPECT_EQ(i + 1, done);
		if (atomic_load(&sleeper.task.done))
			consumer_take(&self->me);
	}
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(1, task_join(&sleeper.task));
}

TEST_HARNESS_MAIN
