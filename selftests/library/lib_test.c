// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll: the life of a set: open, grow, close.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "library/lib_helpers.h"

#define CAPACITY	512

/* Makes a node of a minor in a new directory, by the same major. */
static int make_node(char *path, size_t size, mode_t mode, int minor_nr)
{
	char dir[] = "/tmp/lib_test.XXXXXX";
	struct stat st;

	if (stat(DEVEPOLL_NODE, &st) < 0 || !mkdtemp(dir))
		return -errno;
	if (minor_nr < 0)
		minor_nr = minor(st.st_rdev);
	snprintf(path, size, "%s/node", dir);
	st.st_rdev = makedev(major(st.st_rdev), minor_nr);
	if (chmod(dir, 0755) < 0 || mknod(path, S_IFCHR | mode, st.st_rdev) < 0)
		return -errno;
	return chmod(path, mode) < 0 ? -errno : 0;
}

static void remove_node(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

FIXTURE(lib)
{
	struct devepoll *set;
	struct devepoll_cursor cursor;
};

FIXTURE_SETUP(lib)
{
	ASSERT_EQ(0, raise_fd_limit(8192));
	ASSERT_EQ(0, devepoll_open(&self->set, NULL, CAPACITY, 0));
}

FIXTURE_TEARDOWN(lib)
{
	EXPECT_EQ(0, devepoll_close(self->set));
	EXPECT_FALSE(leaks_memory());
}

TEST(open_of_a_missing_node_is_enoent)
{
	struct devepoll *set = (void *)1;

	EXPECT_EQ(-ENOENT, devepoll_open(&set, "/nowhere/epoll", 1, 0));
	EXPECT_EQ(NULL, set);
}

TEST(open_of_what_is_not_the_device_is_enotty)
{
	struct devepoll *set = (void *)1;

	EXPECT_EQ(-ENOTTY, devepoll_open(&set, "/dev/null", 1, 0));
	EXPECT_EQ(NULL, set);
}

TEST(open_without_permission_is_eacces)
{
	struct devepoll *set = (void *)1;
	char path[64];

	ASSERT_EQ(0, make_node(path, sizeof(path), 0600, -1));
	EXPECT_EQ(0, devepoll_open(&set, path, 1, 0));
	EXPECT_EQ(0, devepoll_close(set));

	ASSERT_EQ(0, seteuid(65534));
	EXPECT_EQ(-EACCES, devepoll_open(&set, path, 1, 0));
	EXPECT_EQ(NULL, set);
	ASSERT_EQ(0, seteuid(0));
	remove_node(path);
}

TEST(open_of_a_node_without_a_driver_is_enodev)
{
	struct devepoll *set = (void *)1;
	char path[64];

	ASSERT_EQ(0, make_node(path, sizeof(path), 0666, 99));
	EXPECT_EQ(-ENODEV, devepoll_open(&set, path, 1, 0));
	EXPECT_EQ(NULL, set);
	remove_node(path);
}

TEST(open_falls_back_to_the_node_of_udev)
{
	struct devepoll *set;
	struct stat st;

	ASSERT_EQ(0, stat(DEVEPOLL_NODE, &st));
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	ASSERT_EQ(0, mount("none", "/dev", "tmpfs", 0, NULL));
	EXPECT_EQ(-ENOENT, devepoll_open(&set, NULL, 1, 0));

	ASSERT_EQ(0, mkdir("/dev/misc", 0755));
	ASSERT_EQ(0, mknod(DEVEPOLL_NODE_MISC, S_IFCHR | 0666, st.st_rdev));
	EXPECT_EQ(0, devepoll_open(&set, NULL, 1, 0));
	EXPECT_EQ(0, devepoll_close(set));
}

TEST(open_refuses_bad_arguments)
{
	struct devepoll *set = (void *)1;
	int fds = count_fds();

	ASSERT_LT(0, fds);
	EXPECT_EQ(-EINVAL, devepoll_open(NULL, NULL, 1, 0));
	EXPECT_EQ(-EINVAL, devepoll_open(&set, NULL, 1, 2));
	EXPECT_EQ(-EINVAL, devepoll_open(&set, NULL, 0, 0));
	EXPECT_EQ(-EINVAL, devepoll_open(&set, NULL, -1, 0));
	EXPECT_EQ(-EINVAL, devepoll_open(&set, NULL, INT_MAX, 0));
	EXPECT_EQ(NULL, set);
	EXPECT_EQ(fds, count_fds());
}

TEST(open_without_a_free_descriptor_is_emfile)
{
	struct devepoll *set = (void *)1;

	/* The lowest free number is the first that is not allowed. */
	ASSERT_EQ(0, raise_fd_limit(free_fd()));
	EXPECT_EQ(-EMFILE, devepoll_open(&set, NULL, 1, 0));
	EXPECT_EQ(NULL, set);
}

TEST(descriptor_closes_on_exec_unless_asked)
{
	struct devepoll *set;

	ASSERT_EQ(0, devepoll_open(&set, NULL, 1, 0));
	EXPECT_EQ(FD_CLOEXEC, fcntl(devepoll_fd(set), F_GETFD));
	EXPECT_EQ(0, devepoll_close(set));

	ASSERT_EQ(0, devepoll_open(&set, NULL, 1, DEVEPOLL_NO_CLOEXEC));
	EXPECT_EQ(0, fcntl(devepoll_fd(set), F_GETFD));
	EXPECT_EQ(0, devepoll_close(set));
}

TEST(close_gives_everything_back)
{
	struct devepoll *set;
	int next = free_fd();
	long pages;

	ASSERT_LE(0, next);
	ASSERT_EQ(0, devepoll_open(&set, NULL, CAPACITY, 0));
	EXPECT_EQ(0, devepoll_close(set));
	EXPECT_EQ(next, free_fd());

	pages = status_field(getpid(), "VmSize");
	ASSERT_EQ(0, devepoll_open(&set, NULL, 131072, 0));
	EXPECT_LE(pages + 2048, status_field(getpid(), "VmSize"));
	EXPECT_EQ(0, devepoll_close(set));
	EXPECT_GT(pages + 2048, status_field(getpid(), "VmSize"));
}

TEST(null_arguments_are_refused)
{
	struct devepoll_cursor cursor = poisoned_cursor();
	struct pollfd change = { .fd = 0, .events = POLLIN };
	struct devepoll_failure failure;

	EXPECT_EQ(0, devepoll_close(NULL));
	EXPECT_EQ(-EINVAL, devepoll_alloc(NULL, 1));
	EXPECT_EQ(-EINVAL, devepoll_capacity(NULL));
	EXPECT_EQ(-EINVAL, devepoll_fd(NULL));
	EXPECT_EQ(-EINVAL, devepoll_update(NULL, &change, 1, NULL, 0));
	EXPECT_EQ(-EINVAL, devepoll_update(NULL, &change, 1, &failure, 1));
	EXPECT_EQ(-EINVAL, devepoll_add(NULL, 0, POLLIN));
	EXPECT_EQ(-EINVAL, devepoll_change(NULL, 0, POLLIN));
	EXPECT_EQ(-EINVAL, devepoll_remove(NULL, 0));
	EXPECT_EQ(-EINVAL, devepoll_query(NULL, 0));
	EXPECT_EQ(-EINVAL, devepoll_wait(NULL, &cursor, 0));
	EXPECT_EQ(NULL, devepoll_next(&cursor));
}

TEST_F(lib, descriptor_closed_behind_the_set_is_ebadf)
{
	struct devepoll *set;

	ASSERT_EQ(0, devepoll_open(&set, NULL, CAPACITY, 0));
	ASSERT_EQ(0, close(devepoll_fd(set)));
	EXPECT_EQ(-EBADF, devepoll_add(set, 0, POLLIN));
	EXPECT_EQ(-EBADF, devepoll_change(set, 0, POLLIN));
	EXPECT_EQ(-EBADF, devepoll_remove(set, 0));
	EXPECT_EQ(-EBADF, devepoll_query(set, 0));
	EXPECT_EQ(-EBADF, devepoll_alloc(set, 2 * CAPACITY));
	/* It could not be mapped again. */
	EXPECT_EQ(-EINVAL, devepoll_wait(set, &self->cursor, 0));
	EXPECT_EQ(-EBADF, devepoll_close(set));
}

TEST_F(lib, capacity_is_what_was_asked_for)
{
	EXPECT_EQ(CAPACITY, devepoll_capacity(self->set));
	EXPECT_EQ(0, devepoll_alloc(self->set, 1));
	EXPECT_EQ(CAPACITY, devepoll_capacity(self->set));
	EXPECT_EQ(0, devepoll_alloc(self->set, CAPACITY + 1));
	EXPECT_EQ(CAPACITY + 1, devepoll_capacity(self->set));
	EXPECT_EQ(-EINVAL, devepoll_alloc(self->set, 0));
	EXPECT_EQ(-EINVAL, devepoll_alloc(self->set, -1));
	EXPECT_EQ(CAPACITY + 1, devepoll_capacity(self->set));
}

TEST_F(lib, alloc_keeps_the_fds_and_their_pending_events)
{
	const struct pollfd *event;
	int posted, quiet;

	posted = add_posted(self->set);
	ASSERT_LE(0, posted);
	quiet = eventfd_new();
	ASSERT_LE(0, quiet);
	ASSERT_EQ(0, devepoll_add(self->set, quiet, POLLIN));

	ASSERT_EQ(0, devepoll_alloc(self->set, 4 * CAPACITY));
	ASSERT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	event = devepoll_next(&self->cursor);
	EXPECT_EQ(posted, event->fd);
	EXPECT_EQ(POLLIN, event->revents);

	EXPECT_EQ(POLLIN, devepoll_query(self->set, quiet));
	ASSERT_EQ(0, eventfd_post(quiet));
	ASSERT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	EXPECT_EQ(quiet, devepoll_next(&self->cursor)->fd);
}

TEST_F(lib, alloc_makes_room_for_so_many_fds)
{
	int i, fd;

	ASSERT_EQ(0, devepoll_alloc(self->set, 2 * CAPACITY));
	for (i = 0; i < 2 * CAPACITY; i++) {
		fd = eventfd_new();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, devepoll_add(self->set, fd, POLLIN));
		ASSERT_EQ(0, eventfd_post(fd));
	}
	EXPECT_EQ(2 * CAPACITY, devepoll_wait(self->set, &self->cursor, 0));
	for (i = 0; devepoll_next(&self->cursor); i++)
		;
	EXPECT_EQ(2 * CAPACITY, i);
}

