// SPDX-License-Identifier: GPL-2.0
/*
 * A close has taken effect when close(2) returns, although another thread waits
 * on the set that watches the file and may be polling it: as often as with
 * epoll, which this program uses beside the device.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/late.h"
#include "core/slow_file.h"
#include "preload/preloaded.h"

enum { ROOM = 64 };

#define COUNTS	4

/* How many of each kind are counted: CLOSES in the environment, for a record. */
static int closes(void)
{
	const char *text = getenv("CLOSES");

	return text ? atoi(text) : 100;
}

/* A thread that waits all the time. */
struct taker {
	struct task task;
	int set;
	atomic_bool stop;
	atomic_long taken;
};

static long take(void *arg)
{
	struct taker *taker = arg;
	struct epoll_event out[ROOM];
	long n;

	pin_to_cpu(0);
	while (!atomic_load(&taker->stop)) {
		n = epoll_wait(taker->set, out, ROOM, 1);
		if (n < 0)
			return -errno;
		atomic_fetch_add(&taker->taken, n);
	}
	return 0;
}

/* 1 if it was late, 0, or -errno. */
static int close_one(int set, const struct late_kind *kind, uint32_t events,
		     unsigned int spin)
{
	struct late_file file = { .peer = -1 };
	bool late;
	int ret;

	if (kind->open(&file))
		return -errno;
	ret = add(set, file.fd, events);
	if (ret)
		return ret;
	while (spin--)
		__asm__ volatile ("");
	close(file.fd);
	late = !kind->is_closed(&file);
	if (late && !await(kind->is_closed(&file)))
		return -ETIMEDOUT;
	if (file.peer >= 0)
		close(file.peer);
	return late;
}

/* How many of the closes are late, or -errno. */
static int count_late(int set, const struct late_kind *kind, uint32_t events)
{
	struct taker taker = { .set = set };
	int i, ret, late = 0;

	ret = task_start(&taker.task, take, &taker);
	if (ret)
		return ret;
	for (i = 0; i < closes() && ret >= 0; i++) {
		ret = close_one(set, kind, events, i * 37 % 1000);
		late += ret == 1;
	}
	atomic_store(&taker.stop, true);
	if (ret >= 0)
		ret = 0;
	return task_join(&taker.task) ?: ret ?: late;
}

FIXTURE(late) {
	int own;
	int libc;
};

/* @others: how many files are ready all the time. */
FIXTURE_VARIANT(late) {
	uint32_t events;
	int others;
};

#define LATE(name, _events, _others)					\
	FIXTURE_VARIANT_ADD(late, name) {				\
		.events = _events,					\
		.others = _others,					\
	}

LATE(edge_alone, EPOLLIN | EPOLLOUT | EPOLLET, 0);
LATE(edge_among_others, EPOLLIN | EPOLLOUT | EPOLLET, 40);
LATE(level_alone, EPOLLIN | EPOLLOUT, 0);
LATE(level_among_others, EPOLLIN | EPOLLOUT, 40);

FIXTURE_SETUP(late)
{
	int i, fd;

	self->own = epoll_create1(EPOLL_CLOEXEC);
	self->libc = epoll_by_libc();
	ASSERT_TRUE(is_set_of_the_device(self->own));
	ASSERT_TRUE(is_set_of_epoll(self->libc));
	for (i = 0; i < variant->others; i++) {
		fd = eventfd_new();
		ASSERT_EQ(0, eventfd_post(fd));
		ASSERT_EQ(0, add(self->own, fd, EPOLLIN));
		ASSERT_EQ(0, add(self->libc, fd, EPOLLIN));
	}
}

FIXTURE_TEARDOWN(late)
{
	close(self->own);
	close(self->libc);
}

/* Counts the late closes of both sets, beginning with @first; 0 or -errno. */
static int count_both(const int sets[2], const struct late_kind *kind,
		      uint32_t events, int first, int sums[2])
{
	int i, late[2];

	for (i = 0; i < 2; i++) {
		int which = i ^ first;

		late[which] = count_late(sets[which], kind, events);
		if (late[which] < 0)
			return late[which];
		sums[which] += late[which];
	}
	printf("# kind %d: %d of %d late, epoll %d\n",
	       (int)(kind - late_kinds), late[0], closes(), late[1]);
	return 0;
}

/*
 * How often depends on how long a file is polled, and on who else needs the
 * processors; so this fails only where many more are late, and are so again.
 * The machine may have been busier while one was counted than while the other
 * was, so they take turns at being first.
 */
TEST_F(late, happens_as_rarely_as_with_epoll)
{
	const int sets[] = { self->own, self->libc };
	const int more = 4 * closes() / 20;
	int i, own, epolls, count = 0;

	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	pin_to_cpu(1);
	do {
		int sums[2] = {};

		for (i = 0; i < (int)ARRAY_SIZE(late_kinds); i++) {
			ASSERT_EQ(0, count_both(sets, &late_kinds[i],
						variant->events, count % 2,
						sums));
		}
		own = sums[0];
		epolls = sums[1];
	} while (own > epolls + more && ++count < COUNTS);
	EXPECT_GE(epolls + more, own);
}

static long take_once(void *arg)
{
	struct epoll_event out[ROOM];

	return epoll_wait(*(int *)arg, out, ROOM, 0);
}

/*
 * The same for sure: the wait stays in a slow file, which it polls after the
 * other one or before it.
 */
TEST(close_is_not_late_while_a_slow_file_is_asked)
{
	struct late_file file;
	struct slow_file slow;
	struct task task;
	int i, set, err = slow_open(&slow);

	if (err == -EOPNOTSUPP)
		SKIP(return, "not root, or no /dev/fuse");
	ASSERT_EQ(0, err);
	set = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_TRUE(is_set_of_the_device(set));
	ASSERT_EQ(0, add(set, slow.fd, EPOLLIN | EPOLLET));
	ASSERT_EQ(-ENOMSG, ready(set));
	for (i = 0; i < 2 * (int)ARRAY_SIZE(late_kinds); i++) {
		const struct late_kind *kind = &late_kinds[i / 2];

		file.peer = -1;
		ASSERT_EQ(0, kind->open(&file));
		slow_hold(&slow);
		if (i % 2)
			ASSERT_EQ(0, slow_stir(&slow));
		ASSERT_EQ(0, add(set, file.fd, EPOLLOUT | EPOLLET));
		if (!(i % 2))
			ASSERT_EQ(0, slow_stir(&slow));
		ASSERT_EQ(0, task_start(&task, take_once, &set));
		ASSERT_TRUE(slow_is_asked(&slow));
		close(file.fd);
		EXPECT_TRUE(kind->is_closed(&file)) TH_LOG("kind %d", i / 2);
		slow_go_on(&slow, 0);
		EXPECT_LE(0, task_join(&task));
		if (file.peer >= 0)
			close(file.peer);
	}
	close(set);
	EXPECT_EQ(0, slow_close(&slow));
}

TEST_HARNESS_MAIN
