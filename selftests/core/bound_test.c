// SPDX-License-Identifier: GPL-2.0
/*
 * Limits as a set of the extended interface meets them: each fd above a limit
 * has ENOSPC as its own result.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/limits.h"

#define MAX_FDS_FILE	"/sys/module/devepoll/parameters/max_fds"
#define ITEMS_PER_FILE	4096
#define HEADS_PER_FILE	4096
#define STACK		16384
#define FIRST		1000
#define WATCHES		100

FIXTURE(bound) {
	long watches;
	int event;
};

FIXTURE_SETUP(bound)
{
	if (geteuid())
		SKIP(return, "needs root");
	self->watches = read_number(WATCHES_FILE);
	ASSERT_LT(0, self->watches) TH_LOG("no /dev/epoll here");
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN_PARENT(bound)
{
	/* A test that becomes another user can't restore it itself. */
	if (!geteuid())
		EXPECT_EQ(0, write_number(WATCHES_FILE, self->watches));
}

/*
 * Makes the same change of the numbers from @first on.  Returns how many took
 * effect, or -EPROTO if one failed with another errno than ENOSPC.
 */
static int change_range(int set, int op, int flags, int first, int n)
{
	struct devepoll_change *changes = calloc(n, sizeof(*changes));
	int i, ret, made = 0;
	uint32_t failed;

	if (!changes)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		changes[i] = (struct devepoll_change){
			.op = op,
			.flags = flags,
			.fd = first + i,
			.events = op == DEVEPOLL_DEL ? 0 : EPOLLIN,
		};
	ret = dep_changes(set, changes, n, &failed);
	for (i = 0; i < n; i++) {
		made += !changes[i].result;
		if (changes[i].result && changes[i].result != -ENOSPC)
			ret = -EPROTO;
	}
	free(changes);
	return ret == n && (int)failed == n - made ? made : -EPROTO;
}

static int change_one(int set, int op, int fd)
{
	struct devepoll_change change = {
		.op = op,
		.fd = fd,
		.events = op == DEVEPOLL_DEL ? 0 : EPOLLIN,
	};

	return dep_change(set, &change);
}

static int add_some(int set, int first, int n)
{
	return change_range(set, DEVEPOLL_ADD, 0, first, n);
}

static int remove_some(int set, int first, int n)
{
	return change_range(set, DEVEPOLL_DEL, 0, first, n);
}

TEST_F(bound, of_a_set_is_the_modules)
{
	long most = read_number(MAX_FDS_FILE);
	int i, file = -1, set = dep_open();

	ASSERT_LT(0, most);
	if (most > 200000)
		SKIP(return, "too many for this test");
	ASSERT_LE(0, set);
	ASSERT_EQ(0, raise_fd_limit(FIRST + most + 10));
	for (i = 0; i < most + 10; i++) {
		/* Of so many files that none of them reaches its limit. */
		if (i % (ITEMS_PER_FILE / 2) == 0)
			file = eventfd_new();
		ASSERT_EQ(FIRST + i, dup2(file, FIRST + i));
	}
	EXPECT_EQ(most, add_some(set, FIRST, most + 10));
	EXPECT_EQ(0, add_some(set, FIRST + most, 10));
	EXPECT_EQ(1, remove_some(set, FIRST + 7, 1));
	EXPECT_EQ(1, add_some(set, FIRST + most, 10));
	ASSERT_EQ(0, close(set));
}

/* An fd in the set is not new, and a number with a new file has room. */
TEST_F(bound, is_no_reason_where_nothing_is_added)
{
	int set = dep_open(), other = eventfd_new();
	const struct devepoll_change exclusive = {
		.op = DEVEPOLL_ADD,
		.fd = FIRST,
		.events = EPOLLIN | EPOLLEXCLUSIVE,
	};

	ASSERT_LE(0, set);
	ASSERT_EQ(0, dup_range(self->event, FIRST, WATCHES + 1));
	ASSERT_EQ(0, write_number(WATCHES_FILE, WATCHES));
	ASSERT_EQ(0, become(46011));
	ASSERT_EQ(WATCHES, add_some(set, FIRST, WATCHES + 1));
	EXPECT_EQ(-EEXIST, change_one(set, DEVEPOLL_ADD, FIRST));
	EXPECT_EQ(-EEXIST, dep_change(set, &exclusive));
	ASSERT_EQ(FIRST, dup2(other, FIRST));
	EXPECT_EQ(0, change_one(set, DEVEPOLL_ADD, FIRST));
	EXPECT_EQ(-ENOSPC, change_one(set, DEVEPOLL_ADD, FIRST + WATCHES));
	ASSERT_EQ(0, close(set));
}

