// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands and complete many times, into a ring whose
 * completions nobody reads.
 */
#include <errno.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_shot.h"

/* Completions that nobody reads, so that there is no room for others. */
static int crowd(struct ring *ring)
{
	unsigned int i, n = ring->uring.cq.ring_entries;
	int ret = 0;

	for (i = 0; !ret && i < n; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);

		if (!sqe) {
			ret = ring_submit(ring);
			sqe = io_uring_get_sqe(&ring->uring);
		}
		if (!sqe)
			return -EBUSY;
		io_uring_prep_nop(sqe);
		sqe->user_data = 0;
	}
	return ret ?: ring_submit(ring);
}

static uint64_t count_harvests(int set)
{
	struct devepoll_stats stats = {};

	dep_request(set, DEVEPOLL_STATS, &stats);
	return stats.harvests;
}

/*
 * Makes a shot complete in a full ring.  Returns how many events came by it or
 * stayed in the set, or -errno if it goes on as if there had been room.
 */
static int shoot_into_crowd(struct ring *ring, struct ring_buffers *buffers,
			    int set, uint64_t harvests)
{
	struct devepoll_event out[8];
	struct io_uring_cqe cqe = {};
	int ret, events = 0;

	/* It is tried in this task, when the task is in the kernel. */
	if (!await(!io_uring_get_events(&ring->uring) &&
		   count_harvests(set) > harvests))
		return -ETIMEDOUT;
	do {
		ret = ring_complete(ring, &cqe);
		if (!ret && cqe.user_data == SHOT && cqe.res > 0 &&
		    ring_buffer_of(buffers, &cqe))
			events += cqe.res / EVENT_SIZE;
	} while (!ret && cqe.user_data != SHOT);
	if (ret)
		return ret;
	if (cqe.flags & IORING_CQE_F_MORE)
		return -EAGAIN;
	ret = dep_wait(set, out, 8, 0);
	return ret < 0 ? ret : events + ret;
}

#define NEEDS_CROWD()							\
	do {								\
		if (variant->kind->setup & IORING_SETUP_SQPOLL)		\
			SKIP(return, "its thread shoots on its own");	\
	} while (0)

TEST_F(uring_shot, loses_no_event_in_a_crowded_ring)
{
	int level = eventfd_new(), trusted = eventfd_new(), i;
	const struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TRUST,
		.fd = trusted,
		.events = EPOLLIN | EPOLLET,
		.data = 44,
	};
	uint64_t harvests;

	NEEDS_CROWD();
	ASSERT_EQ(0, add(self->set, level, EPOLLIN, 43));
	ASSERT_EQ(0, dep_change(self->set, &change));
	for (i = 0; i < BUFFERS; i++)
		GIVE(i);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	ASSERT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, crowd(&self->ring));
	harvests = count_harvests(self->set);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(level));
	ASSERT_EQ(0, eventfd_post(trusted));
	EXPECT_LE(3, shoot_into_crowd(&self->ring, &self->buffers, self->set,
				      harvests));
}

TEST_F(uring_shot, loses_no_one_shot_event_in_a_crowded_ring)
{
	int other = eventfd_new();
	uint64_t harvests;

	NEEDS_CROWD();
	ASSERT_EQ(0, add(self->set, other, EPOLLIN | EPOLLONESHOT, 43));
	GIVE(0);
	ASSERT_EQ(0, shoot(&self->ring, self->set, &self->args));
	ASSERT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, crowd(&self->ring));
	harvests = count_harvests(self->set);
	ASSERT_EQ(0, eventfd_post(other));
	EXPECT_EQ(1, shoot_into_crowd(&self->ring, &self->buffers, self->set,
				      harvests));
}

TEST_HARNESS_MAIN
