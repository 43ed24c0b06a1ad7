// SPDX-License-Identifier: GPL-2.0
/*
 * The device node: its number, its mode, who may open it, and the calls that it
 * refuses.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define NODE "/dev/epoll"

TEST(node_is_character_device_10_124)
{
	struct stat st;

	ASSERT_EQ(0, stat(NODE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(10, major(st.st_rdev));
	EXPECT_EQ(124, minor(st.st_rdev));
}

TEST(node_is_open_to_all)
{
	struct stat st;

	ASSERT_EQ(0, stat(NODE, &st));
	EXPECT_EQ(0666, st.st_mode & 07777);
}

TEST(misc_device_is_called_eventpoll)
{
	char line[64], name[64];
	int minor, found = 0;
	FILE *file;

	file = fopen("/proc/misc", "r");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%d %63s", &minor, name) == 2 &&
		    !strcmp(name, "eventpoll") && minor == 124)
			found++;
	fclose(file);
	EXPECT_EQ(1, found);
}

TEST(sysfs_names_the_number)
{
	char line[64] = "";
	FILE *file;

	file = fopen("/sys/class/misc/eventpoll/dev", "r");
	ASSERT_NE(NULL, file);
	EXPECT_NE(NULL, fgets(line, sizeof(line), file));
	fclose(file);
	EXPECT_STREQ("10:124\n", line);
}

/* One event, taken with all calls of the interface. */
static int use_device(const char *path)
{
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	int event = eventfd_new();
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char *map;
	int ret;

	if (fd < 0)
		return -errno;
	ret = dep_alloc(fd, 100);
	if (ret)
		return ret;
	map = dep_map(fd, EP_MAP_SIZE(100));
	if (map == MAP_FAILED)
		return -errno;
	if (dep_write_one(fd, event, POLLIN) != 8 || eventfd_post(event) ||
	    dep_poll(fd, &evp) != 1 || ((struct pollfd *)map)->fd != event)
		return -EIO;
	munmap(map, EP_MAP_SIZE(100));
	close(fd);
	close(event);
	return 0;
}

TEST(an_unprivileged_user_can_use_it)
{
	ASSERT_EQ(0, getuid()) TH_LOG("root gives its privileges up here");
	ASSERT_EQ(0, become(65534));
	EXPECT_EQ(0, use_device(NODE));
}

TEST(a_node_made_by_hand_works)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/dev/epoll-by-hand-%d", getpid());
	ASSERT_EQ(0, mknod(path, S_IFCHR | 0600, makedev(10, 124)));
	ret = use_device(path);
	EXPECT_EQ(0, unlink(path));
	EXPECT_EQ(0, ret);
}

FIXTURE(node) {
	int fd;
};

FIXTURE_SETUP(node)
{
	self->fd = dep_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(node)
{
	EXPECT_EQ(0, close(self->fd));
}

TEST_F(node, each_open_has_a_set_of_its_own)
{
	struct pollfd pfd = { .fd = 0 };
	int other = dep_open();

	ASSERT_LE(0, other);
	ASSERT_LE(0, (pfd.fd = eventfd_new()));
	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(-EINVAL, dep_free(other));
	ASSERT_EQ(0, dep_alloc(other, 10));
	EXPECT_EQ(8, dep_write_one(self->fd, pfd.fd, POLLIN));
	EXPECT_EQ(1, dep_ispolled(self->fd, &pfd));
	EXPECT_EQ(0, dep_ispolled(other, &pfd));
	EXPECT_EQ(0, close(other));
	EXPECT_EQ(1, dep_ispolled(self->fd, &pfd));
}

TEST_F(node, unknown_ioctls_are_refused_with_enotty)
{
	const unsigned long unknown[] = {
		0, -1UL, TCGETS, EP_FREE + 2, _IO(EP_IOC_MAGIC, 0),
		_IO(EP_IOC_MAGIC, 2), _IOR(EP_IOC_MAGIC, 3, int),
		_IOWR(EP_IOC_MAGIC, 5, struct pollfd), _IO('p', 3),
		_IOW(EP_IOC_MAGIC, 4, struct pollfd), 0xd001, 0xd002,
	};
	struct termios argument;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		errno = 0;
		EXPECT_EQ(-1, ioctl(self->fd, unknown[i], &argument))
			TH_LOG("request %#lx", unknown[i]);
		EXPECT_EQ(ENOTTY, errno);
	}
}

TEST_F(node, reading_is_refused)
{
	char buffer[64];
	struct iovec iov = { .iov_base = buffer, .iov_len = sizeof(buffer) };

	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(-1, read(self->fd, buffer, sizeof(buffer)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, readv(self->fd, &iov, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(node, there_is_no_position_to_seek)
{
	errno = 0;
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	errno = 0;
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_CUR));
	EXPECT_EQ(ESPIPE, errno);
	errno = 0;
	EXPECT_EQ(-1, lseek(self->fd, 8, SEEK_END));
	EXPECT_EQ(ESPIPE, errno);
}

TEST_F(node, sync_and_truncate_are_refused)
{
	EXPECT_EQ(-1, fsync(self->fd));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ftruncate(self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(node, opened_for_reading_takes_no_changes)
{
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	int fd = open(NODE, O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBADF, dep_alloc(fd, 10));
	EXPECT_EQ(-EBADF, dep_write(fd, &pfd, 1));
	EXPECT_EQ(0, close(fd));
}

TEST_F(node, a_whole_life_leaves_no_fd_open)
{
	int i, before = count_fds();

	ASSERT_LT(0, before);
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, use_device(NODE));
	EXPECT_EQ(before, count_fds());
}

TEST_HARNESS_MAIN
