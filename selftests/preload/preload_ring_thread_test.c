// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so with DEVEPOLL_RING=1: threads and signal handlers
 * that take events from one ring.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "preload/preload_ring.h"
#include "preload/step.h"

#define FILES	12
#define WRITES	4000
#define THREADS	3

struct reader {
	struct task task;
	int set;
	int last;
	int ms;
	int max;
	atomic_uint_least64_t read;
};

static bool read_some(struct reader *r)
{
	struct epoll_event out[NR];
	int n = epoll_wait(r->set, out, r->max, r->ms), i;
	bool over = false;
	eventfd_t value;

	for (i = 0; i < n; i++) {
		if (out[i].data.fd == r->last)
			over = true;
		else if (!eventfd_read(out[i].data.fd, &value))
			r->read += value;
	}
	return over || (n < 0 && errno != EINTR);
}

static long read_all(void *arg)
{
	struct reader *r = arg;

	while (!read_some(r))
		;
	return 0;
}

/* Writes; 0 if all was read. */
static long write_all(const int *fds)
{
	long left = 0;
	int i;

	for (i = 0; i < WRITES; i++) {
		if (eventfd_post(fds[i * 7 % FILES]))
			return -errno;
	}
	/* Nobody is helped: whoever sleeps must come by himself. */
	for (i = 0; i < FILES; i++)
		left += !await(!poll_now(fds[i], POLLIN));
	return left;
}

TEST_F(preload_ring, threads_take_all_there_is)
{
	struct reader r[THREADS];
	int fds[FILES], last, i;
	uint64_t sum = 0;

	NEEDS_THREADS();
	for (i = 0; i < FILES; i++)
		fds[i] = add_eventfd(self->set, i % 4 ? EDGE : EPOLLIN);
	last = add_eventfd(self->set, EPOLLIN);
	for (i = 0; i < THREADS; i++) {
		r[i] = (struct reader){ .set = self->set, .last = last,
					.ms = i ? -1 : 0,
					.max = i ? NR : 2 };
		ASSERT_EQ(0, task_start(&r[i].task, read_all, &r[i]));
	}
	EXPECT_EQ(0, write_all(fds));
	ASSERT_EQ(0, eventfd_post(last));
	for (i = 0; i < THREADS; i++) {
		EXPECT_EQ(0, task_join(&r[i].task));
		sum += r[i].read;
	}
	EXPECT_EQ(WRITES, sum);
}

static struct reader handler_reader;

static void take_in_handler(int signo)
{
	const int saved = errno;

	(void)signo;
	read_some(&handler_reader);
	errno = saved;
}

TEST_F(preload_ring, signal_handler_takes_what_the_thread_does_not)
{
	struct itimerval often = { { .tv_usec = 500 }, { .tv_usec = 500 } };
	struct sigaction action = { .sa_handler = take_in_handler };
	struct reader mine = { .set = self->set, .last = -1, .max = NR };
	int fds[FILES], i;

	handler_reader = mine;
	for (i = 0; i < FILES; i++)
		fds[i] = add_eventfd(self->set, EDGE);
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	for (i = 0; i < WRITES; i++) {
		ASSERT_EQ(0, eventfd_post(fds[i * 7 % FILES]));
		if (i % 3 == 0)
			read_some(&mine);
	}
	memset(&often, 0, sizeof(often));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	read_some(&mine);
	EXPECT_EQ(WRITES, mine.read + handler_reader.read);
	EXPECT_LT(0, mine.read);
}

static long use_a_set_that_closes(void *arg)
{
	struct epoll_event out[NR];
	int set = *(int *)arg, n;

	do {
		n = epoll_wait(set, out, NR, 0);
	} while (n >= 0);
	return -errno;
}

/* The number is taken by a pipe at once: a wait on it must fail. */
TEST_F(preload_ring, set_may_be_closed_while_threads_wait_on_it)
{
	int i, set, fd = eventfd_new();
	struct task tasks[2];
	int fds[2];

	NEEDS_THREADS();
	ASSERT_EQ(0, pipe_pair(fds));
	for (i = 0; i < 20; i++) {
		set = epoll_create1(0);
		ASSERT_EQ(0, add(set, fd, EDGE));
		ASSERT_EQ(0, task_start(&tasks[0], use_a_set_that_closes,
					&set));
		ASSERT_EQ(0, task_start(&tasks[1], use_a_set_that_closes,
					&set));
		ASSERT_EQ(0, eventfd_post(fd));
		ASSERT_EQ(set, dup2(fds[0], set));
		EXPECT_EQ(-EINVAL, task_join(&tasks[0]));
		EXPECT_EQ(-EINVAL, task_join(&tasks[1]));
		ASSERT_EQ(0, close(set));
		ASSERT_EQ(2, mappings());
	}
}

#define FORKS	40

static volatile sig_atomic_t nr_forked;
static volatile sig_atomic_t is_child;
static pid_t forked[FORKS];

static void fork_once(int signo)
{
	pid_t pid;

	if (nr_forked == FORKS)
		return;
	pid = nr_forked % 2 ? _Fork() : fork();
	if (!pid)
		is_child = 1;
	else
		forked[nr_forked++] = pid;
}

