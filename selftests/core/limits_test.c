// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of the module, the user, the process and the cgroup.  Each test runs
 * as a user of its own, so that it shares no counter.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/limits.h"

#define MAX_FDS_FILE	"/sys/module/devepoll/parameters/max_fds"
#define ITEMS_PER_FILE	4096
/* Fds of which a page set takes one page of the kernel. */
#define PAGE_FDS	(PAGE / (int)sizeof(struct pollfd))
/* The first number that can't be watched. */
#define FDS_WATCHED	(2L << 20)

static int limit(int resource, rlim_t n)
{
	struct rlimit r = { n, n };

	return setrlimit(resource, &r) ? -errno : 0;
}

static void close_from(int first, int n)
{
	close_range(first, first + n - 1, 0);
}

FIXTURE(limits) {
	long watches;
};

FIXTURE_SETUP(limits)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->watches = read_number(WATCHES_FILE);
	ASSERT_LT(0, self->watches);
	ASSERT_EQ(0, raise_fd_limit(20000));
}

FIXTURE_TEARDOWN_PARENT(limits)
{
	/* A test that becomes another user can't restore it itself. */
	if (!geteuid())
		EXPECT_EQ(0, write_number(WATCHES_FILE, self->watches));
}

TEST_F(limits, module_bounds_the_fds_of_a_set)
{
	long most = read_number(MAX_FDS_FILE);
	int fd = dep_open();

	ASSERT_LE(0, fd);
	ASSERT_LT(0, most);
	EXPECT_EQ(-EINVAL, dep_alloc(fd, most + 1));
	EXPECT_EQ(-EINVAL, dep_alloc(fd, INT_MAX));
	EXPECT_EQ(-EINVAL, dep_alloc(fd, INT_MIN));
	EXPECT_EQ(0, dep_alloc(fd, most));
	close(fd);
}

TEST_F(limits, full_set_gives_a_short_count)
{
	int event = eventfd_new();
	int fd = new_set(100);

	ASSERT_EQ(0, dup_range(event, 1000, 150));
	EXPECT_EQ(100, add_range(fd, 1000, 150));
	EXPECT_EQ(0, add_range(fd, 1100, 50));
	EXPECT_EQ(8, dep_write_one(fd, 1000, POLLREMOVE));
	EXPECT_EQ(1, add_range(fd, 1100, 50));
	close(fd);
}

/* Pages are locked memory of the user, in all of the user's sets together. */
TEST_F(limits, locked_memory_bounds_the_pages_of_a_user)
{
	int a, b, i;

	ASSERT_EQ(0, limit(RLIMIT_MEMLOCK, 8 * PARTS * PAGE));
	ASSERT_EQ(0, become(45001));
	a = new_set(PAGE_FDS);
	b = new_set(PAGE_FDS);
	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(-ENOMEM, dep_alloc(a, 8 * PAGE_FDS));
	EXPECT_EQ(0, dep_alloc(a, 7 * PAGE_FDS));
	EXPECT_EQ(-ENOMEM, dep_alloc(b, 2 * PAGE_FDS));
	EXPECT_EQ(-1, new_set(PAGE_FDS));

	/* A failure changed nothing, and what is freed can be had again. */
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, dep_free(a)) TH_LOG("round %d", i);
		ASSERT_EQ(0, dep_alloc(b, 7 * PAGE_FDS));
		ASSERT_EQ(-ENOMEM, dep_alloc(a, 2 * PAGE_FDS));
		close(b);
		b = new_set(PAGE_FDS);
		ASSERT_LE(0, b);
		ASSERT_EQ(0, dep_alloc(a, 7 * PAGE_FDS));
	}
	close(a);
	close(b);
}

TEST_F(limits, root_may_lock_more)
{
	int fd;

	ASSERT_EQ(0, limit(RLIMIT_MEMLOCK, PAGE));
	fd = new_set(100000);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F(limits, watches_of_a_user_are_bounded)
{
	struct pollfd pfd = { .fd = 1099 };
	int event = eventfd_new();
	int a, b;

	ASSERT_EQ(0, dup_range(event, 1000, 150));
	ASSERT_EQ(0, write_number(WATCHES_FILE, 100));
	ASSERT_EQ(0, become(45002));
	a = new_set(1000);
	b = new_set(1000);
	EXPECT_EQ(100, add_range(a, 1000, 150));
	EXPECT_EQ(1, dep_ispolled(a, &pfd));
	pfd.fd = 1100;
	EXPECT_EQ(0, dep_ispolled(a, &pfd));
	EXPECT_EQ(0, add_range(b, 1000, 150));

	/* Changing what is in the set takes nothing. */
	EXPECT_EQ(100, add_range(a, 1000, 100));

	/* Removing, closing files and closing sets uncharge. */
	EXPECT_EQ(8, dep_write_one(a, 1000, POLLREMOVE));
	EXPECT_EQ(1, add_range(b, 1000, 150));
	EXPECT_EQ(0, dep_free(b));
	EXPECT_EQ(0, dep_alloc(b, 1000));
	EXPECT_EQ(1, add_range(b, 1000, 150));
	close_from(1000, 150);
	close(event);
	event = eventfd_new();
	ASSERT_EQ(0, dup_range(event, 1000, 150));
	EXPECT_EQ(100, add_range(b, 1000, 150));
	close(b);
	EXPECT_EQ(100, add_range(a, 1000, 150));
	close(a);
}

TEST_F(limits, watches_come_back_when_a_process_dies)
{
	int event = eventfd_new();
	int i, a;

	ASSERT_EQ(0, dup_range(event, 1000, 150));
	ASSERT_EQ(0, write_number(WATCHES_FILE, 100));
	ASSERT_EQ(0, become(45003));
	for (i = 0; i < 5; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid) {
			a = new_set(1000);
			if (add_range(a, 1000, 150) != 100)
				_exit(1);
			kill(getpid(), SIGKILL);
		}
		ASSERT_EQ(128 + SIGKILL, reap(pid)) TH_LOG("round %d", i);
	}
	a = new_set(1000);
	EXPECT_EQ(100, add_range(a, 1000, 150));
	close(a);
}

