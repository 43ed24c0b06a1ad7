// SPDX-License-Identifier: GPL-2.0
/*
 * What a set takes is charged to its memory cgroup, and a greedy task in the
 * cgroup hurts nobody outside.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/limits.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/devepoll-test"
/* Each processor may have charged 64 pages in advance, or have them still. */
#define SLACK		(140 * PAGE)

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

TEST_F(cgroup, pages_are_charged)
{
	long before, with, after;
	int fd;

	ASSERT_EQ(0, write_number(CGROUP "/cgroup.procs", getpid()));
	fd = dep_open();
	before = charged();
	ASSERT_LE(0, before);
	ASSERT_EQ(0, dep_alloc(fd, 131072));
	with = charged();
	EXPECT_LE(before + 256 * PARTS * EP_PAGE_SIZE, with + SLACK);
	close(fd);
	after = charged();
	EXPECT_LE(0, after);
	EXPECT_LE(after, with - 256 * PARTS * EP_PAGE_SIZE + SLACK);
}

TEST_F(cgroup, items_are_charged)
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
	ASSERT_LE(0, before);
	for (i = 0; i < 4; i++)
		added += add_range(fd, 1000 + i * 4096, 4096);
	with = charged();
	EXPECT_EQ(4 * 4096, added);
	/* No item is smaller than 64 bytes. */
	EXPECT_LE(before + 4 * 4096 * 64 - SLACK, with);
	close(fd);
	EXPECT_TRUE(await(charged() < with - 4 * 4096 * 32));
}

/* A task that reaches the limit fails or is killed; no other task does. */
TEST_F(cgroup, limit_hits_the_greedy_alone)
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
	/* This process is outside, and what the other one had is free again. */
	EXPECT_TRUE(await(charged() < 8L << 20));
	fd = new_set(131072);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F(cgroup, limit_hit_by_items_hits_the_greedy_alone)
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
