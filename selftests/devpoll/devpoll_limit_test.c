// SPDX-License-Identifier: GPL-2.0
/* /dev/poll at the limits of a set, a file, a user and a cgroup. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/helpers.h"
#include "core/limits.h"

#define MAX_FDS_FILE	"/sys/module/devepoll/parameters/max_fds"
#define CGROUP		"/sys/fs/cgroup/devpoll-test"
#define ITEMS_PER_FILE	4096
#define FIRST		1000

FIXTURE(limit) {
	int fd;
	long watches;
};

FIXTURE_VARIANT(limit) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(limit, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(limit, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(limit)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->watches = read_number(WATCHES_FILE);
	ASSERT_LT(0, self->watches);
	ASSERT_LE(0, (self->fd = dp_open()));
	ASSERT_EQ(0, dp_wait_one(variant->face, self->fd, -1, 0));
}

FIXTURE_TEARDOWN_PARENT(limit)
{
	/* A test that becomes another user can't restore it itself. */
	if (!geteuid())
		EXPECT_EQ(0, write_number(WATCHES_FILE, self->watches));
}

/* Is the number in the set? */
static int has(enum dp_face face, int fd, int watched)
{
	struct pollfd entry = { .fd = watched };

	return dp_ispolled(face, fd, &entry);
}

TEST_F(limit, of_a_set_is_the_modules)
{
	long most = read_number(MAX_FDS_FILE);
	int i, file = -1;

	ASSERT_LT(0, most);
	if (most > 200000 || slowness() > 1)
		SKIP(return, "too many for this test");
	ASSERT_EQ(0, raise_fd_limit(FIRST + most + 10));
	for (i = 0; i < most + 10; i++) {
		/* Of so many files that none of them reaches its limit. */
		if (i % (ITEMS_PER_FILE / 2) == 0)
			file = eventfd_new();
		ASSERT_EQ(FIRST + i, dup2(file, FIRST + i));
	}
	EXPECT_EQ(most, add_range(self->fd, FIRST, most + 10));
	EXPECT_EQ(-ENOSPC, dp_set(self->fd, FIRST + most, POLLIN));
	EXPECT_EQ(0, has(variant->face, self->fd, FIRST + most));
	/* Nor is there room for one that is not open, if that stays. */
	ASSERT_EQ(0, close(FIRST + most + 1));
	EXPECT_EQ(variant->face == DP_LINUX ? 8 : -ENOSPC,
		  dp_set(self->fd, FIRST + most + 1, POLLIN));
	EXPECT_EQ(8, dp_set(self->fd, FIRST + 7, POLLREMOVE));
	EXPECT_EQ(8, dp_set(self->fd, FIRST + most, POLLIN));
	EXPECT_EQ(1, has(variant->face, self->fd, FIRST + most));
}

TEST_F(limit, of_a_file_is_a_number_of_watches)
{
	int n = ITEMS_PER_FILE, event = eventfd_new();

	ASSERT_EQ(0, raise_fd_limit(FIRST + n + 10));
	ASSERT_EQ(0, dup_range(event, FIRST, n + 1));
	EXPECT_EQ(n, add_range(self->fd, FIRST, n + 1));
	EXPECT_EQ(-ENOSPC, dp_set(self->fd, FIRST + n, POLLIN));
	EXPECT_EQ(0, has(variant->face, self->fd, FIRST + n));
	EXPECT_EQ(8, dp_set(self->fd, FIRST, POLLREMOVE));
	EXPECT_EQ(8, dp_set(self->fd, FIRST + n, POLLIN));
}

TEST_F(limit, of_a_user_is_of_all_his_sets)
{
	int event = eventfd_new(), a, b;
	struct pollfd out[150];

	ASSERT_EQ(0, raise_fd_limit(FIRST + 200));
	ASSERT_EQ(0, dup_range(event, FIRST, 150));
	ASSERT_EQ(0, write_number(WATCHES_FILE, 100));
	ASSERT_EQ(0, setresuid(45021, 45021, 45021));
	ASSERT_LE(0, (a = dp_open()));
	ASSERT_LE(0, (b = dp_open()));
	ASSERT_EQ(0, dp_wait_one(variant->face, a, -1, 0));
	ASSERT_EQ(0, dp_wait_one(variant->face, b, -1, 0));
	EXPECT_EQ(100, add_range(a, FIRST, 150));
	EXPECT_EQ(-ENOSPC, dp_set(a, FIRST + 100, POLLIN));
	EXPECT_EQ(-ENOSPC, dp_set(b, FIRST, POLLIN));
	/* Changing what is in the set takes nothing. */
	EXPECT_EQ(100, add_range(a, FIRST, 100));
	/* A number that was closed still counts in the face that keeps it. */
	ASSERT_EQ(0, close_range(FIRST, FIRST + 149, 0));
	ASSERT_EQ(0, close(event));
	EXPECT_EQ(variant->face == DP_LINUX ? 0 : 100,
		  dp_wait(variant->face, a, out, 150, 0));
	event = eventfd_new();
	EXPECT_EQ(variant->face == DP_LINUX ? 8 : -ENOSPC,
		  dp_set(b, event, POLLIN));
	ASSERT_EQ(0, close(a));
	EXPECT_EQ(8, dp_set(b, event, POLLIN));
}

FIXTURE(cgroup) {
	bool made;
};

FIXTURE_SETUP(cgroup)
{
	if (geteuid())
		SKIP(return, "needs root");
	if (mkdir(CGROUP, 0755) || access(CGROUP "/memory.current", R_OK)) {
		rmdir(CGROUP);
		SKIP(return, "no memory cgroup");
	}
	self->made = true;
	ASSERT_EQ(0, write_number(CGROUP "/cgroup.procs", getpid()));
}

FIXTURE_TEARDOWN(cgroup)
{
	if (!self->made)
		return;
	write_number("/sys/fs/cgroup/cgroup.procs", getpid());
	EXPECT_TRUE(await(rmdir(CGROUP) == 0));
}

TEST_F(cgroup, pays_for_the_buffer)
{
	/* Each processor may have charged 64 pages in advance. */
	long buffer = 131072 * sizeof(struct pollfd), slack = 140 * PAGE;
	long before, with;
	int fd;

	ASSERT_LE(0, (fd = dp_open()));
	before = read_number(CGROUP "/memory.current");
	ASSERT_LE(0, before);
	ASSERT_EQ(0, dp_ioctl(fd, DP_ALLOC, (void *)131072L));
	with = read_number(CGROUP "/memory.current");
	EXPECT_LE(before + buffer, with + slack);
	ASSERT_EQ(0, close(fd));
	EXPECT_TRUE(await(read_number(CGROUP "/memory.current") <
			  with - buffer + slack));
}

TEST_HARNESS_MAIN
