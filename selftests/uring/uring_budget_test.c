// SPDX-License-Identifier: GPL-2.0
/*
 * What one event may cost the machine if io_uring commands wait for it in very
 * many sets: see budget_test.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/budget.h"
#include "uring/uring_ring.h"

#define MOST_SETS	4096
#define NR_WAITS	64

FIXTURE(uring_budget) {
};

FIXTURE_VARIANT(uring_budget) {
	uint32_t events;
};

FIXTURE_VARIANT_ADD(uring_budget, shared) {
	.events = EPOLLIN,
};

FIXTURE_VARIANT_ADD(uring_budget, exclusive) {
	.events = EPOLLIN | EPOLLEXCLUSIVE,
};

FIXTURE_SETUP(uring_budget)
{
}

FIXTURE_TEARDOWN(uring_budget)
{
}

TEST_F(uring_budget, of_one_event_does_not_grow_with_the_waits)
{
	int nr_sets = slowness() > 1 ? 512 : MOST_SETS;
	struct epoll_event event = { .events = variant->events };
	static struct devepoll_event out[MOST_SETS];
	static bool done[MOST_SETS];
	struct io_uring_cqe cqe;
	struct cost cost;
	struct ring ring;
	int i, fd, set;

	NEEDS_WAITS();
	if (raise_fd_limit(MOST_SETS + 100))
		SKIP(return, "no %d open files", MOST_SETS + 100);
	ASSERT_EQ(0, pin_to_cpu(0));
	/* The task that takes its completions pays for them, not the writer. */
	ASSERT_EQ(0, ring_open(&ring, &ring_deferred));
	fd = eventfd_new();
	ASSERT_LE(0, fd);
	for (i = 0; i < nr_sets; i++) {
		struct devepoll_wait_args args = wait_args(&out[i], 1, -1);

		set = dep_open();
		ASSERT_LE(0, set);
		ASSERT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
		ASSERT_EQ(0, ring_request(&ring, set, DEVEPOLL_WAIT, &args, i));
	}
	ASSERT_TRUE(ring_waits(&ring));
	memset(out, 0xa5, sizeof(out));
	ASSERT_EQ(0, measure(fd, &cost));
	EXPECT_CHEAP(cost, nr_sets);
	for (i = 0; i < nr_sets; i++) {
		ASSERT_EQ(0, ring_complete(&ring, &cqe))
			TH_LOG("only %d of %d waits were woken", i, nr_sets);
		ASSERT_GT(nr_sets, cqe.user_data);
		EXPECT_FALSE(done[cqe.user_data]);
		done[cqe.user_data] = true;
		ASSERT_EQ(1, cqe.res);
		ASSERT_EQ(EPOLLIN, out[cqe.user_data].events);
	}
	ring_close(&ring);
}

/*
 * The fds of one file in one set are exclusive, and all of the set's waits
 * belong to a task that does not come.
 */
TEST(waits_that_do_not_come_are_looked_at_within_the_budget)
{
	int i, fd, nr_fds = slowness() > 1 ? 512 : MOST_SETS, set = dep_open();
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	static struct devepoll_event out[NR_WAITS];
	struct cost cost;
	struct ring ring;

	NEEDS_WAITS();
	if (raise_fd_limit(MOST_SETS + 100))
		SKIP(return, "no %d open files", MOST_SETS + 100);
	ASSERT_LE(0, set);
	ASSERT_EQ(0, pin_to_cpu(0));
	ASSERT_EQ(0, ring_open(&ring, &ring_deferred));
	fd = eventfd_new();
	ASSERT_LE(0, fd);
	for (i = 0; i < nr_fds; i++) {
		event.data.fd = i ? dup(fd) : fd;
		ASSERT_LE(0, event.data.fd);
		ASSERT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, event.data.fd,
					   &event));
	}
	for (i = 0; i < NR_WAITS; i++) {
		struct devepoll_wait_args args = wait_args(&out[i], 1, -1);

		ASSERT_EQ(0, ring_request(&ring, set, DEVEPOLL_WAIT, &args, i));
	}
	ASSERT_TRUE(ring_waits(&ring));
	ASSERT_EQ(0, measure(fd, &cost));
	EXPECT_CHEAP(cost, nr_fds);
	ring_close(&ring);
}

TEST_HARNESS_MAIN
