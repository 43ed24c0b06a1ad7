// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so with DEVEPOLL_RING=1: how a program with one thread
 * sleeps, and what other processes wake it with.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <linux/devepoll.h>

#include "kselftest_harness.h"

#include "preload/preload_ring.h"

/* Of lib/preload/ring.h. */
#define SLEEPS_BY_CALL	64

enum how { BY_RING, BY_CALL, ANYHOW };

/* Is the process in a system call, and is it this one? */
static bool is_asleep(pid_t pid, enum how how)
{
	char path[64], line[256] = "", request[32];
	FILE *file;
	enum how is;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	snprintf(request, sizeof(request), " 0x%x ",
		 (unsigned int)DEVEPOLL_RING_WAIT);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	is = strstr(line, request) ? BY_RING : BY_CALL;
	return line[0] >= '0' && line[0] <= '9' && (how == ANYHOW || how == is);
}

/*
 * A process that waits until this one is asleep; 0 in it.  It ends the test if
 * this one never sleeps so: nobody else would wake it.
 */
static pid_t other(enum how how)
{
	pid_t me = getpid(), pid = fork();

	if (!pid && !await(is_asleep(me, how))) {
		kill(me, SIGTERM);
		_exit(1);
	}
	return pid;
}

/* Writes to @fd when this process is asleep. */
static pid_t post_later(enum how how, int fd)
{
	pid_t pid = other(how);

	if (!pid)
		_exit(!!eventfd_post(fd));
	return pid;
}

/* The first wait with an array is a system call. */
static int warm_up(int set, int edge, struct epoll_event *out)
{
	return eventfd_post(edge) ?: epoll_wait(set, out, NR, 0) - 1;
}

TEST_F(preload_ring, edge_wakes_a_sleeper)
{
	static const int timeouts[] = { -1, 60000, INT32_MAX };
	unsigned int i;
	pid_t pid;

	ASSERT_EQ(0, warm_up(self->set, self->edge, self->out));
	for (i = 0; i < 3; i++) {
		memset(self->out, 0xa5, sizeof(self->out));
		pid = post_later(BY_RING, self->edge);
		ASSERT_EQ(1, epoll_wait(self->set, self->out, NR, timeouts[i]));
		EXPECT_EQ(EPOLLIN, self->out[0].events);
		EXPECT_EQ(self->edge, self->out[0].data.fd);
		EXPECT_EQ(0, reap(pid));
		EXPECT_EQ(-ENOMSG, ready(self->set));
	}
}

TEST_F(preload_ring, level_wakes_a_sleeper_and_the_next_sleeps_are_calls)
{
	int level = add_eventfd(self->set, EPOLLIN);
	pid_t pid;
	int i;

	ASSERT_EQ(0, warm_up(self->set, self->edge, self->out));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	pid = post_later(BY_RING, level);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
		EXPECT_EQ(EPOLLIN, self->out[0].events);
		EXPECT_EQ(level, self->out[0].data.fd);
	}
	EXPECT_EQ(0, reap(pid));
	ASSERT_EQ(0, eventfd_take(level));
	EXPECT_EQ(-ENOMSG, ready(self->set));

	pid = post_later(BY_CALL, self->edge);
	EXPECT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
	EXPECT_EQ(self->edge, self->out[0].data.fd);
	EXPECT_EQ(0, reap(pid));
	for (i = 1; i < SLEEPS_BY_CALL; i++)
		ASSERT_EQ(0, epoll_wait(self->set, self->out, NR, 1));
	pid = post_later(BY_RING, self->edge);
	EXPECT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
	EXPECT_EQ(self->edge, self->out[0].data.fd);
	EXPECT_EQ(0, reap(pid));
}

TEST_F(preload_ring, one_shot_wakes_a_sleeper_once)
{
	struct epoll_event again = { .events = EDGE | EPOLLONESHOT };
	int once = add_eventfd(self->set, EDGE | EPOLLONESHOT);
	pid_t pid;

	ASSERT_EQ(0, warm_up(self->set, self->edge, self->out));
	pid = post_later(BY_RING, once);
	ASSERT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
	EXPECT_EQ(once, self->out[0].data.fd);
	EXPECT_EQ(0, reap(pid));
	ASSERT_EQ(0, eventfd_post(once));
	EXPECT_EQ(0, epoll_wait(self->set, self->out, NR, 20));
	again.data.fd = once;
	ASSERT_EQ(0, epoll_ctl(self->set, EPOLL_CTL_MOD, once, &again));
	EXPECT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
	EXPECT_EQ(once, self->out[0].data.fd);
}

TEST_F(preload_ring, hang_up_that_names_nothing_wakes_a_sleeper)
{
	int fds[2];
	pid_t pid;

	ASSERT_EQ(0, warm_up(self->set, self->edge, self->out));
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, add(self->set, fds[0], EDGE));
	pid = other(BY_RING);
	if (!pid)
		_exit(0);
	ASSERT_EQ(0, close(fds[1]));
	ASSERT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
	EXPECT_EQ(EPOLLHUP, self->out[0].events);
	EXPECT_EQ(fds[0], self->out[0].data.fd);
	EXPECT_EQ(0, reap(pid));
}

TEST_F(preload_ring, sleeper_gives_up_in_time)
{
	uint64_t begin;

	ASSERT_EQ(0, warm_up(self->set, self->edge, self->out));
	begin = now_ns();
	EXPECT_EQ(0, epoll_wait(self->set, self->out, NR, 20));
	EXPECT_LE(20 * NSEC_PER_MSEC, now_ns() - begin);
}

static volatile sig_atomic_t nr_signals;

static void count(int signo)
{
	(void)signo;
	nr_signals++;
}

/* A mask makes the sleep a system call. */
TEST_F(preload_ring, signal_ends_a_sleep)
{
	struct sigaction action = { .sa_handler = count,
				    .sa_flags = SA_RESTART };
	sigset_t none;
	pid_t pid, me = getpid();
	int i, n;

	sigemptyset(&none);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, warm_up(self->set, self->edge, self->out));
	for (i = 0; i < 2; i++) {
		pid = other(i ? BY_CALL : BY_RING);
		if (!pid)
			_exit(kill(me, SIGUSR1));
		n = i ? epoll_pwait(self->set, self->out, NR, -1, &none) :
			epoll_wait(self->set, self->out, NR, -1);
		EXPECT_EQ(-1, n);
		EXPECT_EQ(EINTR, errno);
		EXPECT_EQ(i + 1, nr_signals);
		EXPECT_EQ(0, reap(pid));
	}
}

/* The child has no ring, and its wait takes what was posted to ours. */
TEST_F(preload_ring, event_that_another_process_takes_does_not_end_a_sleep)
{
	uint64_t begin;
	int i, n, status;
	pid_t pid;

	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, warm_up(self->set, self->edge, self->out));
		pid = other(ANYHOW);
		if (!pid) {
			if (eventfd_post(self->edge))
				_exit(2);
			_exit(epoll_wait(self->set, self->out, NR, 0));
		}
		begin = now_ns();
		n = epoll_wait(self->set, self->out, NR, 50);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFEXITED(status));
		ASSERT_EQ(1, n + WEXITSTATUS(status));
		if (!n)
			ASSERT_LE(50 * NSEC_PER_MSEC, now_ns() - begin);
	}
}

TEST_HARNESS_MAIN
