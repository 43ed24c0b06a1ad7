// SPDX-License-Identifier: GPL-2.0
/*
 * What the tables from numbers to items cost a user: no locked memory, so that
 * a user can have as many sets as with epoll; and watches, if the numbers are
 * scattered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/limits.h"

#define EPOLL_FILE	"/proc/sys/fs/epoll/max_user_watches"
#define WATCHES		300
#define TABLE_USER	45201

/* Drops root's rights, and leaves no memory to lock. */
static int become_poor(uid_t uid)
{
	const struct rlimit none = { 0, 0 };

	return setrlimit(RLIMIT_MEMLOCK, &none) ? -errno : become(uid);
}

FIXTURE(sets) {
	long watches;
	long epoll_watches;
	int event;
	struct eset set[WATCHES + 1];
};

FIXTURE_VARIANT(sets) {
	const struct eset_ops *ops;
};

FIXTURE_VARIANT_ADD(sets, devepoll) {
	.ops = &eset_devepoll,
};

FIXTURE_VARIANT_ADD(sets, devepoll_fadvise) {
	.ops = &eset_devepoll_fadvise,
};

FIXTURE_VARIANT_ADD(sets, sysepoll) {
	.ops = &eset_sysepoll,
};

FIXTURE_SETUP(sets)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->watches = read_number(WATCHES_FILE);
	self->epoll_watches = read_number(EPOLL_FILE);
	ASSERT_LT(0, self->watches) TH_LOG("no /dev/epoll here");
	ASSERT_EQ(0, raise_fd_limit(700000));
	self->event = eventfd_new();
	ASSERT_EQ(0, write_number(WATCHES_FILE, WATCHES));
	ASSERT_EQ(0, write_number(EPOLL_FILE, WATCHES));
}

FIXTURE_TEARDOWN_PARENT(sets)
{
	/* A test that becomes another user can't restore it itself. */
	if (geteuid())
		return;
	EXPECT_EQ(0, write_number(WATCHES_FILE, self->watches));
	EXPECT_EQ(0, write_number(EPOLL_FILE, self->epoll_watches));
}

/* Sets that take the number, up to the first one that does not. */
static int sets_with(struct eset *sets, const struct eset_ops *ops, int number,
		     int *err)
{
	int n;

	for (n = 0; n <= WATCHES; n++) {
		*err = eset_open(&sets[n], ops);
		if (!*err)
			*err = eset_add(&sets[n], number, EPOLLIN);
		if (*err)
			break;
	}
	return n;
}

TEST_F(sets, of_one_fd_are_as_many_as_watches)
{
	int err;

	ASSERT_EQ(0, become_poor(TABLE_USER));
	EXPECT_EQ(WATCHES, sets_with(self->set, variant->ops, self->event,
				     &err));
	EXPECT_EQ(-ENOSPC, err);
}

TEST_F(sets, of_one_large_number_are_as_many_as_watches)
{
	const int number = 599999;
	int err;

	ASSERT_EQ(number, dup2(self->event, number));
	ASSERT_EQ(0, become_poor(TABLE_USER));
	EXPECT_EQ(WATCHES, sets_with(self->set, variant->ops, number, &err));
	EXPECT_EQ(-ENOSPC, err);
}

/*
 * Numbers that are far from each other: each has a table of its own, which
 * takes more memory than its watch does.
 */
#define FAR		64
#define FIRST		(10 * FAR)
#define MANY		20000
#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/devepoll-tables"

FIXTURE(scattered) {
	long watches;
	int event;
	int set;
};

FIXTURE_SETUP(scattered)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->watches = read_number(WATCHES_FILE);
	ASSERT_LT(0, self->watches) TH_LOG("no /dev/epoll here");
	ASSERT_EQ(0, raise_fd_limit(700000));
	self->event = eventfd_new();
	self->set = -1;
}

FIXTURE_TEARDOWN_PARENT(scattered)
{
	if (geteuid())
		return;
	EXPECT_EQ(0, write_number(WATCHES_FILE, self->watches));
	write_number(CGROUP_ROOT "/cgroup.procs", getpid());
	rmdir(CGROUP);
}

/* Adds numbers this far apart, up to the first that fails; how many are in. */
static int add_apart(int set, int first, int step, int most, int *err)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN,
	};
	int n;

	*err = 0;
	for (n = 0; n < most && !*err; n++) {
		change.fd = first + n * step;
		*err = dep_change(set, &change);
	}
	return *err ? n - 1 : n;
}

static int remove_apart(int set, int first, int step, int n)
{
	struct devepoll_change change = { .op = DEVEPOLL_DEL };
	int i, err = 0;

	for (i = 0; i < n && !err; i++) {
		change.fd = first + i * step;
		err = dep_change(set, &change);
	}
	return err;
}

static int dup_apart(int fd, int first, int step, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (dup2(fd, first + i * step) < 0)
			return -errno;
	}
	return 0;
}

