// SPDX-License-Identifier: GPL-2.0
/* Sets in sets: how events travel up, and what removes the inner set. */
#include <errno.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define LEVELS 3
#define MANY 20		/* around one set: a worker wakes them */

/* The innermost set watches the event, each other one the one before. */
FIXTURE(nest) {
	struct eset sets[LEVELS];
	struct eset *inner;
	struct eset *outer;
	int event;
};

ESET_VARIANTS(nest);

FIXTURE_SETUP(nest)
{
	int i;

	for (i = 0; i < LEVELS; i++) {
		ASSERT_EQ(0, eset_open(&self->sets[i], variant->ops))
			TH_LOG("no %s here", variant->ops->name);
	}
	self->inner = &self->sets[0];
	self->outer = &self->sets[LEVELS - 1];
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(nest)
{
	int i;

	for (i = 0; i < LEVELS; i++)
		eset_close(&self->sets[i]);
}

/* @inner and @outer: the mode of the event and that of the sets. */
static int build(struct eset *sets, int event, uint32_t inner, uint32_t outer)
{
	int i, ret = eset_add(&sets[0], event, EPOLLIN | inner);

	for (i = 1; i < LEVELS && !ret; i++)
		ret = eset_add(&sets[i], sets[i - 1].fd, EPOLLIN | outer);
	return ret;
}

TEST_F(nest, carries_events_up)
{
	int i;

	ASSERT_EQ(0, build(self->sets, self->event, 0, 0));
	EXPECT_EQ(0, eset_drain(self->outer));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = LEVELS - 1; i > 0; i--)
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->sets[i],
						 self->sets[i - 1].fd, 0));
	EXPECT_EQ(EPOLLIN, eset_wait_one(self->inner, self->event, 0));
	/* By level, all of it again. */
	for (i = LEVELS - 1; i > 0; i--)
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->sets[i],
						 self->sets[i - 1].fd, 0));
	ASSERT_EQ(0, eventfd_take(self->event));
	for (i = LEVELS - 1; i >= 0; i--)
		EXPECT_EQ(0, eset_drain(&self->sets[i]));
}

TEST_F(nest, wakes_who_sleeps_outside)
{
	struct ewaiter waiter;
	int i;

	ASSERT_EQ(0, build(self->sets, self->event, EPOLLET, EPOLLET));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, ewaiter_start(&waiter, self->outer, -1));
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, ewaiter_join(&waiter));
		EXPECT_EQ(self->sets[LEVELS - 2].fd, waiter.out[0].data.u64);
		EXPECT_EQ(EPOLLIN, waiter.out[0].events);
		EXPECT_EQ(EPOLLIN, eset_wait_one(self->inner, self->event, 0));
	}
}

TEST_F(nest, by_edge_tells_of_each_arrival_once)
{
	int i;

	ASSERT_EQ(0, build(self->sets, self->event, 0, EPOLLET));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(EPOLLIN, eset_wait_one(self->outer,
						 self->sets[LEVELS - 2].fd,
						 0));
		EXPECT_EQ(0, eset_drain(self->outer));
		/* Inside it is still there, by level. */
		EXPECT_EQ(EPOLLIN, eset_wait_one(self->inner, self->event, 0));
	}
}

TEST_F(nest, by_level_tells_as_long_as_the_inner_is_ready)
{
	ASSERT_EQ(0, build(self->sets, self->event, EPOLLET, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, eset_drain(self->outer));
	EXPECT_EQ(1, eset_drain(self->outer));
	/* The edge is taken inside: no set is ready any more. */
	EXPECT_EQ(EPOLLIN, eset_wait_one(self->inner, self->event, 0));
	EXPECT_EQ(0, eset_drain(self->outer));
	EXPECT_EQ(0, poll_now(self->outer->fd, POLLIN));
}

TEST_F(nest, of_a_ready_set_is_ready_at_once)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, build(self->sets, self->event, EPOLLET, EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(self->outer,
					 self->sets[LEVELS - 2].fd, 0));
	EXPECT_EQ(0, eset_drain(self->outer));
}

TEST_F(nest, reports_no_output_and_no_hang_up)
{
	ASSERT_EQ(0, eset_add(self->inner, self->event, EPOLLIN | EPOLLOUT));
	ASSERT_EQ(0, eset_add(self->outer, self->inner->fd,
			      EPOLLOUT | EPOLLRDHUP | EPOLLPRI));
	EXPECT_EQ(0, eset_drain(self->outer));
	ASSERT_EQ(0, eset_mod(self->outer, self->inner->fd,
			      EPOLLIN | EPOLLOUT | EPOLLRDNORM));
	EXPECT_EQ(EPOLLIN | EPOLLRDNORM,
		  eset_wait_one(self->outer, self->inner->fd, 0));
}

