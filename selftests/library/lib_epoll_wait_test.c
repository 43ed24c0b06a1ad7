// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll, epoll's calls under a prefix: time-outs, signals, threads and
 * processes, compared with epoll's own.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "library/lib_waits.h"

CALLS_FIXTURE(epoll)

TEST_F(epoll, wait_is_never_over_early)
{
	static const int ms[] = { 0, 1, 20 };
	struct epoll_event out;
	sigset_t mask;
	uint64_t begin;
	int i;

	sigemptyset(&mask);
	for (i = 0; i < 3 * NR_WAYS; i++) {
		begin = now_ns();
		EXPECT_EQ(0, wait_by(variant->calls, i / 3, self->set, &out,
				     ms[i % 3], &mask));
		EXPECT_LE(ms[i % 3] * NSEC_PER_MSEC, now_ns() - begin);
		EXPECT_EQ(0x5a5a5a5a, out.events);
	}
}

TEST_F(epoll, nanoseconds_are_kept_and_a_long_time_does_not_overflow)
{
	struct timespec time = { .tv_nsec = 1500 };
	uint64_t begin = now_ns();
	struct epoll_event out;
	int fd = eventfd_new();

	EXPECT_EQ(0, result_of(variant->calls->pwait2(self->set, &out, 1,
						      &time, NULL)));
	EXPECT_LE(1500, now_ns() - begin);

	time.tv_sec = LONG_MAX;
	time.tv_nsec = 999999999;
	ASSERT_EQ(0, add(variant->calls, self->set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, result_of(variant->calls->pwait2(self->set, &out, 1,
						      &time, NULL)));
}

TEST_F(epoll, wait_without_limit_ends_with_an_event)
{
	struct wait_task w;
	int way, fd;

	NEEDS_THREADS();
	for (way = 0; way < NR_WAYS; way++) {
		fd = eventfd_new();
		ASSERT_EQ(0, add(variant->calls, self->set, fd,
				 EPOLLIN | EPOLLET));
		ASSERT_EQ(0, wait_task_start(&w, variant->calls, way,
					     self->set, -1));
		ASSERT_EQ(0, eventfd_post(fd));
		EXPECT_EQ(1, task_join(&w.task))
			TH_LOG("%s", way_names[way]);
		EXPECT_EQ(EPOLLIN, w.out.events);
		EXPECT_EQ(fd, w.out.data.fd);
		EXPECT_EQ(PTHREAD_CANCEL_DEFERRED, w.type_after);
	}
}

static atomic_int handled;

static void count_signal(int sig)
{
	(void)sig;
	handled++;
}

static int handle_restarting(int sig)
{
	struct sigaction sa = {
		.sa_handler = count_signal,
		.sa_flags = SA_RESTART,
	};

	handled = 0;
	return sigaction(sig, &sa, NULL);
}

TEST_F(epoll, signal_interrupts_a_wait_that_is_not_restarted)
{
	struct wait_task w;
	int way;

	NEEDS_THREADS();
	ASSERT_EQ(0, handle_restarting(SIGUSR1));
	for (way = 0; way < NR_WAYS; way++) {
		ASSERT_EQ(0, wait_task_start(&w, variant->calls, way,
					     self->set, -1));
		ASSERT_EQ(0, pthread_kill(w.task.thread, SIGUSR1));
		EXPECT_EQ(-EINTR, task_join(&w.task))
			TH_LOG("%s", way_names[way]);
		EXPECT_EQ(way + 1, handled);
		EXPECT_EQ(PTHREAD_CANCEL_DEFERRED, w.type_after);
	}
}

TEST_F(epoll, signal_mask_is_in_force_for_the_wait_alone)
{
	static const enum way ways[] = { PWAIT_MASK, PWAIT2 };
	struct epoll_event out;
	sigset_t none, all, now;
	int i;

	sigemptyset(&none);
	sigfillset(&all);
	ASSERT_EQ(0, handle_restarting(SIGUSR1));
	for (i = 0; i < 2; i++) {
		/* A signal that is blocked outside is let in. */
		ASSERT_EQ(0, sigprocmask(SIG_SETMASK, &all, NULL));
		ASSERT_EQ(0, raise(SIGUSR1));
		EXPECT_EQ(2 * i, handled);
		EXPECT_EQ(-EINTR, wait_by(variant->calls, ways[i], self->set,
					  &out, -1, &none));
		EXPECT_EQ(2 * i + 1, handled);
		ASSERT_EQ(0, sigprocmask(SIG_SETMASK, NULL, &now));
		EXPECT_EQ(1, sigismember(&now, SIGUSR1));

		/* A signal not blocked outside is kept out, stays pending. */
		ASSERT_EQ(0, raise(SIGUSR1));
		EXPECT_EQ(0, wait_by(variant->calls, ways[i], self->set, &out,
				     1, &all));
		EXPECT_EQ(2 * i + 1, handled);
		ASSERT_EQ(0, sigprocmask(SIG_SETMASK, &none, NULL));
		EXPECT_EQ(2 * i + 2, handled);
	}
}

/* More than the kernel takes at a time, and than one page of events holds. */
#define CROWD	40

/* Pages that nobody has touched; events begin near the end of the first. */
static struct epoll_event *untouched_events(int prot)
{
	char *pages = mmap(NULL, 2 * 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	return (void *)(pages + 4096 - 20 * sizeof(struct epoll_event));
}

static void forget_events(struct epoll_event *events)
{
	munmap((char *)events + 20 * sizeof(*events) - 4096, 2 * 4096);
}

static void expect_each_once(struct __test_metadata *_metadata,
			     const struct calls *calls, int set, int nr)
{
	struct epoll_event *out = untouched_events(PROT_READ | PROT_WRITE);
	struct epoll_event *bad = untouched_events(PROT_READ);
	int fds[CROWD], i, got, seen[CROWD] = { 0 };

	ASSERT_TRUE(!!out);
	ASSERT_TRUE(!!bad);
	for (i = 0; i < nr; i++) {
		fds[i] = eventfd_new();
		ASSERT_EQ(0, add(calls, set, fds[i], EPOLLIN | EPOLLET));
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	EXPECT_EQ(-EFAULT, result_of(calls->wait(set, bad, CROWD, 0)));
	EXPECT_EQ(-EFAULT, result_of(calls->wait(set, bad, CROWD, -1)));
	got = calls->wait(set, out, CROWD, 0);
	EXPECT_EQ(nr, got);
	for (i = 0; i < got; i++) {
		int j;

		for (j = 0; j < nr; j++)
			seen[j] += out[i].data.fd == fds[j];
	}
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(1, seen[i]);
		close(fds[i]);
	}
	forget_events(out);
	forget_events(bad);
}

TEST_F(epoll, edge_survives_memory_that_is_not_there)
{
	expect_each_once(_metadata, variant->calls, self->set, 1);
}

TEST_F(epoll, edges_survive_memory_that_is_not_there)
{
	expect_each_once(_metadata, variant->calls, self->set, CROWD);
}

TEST_F(epoll, two_edges_survive_memory_that_is_not_there)
{
	expect_each_once(_metadata, variant->calls, self->set, 2);
}

/*
 * Level-triggered, one-shot and edge-triggered, in turn.  Edges in a ring come
 * before the others.
 */
TEST_F(epoll, two_events_come_in_their_order_after_memory_was_short)
{
	static const uint32_t modes[] = { 0, EPOLLONESHOT, EPOLLET };
	const struct calls *calls = variant->calls;
	struct epoll_event *bad = untouched_events(PROT_READ), out[2], *edge;
	const int nr = getenv("DEVEPOLL_RING") ? 2 : 3;
	int fds[2], i, j;

	ASSERT_TRUE(!!bad);
	/* Room for one event and a half, before memory without write access. */
	edge = (void *)((char *)bad + 20 * sizeof(*bad) - sizeof(*bad) * 3 / 2);
	ASSERT_EQ(0, mprotect((char *)bad + 20 * sizeof(*bad) - 4096, 4096,
			      PROT_READ | PROT_WRITE));
	bad += 20;
	for (i = 0; i < nr * nr; i++) {
		for (j = 0; j < 2; j++) {
			fds[j] = eventfd_new();
			ASSERT_EQ(0, add(calls, self->set, fds[j], EPOLLIN |
					 modes[j ? i / nr : i % nr]));
			ASSERT_EQ(0, eventfd_post(fds[j]));
		}
		EXPECT_EQ(-EFAULT,
			  result_of(calls->wait(self->set, bad, 2, 0)));
		EXPECT_EQ(1, calls->wait(self->set, edge, 2, 0));
		EXPECT_EQ(fds[0], edge->data.fd);
		ASSERT_EQ(0, close(fds[0]));
		EXPECT_EQ(1, calls->wait(self->set, out, 2, 0));
		EXPECT_EQ(fds[1], out[0].data.fd);
		ASSERT_EQ(0, close(fds[1]));
	}
	forget_events(bad - 20);
}

/* The first event lies in memory that is there, and the second does not. */
TEST_F(epoll, two_events_are_written_to_memory_that_has_to_come)
{
	const struct calls *calls = variant->calls;
	struct epoll_event *events, *out;
	int fds[2], i, round;

	for (i = 0; i < 2; i++) {
		fds[i] = eventfd_new();
		ASSERT_EQ(0, add(calls, self->set, fds[i], EPOLLIN));
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	for (round = 0; round < 3; round++) {
		events = untouched_events(PROT_READ | PROT_WRITE);
		ASSERT_TRUE(!!events);
		events->events = 0;
		out = (void *)((char *)events + 20 * sizeof(*events) -
			       sizeof(*events) * 3 / 2);
		EXPECT_EQ(2, calls->wait(self->set, out, 2, 0));
		EXPECT_EQ(fds[0], out[0].data.fd);
		EXPECT_EQ(fds[1], out[1].data.fd);
		forget_events(events);
	}
}

#define SLEEPERS	4

TEST_F(epoll, each_event_goes_to_one_of_the_threads_that_wait)
{
	struct wait_task w[SLEEPERS];
	unsigned int seen = 0;
	int fds[SLEEPERS];
	int i, j;

	NEEDS_THREADS();
	for (i = 0; i < SLEEPERS; i++) {
		fds[i] = eventfd_new();
		ASSERT_EQ(0, add(variant->calls, self->set, fds[i],
				 EPOLLIN | EPOLLONESHOT));
		ASSERT_EQ(0, wait_task_start(&w[i], variant->calls,
					     i % NR_WAYS, self->set, -1));
	}
	for (i = 0; i < SLEEPERS; i++)
		ASSERT_EQ(0, eventfd_post(fds[i]));
	for (i = 0; i < SLEEPERS; i++) {
		EXPECT_EQ(1, task_join(&w[i].task));
		for (j = 0; j < SLEEPERS; j++)
			seen |= (w[i].out.data.fd == fds[j]) << j;
	}
	EXPECT_EQ((1 << SLEEPERS) - 1, seen);
}

TEST_F(epoll, duplicate_and_child_use_the_same_set)
{
	struct epoll_event out;
	int fd = eventfd_new();
	int copy = dup(self->set);
	pid_t child;

	ASSERT_LE(0, copy);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (add(variant->calls, copy, fd, EPOLLIN) || eventfd_post(fd))
			_exit(1);
		_exit(wait_by(variant->calls, WAIT, self->set, &out, 0,
			      NULL) != 1);
	}
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(1, wait_by(variant->calls, WAIT, copy, &out, 0, NULL));
	EXPECT_EQ(fd, out.data.fd);
	EXPECT_EQ(0, close(copy));
	EXPECT_EQ(1, wait_by(variant->calls, PWAIT2, self->set, &out, 0, NULL));
}

TEST_HARNESS_MAIN
