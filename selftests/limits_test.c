// SPDX-License-Identifier: GPL-2.0
/*
 * Limits: of the module, of the user, of the process and of the cgroup.  Each
 * test works as a user of its own, so that nothing that is counted is shared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
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

#include "helpers.h"

#define WATCHES_FILE	"/sys/module/devepoll/parameters/max_user_watches"
#define MAX_FDS_FILE	"/sys/module/devepoll/parameters/max_fds"
#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/devepoll-test"
#define ITEMS_PER_FILE	4096
#define PAGE		4096L
/* Pages that the kernel holds for each page of one set. */
#define PARTS		3

static long read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = -1;

	if (!f)
		return -errno;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

static int write_number(const char *path, long n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%ld\n", n) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* No root's rights any more. */
static int become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

static int limit(int resource, rlim_t n)
{
	struct rlimit r = { n, n };

	return setrlimit(resource, &r) ? -errno : 0;
}

/* Adds the numbers first .. first + n - 1, gives how many took effect. */
static int add_range(int set, int first, int n)
{
	struct pollfd *batch = calloc(n, sizeof(*batch));
	int i, ret;

	for (i = 0; i < n; i++)
		batch[i] = (struct pollfd){ .fd = first + i, .events = POLLIN };
	ret = dep_write(set, batch, n);
	free(batch);
	return ret < 0 ? ret : ret / (int)sizeof(*batch);
}

/* Makes the numbers first .. first + n - 1 name the file. */
static int dup_range(int fd, int first, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (dup3(fd, first + i, O_CLOEXEC) < 0)
			return -errno;
	}
	return 0;
}

static void close_from(int first, int n)
{
	close_range(first, first + n - 1, 0);
}

static int new_set(int fds)
{
	int fd = dep_open();

	if (fd >= 0 && dep_alloc(fd, fds)) {
		close(fd);
		return -1;
	}
	return fd;
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
	/* A test that becomes a user can't set it back itself. */
	if (!geteuid())
		EXPECT_EQ(0, write_number(WATCHES_FILE, self->watches));
}

TEST_F_TIMEOUT(limits, module_bounds_the_fds_of_a_set, TEST_SECONDS)
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

TEST_F_TIMEOUT(limits, full_set_gives_a_short_count, TEST_SECONDS)
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

/* Pages are locked memory of the user, in all his sets together. */
TEST_F_TIMEOUT(limits, locked_memory_bounds_the_pages_of_a_user, TEST_SECONDS)
{
	int a, b, i;

	ASSERT_EQ(0, limit(RLIMIT_MEMLOCK, 8 * PARTS * PAGE));
	ASSERT_EQ(0, become(45001));
	a = new_set(1);
	b = new_set(1);
	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(-ENOMEM, dep_alloc(a, 8 * POLLFD_X_PAGE));
	EXPECT_EQ(0, dep_alloc(a, 7 * POLLFD_X_PAGE));
	EXPECT_EQ(-ENOMEM, dep_alloc(b, 2 * POLLFD_X_PAGE));
	EXPECT_EQ(-1, new_set(1));

	/* What failed changed nothing, and what is freed can be had again. */
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, dep_free(a)) TH_LOG("round %d", i);
		ASSERT_EQ(0, dep_alloc(b, 7 * POLLFD_X_PAGE));
		ASSERT_EQ(-ENOMEM, dep_alloc(a, 2 * POLLFD_X_PAGE));
		close(b);
		b = new_set(1);
		ASSERT_LE(0, b);
		ASSERT_EQ(0, dep_alloc(a, 7 * POLLFD_X_PAGE));
	}
	close(a);
	close(b);
}

TEST_F_TIMEOUT(limits, root_may_lock_more, TEST_SECONDS)
{
	int fd;

	ASSERT_EQ(0, limit(RLIMIT_MEMLOCK, PAGE));
	fd = new_set(100000);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F_TIMEOUT(limits, watches_of_a_user_are_bounded, TEST_SECONDS)
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

	/* Removing, closing files and closing sets give the count back. */
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

TEST_F_TIMEOUT(limits, watches_come_back_when_a_process_dies, TEST_SECONDS)
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

TEST_F_TIMEOUT(limits, users_do_not_share_their_watches, TEST_SECONDS)
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

TEST_F_TIMEOUT(limits, open_files_bound_the_sets, TEST_SECONDS)
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

/* The limit is for new numbers: those that are there can be watched. */
TEST_F_TIMEOUT(limits, numbers_above_a_lowered_limit_still_work, TEST_SECONDS)
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

TEST_F_TIMEOUT(limits, largest_fd_numbers_can_be_watched, TEST_SECONDS)
{
	long most = read_number("/proc/sys/fs/nr_open");
	int event = eventfd_new(), fd = new_set(10);
	struct pollfd pfd = { .fd = most - 1 };

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
TEST_F_TIMEOUT(limits, items_of_a_file_are_bounded, TEST_SECONDS)
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

/* A user without rights takes what he can get: it must be little. */
TEST_F_TIMEOUT(limits, greedy_user_gets_no_more_than_his_share, TEST_SECONDS)
{
	const long most = 8L << 20;
	long pages = 0;
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
				pages += PARTS * EP_FDS_PAGES(n);
				break;
			}
		}
	}
	EXPECT_LT(0, pages);
	EXPECT_LE(pages * PAGE, most);
	EXPECT_LT(most - pages * PAGE, (long)PARTS * PAGE);
}

