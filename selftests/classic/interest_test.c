// SPDX-License-Identifier: GPL-2.0
/*
 * The interest list: write(2) of one entry and of many, what counts as done,
 * and EP_ISPOLLED.
 */
#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM 2048

SET_FIXTURE(interest, ROOM)

TEST_F(interest, starts_empty)
{
	EXPECT_EQ(0, set_has(&self->set, 0));
	EXPECT_EQ(0, set_has(&self->set, self->set.fd));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(interest, has_what_was_added_until_it_is_removed)
{
	int a = eventfd_new();
	int b = eventfd_new();

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, set_add(&self->set, a, POLLIN));
	EXPECT_EQ(1, set_has(&self->set, a));
	EXPECT_EQ(0, set_has(&self->set, b));
	ASSERT_EQ(0, set_add(&self->set, b, POLLIN));
	ASSERT_EQ(0, set_remove(&self->set, a));
	EXPECT_EQ(0, set_has(&self->set, a));
	EXPECT_EQ(1, set_has(&self->set, b));
	ASSERT_EQ(0, eventfd_post(a));
	ASSERT_EQ(0, eventfd_post(b));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, b, 0));
}

TEST_F(interest, in_changed_events_decides_what_is_reported)
{
	int fds[2];

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
	ASSERT_EQ(0, set_change(&self->set, fds[0], POLLPRI));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, empty(fds[0]));
	ASSERT_EQ(0, set_change(&self->set, fds[0], POLLIN));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, fds[0], 0));
}

TEST_F(interest, change_makes_an_event_on_epoll_alone)
{
	bool reports = has_trait(&self->set, REPORTS_ON_CHANGE);
	int event = eventfd_new();

	ASSERT_LE(0, event);
	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, event, 0));
	ASSERT_EQ(0, set_change(&self->set, event, POLLIN));
	EXPECT_EQ(reports ? 1 : 0, set_drain(&self->set));
	ASSERT_EQ(0, set_change(&self->set, event, POLLOUT));
	EXPECT_EQ(reports ? 1 : 0, set_drain(&self->set));
	ASSERT_EQ(0, set_change(&self->set, event, POLLIN));
	set_drain(&self->set);
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, event, 0));
}

/*
 * A datagram socket learns of room in its receiver's queue only after a poll
 * for POLLOUT.
 */
TEST_F(interest, in_changed_events_reaches_the_file)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(addr);
	int receiver, sender, other;

	receiver = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	other = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ASSERT_EQ(0, bind(receiver, (void *)&addr, sizeof(sa_family_t)));
	ASSERT_EQ(0, getsockname(receiver, (void *)&addr, &len));
	ASSERT_EQ(0, connect(sender, (void *)&addr, len));
	ASSERT_EQ(0, connect(other, (void *)&addr, len));
	while (put_byte(other) == 0)
		;
	ASSERT_EQ(0, set_add(&self->set, sender, POLLIN));
	ASSERT_EQ(0, set_change(&self->set, sender, POLLIN | POLLOUT));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, empty(receiver));
	EXPECT_EQ(POLLOUT, set_wait_one(&self->set, sender, 0));
}

TEST_F(interest, removal_of_what_is_gone_is_no_failure_on_the_device)
{
	bool done = has_trait(&self->set, REMOVES_WHAT_IS_GONE);
	int event = eventfd_new();

	ASSERT_LE(0, event);
	EXPECT_EQ(done ? 0 : -ENOENT, set_remove(&self->set, event));
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	EXPECT_EQ(0, set_remove(&self->set, event));
	EXPECT_EQ(done ? 0 : -ENOENT, set_remove(&self->set, event));
	ASSERT_EQ(0, close(event));
	EXPECT_EQ(done ? 0 : -EBADF, set_remove(&self->set, event));
	EXPECT_EQ(done ? 0 : -EBADF, set_remove(&self->set, -1));
	EXPECT_EQ(done ? 0 : -EBADF, set_remove(&self->set, INT_MAX));
}

TEST_F(interest, in_one_file_by_two_numbers_is_two_interests)
{
	struct pollfd out[4];
	int a = eventfd_new();
	int b = dup(a);

	ASSERT_LE(0, b);
	ASSERT_EQ(0, set_add(&self->set, a, POLLIN));
	ASSERT_EQ(0, set_add(&self->set, b, POLLIN | POLLOUT));
	set_drain(&self->set);
	ASSERT_EQ(0, eventfd_post(a));
	ASSERT_EQ(2, set_wait(&self->set, out, 4, 0));
	EXPECT_EQ(POLLIN, event_of(out, 2, a));
	EXPECT_EQ(POLLIN, event_of(out, 2, b) & POLLIN);
	ASSERT_EQ(0, set_remove(&self->set, b));
	ASSERT_EQ(0, eventfd_post(b));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, a, 0));
}

TEST_HARNESS_MAIN