TEST_F(bound, of_a_file_counts_all_sets)
{
	int a = dep_open(), b = dep_open();
	const int half = ITEMS_PER_FILE / 2;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, raise_fd_limit(FIRST + ITEMS_PER_FILE + 20));
	ASSERT_EQ(0, dup_range(self->event, FIRST, ITEMS_PER_FILE + 10));
	EXPECT_EQ(ITEMS_PER_FILE, add_some(a, FIRST, ITEMS_PER_FILE + 10));
	EXPECT_EQ(0, add_some(b, FIRST, 10));
	EXPECT_EQ(half, remove_some(a, FIRST, half));
	EXPECT_EQ(half, add_some(b, FIRST, half + 10));
	ASSERT_EQ(0, close(a));
	EXPECT_EQ(half, add_some(b, FIRST + half, half + 10));
	ASSERT_EQ(0, close(b));
}

/* A process, with our memory, that adds the fd and stays. */
struct adder {
	int set;
	int fd;
	int ret;
	atomic_int told;
	atomic_int *end;
};

static int adder_main(void *arg)
{
	struct adder *adder = arg;

	adder->ret = change_one(adder->set, DEVEPOLL_ADD, adder->fd);
	if (!adder->ret)
		adder->ret = change_one(adder->set, DEVEPOLL_DEL, adder->fd);
	atomic_store(&adder->told, 1);
	while (!atomic_load(adder->end))
		syscall(SYS_futex, adder->end, FUTEX_WAIT, 0, NULL, NULL, 0);
	syscall(SYS_exit, 0);
	return 0;
}

/* What its ADD gave, or -errno. */
static int add_in_process(int set, int fd, atomic_int *end, char *stack)
{
	struct adder adder = { .set = set, .fd = fd, .end = end };
	struct adder *shared = (struct adder *)stack;

	*shared = adder;
	/* Like vfork(2), but the parent runs on. */
	if (clone(adder_main, stack + STACK, CLONE_VM | SIGCHLD, shared) < 0)
		return -errno;
	return await(atomic_load(&shared->told)) ? shared->ret : -ETIMEDOUT;
}

/*
 * A signalfd has a wait queue for each process that adds it, and the watch
 * stays in a queue as long as anybody watches the file.
 */
static int new_signalfd(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	return signalfd(-1, &mask, SFD_NONBLOCK);
}

static char *new_stacks(void)
{
	return mmap(NULL, (size_t)(HEADS_PER_FILE + 1) * STACK,
		    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_NORESERVE, -1, 0);
}

