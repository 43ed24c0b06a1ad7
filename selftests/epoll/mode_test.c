// SPDX-License-Identifier: GPL-2.0
/*
 * What is reported and how often: level, edge, one-shot, changes of the mode,
 * and each kind of event.
 */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

FIXTURE(mode) {
	struct eset set;
	int fds[2];	/* the second is written to, the first is read */
	int event;
};

ESET_VARIANTS(mode);

FIXTURE_SETUP(mode)
{
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(mode)
{
	eset_close(&self->set);
}

/* The second joins what waits on the file's wait queue already. */
TEST_F(mode, add_reports_what_is_ready_to_a_second_set)
{
	struct eset other;

	ASSERT_EQ(0, eset_open(&other, variant->ops));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&other, self->event, EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&other, self->event, 0));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	eset_close(&other);
}

/* A child, in which no event that can come was asked for yet. */
static int wait_in_child(struct eset *set, int fd, int told)
{
	/* It has blocked the signals that its parent has. */
	if (eset_mod(set, fd, EPOLLIN | EPOLLET) || put_byte(told))
		return 1;
	return eset_wait_one(set, fd, -1) == EPOLLIN ? 0 : 2;
}

/*
 * The wait queue of a signalfd depends on who polls it.  With epoll, it is that
 * of the process that adds it, and a change by another process has no effect.
 */
TEST_F(mode, change_asks_the_file_for_what_is_new)
{
	int told[2], fd;
	sigset_t mask;
	pid_t child;
	char byte;

	if (self->set.ops == &eset_sysepoll)
		SKIP(return, "epoll queues on a file at the add alone");
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(told));
	ASSERT_EQ(0, eset_add(&self->set, fd, EPOLLOUT | EPOLLET));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(wait_in_child(&self->set, fd, told[1]));
	ASSERT_EQ(1, read(told[0], &byte, 1));
	ASSERT_EQ(0, await_sleep(child, self->set.ops->wait_syscall));
	ASSERT_EQ(0, kill(child, SIGUSR1));
	EXPECT_EQ(0, reap(child));
}

TEST_F(mode, level_reports_as_long_as_it_lasts)
{
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_take(self->event));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, -1));
}

TEST_F(mode, level_forgets_what_is_over_before_the_wait)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	ASSERT_EQ(0, eventfd_take(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

TEST_F(mode, edge_reports_each_arrival_once)
{
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
		EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	}
}

TEST_F(mode, edge_forgets_what_is_over_before_the_wait)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(mode, edge_reports_all_that_is_true_at_the_wait)
{
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0],
			      EPOLLIN | EPOLLOUT | EPOLLET));
	EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(EPOLLIN | EPOLLOUT,
		  eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(mode, one_shot_reports_once_until_it_is_armed_again)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event,
			      EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));

	ASSERT_EQ(0, eset_mod(&self->set, self->event,
			      EPOLLIN | EPOLLONESHOT));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));

	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(0, eset_mod(&self->set, self->event,
			      EPOLLIN | EPOLLONESHOT | EPOLLET));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(mode, one_shot_that_has_reported_is_still_a_member)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event,
			      EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, eset_del(&self->set, self->event));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
}

TEST_F(mode, one_shot_that_has_reported_hides_even_a_hang_up)
{
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0],
			      EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, close(self->fds[1]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->fds[0], EPOLLONESHOT));
	EXPECT_EQ(EPOLLHUP, eset_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(mode, hang_up_is_reported_though_nobody_asked)
{
	static const uint32_t modes[] = { 0, EPOLLET };
	int i, fds[2];

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pipe_pair(fds));
		ASSERT_EQ(0, eset_add(&self->set, fds[0], modes[i]));
		ASSERT_EQ(0, put_byte(fds[1]));
		EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, fds[0], 0));
		ASSERT_EQ(0, close(fds[1]));
		EXPECT_EQ(EPOLLHUP, eset_wait_one(&self->set, fds[0], 0));
		EXPECT_EQ(i ? -ENOMSG : EPOLLHUP,
			  eset_wait_one(&self->set, fds[0], 0));
		ASSERT_EQ(0, eset_del(&self->set, fds[0]));
	}
}

TEST_F(mode, error_is_reported_though_nobody_asked)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, eset_add(&self->set, fds[1], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, fds[1], 0));
	ASSERT_EQ(0, close(fds[0]));
	EXPECT_EQ(EPOLLERR, eset_wait_one(&self->set, fds[1], 0));
	ASSERT_EQ(0, eset_mod(&self->set, fds[1], EPOLLOUT));
	EXPECT_EQ(EPOLLERR | EPOLLOUT, eset_wait_one(&self->set, fds[1], 0));
}

