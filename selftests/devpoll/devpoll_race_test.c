// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/poll used by several threads at once, which write, wait, close and map
 * without coordination.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/fault_page.h"
#include "core/helpers.h"

#define NUMBERS		32
#define FIRST_NUMBER	300
#define ROUNDS		1500
#define CHOICES		200

/* What the threads of one test share. */
struct arena {
	enum dp_face face;
	int fd;
	atomic_bool over;
	unsigned int seed;
};

static int some_number(unsigned int *seed)
{
	return FIRST_NUMBER + rand_r(seed) % NUMBERS;
}

/* Makes numbers name other files, and closes them. */
static long open_and_close(void *arg)
{
	struct arena *arena = arg;
	unsigned int seed = arena->seed ^ 1;
	int i;

	for (i = 0; i < ROUNDS / slowness(); i++) {
		int fds[2], number = some_number(&seed);

		if (!(rand_r(&seed) % 4)) {
			close(number);
			continue;
		}
		if (unix_pair(fds, SOCK_STREAM))
			return -1;
		if (rand_r(&seed) % 2 && put_byte(fds[1]))
			return -2;
		if (dup2(fds[0], number) != number)
			return -3;
		close(fds[0]);
		close(fds[1]);
	}
	atomic_store(&arena->over, true);
	return 0;
}

static long write_at_random(void *arg)
{
	const short events[] = { POLLIN, POLLOUT, POLLREMOVE, POLLIN, 0 };
	struct arena *arena = arg;
	unsigned int seed = arena->seed ^ 2;
	struct pollfd entry;
	long ret;

	while (!atomic_load(&arena->over)) {
		ret = dp_set(arena->fd, some_number(&seed),
			     events[rand_r(&seed) % ARRAY_SIZE(events)]);
		if (ret != 8)
			return ret ? ret : -1;
		entry.fd = some_number(&seed);
		ret = dp_ispolled(arena->face, arena->fd, &entry);
		if (ret != 0 && ret != 1)
			return ret;
	}
	return 0;
}

static long wait_at_random(void *arg)
{
	struct arena *arena = arg;
	unsigned int seed = arena->seed ^ 3;
	struct pollfd out[2 * NUMBERS];
	int i, n;

	while (!atomic_load(&arena->over)) {
		n = dp_wait(arena->face, arena->fd, out,
			    1 + rand_r(&seed) % (2 * NUMBERS),
			    rand_r(&seed) % 2);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++)
			if (out[i].fd < FIRST_NUMBER || !out[i].revents ||
			    out[i].fd >= FIRST_NUMBER + NUMBERS)
				return -ERANGE;
	}
	return 0;
}

/* In the Linux face there is a buffer to make, fill and free. */
static long map_at_random(void *arg)
{
	struct arena *arena = arg;
	void *map;
	int ret;

	while (arena->face == DP_LINUX && !atomic_load(&arena->over)) {
		ret = dp_ioctl(arena->fd, DP_ALLOC, (void *)1000L);
		if (ret && ret != -EPERM)
			return ret;
		map = mmap(NULL, 8000, PROT_READ, MAP_SHARED, arena->fd, 0);
		ret = dp_wait(DP_LINUX, arena->fd, NULL, NUMBERS, 0);
		if (ret < 0 && ret != -EINVAL)
			return ret;
		if (map != MAP_FAILED)
			munmap(map, 8000);
		ret = dp_ioctl(arena->fd, DP_FREE, NULL);
		if (ret && ret != -EINVAL && ret != -EBUSY)
			return ret;
	}
	return 0;
}

FIXTURE(race) {
	struct arena arena;
};

