// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll: where epoll's calls under a prefix differ from epoll's own:
 * closed numbers, epoll's sets, sets of 2001, and a node that can't be opened.
 * And that calls which epoll does not have do not differ.
 */
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "kselftest_harness.h"

#include "core/other_calls.h"
#include "library/lib_calls.h"
#include "library/lib_helpers.h"

TEST(closed_fd_is_removed_by_its_number)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = devepoll_epoll_create1(EPOLL_CLOEXEC);
	int fd = eventfd_new();
	int copy = dup(fd);

	ASSERT_LE(0, set);
	ASSERT_EQ(0, devepoll_epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(0, result_of(devepoll_epoll_ctl(set, EPOLL_CTL_DEL, fd,
						  NULL)));
	EXPECT_EQ(-EBADF, result_of(devepoll_epoll_ctl(set, EPOLL_CTL_DEL, fd,
						       NULL)));
	close(copy);
	close(set);
}

TEST(epolls_own_set_is_no_member_and_no_set)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = devepoll_epoll_create1(EPOLL_CLOEXEC);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int fd = eventfd_new();

	ASSERT_LE(0, set);
	EXPECT_EQ(-ELOOP, result_of(devepoll_epoll_ctl(set, EPOLL_CTL_ADD,
						       epoll, &event)));
	EXPECT_EQ(-EINVAL, result_of(devepoll_epoll_ctl(epoll, EPOLL_CTL_ADD,
							fd, &event)));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(-EINVAL, result_of(devepoll_epoll_ctl(epoll, EPOLL_CTL_DEL,
							fd, NULL)));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(-EINVAL, result_of(devepoll_epoll_wait(epoll, &event, 1,
							 0)));
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 0));
	close(epoll);
	close(set);
}

TEST(set_of_2001_is_ebusy)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct devepoll *set;
	int fd;

	ASSERT_EQ(0, devepoll_open(&set, NULL, 1, 0));
	fd = devepoll_fd(set);
	EXPECT_EQ(-EBUSY, result_of(devepoll_epoll_ctl(fd, EPOLL_CTL_ADD, 0,
						       &event)));
	EXPECT_EQ(-EBUSY, result_of(devepoll_epoll_wait(fd, &event, 1, 0)));
	EXPECT_EQ(0, devepoll_close(set));
}

TEST(calls_that_epoll_lacks_say_what_they_say_to_epoll)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int sets[] = {
		devepoll_epoll_create1(EPOLL_CLOEXEC), devepoll_epoll_create(1),
	};
	size_t i;

	ASSERT_LE(0, epoll);
	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		ASSERT_LE(0, sets[i]);
		EXPECT_EQ(0, count_differences(sets[i], epoll));
		close(sets[i]);
	}
	close(epoll);
}

/* A folder of our own over /dev, in a namespace of our own. */
static int cover_dev(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		return -errno;
	return 0;
}

TEST(create_without_a_node_is_enoent)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEVEPOLL_NODE, &st));
	ASSERT_EQ(0, cover_dev());
	EXPECT_EQ(-ENOENT, result_of(devepoll_epoll_create1(0)));

	ASSERT_EQ(0, mkdir("/dev/misc", 0755));
	ASSERT_EQ(0, mknod(DEVEPOLL_NODE_MISC, S_IFCHR | 0666, st.st_rdev));
	EXPECT_LE(0, result_of(devepoll_epoll_create1(0)));
}

TEST(create_by_another_user_without_permission_is_eacces)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEVEPOLL_NODE, &st));
	ASSERT_EQ(0, cover_dev());
	ASSERT_EQ(0, mknod(DEVEPOLL_NODE, S_IFCHR | 0600, st.st_rdev));
	EXPECT_LE(0, result_of(devepoll_epoll_create1(0)));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	EXPECT_EQ(-EACCES, result_of(devepoll_epoll_create1(0)));
	EXPECT_EQ(-EACCES, result_of(devepoll_epoll_create(1)));
}

TEST(create_on_a_node_of_another_device_is_enotty)
{
	int fds;

	ASSERT_EQ(0, cover_dev());
	/* The device number of /dev/null. */
	ASSERT_EQ(0, mknod(DEVEPOLL_NODE, S_IFCHR | 0666, makedev(1, 3)));
	fds = count_fds();
	ASSERT_LT(0, fds);
	EXPECT_EQ(-ENOTTY, result_of(devepoll_epoll_create1(0)));
	EXPECT_EQ(fds, count_fds());
}

TEST_HARNESS_MAIN
