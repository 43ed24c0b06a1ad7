// SPDX-License-Identifier: GPL-2.0
/*
 * Page sets and threads: a page set that one thread reads is not filled again
 * meanwhile.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM	600
#define SIZE	EP_MAP_SIZE(ROOM)
#define HALF	(SIZE / 2)

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
	/* On one CPU, none is given up because its own is held up. */
	ASSERT_EQ(0, pin_to_cpu(0));
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

TEST_HARNESS_MAIN
