// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: time-outs, signals, and the argument of EP_POLL when it can't be
 * read or written.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "classic/handled.h"

FIXTURE(wait) {
	struct set set;
	int event;
};

BACKEND_VARIANTS(wait);

FIXTURE_SETUP(wait)
{
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 600));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
}

FIXTURE_TEARDOWN(wait)
{
	set_close(&self->set);
}

/*
 * Killed and told of an event before it runs again: the sender of both has a
 * real-time priority and the same CPU.
 */
static int post_and_kill(pid_t pid, int event)
{
	struct sched_param fifo = { .sched_priority = 1 }, none = {};
	int ret;

	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return -errno;
	ret = eventfd_post(event) ?: kill(pid, SIGKILL);
	return sched_setscheduler(0, SCHED_OTHER, &none) ? -errno : ret;
}

TEST_F(wait, that_is_killed_takes_no_event_along)
{
	struct pollfd out[2];
	pid_t child;

	if (geteuid())
		SKIP(return, "not root");
	ASSERT_EQ(0, pin_to_cpu(0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(set_wait(&self->set, out, 2, -1));
	ASSERT_EQ(0, await_sleep(child, self->set.ops->wait_syscall));
	ASSERT_EQ(0, post_and_kill(child, self->event));
	ASSERT_EQ(128 + SIGKILL, reap(child));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
}

TEST_F(wait, never_ends_before_its_time)
{
	static const int times[] = { 1, 1, 1, 2, 3, 5, 7, 10, 20, 33, 50 };
	uint64_t start, end;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		start = now_ns();
		EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, self->event,
						times[i]));
		end = now_ns();
		EXPECT_LE(times[i] * NSEC_PER_MSEC, end - start)
			TH_LOG("time-out %d ms", times[i]);
	}
}

/* Lowers @least to what a wait or, without @set, a sleep of 1 ms takes. */
static void time_wait(struct set *set, int event, uint64_t *least)
{
	struct timespec ms = { .tv_nsec = NSEC_PER_MSEC };
	uint64_t start = now_ns();

	if (set)
		set_wait_one(set, event, 1);
	else
		nanosleep(&ms, NULL);
	start = now_ns() - start;
	if (start < *least)
		*least = start;
}

/*
 * Rounded up to clock ticks, which are 4 ms, it would take longer than a sleep
 * does; but in a guest whose own timers tick, a sleep takes as long.
 */
TEST_F(wait, is_timed_finer_than_clock_ticks)
{
	uint64_t sleep = -1ULL, wait = -1ULL;
	int i;

	for (i = 0; i < 30; i++) {
		time_wait(NULL, 0, &sleep);
		time_wait(&self->set, self->event, &wait);
	}
	EXPECT_LE(NSEC_PER_MSEC, wait);
	EXPECT_GT(sleep + NSEC_PER_MSEC, wait);
}

/* How often this thread has slept, with everything that it calls in memory. */
static long sleeps_so_far(struct set *set, int event)
{
	eventfd_post(event);
	set_wait_one(set, event, 0);
	return status_field(getpid(), "voluntary_ctxt_switches");
}

TEST_F(wait, of_no_time_sleeps_not_at_all)
{
	long before;
	int i;

	sleeps_so_far(&self->set, self->event);
	before = sleeps_so_far(&self->set, self->event);
	ASSERT_LE(0, before);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(-ENOMSG, set_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	/* Reading the field may itself sleep now and then. */
	EXPECT_GT(before + 10,
		  status_field(getpid(), "voluntary_ctxt_switches"));
}

TEST_F(wait, with_events_pending_sleeps_not_at_all)
{
	static const int times[] = { -1, 0, 1, 1000, INT_MAX, INT_MIN };
	long before;
	size_t i, n;

	sleeps_so_far(&self->set, self->event);
	before = sleeps_so_far(&self->set, self->event);
	ASSERT_LE(0, before);
	for (n = 0; n < 10 * ARRAY_SIZE(times); n++) {
		i = n % ARRAY_SIZE(times);
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(POLLIN,
			  set_wait_one(&self->set, self->event, times[i]));
	}
	/* One that sleeps for any of the times would sleep ten times. */
	EXPECT_GT(before + 10,
		  status_field(getpid(), "voluntary_ctxt_switches"));
}

TEST_F(wait, ends_when_an_event_comes)
{
	static const int times[] = { -1, -2, INT_MIN, INT_MAX, 1000000 };
	struct waiter waiter;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		ASSERT_EQ(0, waiter_start(&waiter, &self->set, times[i]));
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, waiter_join(&waiter));
		EXPECT_EQ(self->event, waiter.out[0].fd);
		EXPECT_EQ(POLLIN, waiter.out[0].revents);
	}
}