/* In a memory cgroup of its own. */
FIXTURE(cgroup) {
	bool made;
};

static long charged(void)
{
	return read_number(CGROUP "/memory.current");
}

static long killed_for_memory(void)
{
	char line[128];
	long n = 0;
	FILE *f = fopen(CGROUP "/memory.events", "re");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "oom_kill %ld", &n);
	if (f)
		fclose(f);
	return n;
}

FIXTURE_SETUP(cgroup)
{
	if (geteuid())
		SKIP(return, "needs root");
	if (mkdir(CGROUP, 0755) || access(CGROUP "/memory.current", R_OK)) {
		rmdir(CGROUP);
		SKIP(return, "no memory cgroup at " CGROUP_ROOT);
	}
	self->made = true;
	ASSERT_EQ(0, raise_fd_limit(20000));
}

/* The cgroup can go when nothing is in it, and takes no page along. */
FIXTURE_TEARDOWN(cgroup)
{
	if (!self->made)
		return;
	write_number(CGROUP_ROOT "/cgroup.procs", getpid());
	EXPECT_TRUE(await(rmdir(CGROUP) == 0));
}

TEST_F_TIMEOUT(cgroup, pages_are_charged, TEST_SECONDS)
{
	long before, with, after;
	int fd;

	ASSERT_EQ(0, write_number(CGROUP "/cgroup.procs", getpid()));
	fd = dep_open();
	before = charged();
	ASSERT_EQ(0, dep_alloc(fd, 131072));
	with = charged();
	EXPECT_LE(before + 256 * PARTS * PAGE, with + 70 * PAGE);
	close(fd);
	after = charged();
	EXPECT_LE(after, with - 256 * PARTS * PAGE + 140 * PAGE);
}

TEST_F_TIMEOUT(cgroup, items_are_charged, TEST_SECONDS)
{
	int events[4], fd, i, added = 0;
	long before, with;

	for (i = 0; i < 4; i++) {
		events[i] = eventfd_new();
		ASSERT_EQ(0, dup_range(events[i], 1000 + i * 4096, 4096));
	}
	fd = new_set(20000);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, write_number(CGROUP "/cgroup.procs", getpid()));
	before = charged();
	for (i = 0; i < 4; i++)
		added += add_range(fd, 1000 + i * 4096, 4096);
	with = charged();
	EXPECT_EQ(4 * 4096, added);
	/* No item is smaller than 64 bytes. */
	EXPECT_LE(before + 4 * 4096 * 64 - 70 * PAGE, with);
	close(fd);
	EXPECT_TRUE(await(charged() < with - 4 * 4096 * 32));
}

/* Whoever hits the limit fails or is killed, and nobody else. */
TEST_F_TIMEOUT(cgroup, limit_hits_the_greedy_alone, TEST_SECONDS)
{
	int i, status, fd;
	pid_t pid;

	ASSERT_EQ(0, write_number(CGROUP "/memory.max", 16L << 20));
	write_number(CGROUP "/memory.swap.max", 0);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (write_number(CGROUP "/cgroup.procs", getpid()))
			_exit(1);
		for (i = 0; i < 100; i++) {
			fd = dep_open();
			if (fd < 0)
				_exit(fd == -ENOMEM ? 0 : 2);
			status = dep_alloc(fd, 131072);
			if (status)
				_exit(status == -ENOMEM ? 0 : 3);
		}
		_exit(4);
	}
	status = reap(pid);
	if (status) {
		EXPECT_EQ(128 + SIGKILL, status);
		EXPECT_LE(1, killed_for_memory());
	}
	/* This process is outside, and what the other had is free again. */
	EXPECT_TRUE(await(charged() < 8L << 20));
	fd = new_set(131072);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F_TIMEOUT(cgroup, limit_hit_by_items_hits_the_greedy_alone, TEST_SECONDS)
{
	int i, s, fd, status, event;
	pid_t pid;

	ASSERT_EQ(0, write_number(CGROUP "/memory.max", 8L << 20));
	write_number(CGROUP "/memory.swap.max", 0);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		fd = new_set(1);
		close(fd);
		if (write_number(CGROUP "/cgroup.procs", getpid()))
			_exit(1);
		for (i = 0; i < 4; i++) {
			event = eventfd_new();
			if (dup_range(event, 1000 + i * 4096, 4096))
				_exit(2);
		}
		for (s = 0; s < 64; s++) {
			fd = new_set(20000);
			if (fd < 0)
				_exit(0);
			event = eventfd_new();
			if (dup_range(event, 1000 + s % 4 * 4096, 4096))
				_exit(3);
			if (add_range(fd, 1000 + s % 4 * 4096, 4096) < 4096)
				_exit(0);
		}
		_exit(4);
	}
	status = reap(pid);
	if (status) {
		EXPECT_EQ(128 + SIGKILL, status);
		EXPECT_LE(1, killed_for_memory());
	}
	EXPECT_TRUE(await(charged() < 6L << 20));
	fd = new_set(131072);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_HARNESS_MAIN
