// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of few numbers and of many, dense and scattered: each number is found,
 * in whatever order they come and go, and while others go.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define NUMBERS	12
/* Where the numbers begin: above those of the test itself. */
#define FIRST	64

FIXTURE(numbers) {
	struct eset set;
	int fds[NUMBERS];	/* scattered */
};

ESET_VARIANTS(numbers);

FIXTURE_SETUP(numbers)
{
	int i, event;

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	for (i = 0; i < NUMBERS; i++) {
		event = eventfd_new();
		ASSERT_LE(0, event);
		/* Two of them are neighbours, each time. */
		self->fds[i] = fcntl(event, F_DUPFD_CLOEXEC,
				     FIRST + i / 2 * 70 + i % 2);
		ASSERT_LE(FIRST, self->fds[i]);
		ASSERT_EQ(0, close(event));
	}
}

FIXTURE_TEARDOWN(numbers)
{
	eset_close(&self->set);
}

/* The number at place @nr of an order that depends on @seed. */
static int pick(unsigned int seed, int nr, int of)
{
	static const int steps[] = { 1, 5, 7, 11 };

	return (seed + nr * steps[seed % 4]) % of;
}

/* Is each of them a member if its bit is set, and no other? */
static int are_members(struct eset *set, const int *fds, unsigned int members)
{
	int i, ret;

	for (i = 0; i < NUMBERS; i++) {
		ret = eset_mod(set, fds[i], EPOLLIN);
		if (ret != (members & 1U << i ? 0 : -ENOENT))
			return i + 1;
	}
	return 0;
}

TEST_F(numbers, are_found_in_any_order)
{
	unsigned int seed, members;
	int i, nr, most;

	for (seed = 0; seed < 24; seed++) {
		most = 1 + seed % NUMBERS;
		members = 0;
		for (nr = 0; nr < NUMBERS; nr++) {
			i = pick(seed, nr, NUMBERS);
			if (__builtin_popcount(members) == most)
				break;
			ASSERT_EQ(0, eset_add(&self->set, self->fds[i],
					      EPOLLIN));
			EXPECT_EQ(-EEXIST, eset_add(&self->set, self->fds[i],
						    EPOLLIN));
			members |= 1U << i;
			ASSERT_EQ(0, are_members(&self->set, self->fds,
						 members));
		}
		for (nr = 0; nr < NUMBERS; nr++) {
			i = pick(seed + 1, nr, NUMBERS);
			EXPECT_EQ(members & 1U << i ? 0 : -ENOENT,
				  eset_del(&self->set, self->fds[i]));
			members &= ~(1U << i);
			ASSERT_EQ(0, are_members(&self->set, self->fds,
						 members));
		}
		/* A new set begins with few numbers again. */
		if (seed % 2) {
			eset_close(&self->set);
			ASSERT_EQ(0, eset_open(&self->set, variant->ops));
		}
	}
}

TEST_F(numbers, of_closed_files_make_room)
{
	int round, i, fd;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < 4; i++) {
			fd = eventfd_new();
			ASSERT_LE(0, fd);
			ASSERT_EQ(0, eset_add(&self->set, fd, EPOLLIN));
			ASSERT_EQ(0, eset_add(&self->set, self->fds[i],
					      EPOLLIN));
			ASSERT_EQ(0, close(fd));
		}
		ASSERT_EQ(0, are_members(&self->set, self->fds, 0xf));
		for (i = 0; i < 4; i++)
			ASSERT_EQ(0, eset_del(&self->set, self->fds[i]));
	}
}

/* Files that are closed while the set outgrows the first few numbers. */
struct closer {
	struct task task;
	int fds[4];
	atomic_bool go;
};

static long close_all(void *arg)
{
	struct closer *closer = arg;
	int i, ret = 0;

	while (!atomic_load(&closer->go))
		;
	for (i = 0; i < 4; i++)
		ret |= close(closer->fds[i]);
	return ret;
}

TEST_F(numbers, leave_while_the_set_grows)
{
	struct closer closer;
	int round, i;

	for (round = 0; round < 100; round++) {
		eset_close(&self->set);
		ASSERT_EQ(0, eset_open(&self->set, variant->ops));
		closer = (struct closer){};
		for (i = 0; i < 4; i++) {
			int event = eventfd_new();

			/* In leaves of their own, and in those of others. */
			closer.fds[i] = fcntl(event, F_DUPFD_CLOEXEC,
					      700 + i * 70);
			ASSERT_LE(700, closer.fds[i]);
			ASSERT_EQ(0, close(event));
			ASSERT_EQ(0, eset_add(&self->set, closer.fds[i],
					      EPOLLIN));
		}
		ASSERT_EQ(0, task_start(&closer.task, close_all, &closer));
		atomic_store(&closer.go, true);
		for (i = 0; i < 6; i++)
			ASSERT_EQ(0, eset_add(&self->set, self->fds[i],
					      EPOLLIN));
		ASSERT_EQ(0, task_join(&closer.task));
		ASSERT_EQ(0, are_members(&self->set, self->fds, 0x3f));
		ASSERT_EQ(0, eventfd_post(self->fds[round % 6]));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set,
						 self->fds[round % 6], 0));
		ASSERT_EQ(0, eventfd_take(self->fds[round % 6]));
	}
}

TEST_HARNESS_MAIN