/* A slow machine needs long for 4096 processes. */
TEST_F_TIMEOUT(bound, of_a_file_counts_its_wait_queues, 150)
{
	static atomic_int end;
	int set = dep_open(), i, n, fd, other, ret = 0;
	char *stacks;

	if (slowness() > 1)
		SKIP(return, "too many processes for a slow kernel");
	stacks = new_stacks();
	ASSERT_TRUE(stacks != MAP_FAILED);
	fd = new_signalfd();
	other = dup(fd);
	ASSERT_EQ(0, change_one(set, DEVEPOLL_ADD, fd));
	for (n = 1; n <= HEADS_PER_FILE && !ret; n++)
		ret = add_in_process(set, other, &end, stacks + n * STACK);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(HEADS_PER_FILE + 1, n);
	/* The wait queue goes with its process, and makes room. */
	atomic_store(&end, 1);
	syscall(SYS_futex, &end, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	for (i = 1; i < n; i++)
		ASSERT_LT(0, wait(NULL));
	EXPECT_EQ(0, add_in_process(set, other, &end, stacks + STACK));
	ASSERT_LT(0, wait(NULL));
	ASSERT_EQ(0, close(set));
}

/* One entry, the first, counts for nobody. */
TEST_F_TIMEOUT(bound, of_a_file_leaves_wait_queues_to_others, 150)
{
	const int half = (HEADS_PER_FILE - HEADS_PER_FILE / 16) / 2;
	static atomic_int end;
	int set, fd, i, n, ret = 0;
	char *stacks;

	if (slowness() > 1)
		SKIP(return, "too many processes for a slow kernel");
	stacks = new_stacks();
	ASSERT_TRUE(stacks != MAP_FAILED);
	fd = new_signalfd();
	ASSERT_EQ(0, become(45102));
	set = dep_open();
	ASSERT_EQ(0, change_one(set, DEVEPOLL_ADD, fd));
	/* Another number, so that the watch stays. */
	fd = dup(fd);
	for (n = 0; n < HEADS_PER_FILE && !ret; n++)
		ret = add_in_process(set, fd, &end, stacks + n * STACK);
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(half + 1, n);
	atomic_store(&end, 1);
	syscall(SYS_futex, &end, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	for (i = 0; i < n; i++)
		ASSERT_LT(0, wait(NULL));
	ASSERT_EQ(0, close(set));
}

TEST_F(bound, of_a_user_counts_all_his_sets)
{
	int a, b;

	ASSERT_EQ(0, raise_fd_limit(4096));
	ASSERT_EQ(0, dup_range(self->event, FIRST, 150));
	ASSERT_EQ(0, write_number(WATCHES_FILE, WATCHES));
	ASSERT_EQ(0, become(45101));
	a = dep_open();
	b = dep_open();
	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(WATCHES, add_some(a, FIRST, 150));
	EXPECT_EQ(0, add_some(b, FIRST, 150));
	/* A change takes nothing. */
	EXPECT_EQ(WATCHES, change_range(a, DEVEPOLL_MOD, 0, FIRST, WATCHES));
	EXPECT_EQ(10, remove_some(a, FIRST, 10));
	EXPECT_EQ(10, add_some(b, FIRST, 150));
	ASSERT_EQ(0, close(a));
	EXPECT_EQ(WATCHES - 10, add_some(b, FIRST + 10, 140));
	ASSERT_EQ(0, close(b));
}

/* A closed fd counts until its last event is taken, or it had no bound. */
TEST_F(bound, of_a_user_counts_last_events_that_nobody_took)
{
	struct devepoll_event *out = calloc(WATCHES, sizeof(*out));
	int set, i, made = 0;

	ASSERT_TRUE(!!out);
	ASSERT_EQ(0, raise_fd_limit(4096));
	ASSERT_EQ(0, write_number(WATCHES_FILE, WATCHES));
	ASSERT_EQ(0, become(45102));
	set = dep_open();
	ASSERT_LE(0, set);
	for (i = 0; i < 3 * WATCHES; i++) {
		int event = eventfd_new();
		int ret;

		ASSERT_LE(0, event);
		ret = change_range(set, DEVEPOLL_ADD, DEVEPOLL_TELL_CLOSED,
				   event, 1);
		ASSERT_LE(0, ret);
		made += ret;
		ASSERT_EQ(0, close(event));
	}
	EXPECT_EQ(WATCHES, made);
	EXPECT_EQ(WATCHES, dep_wait(set, out, WATCHES, 0));
	for (i = 0; i < WATCHES; i++)
		EXPECT_EQ(DEVEPOLL_CLOSED, out[i].events);
	/* Once the events are taken, there is room again. */
	ASSERT_EQ(0, dup_range(self->event, FIRST, 150));
	EXPECT_EQ(WATCHES, add_some(set, FIRST, 150));
	ASSERT_EQ(0, close(set));
	free(out);
}

TEST_F(bound, of_locked_memory_holds_for_the_mapping)
{
	const struct rlimit few = { 8 * PAGE, 8 * PAGE };
	int a, b;
	void *map;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &few));
	ASSERT_EQ(0, become(45103));
	a = dep_open();
	b = dep_open();
	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(MAP_FAILED, dep_map_events(a, 9 * PAGE));
	EXPECT_EQ(ENOMEM, errno);
	map = dep_map_events(a, 7 * PAGE);
	ASSERT_TRUE(map != MAP_FAILED);
	EXPECT_EQ(MAP_FAILED, dep_map_events(b, 2 * PAGE));
	EXPECT_EQ(ENOMEM, errno);
	/* The memory goes with the set, not with its last mapping. */
	ASSERT_EQ(0, munmap(map, 7 * PAGE));
	EXPECT_EQ(MAP_FAILED, dep_map_events(b, 2 * PAGE));
	ASSERT_EQ(0, close(a));
	map = dep_map_events(b, 8 * PAGE);
	EXPECT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(0, close(b));
}

TEST_HARNESS_MAIN
