// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so with DEVEPOLL_RING=1: whose the ring is when sets
 * are closed, duplicated and inherited, and where there is none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "kselftest_harness.h"

#include "preload/preload_ring.h"

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
#ifdef SYS_dup2
	return syscall(SYS_dup2, STDIN_FILENO, set) != set;
#else
	return syscall(SYS_dup3, STDIN_FILENO, set, 0) != set;
#endif
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
		_exit(0);
	}
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(2, mappings());
	EXPECT_TRUE(needs_no_call(self->set, self->edge));
}

/* A process that has this one's memory, and fds of its own. */
struct twin {
	struct _test_data_preload_ring *self;
	int (*renumber)(int set);
	int took;
};

static int by_another_set(int set)
{
	return close(set) || epoll_create1(0) != set;
}

static int by_a_copy(int set)
{
	int other = epoll_create1(0);

	return dup2(other, set) != set;
}

static int twin_waits(void *arg)
{
	struct twin *twin = arg;
	struct epoll_event out;
	int set = twin->self->set;

	if (twin->renumber(set) || eventfd_post(twin->self->edge))
		_exit(1);
	twin->took = epoll_wait(set, &out, 1, 0);
	_exit(0);
}

static int run_twin(struct twin *twin)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	return reap(clone(twin_waits, stack + sizeof(stack),
			  CLONE_VM | CLONE_VFORK | SIGCHLD, twin));
}

TEST_F(preload_ring, number_in_a_process_with_the_same_memory_is_its_own)
{
	struct twin twin = { .self = self };

	/* So that a wait takes what is there from memory. */
	EXPECT_TRUE(works(self->set));
	twin.renumber = by_another_set;
	EXPECT_EQ(0, run_twin(&twin));
	EXPECT_EQ(0, twin.took);
	EXPECT_EQ(self->edge, ready(self->set));
}

TEST_F(preload_ring, copied_number_in_a_process_with_the_same_memory)
{
	struct twin twin = { .self = self, .renumber = by_a_copy };

	EXPECT_EQ(0, run_twin(&twin));
	EXPECT_EQ(0, twin.took);
	EXPECT_EQ(self->edge, ready(self->set));
}

/* A child that no handler of pthread_atfork() has run in. */
static pid_t fork_plainly(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

#define HOLES	64

/* Memory of its own where its parent had rings, as malloc() would map it. */
static int fill_holes(unsigned char *pages[HOLES])
{
	int i;

	for (i = 0; i < HOLES; i++) {
		pages[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages[i] == MAP_FAILED)
			return 1;
		memset(pages[i], 0xaa, 4096);
	}
	return 0;
}

static int keeps_memory(unsigned char *pages[HOLES])
{
	int i, j;

	for (i = 0; i < HOLES; i++) {
		for (j = 0; j < 4096; j++) {
			if (pages[i][j] != 0xaa)
				return 1;
		}
	}
	return 0;
}

static int grandchild_keeps_memory(bool has_set)
{
	unsigned char *pages[HOLES];
	int set = has_set ? epoll_create1(0) : -1;
	pid_t child;

	if (fill_holes(pages))
		return 2;
	child = fork();
	if (!child)
		_exit(keeps_memory(pages));
	return reap(child) || keeps_memory(pages) || (has_set && !works(set));
}

TEST_F(preload_ring, memory_of_a_child_without_handlers_stays)
{
	int dropped = epoll_create1(0);
	pid_t child;

	/* One place has zeros already, which children inherit. */
	ASSERT_EQ(0, close(dropped));
	child = fork_plainly();
	if (!child)
		_exit(grandchild_keeps_memory(false));
	EXPECT_EQ(0, reap(child));
	child = fork_plainly();
	if (!child)
		_exit(grandchild_keeps_memory(true));
	EXPECT_EQ(0, reap(child));
	EXPECT_TRUE(needs_no_call(self->set, self->edge));
}

static int descend(int generations)
{
	int set = epoll_create1(0);
	pid_t child;

	if (mappings() != 2 || !works(set))
		return 1;
	if (generations % 2 && close(set))
		return 2;
	if (!generations)
		return 0;
	child = fork();
	if (!child)
		_exit(descend(generations - 1));
	return reap(child);
}

TEST_F(preload_ring, descendants_have_rings_of_their_own)
{
	pid_t child = fork();

	if (!child)
		_exit(descend(4));
	EXPECT_EQ(0, reap(child));
	EXPECT_TRUE(needs_no_call(self->set, self->edge));
}

static int get_ring_after_child_of_vfork(void)
{
	pid_t child = vfork();

	if (!child) {
		epoll_create1(EPOLL_CLOEXEC);
		_exit(0);
	}
	if (reap(child))
		return 1;
	epoll_create1(EPOLL_CLOEXEC);
	return mappings() == 2 ? 0 : 2;
}

TEST(set_of_a_child_of_vfork_leaves_rings_to_its_parent)
{
	pid_t child = fork();

	if (!child)
		_exit(get_ring_after_child_of_vfork());
	EXPECT_EQ(0, reap(child));
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