TEST_F(nest, one_shot_tells_once)
{
	ASSERT_EQ(0, eset_add(self->inner, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(self->outer, self->inner->fd,
			      EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, eset_drain(self->outer));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, eset_drain(self->outer));
	ASSERT_EQ(0, eset_mod(self->outer, self->inner->fd,
			      EPOLLIN | EPOLLONESHOT));
	EXPECT_EQ(1, eset_drain(self->outer));
}

TEST_F(nest, ends_when_the_inner_is_closed)
{
	int number = self->inner->fd;

	ASSERT_EQ(0, build(self->sets, self->event, 0, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, eset_drain(self->outer));
	eset_close(self->inner);
	EXPECT_EQ(0, eset_drain(self->outer));
	EXPECT_EQ(-EBADF, eset_del(&self->sets[1], number));
	/* The file lived in the inner one, and lives on. */
	EXPECT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, eset_drain(self->outer));
}

TEST_F(nest, ends_when_the_middle_is_closed)
{
	struct ewaiter waiter;
	int own = eventfd_new();

	ASSERT_EQ(0, build(self->sets, self->event, 0, 0));
	ASSERT_EQ(0, eset_add(self->outer, own, EPOLLIN));
	ASSERT_EQ(0, ewaiter_start(&waiter, self->outer, -1));
	eset_close(&self->sets[1]);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(task_undisturbed(&waiter.task));
	ASSERT_EQ(0, eventfd_post(own));
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(EPOLLIN, eset_wait_one(self->inner, self->event, 0));
}

TEST_F(nest, ends_when_the_inner_is_removed)
{
	ASSERT_EQ(0, build(self->sets, self->event, 0, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eset_del(self->outer, self->sets[LEVELS - 2].fd));
	EXPECT_EQ(0, eset_drain(self->outer));
	EXPECT_EQ(1, eset_drain(self->inner));
	ASSERT_EQ(0, eset_add(self->outer, self->sets[LEVELS - 2].fd,
			      EPOLLIN));
	EXPECT_EQ(1, eset_drain(self->outer));
}

TEST_F(nest, closes_in_any_order)
{
	static const int orders[][LEVELS] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	struct eset sets[LEVELS];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		for (j = 0; j < LEVELS; j++)
			ASSERT_EQ(0, eset_open(&sets[j], variant->ops));
		ASSERT_EQ(0, build(sets, self->event, 0, i & 1 ? EPOLLET : 0));
		ASSERT_EQ(0, eventfd_post(self->event));
		for (j = 0; j < LEVELS; j++)
			eset_close(&sets[orders[i][j]]);
		EXPECT_EQ(0, eventfd_post(self->event));
	}
}

TEST_F(nest, of_two_in_one_tells_them_apart)
{
	int other = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->sets[0], self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->sets[1], other, EPOLLIN));
	ASSERT_EQ(0, eset_add(self->outer, self->sets[0].fd, EPOLLIN));
	ASSERT_EQ(0, eset_add(self->outer, self->sets[1].fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(other));
	EXPECT_EQ(EPOLLIN, eset_wait_one(self->outer, self->sets[1].fd, 0));
	ASSERT_EQ(0, eventfd_take(other));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(self->outer, self->sets[0].fd, 0));
	ASSERT_EQ(0, eventfd_post(other));
	EXPECT_EQ(2, eset_drain(self->outer));
}

TEST_F(nest, of_one_in_two_tells_both)
{
	struct ewaiter waiters[2];
	int i;

	ASSERT_EQ(0, eset_add(self->inner, self->event, EPOLLIN));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, eset_add(&self->sets[1 + i], self->inner->fd,
				      EPOLLIN | EPOLLET));
		ASSERT_EQ(0, ewaiter_start(&waiters[i], &self->sets[1 + i],
					   -1));
	}
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(1, ewaiter_join(&waiters[i]));
}

/* Sets around @inner, each told of arrivals in it; 0 or -errno. */
static int surround(struct eset *outer, const struct eset *inner)
{
	int i, ret = 0;

	for (i = 0; i < MANY && !ret; i++)
		ret = eset_open(&outer[i], inner->ops) ?:
		      eset_add(&outer[i], inner->fd, EPOLLIN | EPOLLET);
	return ret;
}

