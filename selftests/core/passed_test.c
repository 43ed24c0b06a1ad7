// SPDX-License-Identifier: GPL-2.0
/*
 * A set that is passed to a process which was forked before it existed.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* A process forked before any of the files existed: it has no number. */
FIXTURE(passed) {
	struct eset set;
	int event;
	pid_t pid;
};

ESET_VARIANTS(passed);

FIXTURE_SETUP(passed)
{
	struct eset theirs;
	int sockets[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				sockets));
	self->pid = fork();
	if (!self->pid) {
		close(sockets[0]);
		if (eset_adopt(&theirs, variant->ops, receive_fd(sockets[1])))
			_exit(1);
		_exit(eset_wait_one(&theirs, 4711, 10000) == EPOLLIN ? 0 : 2);
	}
	ASSERT_LT(0, self->pid);
	ASSERT_EQ(0, close(sockets[1]));
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, self->event,
			      EPOLLIN | EPOLLET, 4711));
	ASSERT_EQ(0, send_fd(sockets[0], self->set.fd));
	ASSERT_EQ(0, close(sockets[0]));
}

FIXTURE_TEARDOWN(passed)
{
	eset_close(&self->set);
}

TEST_F(passed, set_delivers_there)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, reap(self->pid));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, 4711, 0));
}

TEST_F(passed, set_delivers_to_who_sleeps_there)
{
	ASSERT_EQ(0, await_sleep(self->pid, self->set.ops->wait_syscall));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, reap(self->pid));
}

TEST_F(passed, set_outlives_its_close_here)
{
	ASSERT_EQ(0, await_sleep(self->pid, self->set.ops->wait_syscall));
	eset_close(&self->set);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, reap(self->pid));
}

TEST_HARNESS_MAIN