TEST_F(lib, alloc_that_fails_leaves_the_set_usable)
{
	int fd = add_posted(self->set);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, devepoll_alloc(self->set, INT_MAX));
	EXPECT_EQ(CAPACITY, devepoll_capacity(self->set));
	ASSERT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	EXPECT_EQ(fd, devepoll_next(&self->cursor)->fd);
}

TEST_F(lib, alloc_is_ebusy_while_a_child_has_it_mapped)
{
	int fd = add_posted(self->set);
	pid_t child;
	int status;

	ASSERT_LE(0, fd);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		pause();
		_exit(0);
	}

	EXPECT_EQ(-EBUSY, devepoll_alloc(self->set, 2 * CAPACITY));
	EXPECT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	EXPECT_EQ(fd, devepoll_next(&self->cursor)->fd);

	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, devepoll_alloc(self->set, 2 * CAPACITY));
}

TEST_F(lib, child_shares_the_set)
{
	int fd = eventfd_new();
	pid_t child;

	ASSERT_LE(0, fd);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (devepoll_add(self->set, fd, POLLIN) || eventfd_post(fd))
			_exit(1);
		_exit(0);
	}
	EXPECT_EQ(0, reap(child));

	ASSERT_EQ(1, devepoll_wait(self->set, &self->cursor, 0));
	EXPECT_EQ(fd, devepoll_next(&self->cursor)->fd);
}

TEST_HARNESS_MAIN