TEST_F(limits, users_do_not_share_their_watches)
{
	int event = eventfd_new();
	pid_t pid;
	int a;

	ASSERT_EQ(0, dup_range(event, 1000, 150));
	ASSERT_EQ(0, write_number(WATCHES_FILE, 100));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (become(45004))
			_exit(1);
		a = new_set(1000);
		_exit(add_range(a, 1000, 150) != 100);
	}
	ASSERT_EQ(0, become(45005));
	a = new_set(1000);
	EXPECT_EQ(100, add_range(a, 1000, 150));
	EXPECT_EQ(0, reap(pid));
	close(a);
}

TEST_F(limits, open_files_bound_the_sets)
{
	int fds[64], i, n = 0;

	ASSERT_EQ(0, limit(RLIMIT_NOFILE, next_fd() + 10));
	while (n < 64 && (fds[n] = dep_open()) >= 0)
		n++;
	EXPECT_EQ(-EMFILE, fds[n]);
	EXPECT_EQ(10, n);
	for (i = 0; i < n; i++)
		close(fds[i]);
	EXPECT_LE(0, dep_open());
}

/* The limit is for new numbers: existing ones can be watched. */
TEST_F(limits, numbers_above_a_lowered_limit_still_work)
{
	int event = eventfd_new(), fd = new_set(10);
	struct evpoll evp = { .ep_timeout = 0 };
	char *map;

	ASSERT_EQ(19000, dup3(event, 19000, O_CLOEXEC));
	map = dep_map(fd, EP_MAP_SIZE(10));
	ASSERT_NE(NULL, map);
	ASSERT_EQ(0, limit(RLIMIT_NOFILE, 100));
	EXPECT_EQ(8, dep_write_one(fd, 19000, POLLIN));
	ASSERT_LE(0, eventfd_post(19000));
	EXPECT_EQ(1, dep_poll(fd, &evp));
	EXPECT_EQ(19000, ((struct pollfd *)(map + evp.ep_resoff))->fd);
	close(fd);
}

TEST_F(limits, largest_fd_numbers_can_be_watched)
{
	long most = read_number("/proc/sys/fs/nr_open");
	int event = eventfd_new(), fd = new_set(10);
	struct pollfd pfd;

	/* systemd raises it beyond what can be watched or fits in memory. */
	if (most > FDS_WATCHED)
		most = FDS_WATCHED;
	pfd.fd = most - 1;
	if (raise_fd_limit(most))
		SKIP(return, "the limit of open files can't be raised");
	ASSERT_EQ(most - 1, dup3(event, most - 1, O_CLOEXEC));
	EXPECT_EQ(8, dep_write_one(fd, most - 1, POLLIN));
	EXPECT_EQ(1, dep_ispolled(fd, &pfd));
	EXPECT_EQ(8, dep_write_one(fd, most, POLLIN));
	EXPECT_EQ(8, dep_write_one(fd, most - 1, POLLREMOVE));
	close(fd);
}

/* One file's wake-up and close walk all its items, so they are bounded. */
TEST_F(limits, items_of_a_file_are_bounded)
{
	int event = eventfd_new(), other = eventfd_new();
	int a = new_set(8192), b = new_set(8192);
	const int half = ITEMS_PER_FILE / 2;

	ASSERT_EQ(0, dup_range(event, 5000, ITEMS_PER_FILE + 10));
	ASSERT_EQ(0, dup_range(other, 15000, 10));
	EXPECT_EQ(ITEMS_PER_FILE, add_range(a, 5000, ITEMS_PER_FILE + 10));
	/* Another file has a count of its own. */
	EXPECT_EQ(10, add_range(a, 15000, 10));
	close(a);

	/* All sets that watch the file count together. */
	a = new_set(8192);
	EXPECT_EQ(half, add_range(a, 5000, half));
	EXPECT_EQ(half, add_range(b, 5000, half + 10));
	EXPECT_EQ(0, add_range(a, 5000 + half, 10));
	close(b);
	EXPECT_EQ(10, add_range(a, 5000 + half, 10));
	close(a);
}

static long whole_pages(long size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

/* The page sets, which may share a page of the kernel, and the index. */
static long charge_of(int fds)
{
	return whole_pages(EP_MAP_SIZE(fds)) +
	       whole_pages(EP_MAP_SIZE(fds) / 2);
}

/* An unprivileged user takes as much as possible: it must be little. */
TEST_F(limits, greedy_user_gets_no_more_than_his_share)
{
	const long most = 8L << 20;
	long charged = 0;
	int i;

	ASSERT_EQ(0, limit(RLIMIT_MEMLOCK, most));
	ASSERT_EQ(0, limit(RLIMIT_NOFILE, 1000));
	ASSERT_EQ(0, become(45006));
	for (i = 0; i < 900; i++) {
		int fd = dep_open(), n;

		if (fd < 0)
			break;
		for (n = 131072; n >= 1; n /= 2) {
			if (!dep_alloc(fd, n)) {
				charged += charge_of(n);
				break;
			}
		}
	}
	EXPECT_LT(0, charged);
	EXPECT_LE(charged, most);
	EXPECT_LT(most - charged, charge_of(1));
}

TEST_HARNESS_MAIN
