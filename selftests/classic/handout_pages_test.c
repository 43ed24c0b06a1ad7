// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of a set that are unmapped and freed while other threads wait.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM	600
#define SIZE	EP_MAP_SIZE(ROOM)
#define RACE_NS	(400 * NSEC_PER_MSEC)

/* Pages that are unmapped and freed while threads wait for events in them. */
FIXTURE(pages) {
	struct set set;
	int event;
};

FIXTURE_SETUP(pages)
{
	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, ROOM));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
}

FIXTURE_TEARDOWN(pages)
{
	set_close(&self->set);
}

TEST_F(pages, that_are_freed_end_every_wait)
{
	/* More than are woken at a time. */
	enum { CROWD = 70 };
	static struct waiter waiters[CROWD];
	int i;

	for (i = 0; i < CROWD; i++)
		ASSERT_EQ(0, waiter_start(&waiters[i], &self->set, -1));
	ASSERT_EQ(0, munmap(self->set.map, SIZE));
	self->set.map = NULL;
	ASSERT_EQ(0, dep_free(self->set.fd));
	for (i = 0; i < CROWD; i++)
		EXPECT_EQ(-EINVAL, waiter_join(&waiters[i]));
}

TEST_F(pages, that_are_unmapped_keep_the_event_that_a_waiter_misses)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, munmap(self->set.map, SIZE));
	self->set.map = NULL;
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EINVAL, waiter_join(&waiter));
	self->set.map = dep_map(self->set.fd, SIZE);
	ASSERT_TRUE(self->set.map != MAP_FAILED);
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, self->set.resoff);
}

TEST_F(pages, that_were_mapped_again_serve_an_old_wait)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, munmap(self->set.map, SIZE));
	ASSERT_TRUE(mmap(self->set.map, SIZE, PROT_READ,
			 MAP_SHARED | MAP_FIXED, self->set.fd, 0) !=
		    MAP_FAILED);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(self->event, waiter.out[0].fd);
}

/* Takes the first event, and executes a program that does not know the set. */
static void read_and_execute(struct set *set, int told, int order)
{
	struct pollfd out[2];

	if (set_wait(set, out, 2, -1) != 1 || put_byte(told) ||
	    read(order, out, 1) != 1)
		_exit(1);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(2);
}

TEST_F(pages, are_free_again_when_their_reader_executes_a_program)
{
	struct waiter waiter;
	int told[2], order[2];
	pid_t reader;
	char byte;

	/* On one CPU, none is given up because its own is held up. */
	ASSERT_EQ(0, pin_to_cpu(0));
	/* Both ends block. */
	ASSERT_EQ(0, pipe(told));
	ASSERT_EQ(0, pipe(order));
	reader = fork();
	ASSERT_LE(0, reader);
	if (!reader)
		read_and_execute(&self->set, told[1], order[0]);
	ASSERT_EQ(0, await_sleep(reader, SYS_ioctl));
	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(poll_now(told[0], POLLIN)));
	ASSERT_EQ(1, read(told[0], &byte, 1));
	/* The waiter gets what comes now, once the first pages are free. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(waiter_stays(&waiter));
	ASSERT_EQ(0, put_byte(order[1]));
	EXPECT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(self->event, waiter.out[0].fd);
	EXPECT_EQ(0, kill(reader, SIGKILL));
	EXPECT_EQ(128 + SIGKILL, reap(reader));
}

/* All calls at once; each may succeed or fail for good reasons of its own. */
struct race {
	int fd;
	int event;
	atomic_bool stop;
};

static bool is_one_of(long ret, long a, long b)
{
	return ret == 0 || ret == a || ret == b;
}

static long race_alloc_and_free(void *arg)
{
	struct race *race = arg;
	long ret;
	int i;

	for (i = 1; !atomic_load(&race->stop); i = i * 7 % 5000 + 1) {
		ret = dep_alloc(race->fd, i);
		if (!is_one_of(ret, -EBUSY, -EBUSY))
			return ret;
		if (i % 3)
			continue;
		ret = dep_free(race->fd);
		if (!is_one_of(ret, -EBUSY, -EINVAL))
			return ret;
	}
	return 0;
}

static long race_map_and_unmap(void *arg)
{
	struct race *race = arg;
	char *map;
	int i;

	for (i = 1; !atomic_load(&race->stop); i = i % 5000 + 450) {
		map = dep_map(race->fd, EP_MAP_SIZE(i));
		if (map == MAP_FAILED && errno != EINVAL)
			return -errno;
		if (map == MAP_FAILED)
			continue;
		/* Whatever is there can be read. */
		if (((volatile struct pollfd *)map)->fd < 0)
			return -EIO;
		munmap(map, EP_MAP_SIZE(i));
	}
	return 0;
}

static long race_wait(void *arg)
{
	struct race *race = arg;
	struct evpoll evp;
	int i, n;

	for (i = 0; !atomic_load(&race->stop); i++) {
		evp = (struct evpoll) { .ep_timeout = i & 1 };
		n = dep_poll(race->fd, &evp);
		if (n < 0 && n != -EINVAL)
			return n;
	}
	return 0;
}

static long race_add_and_post(void *arg)
{
	struct race *race = arg;
	long ret;

	while (!atomic_load(&race->stop)) {
		ret = dep_write_one(race->fd, race->event, POLLIN);
		if (!is_one_of(ret, 8, 8))	/* 0: no room now */
			return ret;
		ret = eventfd_post(race->event);
		if (ret)
			return ret;
		ret = dep_write_one(race->fd, race->event, POLLREMOVE);
		if (ret != 8)
			return ret;
	}
	return 0;
}

/* The set itself is closed, and its number given to a new one. */
static long race_close_and_open(void *arg)
{
	struct race *race = arg;
	int fd;

	while (!atomic_load(&race->stop)) {
		fd = dep_open();
		if (fd < 0)
			return fd;
		if (dup2(fd, race->fd) != race->fd)
			return -errno;
		close(fd);
	}
	return 0;
}

TEST_F(pages, that_come_and_go_break_nothing)
{
	static long (*const calls[])(void *arg) = {
		race_alloc_and_free, race_map_and_unmap, race_map_and_unmap,
		race_wait, race_wait, race_add_and_post, race_close_and_open,
	};
	struct race race = { .fd = self->set.fd, .event = self->event };
	struct task tasks[ARRAY_SIZE(calls)];
	uint64_t end;
	size_t i, n;

	ASSERT_EQ(0, munmap(self->set.map, SIZE));
	self->set.map = NULL;
	/* On one set at first, then on ever new ones. */
	for (n = ARRAY_SIZE(calls) - 1; n <= ARRAY_SIZE(calls); n++) {
		atomic_store(&race.stop, false);
		for (i = 0; i < n; i++)
			ASSERT_EQ(0, task_start(&tasks[i], calls[i], &race));
		end = now_ns() + RACE_NS;
		while (now_ns() < end)
			pause_briefly();
		atomic_store(&race.stop, true);
		for (i = 0; i < n; i++)
			EXPECT_EQ(0, task_join(&tasks[i]))
				TH_LOG("call %zu", i);
	}

	/* All as before, when it is quiet again. */
	dep_free(self->set.fd);
	ASSERT_EQ(0, dep_alloc(self->set.fd, ROOM));
	self->set.map = dep_map(self->set.fd, SIZE);
	ASSERT_TRUE(self->set.map != MAP_FAILED);
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
}

TEST_HARNESS_MAIN
