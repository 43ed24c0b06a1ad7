// SPDX-License-Identifier: GPL-2.0
/*
 * Page sets and threads: a page set that one thread reads is not filled again
 * meanwhile, and pages may go while other threads wait.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "helpers.h"

#define ROOM	600
#define SIZE	EP_MAP_SIZE(ROOM)
#define HALF	(SIZE / 2)
#define RACE_NS	(400 * NSEC_PER_MSEC)

/* A thread that takes events when it is told to, and keeps them meanwhile. */
struct reader {
	struct set set;
	struct task task;
	atomic_int orders;	/* how many waits it has been told to make */
	atomic_int waits;	/* how many it has made */
	atomic_int ms;
	atomic_bool leave;
	struct pollfd out[4];
	long ret;
};

static long reader_call(void *arg)
{
	struct reader *reader = arg;

	for (;;) {
		while (!atomic_load(&reader->leave) &&
		       atomic_load(&reader->orders) ==
		       atomic_load(&reader->waits))
			pause_briefly();
		if (atomic_load(&reader->leave))
			return 0;
		reader->ret = set_wait(&reader->set, reader->out, 4,
				       atomic_load(&reader->ms));
		atomic_fetch_add(&reader->waits, 1);
	}
}

static void reader_order(struct reader *reader, int ms)
{
	atomic_store(&reader->ms, ms);
	atomic_fetch_add(&reader->orders, 1);
}

/* What its wait returned. */
static long reader_result(struct reader *reader)
{
	if (!await(atomic_load(&reader->waits) ==
		   atomic_load(&reader->orders)))
		return -ETIMEDOUT;
	return reader->ret;
}

FIXTURE(handout) {
	struct set set;
	int a;
	int b;
	struct reader reader;
	struct waiter waiter;
};

/* The reader got a's event while the waiter, behind it in the queue, waits. */
FIXTURE_SETUP(handout)
{
	ASSERT_LE(2, cpus_online()) TH_LOG("threads need two CPUs");
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, ROOM));
	self->a = eventfd_new();
	self->b = eventfd_new();
	ASSERT_EQ(0, set_add(&self->set, self->a, POLLIN));
	ASSERT_EQ(0, set_add(&self->set, self->b, POLLIN));
	self->reader = (struct reader) { .set = self->set };
	ASSERT_EQ(0, task_start(&self->reader.task, reader_call,
				&self->reader));
	reader_order(&self->reader, -1);
	ASSERT_EQ(0, await_sleep(self->reader.task.tid, SYS_ioctl));
	ASSERT_EQ(0, waiter_start(&self->waiter, &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->a));
	ASSERT_EQ(1, reader_result(&self->reader));
	ASSERT_EQ(self->a, self->reader.out[0].fd);
	ASSERT_EQ(0, self->reader.set.resoff);
}

FIXTURE_TEARDOWN(handout)
{
	set_close(&self->set);
}

static long reader_leave(struct reader *reader)
{
	atomic_store(&reader->leave, true);
	return task_join(&reader->task);
}

/* True if the waiter stays asleep for a while, however often it looks. */
static bool waiter_stays(struct waiter *waiter)
{
	uint64_t end = now_ns() + 60 * NSEC_PER_MSEC;

	while (now_ns() < end) {
		if (atomic_load(&waiter->task.done))
			return false;
		pause_briefly();
	}
	return true;
}

TEST_F(handout, is_left_alone_while_its_reader_does_not_call)
{
	char copy[HALF];

	memcpy(copy, self->set.map, HALF);
	ASSERT_EQ(0, eventfd_post(self->b));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	EXPECT_TRUE(waiter_stays(&self->waiter));
	ASSERT_EQ(0, eventfd_post(self->a));
	EXPECT_TRUE(waiter_stays(&self->waiter));
	EXPECT_EQ(0, memcmp(copy, self->set.map, HALF));

	/* The reader calls again: it gets what came meanwhile. */
	reader_order(&self->reader, 0);
	EXPECT_EQ(2, reader_result(&self->reader));
	EXPECT_EQ(self->b, self->reader.out[0].fd);
	EXPECT_EQ(self->a, self->reader.out[1].fd);
	EXPECT_EQ(HALF, self->reader.set.resoff);

	/* When it exits, the waiter is free to take what comes. */
	ASSERT_EQ(0, eventfd_post(self->a));
	EXPECT_TRUE(waiter_stays(&self->waiter));
	EXPECT_EQ(0, reader_leave(&self->reader));
	EXPECT_EQ(1, waiter_join(&self->waiter));
	EXPECT_EQ(self->a, self->waiter.out[0].fd);
	EXPECT_EQ(0, self->waiter.set.resoff);
}

TEST_F(handout, is_over_when_the_reader_waits_again)
{
	reader_order(&self->reader, -1);
	ASSERT_EQ(0, await_sleep(self->reader.task.tid, SYS_ioctl));
	/* The waiter has waited longer: it gets the next event. */
	ASSERT_EQ(0, eventfd_post(self->b));
	ASSERT_TRUE(await(atomic_load(&self->waiter.task.done)));
	EXPECT_EQ(self->b, self->waiter.out[0].fd);
	EXPECT_EQ(HALF, self->waiter.set.resoff);
	EXPECT_TRUE(sleeps_in(self->reader.task.tid, SYS_ioctl));
	EXPECT_EQ(1, waiter_join(&self->waiter));
	ASSERT_EQ(0, eventfd_post(self->a));
	EXPECT_EQ(1, reader_result(&self->reader));
	EXPECT_EQ(0, reader_leave(&self->reader));
}

TEST_F(handout, is_over_when_another_thread_calls)
{
	ASSERT_EQ(0, eventfd_post(self->b));
	EXPECT_TRUE(waiter_stays(&self->waiter));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->b, 0));
	EXPECT_EQ(HALF, self->set.resoff);
	EXPECT_EQ(0, set_drain(&self->set));
	/* That call got nothing, so it is the waiter's turn. */
	ASSERT_EQ(0, eventfd_post(self->a));
	EXPECT_EQ(1, waiter_join(&self->waiter));
	EXPECT_EQ(self->a, self->waiter.out[0].fd);
	EXPECT_EQ(0, reader_leave(&self->reader));
}

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
