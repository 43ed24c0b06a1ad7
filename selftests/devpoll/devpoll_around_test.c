// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers that stay in a set of /dev/poll, as on Solaris, after their file was
 * closed: who waits for the set itself, and a set of the device among them.
 */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/eset.h"

FIXTURE(around) {
	int fd;
};

FIXTURE_SETUP(around)
{
	self->fd = dp_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dp_wait_one(DP_SOLARIS, self->fd, -1, 0));
}

FIXTURE_TEARDOWN(around)
{
	close(self->fd);
}

TEST_F(around, who_sleeps_in_poll_is_woken_by_a_close)
{
	int event = eventfd_new();
	struct task task;

	ASSERT_EQ(sizeof(struct pollfd), dp_set(self->fd, event, POLLIN));
	ASSERT_EQ(0, task_start(&task, poll_for_input, &self->fd));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_poll));
	ASSERT_EQ(0, close(event));
	EXPECT_EQ(POLLIN, task_join(&task));
	EXPECT_EQ(POLLNVAL, dp_wait_one(DP_SOLARIS, self->fd, event, 0));
}

TEST_F(around, a_set_in_the_set_leaves_its_number_when_it_closes)
{
	struct eset inner;
	int fd;

	ASSERT_EQ(0, eset_open(&inner, &eset_devepoll));
	fd = inner.fd;
	ASSERT_EQ(sizeof(struct pollfd), dp_set(self->fd, fd, POLLIN));
	EXPECT_EQ(0, dp_wait_one(DP_SOLARIS, self->fd, fd, 0));
	eset_close(&inner);
	EXPECT_EQ(POLLNVAL, dp_wait_one(DP_SOLARIS, self->fd, fd, 0));
	/* The number names another set, which this one is put into. */
	ASSERT_EQ(0, eset_open(&inner, &eset_devepoll));
	ASSERT_EQ(fd, inner.fd);
	EXPECT_EQ(0, eset_add(&inner, self->fd, EPOLLIN));
	eset_close(&inner);
}

TEST_HARNESS_MAIN