/* It returns into a wait that reads memory of its parent. */
TEST_F(preload_ring, child_that_a_signal_handler_forks_goes_on)
{
	struct itimerval every = { { .tv_usec = 4000 }, { .tv_usec = 4000 } };
	const struct itimerval never = {};
	int i, n;

	ASSERT_TRUE(signal(SIGPROF, fork_once) != SIG_ERR);
	ASSERT_EQ(0, setitimer(ITIMER_PROF, &every, NULL));
	do {
		n = epoll_wait(self->set, self->out, NR, 0);
	} while (!n && !is_child && nr_forked < FORKS);
	if (is_child)
		_exit(n || epoll_wait(self->set, self->out, NR, 0));
	ASSERT_EQ(0, setitimer(ITIMER_PROF, &never, NULL));
	EXPECT_EQ(0, n);
	for (i = 0; i < FORKS; i++)
		EXPECT_EQ(0, reap(forked[i]));
	ASSERT_EQ(0, eventfd_post(self->edge));
	EXPECT_EQ(1, epoll_wait(self->set, self->out, NR, 0));
}

#ifdef HAS_STEPS

/* Sets whose numbers are equal modulo this share the place of a ring. */
#define PLACES		64

/* The lowest free number is then the next one that shares the place. */
static bool take_numbers_between(int first)
{
	int fd;

	for (fd = first + 1; fd < first + PLACES; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && dup2(STDIN_FILENO, fd) != fd)
			return false;
	}
	return true;
}

static volatile int made_in_a_step;

static void make_a_set(void)
{
	made_in_a_step = epoll_create1(EPOLL_CLOEXEC);
}

/* A handler makes a set within a close, at each of its instructions in turn. */
TEST_F_TIMEOUT(preload_ring, set_that_gets_the_place_in_a_close_works, 120)
{
	int first = self->set, n, fd;
	bool stepped = true;

	ASSERT_TRUE(take_numbers_between(first));
	for (n = 1; stepped; n++) {
		made_in_a_step = -1;
		steps_begin(make_a_set);
		close(first);
		stepped = steps_end();
		if (made_in_a_step >= 0) {
			ASSERT_EQ(0, add(made_in_a_step, self->edge, EDGE));
			ASSERT_EQ(0, eventfd_post(self->edge));
			EXPECT_EQ(self->edge, ready(made_in_a_step))
			{
				TH_LOG("made at step %d", n);
				break;
			}
			ASSERT_EQ(0, eventfd_take(self->edge));
			ASSERT_EQ(0, close(made_in_a_step));
		}
		fd = epoll_create1(EPOLL_CLOEXEC);
		ASSERT_EQ(first, fd);
	}
	EXPECT_LT(50, n);
}

static volatile int closed_in_a_step;
static volatile bool has_ring;

/* The number refers to something else then, and its place to another set. */
static void close_first(void)
{
	bool free;

	close(closed_in_a_step);
	free = !mappings();
	fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, closed_in_a_step);
	make_a_set();
	has_ring = free && mappings() == 2;
}

/* The same, but the handler closes the set that is being closed before. */
TEST_F_TIMEOUT(preload_ring, set_that_gets_the_place_after_a_close_keeps_its_ring,
	       120)
{
	int n, fd, rings = 0;
	bool stepped = true;

	closed_in_a_step = self->set;
	ASSERT_TRUE(take_numbers_between(self->set));
	for (n = 1; stepped; n++) {
		made_in_a_step = -1;
		has_ring = false;
		steps_begin(close_first);
		close(self->set);
		stepped = steps_end();
		if (has_ring) {
			rings++;
			EXPECT_EQ(2, mappings())
			{
				TH_LOG("made at step %d", n);
				break;
			}
		}
		close(made_in_a_step);
		close(self->set);
		fd = epoll_create1(EPOLL_CLOEXEC);
		ASSERT_EQ(self->set, fd);
	}
	EXPECT_LT(50, rings);
}

TEST_F_TIMEOUT(preload_ring, place_outlives_a_handler_that_leaves_a_close, 120)
{
	int n;

	for (n = 1; close_is_left(self->set); n++) {
		/* It may be open still. */
		close(self->set);
		ASSERT_EQ(0, mappings())
			TH_LOG("left at step %d", n);
		ASSERT_EQ(self->set, epoll_create1(EPOLL_CLOEXEC));
		ASSERT_EQ(2, mappings())
			TH_LOG("left at step %d", n);
	}
	EXPECT_LT(50, n);
}

static bool create_is_left(void)
{
	signal(SIGUSR1, leave_by_jump);
	if (sigsetjmp(step_left, 1))
		return true;
	steps_begin(raise_signal);
	epoll_create1(EPOLL_CLOEXEC);
	return steps_end();
}

/* Nobody knows the number of a set that is left before the call has returned. */
TEST_F_TIMEOUT(preload_ring, place_outlives_a_handler_that_leaves_a_create, 120)
{
	bool left = true;
	int n;

	ASSERT_EQ(0, close(self->set));
	for (n = 1; left; n++) {
		left = create_is_left();
		close(self->set);
		ASSERT_EQ(0, mappings())
			TH_LOG("left at step %d", n);
		ASSERT_EQ(self->set, epoll_create1(EPOLL_CLOEXEC));
		ASSERT_EQ(2, mappings())
			TH_LOG("left at step %d", n);
		ASSERT_EQ(0, close(self->set));
	}
	EXPECT_LT(50, n);
	self->set = epoll_create1(EPOLL_CLOEXEC);
}

#endif

TEST_HARNESS_MAIN
