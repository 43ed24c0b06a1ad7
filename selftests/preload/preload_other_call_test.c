// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: calls that epoll does not have say to a set of the
 * device what they say to one of epoll, on the same kernel.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/other_calls.h"
#include "preload/preloaded.h"

FIXTURE(other_call) {
	int set;
	int epoll;
};

/* @used: there is an fd in the sets, and it is ready. */
FIXTURE_VARIANT(other_call) {
	bool used;
};

FIXTURE_VARIANT_ADD(other_call, fresh) {
	.used = false,
};

FIXTURE_VARIANT_ADD(other_call, used) {
	.used = true,
};

FIXTURE_SETUP(other_call)
{
	int fd = eventfd_new();

	self->set = epoll_create1(EPOLL_CLOEXEC);
	self->epoll = epoll_by_libc();
	ASSERT_TRUE(is_set_of_the_device(self->set));
	ASSERT_TRUE(is_set_of_epoll(self->epoll));
	if (!variant->used)
		return;
	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(0, add(self->set, fd, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, add(self->epoll, fd, EPOLLIN | EPOLLET));
	ASSERT_EQ(fd, ready(self->set));
	ASSERT_EQ(fd, ready(self->epoll));
}

FIXTURE_TEARDOWN(other_call)
{
	close(self->set);
	close(self->epoll);
}

TEST_F(other_call, says_what_it_says_to_epoll)
{
	EXPECT_EQ(0, count_differences(self->set, self->epoll));
}

TEST_F(other_call, leaves_the_set_as_it_was)
{
	int i;

	for (i = 0; i < NR_OTHER_CALLS; i++)
		other_call(&other_calls[i], self->set);
	EXPECT_TRUE(works(self->set));
	EXPECT_TRUE(is_set_of_the_device(self->set));
}

TEST_F(other_call, says_to_a_duplicate_what_it_says_to_the_set)
{
	int copy = dup(self->set);

	ASSERT_LE(0, copy);
	EXPECT_EQ(0, count_differences(copy, self->epoll));
	close(copy);
}

/* A set that takes nothing but epoll's calls is none of 2001 either. */
TEST_F(other_call, of_2001_does_not_take_the_set)
{
	EXPECT_EQ(-1, ioctl(self->set, EP_ALLOC, 8));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_TRUE(works(self->set));
}

/* The node, opened by the program itself: it may be a set of 2001. */
TEST(set_that_the_program_opens_is_as_before)
{
	int fd = dep_open();
	void *map;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, lseek(fd, 0, SEEK_CUR));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, ioctl(fd, _IO('p', 3), NULL));
	EXPECT_EQ(ENOTTY, errno);
	ASSERT_EQ(0, dep_alloc(fd, 8));
	map = dep_map(fd, EP_MAP_SIZE(8));
	EXPECT_TRUE(map != MAP_FAILED);
	EXPECT_EQ(8, dep_write_one(fd, eventfd_new(), POLLIN));
	close(fd);
}

TEST_HARNESS_MAIN