TEST_F(mode, half_close_is_reported_to_who_asks)
{
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLRDHUP));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, shutdown(self->fds[1], SHUT_WR));
	EXPECT_EQ(EPOLLRDHUP, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->fds[0], EPOLLIN));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(mode, half_close_of_tcp_is_reported_to_who_asks)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, eset_add(&self->set, fds[0],
			      EPOLLIN | EPOLLRDHUP | EPOLLET));
	ASSERT_EQ(0, shutdown(fds[1], SHUT_WR));
	EXPECT_EQ(EPOLLIN | EPOLLRDHUP,
		  eset_wait_one(&self->set, fds[0], 10000));
}

TEST_F(mode, urgent_data_is_reported_apart)
{
	struct epoll_event out[4];
	int fds[2], pri[2];
	int n;

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, tcp_pair(pri));
	ASSERT_EQ(0, eset_add(&self->set, fds[0], EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, pri[0], EPOLLPRI));
	/* Wake-ups of sockets always claim PRI; only a poll tells. */
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, put_byte(pri[1]));
	ASSERT_TRUE(await(poll_now(pri[0], POLLIN)));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, fds[0], 10000));
	ASSERT_EQ(0, empty(fds[0]));
	ASSERT_EQ(1, send(fds[1], "u", 1, MSG_OOB));
	ASSERT_EQ(1, send(pri[1], "u", 1, MSG_OOB));
	ASSERT_TRUE(await(poll_now(pri[0], POLLPRI) &&
			  poll_now(fds[0], POLLPRI)));
	n = eset_wait(&self->set, out, 4, 0);
	ASSERT_LE(1, n);
	EXPECT_EQ(EPOLLPRI, events_of(out, n, pri[0]));
	EXPECT_EQ(0, events_of(out, n, fds[0]) & EPOLLPRI);
}

TEST_F(mode, of_wake_up_source_is_accepted)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event,
			      EPOLLIN | EPOLLWAKEUP));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->event,
			      EPOLLIN | EPOLLET | EPOLLWAKEUP));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(mode, add_reports_what_is_ready_already)
{
	static const uint32_t modes[] = { 0, EPOLLET, EPOLLONESHOT };
	int i;

	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eset_add(&self->set, self->event,
				      EPOLLIN | modes[i]));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
		ASSERT_EQ(0, eset_del(&self->set, self->event));
	}
}

TEST_F(mode, change_reports_what_is_ready)
{
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
		ASSERT_EQ(0, eset_mod(&self->set, self->event,
				      EPOLLIN | EPOLLET));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	}
	ASSERT_EQ(0, eset_mod(&self->set, self->event,
			      EPOLLIN | EPOLLOUT | EPOLLET));
	EXPECT_EQ(EPOLLIN | EPOLLOUT,
		  eset_wait_one(&self->set, self->event, 0));
}

TEST_F(mode, change_wakes_who_sleeps)
{
	struct ewaiter waiter;
	int i;

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eset_add(&self->set, self->event, 0));
	/* The second time, the file has been asked for EPOLLIN before. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
		ASSERT_EQ(0, eset_mod(&self->set, self->event,
				      EPOLLIN | EPOLLONESHOT));
		ASSERT_EQ(1, ewaiter_join(&waiter));
		EXPECT_EQ(EPOLLIN, waiter.out[0].events);
	}
}

TEST_F(mode, change_to_nothing_withdraws_what_is_pending)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eset_mod(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
	ASSERT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(mode, change_replaces_the_data)
{
	struct epoll_event out[2];

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, self->event, EPOLLIN,
			      0xfedcba9876543210ULL));
	ASSERT_EQ(1, eset_wait(&self->set, out, 2, 0));
	EXPECT_EQ(0xfedcba9876543210ULL, out[0].data.u64);
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_MOD, self->event, EPOLLIN,
			      ~0ULL));
	ASSERT_EQ(1, eset_wait(&self->set, out, 2, 0));
	EXPECT_EQ(~0ULL, out[0].data.u64);
	EXPECT_EQ(EPOLLIN, out[0].events);
}

TEST_F(mode, level_and_edge_change_places)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(mode, ready_set_polls_readable)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN | POLLOUT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN | POLLRDNORM,
		  poll_now(self->set.fd, POLLIN | POLLRDNORM | POLLOUT));
	ASSERT_EQ(0, eventfd_take(self->event));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN | POLLOUT));
	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ewaiter_join(&waiter));
}

TEST_HARNESS_MAIN