/* Opens sets as a user who has this many watches. */
static int user_sets(int watches, int *a, int *b)
{
	int err = write_number(WATCHES_FILE, watches);

	if (!err)
		err = become_poor(TABLE_USER);
	*a = dep_open();
	*b = dep_open();
	return err ? err : *a < 0 ? *a : *b < 0 ? *b : 0;
}

/* How many dense numbers can be added: what is left of the watches. */
static int watches_left(int set)
{
	int err, n = add_apart(set, FIRST, 1, 2 * WATCHES, &err);

	if (err != -ENOSPC || remove_apart(set, FIRST, 1, n))
		return -EPROTO;
	return n;
}

TEST_F(scattered, numbers_count_as_what_their_tables_take)
{
	int a, b, n, err;

	ASSERT_EQ(0, dup_apart(self->event, FIRST, 1, 2 * WATCHES));
	ASSERT_EQ(0, dup_apart(self->event, FIRST, FAR, WATCHES));
	ASSERT_EQ(0, user_sets(WATCHES, &a, &b));
	n = add_apart(a, FIRST, FAR, WATCHES, &err);
	EXPECT_EQ(-ENOSPC, err);
	/* An item, its watch and nearly all of the table. */
	EXPECT_LE(WATCHES / 4, n);
	EXPECT_GE(WATCHES / 3, n);
	/* They give it all back: by their removal, ... */
	ASSERT_EQ(0, remove_apart(a, FIRST, FAR, n));
	EXPECT_EQ(WATCHES, watches_left(b));
	/* ... with the set, ... */
	EXPECT_LE(n - 1, add_apart(a, FIRST, FAR, WATCHES, &err));
	close(a);
	EXPECT_EQ(WATCHES, watches_left(b));
	/* ... and when they are closed. */
	a = dep_open();
	EXPECT_EQ(n, add_apart(a, FIRST, FAR, WATCHES, &err));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, close_range(FIRST, ~0U, 0));
	ASSERT_EQ(FIRST, dup2(eventfd_new(), FIRST));
	ASSERT_EQ(0, dup_apart(FIRST, FIRST + 1, 1, 2 * WATCHES));
	EXPECT_EQ(WATCHES, watches_left(b));
}

/* Most of a set's numbers go, and their neighbours keep the tables. */
TEST_F(scattered, numbers_that_are_left_count_too)
{
	const int tables = 30, n = tables * FAR;
	int a, b, i, left, err;

	ASSERT_EQ(0, dup_apart(self->event, FIRST, 1, n));
	ASSERT_EQ(0, user_sets(n, &a, &b));
	ASSERT_EQ(n, add_apart(a, FIRST, 1, n, &err));
	for (i = 0; i < tables; i++)
		ASSERT_EQ(0, remove_apart(a, FIRST + i * FAR + 1, 1, FAR - 1));
	left = add_apart(b, FIRST, 1, n, &err);
	EXPECT_GE(n - tables - tables, left);
	EXPECT_LE(n - tables - 3 * tables, left);
	close(a);
	EXPECT_EQ(n - left, add_apart(b, FIRST + left, 1, n - left, &err));
	close(b);
}

/* Files of their own, so that each has a watch. */
static int files_apart(int step, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		int event = eventfd_new();

		if (event < 0 || dup2(event, FIRST + i * step) < 0)
			return -errno;
		close(event);
	}
	return 0;
}

/* Bytes that a full set takes for each watch of the user, by the cgroup. */
static long bytes_per_watch(int step)
{
	long before, with;
	int set, n, err;
	pid_t pid;

	pid = fork();
	if (pid)
		return pid < 0 ? -errno : reap(pid);
	/* What the files take is charged elsewhere. */
	if (files_apart(step, step == 1 ? MANY + 1 : MANY / 2) ||
	    write_number(WATCHES_FILE, MANY) ||
	    write_number(CGROUP "/cgroup.procs", getpid()))
		_exit(0);
	set = dep_open();
	before = read_number(CGROUP "/memory.current");
	n = add_apart(set, FIRST, step, MANY + 1, &err);
	with = read_number(CGROUP "/memory.current");
	if (err != -ENOSPC)
		_exit(0);
	printf("# %d fds, %d apart: %ld bytes for each, %ld for each watch\n",
	       n, step, (with - before) / n, (with - before) / MANY);
	fflush(stdout);
	/* In an exit status. */
	_exit((with - before) / MANY / 4);
}

/* The share of memory that max_user_watches stands for is correct. */
TEST_F(scattered, numbers_take_no_more_memory_for_each_watch)
{
	long dense, apart;

	if (mkdir(CGROUP, 0755) || access(CGROUP "/memory.current", R_OK)) {
		rmdir(CGROUP);
		SKIP(return, "no memory cgroup at " CGROUP_ROOT);
	}
	dense = bytes_per_watch(1);
	apart = bytes_per_watch(FAR);
	ASSERT_LT(0, dense);
	ASSERT_LT(0, apart);
	/* A quarter more for what the cgroup charges in advance. */
	EXPECT_LE(apart, dense + dense / 4);
}

TEST_HARNESS_MAIN