FIXTURE_VARIANT(race) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(race, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(race, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(race)
{
	const char *seed = getenv("SEED");

	self->arena.face = variant->face;
	self->arena.seed = seed ? strtoul(seed, NULL, 0) : now_ns();
	TH_LOG("SEED=%u", self->arena.seed);
	ASSERT_LE(0, (self->arena.fd = dp_open()));
	ASSERT_EQ(0, dp_wait_one(variant->face, self->arena.fd, -1, 0));
}

FIXTURE_TEARDOWN(race)
{
	EXPECT_EQ(0, close(self->arena.fd));
}

TEST_F_TIMEOUT(race, of_closes_writes_waits_and_mappings, TEST_SECONDS)
{
	long (*const calls[])(void *) = {
		open_and_close, write_at_random, wait_at_random,
		wait_at_random, map_at_random, map_at_random,
	};
	struct task tasks[ARRAY_SIZE(calls)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		ASSERT_EQ(0, task_start(&tasks[i], calls[i], &self->arena));
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		EXPECT_EQ(0, task_join(&tasks[i])) TH_LOG("thread %zu", i);

	/* Nothing is left that can't be removed. */
	for (i = FIRST_NUMBER; i < FIRST_NUMBER + NUMBERS; i++)
		EXPECT_EQ(8, dp_set(self->arena.fd, i, POLLREMOVE));
	EXPECT_EQ(0, dp_wait_one(variant->face, self->arena.fd, -1, 0));
}

/* One thread that wants its face. */
struct chooser {
	struct task task;
	enum dp_face face;
	int fd;
	atomic_int *waiting;
};

static long choose(void *arg)
{
	struct chooser *c = arg;
	struct pollfd out;

	atomic_fetch_sub(c->waiting, 1);
	while (atomic_load(c->waiting))
		;
	return dp_wait(c->face, c->fd, &out, 1, 0);
}

TEST(two_threads_that_choose_at_once_agree)
{
	atomic_int waiting;
	int i, j, event;

	ASSERT_LE(0, (event = eventfd_new()));
	for (i = 0; i < CHOICES / slowness(); i++) {
		struct chooser c[2] = { { .face = DP_LINUX },
					{ .face = DP_SOLARIS } };
		int fd = dp_open();
		long ret[2];

		ASSERT_LE(0, fd);
		EXPECT_EQ(8, dp_set(fd, event, POLLOUT));
		EXPECT_EQ(8, dp_set(fd, event, POLLIN));
		atomic_store(&waiting, 2);
		for (j = 0; j < 2; j++) {
			c[j].fd = fd;
			c[j].waiting = &waiting;
			ASSERT_EQ(0, task_start(&c[j].task, choose, &c[j]));
		}
		for (j = 0; j < 2; j++)
			ret[j] = task_join(&c[j].task);
		/* Only what Solaris makes of the writes is ready. */
		EXPECT_TRUE((ret[0] == 0 && ret[1] == -EBUSY) ||
			    (ret[0] == -EBUSY && ret[1] == 1))
			TH_LOG("%ld and %ld", ret[0], ret[1]);
		EXPECT_EQ(0, close(fd));
	}
	close(event);
}

/* A wait whose results continue on a page that is not there yet. */
struct slow_wait {
	struct task task;
	int fd;
	struct pollfd *out;
};

static long wait_slowly(void *arg)
{
	struct slow_wait *slow = arg;

	return dp_wait(DP_LINUX, slow->fd, slow->out, NUMBERS, 0);
}

/* It must not start over with items that the other wait has met. */
TEST(a_wait_in_between_makes_no_result_come_twice)
{
	enum { FDS = 10, BEFORE = 4 };
	int i, n, event, times[FDS] = {};
	struct pollfd out[NUMBERS];
	struct slow_wait slow = {};
	struct fault_page page;

	NEEDS_THREADS();
	ASSERT_EQ(0, fault_page_open(&page)) TH_LOG("no userfaultfd here");
	ASSERT_LE(0, (slow.fd = dp_open()));
	ASSERT_LE(0, (event = eventfd_new()));
	for (i = 0; i < FDS; i++) {
		ASSERT_EQ(FIRST_NUMBER + i, dup2(event, FIRST_NUMBER + i));
		ASSERT_EQ(8, dp_set(slow.fd, FIRST_NUMBER + i, POLLOUT));
	}
	slow.out = (struct pollfd *)fault_page_start(&page) - BEFORE;
	/* This one is there. */
	memset(slow.out, 0, BEFORE * sizeof(*out));
	ASSERT_EQ(0, task_start(&slow.task, wait_slowly, &slow));
	ASSERT_EQ(0, fault_page_await(&page));
	EXPECT_EQ(FDS, dp_wait(DP_LINUX, slow.fd, out, NUMBERS, 0));
	ASSERT_EQ(0, fault_page_provide(&page));
	n = task_join(&slow.task);
	ASSERT_LE(BEFORE, n);
	ASSERT_GE(FDS, n);
	for (i = 0; i < n; i++)
		times[slow.out[i].fd - FIRST_NUMBER]++;
	for (i = 0; i < FDS; i++)
		EXPECT_GE(1, times[i]);
	/* What it left is there. */
	EXPECT_EQ(FDS, dp_wait(DP_LINUX, slow.fd, out, NUMBERS, 0));
	for (i = 0; i < FDS; i++)
		close(FIRST_NUMBER + i);
	close(event);
	close(slow.fd);
	fault_page_close(&page);
}

TEST_HARNESS_MAIN
