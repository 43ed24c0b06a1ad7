// SPDX-License-Identifier: GPL-2.0
/*
 * Pipes.  Since Linux 7.3 they wake for each write only pollers that they know
 * to be edge-triggered; others are woken only if the pipe was empty.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/backend.h"
#include "core/devpoll.h"
#include "core/eset.h"

#define WRITES 5

FIXTURE(pipe) {
	struct eset set;
	struct eset other;
	int fds[2];
};

ESET_VARIANTS(pipe);

FIXTURE_SETUP(pipe)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ASSERT_EQ(0, eset_open(&self->other, variant->ops));
	ASSERT_EQ(0, pipe_pair(self->fds));
}

FIXTURE_TEARDOWN(pipe)
{
	eset_close(&self->set);
	eset_close(&self->other);
}

/* Of so many writes, with no read: which gave an event?  A bit for each. */
static int edges(struct eset *set, const int fds[2])
{
	int i, seen = 0, ret;

	for (i = 0; i < WRITES; i++) {
		ret = put_byte(fds[1]);
		if (ret)
			return ret;
		ret = eset_wait_one(set, fds[0], 0);
		if (ret != -ENOMSG && ret != EPOLLIN)
			return ret < 0 ? ret : -EPROTO;
		seen |= (ret == EPOLLIN) << i;
		/* One event for each, no more. */
		if (eset_wait_one(set, fds[0], 0) != -ENOMSG)
			return -EALREADY;
	}
	return seen;
}

#define ALL ((1 << WRITES) - 1)

TEST_F(pipe, each_write_is_an_edge_though_nothing_was_read)
{
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLIN | EPOLLET));
	EXPECT_EQ(ALL, edges(&self->set, self->fds));
}

TEST_F(pipe, each_write_is_an_edge_after_a_change_to_edge)
{
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLIN));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->fds[0], EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(ALL, edges(&self->set, self->fds));
}

TEST_F(pipe, each_write_is_an_edge_when_another_set_watches_the_level)
{
	ASSERT_EQ(0, eset_add(&self->other, self->fds[0], EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLIN | EPOLLET));
	EXPECT_EQ(ALL, edges(&self->set, self->fds));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->other, self->fds[0], 0));
}

TEST_F(pipe, level_beside_an_edge_is_reported_as_long_as_it_lasts)
{
	int i, round;

	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->other, self->fds[0], EPOLLIN));
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(-ENOMSG,
			  eset_wait_one(&self->other, self->fds[0], 0));
		for (i = 0; i < WRITES; i++) {
			ASSERT_EQ(0, put_byte(self->fds[1]));
			EXPECT_EQ(EPOLLIN, eset_wait_one(&self->other,
							 self->fds[0], 0));
			EXPECT_EQ(EPOLLIN, eset_wait_one(&self->other,
							 self->fds[0], 0));
			EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set,
							 self->fds[0], 0));
			EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set,
							 self->fds[0], 0));
		}
		ASSERT_EQ(0, empty(self->fds[0]));
		EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	}
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->other, self->fds[0], 0));
}

TEST_F(pipe, level_is_reported_again_after_each_emptying)
{
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLIN));
	for (i = 0; i < WRITES; i++) {
		EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
		ASSERT_EQ(0, put_byte(self->fds[1]));
		ASSERT_EQ(0, put_byte(self->fds[1]));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[0], 0));
		ASSERT_EQ(1, read(self->fds[0], &(char){ 0 }, 1));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[0], 0));
		ASSERT_EQ(0, empty(self->fds[0]));
	}
}

/* What woke a set, as an edge-triggered set around it sees: a bit for each. */
static int wakes(const struct eset_ops *ops, int inner, int writer)
{
	struct eset outer;
	int i, ret, seen = 0;

	ret = eset_open(&outer, ops);
	if (!ret)
		ret = eset_add(&outer, inner, EPOLLIN | EPOLLET);
	for (i = 0; i < WRITES && !ret; i++) {
		ret = put_byte(writer);
		if (ret)
			break;
		ret = eset_wait_one(&outer, inner, 0);
		seen |= (ret == EPOLLIN) << i;
		ret = ret == EPOLLIN || ret == -ENOMSG ? 0 : ret;
	}
	eset_close(&outer);
	return ret < 0 ? ret : seen;
}

/* How often a pipe wakes in-tree epoll that watches it so. */
static int wakes_of_epoll(uint32_t mode)
{
	struct eset set;
	int fds[2], ret;

	ret = pipe_pair(fds);
	if (ret)
		return ret;
	ret = eset_open(&set, &eset_sysepoll);
	if (!ret)
		ret = eset_add(&set, fds[0], EPOLLIN | mode);
	if (!ret)
		ret = wakes(&eset_sysepoll, set.fd, fds[1]);
	eset_close(&set);
	close(fds[0]);
	close(fds[1]);
	return ret;
}

TEST_F(pipe, level_is_woken_as_often_as_epoll_is)
{
	const int expected = wakes_of_epoll(0);

	ASSERT_LT(0, expected);
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLIN));
	EXPECT_EQ(expected,
		  wakes(variant->ops, self->set.fd, self->fds[1]));
}

TEST_F(pipe, one_shot_is_woken_as_often_as_epoll_is)
{
	const int expected = wakes_of_epoll(EPOLLONESHOT);

	ASSERT_LT(0, expected);
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0],
			      EPOLLIN | EPOLLONESHOT));
	EXPECT_EQ(expected,
		  wakes(variant->ops, self->set.fd, self->fds[1]));
}

TEST_F(pipe, level_that_was_an_edge_is_woken_for_each_write)
{
	ASSERT_EQ(0, eset_add(&self->set, self->fds[0], EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_mod(&self->set, self->fds[0], EPOLLIN));
	EXPECT_EQ(ALL, wakes(variant->ops, self->set.fd, self->fds[1]));
}

TEST(a_set_of_2001_gets_each_edge_beside_a_level)
{
	struct eset level;
	struct set set;
	int i, fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, eset_open(&level, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&level, fds[0], EPOLLIN));
	ASSERT_EQ(0, set_open(&set, &backend_devepoll, 8));
	ASSERT_EQ(0, set_add(&set, fds[0], POLLIN));
	for (i = 0; i < WRITES; i++) {
		ASSERT_EQ(0, put_byte(fds[1]));
		EXPECT_EQ(POLLIN, set_wait_one(&set, fds[0], 0));
		EXPECT_EQ(-ENOMSG, set_wait_one(&set, fds[0], 0));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&level, fds[0], 0));
	}
	set_close(&set);
	eset_close(&level);
}

TEST(dev_poll_is_woken_as_often_as_level_epoll_is)
{
	const int expected = wakes_of_epoll(0);
	int fds[2], fd;

	ASSERT_LT(0, expected);
	ASSERT_EQ(0, pipe_pair(fds));
	fd = dp_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(sizeof(struct pollfd), dp_set(fd, fds[0], POLLIN));
	EXPECT_EQ(expected, wakes(&eset_sysepoll, fd, fds[1]));
}

TEST_HARNESS_MAIN