TEST_F(nest, of_one_in_many_tells_all)
{
	static struct ewaiter waiters[MANY];
	struct eset outer[MANY];
	int i, round;

	ASSERT_EQ(0, eset_add(self->inner, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, surround(outer, self->inner));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++)
			ASSERT_EQ(0, ewaiter_start(&waiters[i], &outer[i],
						   -1));
		ASSERT_EQ(0, eventfd_post(self->event));
		for (i = 0; i < MANY; i++)
			EXPECT_EQ(1, ewaiter_join(&waiters[i]));
		EXPECT_EQ(1, eset_drain(self->inner));
	}
	for (i = 0; i < MANY; i++)
		eset_close(&outer[i]);
}

TEST_F(nest, of_one_in_many_may_go_while_it_tells)
{
	const int rounds = slowness() > 1 ? 10 : 50;
	struct eset inner, outer[MANY];
	int i, round;

	for (round = 0; round < rounds; round++) {
		ASSERT_EQ(0, eset_open(&inner, self->inner->ops));
		ASSERT_EQ(0, eset_add(&inner, self->event, EPOLLIN));
		ASSERT_EQ(0, surround(outer, &inner));
		ASSERT_EQ(0, eventfd_post(self->event));
		if (round & 1)
			eset_close(&inner);
		for (i = 0; i < MANY; i++)
			eset_close(&outer[i]);
		if (!(round & 1))
			eset_close(&inner);
		ASSERT_EQ(0, eventfd_take(self->event));
	}
}

/* As two threads do with epoll: one waits inside, the other outside. */
TEST_F(nest, wakes_inside_and_outside)
{
	struct ewaiter waiters[2];

	ASSERT_EQ(0, build(self->sets, self->event, 0, 0));
	ASSERT_EQ(0, ewaiter_start(&waiters[0], self->inner, -1));
	ASSERT_EQ(0, ewaiter_start(&waiters[1], self->outer, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ewaiter_join(&waiters[0]));
	EXPECT_EQ(1, ewaiter_join(&waiters[1]));
}

TEST_F(nest, is_seen_by_poll_and_select)
{
	struct timeval now = {};
	struct task task;
	fd_set fds;

	ASSERT_EQ(0, build(self->sets, self->event, 0, 0));
	ASSERT_EQ(0, task_start(&task, poll_for_input, &self->outer->fd));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_poll));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, task_join(&task));
	FD_ZERO(&fds);
	FD_SET(self->outer->fd, &fds);
	EXPECT_EQ(1, select(self->outer->fd + 1, &fds, NULL, NULL, &now));
	ASSERT_EQ(0, eventfd_take(self->event));
	FD_SET(self->outer->fd, &fds);
	EXPECT_EQ(0, select(self->outer->fd + 1, &fds, NULL, NULL, &now));
	EXPECT_EQ(0, poll_now(self->outer->fd, POLLIN));
}

TEST_F(nest, is_seen_by_many_who_poll)
{
	static struct task tasks[MANY];
	int i;

	ASSERT_EQ(0, build(self->sets, self->event, 0, 0));
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, task_start(&tasks[i], poll_for_input,
					&self->inner->fd));
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, await_sleep(tasks[i].tid, SYS_poll));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(POLLIN, task_join(&tasks[i]));
}

/* In-tree epoll may watch any set. */
TEST_F(nest, serves_an_outer_epoll)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int i, epoll = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, build(self->sets, self->event, EPOLLET, 0));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->outer->fd, &event));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, epoll_wait(epoll, &event, 1, 10000));
		EXPECT_EQ(EPOLLIN, event.events);
		EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
		EXPECT_EQ(1, eset_drain(self->outer));
		EXPECT_EQ(1, eset_drain(self->inner));
		EXPECT_EQ(0, eset_drain(self->outer));
	}
	eset_close(self->outer);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	ASSERT_EQ(0, close(epoll));
}

/* Its members can't be seen, so it could close a cycle. */
TEST_F(nest, takes_no_epoll_in)
{
	int error = eset_has(self->inner, TAKES_EPOLL_IN) ? 0 : -ELOOP;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_LE(0, epoll);
	EXPECT_EQ(error, eset_add(self->inner, epoll, EPOLLIN));
	EXPECT_EQ(error ? -ENOENT : 0, eset_del(self->inner, epoll));
	EXPECT_EQ(-ENOENT, eset_mod(self->inner, epoll, EPOLLIN));
}

TEST_HARNESS_MAIN