TEST_F(wait, sleeps_on_when_what_comes_was_not_asked_for)
{
	struct waiter waiter;
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, fill(fds[1]));
	ASSERT_EQ(0, set_add(&self->set, fds[1], POLLPRI));
	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, empty(fds[0]));
	EXPECT_TRUE(task_undisturbed(&waiter.task));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(self->event, waiter.out[0].fd);
}

TEST_F(wait, ends_with_what_is_added_meanwhile)
{
	struct waiter waiter;
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
	ASSERT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(fds[0], waiter.out[0].fd);
}

TEST_F(wait, is_interrupted_by_a_signal)
{
	struct waiter waiter;
	int i;

	for (i = 0; i < 4; i++) {
		/* Never restarted, whatever the handler requests. */
		ASSERT_EQ(0, handle(SIGUSR1, handler, i & 1 ? SA_RESTART : 0));
		ASSERT_EQ(0, waiter_start(&waiter, &self->set,
					  i & 2 ? 1000000 : -1));
		ASSERT_EQ(0, pthread_kill(waiter.task.thread, SIGUSR1));
		EXPECT_EQ(-EINTR, waiter_join(&waiter));
		EXPECT_EQ(1, atomic_load(&handled));
	}
}

TEST_F(wait, is_interrupted_by_stop_and_continue)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(set_wait_one(&self->set, self->event, -1) == -EINTR ?
		      0 : 1);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, await_sleep(pid, self->set.ops->wait_syscall));
	ASSERT_EQ(0, kill(pid, SIGSTOP));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	EXPECT_EQ(0, reap(pid));
}

TEST_F(wait, is_not_disturbed_by_signals_that_nobody_handles)
{
	struct waiter waiter;

	ASSERT_EQ(0, handle(SIGUSR1, SIG_IGN, 0));
	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, pthread_kill(waiter.task.thread, SIGUSR1));
	ASSERT_EQ(0, pthread_kill(waiter.task.thread, SIGWINCH));
	EXPECT_TRUE(task_undisturbed(&waiter.task));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, waiter_join(&waiter));
}

TEST_F(wait, that_was_interrupted_loses_no_event)
{
	struct waiter waiter;
	int i;

	ASSERT_EQ(0, handle(SIGUSR1, handler, 0));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
		ASSERT_EQ(0, pthread_kill(waiter.task.thread, SIGUSR1));
		ASSERT_EQ(-EINTR, waiter_join(&waiter));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	}
}

/*
 * Both are there before the waiter can run: it shares its CPU with this
 * thread, which real-time priority keeps from being preempted.
 */
TEST_F(wait, prefers_the_event_to_a_signal)
{
	struct sched_param fifo = { .sched_priority = 1 };
	struct sched_param other = { .sched_priority = 0 };
	struct waiter waiter;
	int i;

	ASSERT_EQ(0, handle(SIGUSR1, handler, 0));
	ASSERT_EQ(0, pin_to_cpu(0));
	for (i = 0; i < 4; i++) {
		atomic_store(&handled, 0);
		ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
		ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &fifo));
		if (i & 1)
			pthread_kill(waiter.task.thread, SIGUSR1);
		eventfd_post(self->event);
		if (!(i & 1))
			pthread_kill(waiter.task.thread, SIGUSR1);
		ASSERT_FALSE(atomic_load(&waiter.task.done));
		ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &other));
		EXPECT_EQ(1, waiter_join(&waiter));
		EXPECT_EQ(self->event, waiter.out[0].fd);
		EXPECT_EQ(1, atomic_load(&handled));
	}
}

TEST_F(wait, by_a_child_gets_the_event_of_the_parent)
{
	pid_t pid = fork();

	if (!pid)
		_exit(set_wait_one(&self->set, self->event, -1) == POLLIN ?
		      0 : 1);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, await_sleep(pid, self->set.ops->wait_syscall));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, reap(pid));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_HARNESS_MAIN
