// SPDX-License-Identifier: GPL-2.0
/* libdevepoll-preload.so in programs with filters of system calls. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "kselftest_harness.h"

#include "core/fadvise_filter.h"
#include "core/fadvise_param.h"
#include "core/helpers.h"
#include "preload/preloaded.h"

FIXTURE(fadvise) { };

FIXTURE_VARIANT(fadvise)
{
	int error;
};

FIXTURE_VARIANT_ADD(fadvise, eperm) {
	.error = EPERM,
};

FIXTURE_VARIANT_ADD(fadvise, eacces) {
	.error = EACCES,
};

FIXTURE_VARIANT_ADD(fadvise, enosys) {
	.error = ENOSYS,
};

FIXTURE_SETUP(fadvise)
{
}

FIXTURE_TEARDOWN(fadvise)
{
}

TEST_F(fadvise, device_is_used_where_a_filter_refuses_it)
{
	int epoll = epoll_by_libc();
	int set;

	ASSERT_EQ(0, refuse_fadvise(variant->error));
	set = epoll_create1(0);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_TRUE(works(set));
	EXPECT_TRUE(works(epoll));
	EXPECT_EQ(-EPERM, add(set, open("/proc/self/exe", O_RDONLY), EPOLLIN));
}

/* If the module has turned fadvise off, no way is left into its sets. */
static bool is_way_left(void)
{
	return fadvise_param() != 'N';
}

/* A call that is wrong on either, so that the library has to find out more. */
static bool works_after_a_wrong_call(int set)
{
	struct epoll_event out;

	errno = 0;
	return epoll_wait(set, &out, 0, 0) == -1 && errno == EINVAL &&
	       works(set);
}

TEST_F(fadvise, sets_are_told_apart_where_a_filter_refuses_the_question)
{
	int epoll = epoll_by_libc();
	int set, number = 300;

	ASSERT_EQ(0, refuse_call(SYS_ioctl, variant->error));
	set = epoll_create1(0);
	EXPECT_EQ(is_way_left(), is_set_of_the_device(set));
	EXPECT_TRUE(works_after_a_wrong_call(set));
	EXPECT_TRUE(works_after_a_wrong_call(epoll));
	ASSERT_EQ(number, dup2(epoll, number));
	EXPECT_TRUE(works(number));
	ASSERT_EQ(number, dup2(set, number));
	EXPECT_TRUE(works_after_a_wrong_call(number));
}

TEST_F(fadvise, wrong_call_does_no_harm_where_a_filter_refuses_both_questions)
{
	int epoll = epoll_by_libc();
	int set = epoll_create1(0);

	ASSERT_EQ(0, refuse_call(SYS_ioctl, variant->error));
	ASSERT_EQ(0, refuse_call(SYS_statx, variant->error));
	EXPECT_EQ(is_way_left(), works_after_a_wrong_call(set));
	EXPECT_TRUE(works_after_a_wrong_call(epoll));
}

/* Epoll fails to add a regular file as a filter refuses a call. */
static bool refuses_a_regular_file(int set)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int ret = add(set, fd, EPOLLIN);

	close(fd);
	return ret == -EPERM;
}

TEST_F(fadvise, epoll_is_used_where_a_filter_refuses_all_requests)
{
	int epoll = epoll_by_libc();
	int set, number = 300;

	ASSERT_EQ(0, refuse_call(SYS_ioctl, variant->error));
	ASSERT_EQ(0, refuse_fadvise(variant->error));
	set = epoll_create1(0);
	ASSERT_LE(0, set);
	EXPECT_TRUE(is_set_of_epoll(set));
	EXPECT_TRUE(works(set));
	EXPECT_TRUE(refuses_a_regular_file(set));
	EXPECT_TRUE(works_after_a_wrong_call(set));
	/* Numbers of which the library knows nothing. */
	EXPECT_TRUE(works(epoll));
	EXPECT_TRUE(refuses_a_regular_file(epoll));
	EXPECT_TRUE(works_after_a_wrong_call(epoll));
	ASSERT_EQ(number, dup2(set, number));
	EXPECT_TRUE(works(number));
	EXPECT_EQ(-EBADF, ready(301));
}

/*
 * Neither the set nor its members can be reached any more.  All else can, also
 * under the number that the set had.
 */
TEST_F(fadvise, set_of_before_is_lost_alone_where_a_filter_refuses_all_requests)
{
	int epoll = epoll_by_libc();
	int set = epoll_create1(0);
	int fd = eventfd_new();

	ASSERT_EQ(0, add(set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(fd, ready(set));
	ASSERT_EQ(0, refuse_call(SYS_ioctl, variant->error));
	ASSERT_EQ(0, refuse_fadvise(variant->error));
	EXPECT_EQ(-variant->error, ready(set));
	EXPECT_EQ(-variant->error, add(set, eventfd_new(), EPOLLIN));
	EXPECT_EQ(-variant->error, ready(set));
	EXPECT_TRUE(works(epoll));
	EXPECT_TRUE(works(epoll_create1(0)));
	ASSERT_EQ(set, dup2(epoll, set));
	EXPECT_TRUE(works(set));
	EXPECT_TRUE(refuses_a_regular_file(set));
}

/* Above the limit of the day, as a program has it that lowers its limit. */
TEST(closefrom_leaves_nothing_behind_where_a_filter_refuses_it)
{
	struct rlimit few = { .rlim_cur = 64, .rlim_max = 4096 };
	int i, set = epoll_create1(0);

	ASSERT_EQ(0, raise_fd_limit(4096));
	for (i = 0; i < 200; i++)
		ASSERT_EQ(1000 + i, dup2(set, 1000 + i));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
	ASSERT_EQ(0, refuse_call(SYS_close_range, ENOSYS));
	closefrom(3);
	EXPECT_EQ(-EBADF, ready(set));
	for (i = 0; i < 200; i++)
		EXPECT_EQ(-1, fcntl(1000 + i, F_GETFD));
	EXPECT_EQ(3, epoll_create1(0));
}

TEST_HARNESS_MAIN
