// SPDX-License-Identifier: GPL-2.0
/* A file that is closed while a call asks it for the ring. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include "core/ring.h"
#include "core/slow_file.h"

#define SLOTS	16

FIXTURE(ring_closed) {
	struct slow_file slow;
	struct ring ring;
};

FIXTURE_SETUP(ring_closed)
{
	int err = slow_open(&self->slow);

	if (err == -EOPNOTSUPP)
		SKIP(return, "not root, or no /dev/fuse");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, ring_open(&self->ring, 1, SLOTS)) TH_LOG("no ring here");
	ASSERT_EQ(0, eset_add(&self->ring.set, self->slow.fd,
			      EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(ring_closed)
{
	ring_close(&self->ring);
	EXPECT_EQ(0, slow_close(&self->slow));
}

static long wait_now(void *arg)
{
	return ring_wait(arg, 0);
}

/* How many slots the word counts at any moment until the call is over. */
static unsigned int slots_meanwhile(struct ring *ring, struct task *task)
{
	unsigned int most = 0, nr;
	bool done;

	do {
		done = atomic_load(&task->done);
		nr = atomic_load(ring->word) & DEVEPOLL_RING_COUNT;
		if (nr > most)
			most = nr;
	} while (!done);
	task_join(task);
	return most;
}

/* Lets a call ask the file, which answers that it is ready: those slots. */
#define ASK(between)							\
	({								\
		struct task task;					\
									\
		slow_hold(&self->slow);					\
		ASSERT_EQ(0, slow_stir(&self->slow));			\
		ASSERT_EQ(0, task_start(&task, wait_now, &self->ring));	\
		ASSERT_TRUE(slow_is_asked(&self->slow));		\
		between;						\
		atomic_store(&self->slow.revents, EPOLLIN);		\
		atomic_store(&self->slow.answers, -1);			\
		slots_meanwhile(&self->ring, &task);			\
	})

TEST_F(ring_closed, has_the_answer_of_a_file_that_stays_open)
{
	struct consumer me;

	EXPECT_EQ(1, ASK(({})));
	consumer_init(&me, &self->ring, 0);
	EXPECT_EQ(EPOLLIN, consumer_take_one(&me, self->slow.fd));
}

/*
 * Its close was over before the answer came.  A module that takes the event
 * back soon after may escape this test: lost_test looks for that at length.
 */
TEST_F(ring_closed, has_no_answer_of_a_file_that_was_closed_meanwhile)
{
	struct consumer me;

	EXPECT_EQ(0, ASK(({ close(self->slow.fd); self->slow.fd = -1; })));
	consumer_init(&me, &self->ring, 0);
	EXPECT_EQ(0, consumer_take(&me));
	EXPECT_TRUE(await(atomic_load(&self->slow.released)));
}

TEST_HARNESS_MAIN
