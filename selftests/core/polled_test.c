// SPDX-License-Identifier: GPL-2.0
/*
 * The set as a file on which others wait: poll(2), select(2) and epoll(7) on
 * the device itself.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

FIXTURE(polled) {
	struct set set;
	int event;
};

BACKEND_VARIANTS(polled);

FIXTURE_SETUP(polled)
{
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 64));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
}

FIXTURE_TEARDOWN(polled)
{
	set_close(&self->set);
}

TEST_F(polled, is_readable_while_events_are_pending)
{
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, poll_now(self->set.fd, -1));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(POLLIN | POLLRDNORM, poll_now(self->set.fd, -1));
		EXPECT_EQ(POLLIN | POLLRDNORM, poll_now(self->set.fd, -1));
		EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
		EXPECT_EQ(0, poll_now(self->set.fd, POLLOUT | POLLPRI));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	}
}

TEST_F(polled, is_not_readable_when_its_event_was_removed)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	ASSERT_EQ(0, set_remove(&self->set, self->event));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

/* A wake-up without a key says nothing about what happened. */
TEST_F(polled, is_not_readable_when_nobody_asked_for_what_happened)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLPRI));
	ASSERT_EQ(0, shutdown(fds[1], SHUT_WR));
	ASSERT_TRUE(await(poll_now(fds[0], POLLIN)));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(polled, is_readable_after_a_hang_up)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLHUP));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(POLLHUP, set_wait_one(&self->set, fds[0], 0));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

TEST_F(polled, can_be_selected)
{
	struct timeval no_time = { 0 };
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(self->set.fd, &in);
	FD_SET(self->set.fd, &out);
	EXPECT_EQ(0, select(self->set.fd + 1, &in, &out, NULL, &no_time));
	ASSERT_EQ(0, eventfd_post(self->event));
	FD_SET(self->set.fd, &in);
	FD_SET(self->set.fd, &out);
	EXPECT_EQ(1, select(self->set.fd + 1, &in, &out, NULL, &no_time));
	EXPECT_TRUE(FD_ISSET(self->set.fd, &in));
	EXPECT_FALSE(FD_ISSET(self->set.fd, &out));
}

static long call_poll(void *arg)
{
	struct pollfd pfd = { .fd = *(int *)arg, .events = POLLIN };
	int n = poll(&pfd, 1, -1);

	return n == 1 ? pfd.revents : -errno;
}

TEST_F(polled, wakes_who_sleeps_in_poll)
{
	struct task tasks[3];
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(0, task_start(&tasks[i], call_poll,
						&self->set.fd));
			ASSERT_EQ(0, await_sleep(tasks[i].tid, SYS_poll));
		}
		ASSERT_EQ(0, eventfd_post(self->event));
		for (i = 0; i < 3; i++)
			EXPECT_EQ(POLLIN, task_join(&tasks[i]));
		EXPECT_EQ(1, set_drain(&self->set));
	}
}

TEST_F(polled, wakes_who_sleeps_in_poll_and_who_waits)
{
	struct waiter waiter;
	struct task task;
	long seen;

	/*
	 * The waiter may take the event before poll(2) has looked, which then
	 * goes back to sleep until the second event.
	 */
	ASSERT_EQ(0, task_start(&task, call_poll, &self->set.fd));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_poll));
	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, waiter_join(&waiter));
	ASSERT_EQ(0, eventfd_post(self->event));
	seen = task_join(&task);
	EXPECT_EQ(POLLIN, seen);
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
}

TEST_F(polled, wakes_poll_for_a_hang_up)
{
	struct task task;
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLHUP));
	ASSERT_EQ(0, task_start(&task, call_poll, &self->set.fd));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_poll));
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(POLLIN, task_join(&task));
	EXPECT_EQ(POLLHUP, set_wait_one(&self->set, fds[0], 0));
}

/* Kernel AIO polls the set for @events; 0 or -errno. */
static int aio_begin(aio_context_t *context, int fd, short events)
{
	struct iocb poll = {
		.aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = fd,
		.aio_buf = events,
	}, *list = &poll;

	*context = 0;
	if (syscall(SYS_io_setup, 4, context))
		return -errno;
	return syscall(SYS_io_submit, *context, 1L, &list) == 1 ? 0 : -errno;
}

