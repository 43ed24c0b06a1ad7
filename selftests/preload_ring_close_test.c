// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so with DEVEPOLL_RING=1: whose the ring is when sets
 * are closed, duplicated and inherited, and where there is none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "kselftest_harness.h"

#include "preload_ring.h"

#define SOMEBODY	45402

/* The ways to close a set. */
static int by_close(int set)
{
	return close(set);
}

static int by_number(int set)
{
	return syscall(SYS_close, set);
}

static int by_dup2(int set)
{
	return dup2(STDIN_FILENO, set) != set;
}

static int by_dup3(int set)
{
	return dup3(STDIN_FILENO, set, O_CLOEXEC) != set;
}

static int by_dup2_by_number(int set)
{
	return syscall(SYS_dup2, STDIN_FILENO, set) != set;
}

static int by_close_range(int set)
{
	return close_range(set, set, 0);
}

static int by_close_range_by_number(int set)
{
	return syscall(SYS_close_range, set, set, 0);
}

static int by_closefrom(int set)
{
	closefrom(set);
	return 0;
}

FIXTURE(closing) { };

FIXTURE_VARIANT(closing) {
	int (*close)(int set);
};

#define CLOSING(name)							\
	FIXTURE_VARIANT_ADD(closing, name) { .close = name }

CLOSING(by_close);
CLOSING(by_number);
CLOSING(by_dup2);
CLOSING(by_dup3);
CLOSING(by_dup2_by_number);
CLOSING(by_close_range);
CLOSING(by_close_range_by_number);
CLOSING(by_closefrom);

FIXTURE_SETUP(closing)
{
}

FIXTURE_TEARDOWN(closing)
{
}

/* Early sets have no ring: no environment is there yet. */
TEST_F(closing, ends_the_ring_of_the_number)
{
	int fd = eventfd_new(), i, set, next;

	for (i = 0; i < 100; i++) {
		set = epoll_create1(0);
		ASSERT_EQ(2, mappings());
		ASSERT_EQ(0, add(set, fd, EDGE));
		ASSERT_EQ(0, eventfd_post(fd));
		ASSERT_EQ(0, variant->close(set));
		ASSERT_EQ(0, mappings());
		close(set);
		/* The number names another set, which has seen nothing. */
		next = epoll_create1(0);
		ASSERT_EQ(set, next);
		EXPECT_EQ(-ENOMSG, ready(next));
		EXPECT_TRUE(works(next));
		ASSERT_EQ(0, close(next));
	}
}

TEST_F(preload_ring, numbers_that_stay_open_keep_the_ring)
{
	EXPECT_EQ(0, close_range(self->set, self->set, CLOSE_RANGE_CLOEXEC));
	EXPECT_EQ(self->set, dup2(self->set, self->set));
	EXPECT_EQ(-1, dup3(self->set, self->set, 0));
	EXPECT_EQ(-1, close(self->set + 64));
	EXPECT_TRUE(needs_no_call(self->set, self->edge));
}

TEST_F(preload_ring, duplicates_are_one_set)
{
	int copy = dup(self->set), far = dup2(self->set, 900);

	ASSERT_EQ(0, eventfd_post(self->edge));
	EXPECT_EQ(self->edge, ready(copy));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	ASSERT_EQ(0, eventfd_post(self->edge));
	EXPECT_EQ(self->edge, ready(self->set));
	EXPECT_EQ(-ENOMSG, ready(copy));
	/* What is not taken by then is not lost with the ring. */
	ASSERT_EQ(0, eventfd_post(self->edge));
	ASSERT_EQ(0, close(self->set));
	EXPECT_EQ(self->edge, ready(far));
	EXPECT_EQ(-EBADF, ready(self->set));
	EXPECT_TRUE(works(copy));
	ASSERT_EQ(self->set, dup2(far, self->set));
}

TEST_F(preload_ring, child_of_fork_waits_by_calls)
{
	pid_t child;
	int fd;

	ASSERT_EQ(0, eventfd_post(self->edge));
	child = fork();
	if (!child) {
		if (mappings() || ready(self->set) != self->edge ||
		    ready(self->set) != -ENOMSG)
			_exit(1);
		fd = add_eventfd(self->set, EDGE);
		if (eventfd_post(fd) || ready(self->set) != fd)
			_exit(2);
		fd = epoll_create1(0);
		if (mappings() != 2 || !works(fd) || close(fd) ||
		    close(self->set) || mappings())
			_exit(3);
		_exit(0);
	}
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	EXPECT_TRUE(needs_no_call(self->set, self->edge));
}

TEST_F(preload_ring, child_of_vfork_closes_its_own_numbers)
{
	int set = self->set;
	pid_t child;

	child = vfork();
	if (!child) {
		close(set);
		closefrom(3);
		_exit(epoll_create1(0) < 0);
	}
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(2, mappings());
	EXPECT_TRUE(needs_no_call(self->set, self->edge));
}

TEST(more_sets_than_rings_work)
{
	int sets[150], i;

	for (i = 0; i < 150; i++)
		sets[i] = epoll_create1(0);
	EXPECT_EQ(2 * 64, mappings());
	for (i = 0; i < 150; i++)
		EXPECT_TRUE(works(sets[i]));
	for (i = 0; i < 150; i++)
		EXPECT_EQ(0, close(sets[i]));
	EXPECT_EQ(0, mappings());
}

static int go_without_memory(void)
{
	struct rlimit limit = { 8192, 8192 };
	int set, fd = eventfd_new();

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || become(SOMEBODY))
		return 1;
	set = epoll_create1(0);
	if (!is_set_of_the_device(set) || mappings() || !works(set))
		return 2;
	if (add(set, fd, EDGE) || eventfd_post(fd) || ready(set) != fd ||
	    eventfd_take(fd) || eventfd_post(fd) || ready(set) != fd)
		return 3;
	return 0;
}

TEST(set_that_can_have_no_ring_works)
{
	pid_t child;

	if (geteuid())
		SKIP(return, "needs root");
	child = fork();
	if (!child)
		_exit(go_without_memory());
	EXPECT_EQ(0, reap(child));
}

TEST_HARNESS_MAIN