/* What it answers within ten seconds, or -errno. */
static long aio_end(aio_context_t context)
{
	struct timespec limit = { .tv_sec = 10 };
	struct io_event event;
	long nr = syscall(SYS_io_getevents, context, 1L, 1L, &event, &limit);

	syscall(SYS_io_destroy, context);
	return nr == 1 ? (long)event.res : nr ? -errno : -ETIME;
}

TEST_F(polled, tells_aio_nothing_that_it_did_not_ask_for)
{
	static const short asked[] = { POLLIN, POLLIN | POLLOUT };
	aio_context_t context;
	unsigned int i;
	int err;

	for (i = 0; i < 2; i++) {
		err = aio_begin(&context, self->set.fd, asked[i]);
		if (err == -ENOSYS)
			SKIP(return, "no AIO");
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(POLLIN, aio_end(context));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	}
}

static long call_poll_for_normal_data(void *arg)
{
	struct pollfd pfd = { .fd = *(int *)arg, .events = POLLRDNORM };
	int n = poll(&pfd, 1, -1);

	return n == 1 ? pfd.revents : -errno;
}

TEST_F(polled, wakes_who_asks_for_normal_data_alone)
{
	aio_context_t context;
	struct task task;
	int err;

	/* epoll's wake-ups name POLLIN alone. */
	if (!(variant->ops->traits & KEEPS_WHAT_WAS_POSTED))
		SKIP(return, "not by epoll");
	ASSERT_EQ(0, task_start(&task, call_poll_for_normal_data,
				&self->set.fd));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_poll));
	err = aio_begin(&context, self->set.fd, POLLIN);
	if (err != -ENOSYS)
		ASSERT_EQ(0, err);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLRDNORM, task_join(&task));
	/* It asks, and learns no more than it asked for. */
	if (!err)
		EXPECT_EQ(POLLIN, aio_end(context));
}

/* In-tree epoll that watches the set; its fd, or -errno. */
static int epoll_with(const struct set *set, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, set->fd, &event))
		return -errno;
	return epoll;
}

TEST_F(polled, can_be_watched_by_epoll)
{
	int i, epoll = epoll_with(&self->set, EPOLLIN);
	struct epoll_event event;

	ASSERT_LE(0, epoll);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
		ASSERT_EQ(0, eventfd_post(self->event));
		/* Level: as long as nobody takes it. */
		EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 10000));
		EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 10000));
		EXPECT_EQ(EPOLLIN, event.events);
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	}
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	ASSERT_EQ(0, close(epoll));
}

TEST_F(polled, gives_an_edge_to_edge_triggered_epoll)
{
	int i, epoll = epoll_with(&self->set, EPOLLIN | EPOLLET);
	struct epoll_event event;

	ASSERT_LE(0, epoll);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 10000));
		EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
		EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	}
	ASSERT_EQ(0, close(epoll));
}

/* Also while the set still has the event before, of the same file. */
TEST_F(polled, gives_each_event_to_edge_triggered_epoll)
{
	int i, epoll = epoll_with(&self->set, EPOLLIN | EPOLLET);
	struct epoll_event event;

	ASSERT_LE(0, epoll);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 10000));
		EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	}
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, close(epoll));
}

TEST_F(polled, can_be_closed_while_epoll_watches)
{
	int epoll = epoll_with(&self->set, EPOLLIN);
	struct epoll_event event;

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, eventfd_post(self->event));
	set_close(&self->set);
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	EXPECT_EQ(0, close(epoll));
}

TEST_F(polled, can_be_watched_by_epoll_for_one_event)
{
	int epoll = epoll_with(&self->set, EPOLLIN | EPOLLONESHOT);
	struct epoll_event event;

	/* One-shot: an event, then silence until it is armed again. */
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 10000));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	event.events = EPOLLIN | EPOLLONESHOT;
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_MOD, self->set.fd, &event));
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 10000));
	EXPECT_EQ(0, close(epoll));
}

TEST_HARNESS_MAIN
