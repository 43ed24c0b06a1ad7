// SPDX-License-Identifier: GPL-2.0
/*
 * Taking events out: a few of many, in their order, in turn.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "epoll/files.h"

FILES_FIXTURE(take)

TEST_F(take, takes_no_more_than_asked_for)
{
	struct epoll_event out[FILES + 1], untouched;
	int max;

	memset(&untouched, 0xa5, sizeof(untouched));
	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	ASSERT_EQ(0, post_all(self->events));
	for (max = 1; max <= FILES; max++) {
		memset(out, 0xa5, sizeof(out));
		ASSERT_EQ(max, eset_wait(&self->set, out, max, 0));
		EXPECT_EQ(0, memcmp(&out[max], &untouched, sizeof(untouched)));
	}
	EXPECT_EQ(FILES, eset_wait(&self->set, out, FILES + 1, 0));
}

TEST_F(take, gives_edges_in_order_of_arrival)
{
	static const int order[] = { 3, 0, 9, 5, 1, 4, 2, 8, 6, 7 };
	struct epoll_event out[4];
	int i;

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN | EPOLLET));
	for (i = 0; i < FILES; i++)
		ASSERT_EQ(0, eventfd_post(self->events[order[i]]));
	for (i = 0; i < FILES; i++) {
		if (i % 4 == 0)
			ASSERT_EQ(i < 8 ? 4 : 2,
				  eset_wait(&self->set, out, 4, 0));
		EXPECT_EQ(order[i], out[i % 4].data.u64);
	}
	EXPECT_EQ(0, eset_wait(&self->set, out, 4, 0));
}

TEST_F(take, of_more_than_asked_for_goes_round)
{
	int given[FILES] = {}, most = 0, least = INT32_MAX;
	struct epoll_event out[3];
	int i, j;

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	ASSERT_EQ(0, post_all(self->events));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(3, eset_wait(&self->set, out, 3, 0));
		for (j = 0; j < 3; j++) {
			ASSERT_GT(FILES, out[j].data.u64);
			given[out[j].data.u64]++;
		}
	}
	for (i = 0; i < FILES; i++) {
		most = given[i] > most ? given[i] : most;
		least = given[i] < least ? given[i] : least;
	}
	EXPECT_EQ(30, least);
	EXPECT_EQ(30, most);
}

TEST_F(take, lets_a_newcomer_have_its_turn)
{
	struct epoll_event out[2];
	int i, n, calls;

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	for (i = 0; i < FILES - 1; i++)
		ASSERT_EQ(0, eventfd_post(self->events[i]));
	for (i = 0; i < 7; i++)
		ASSERT_EQ(2, eset_wait(&self->set, out, 2, 0));
	ASSERT_EQ(0, eventfd_post(self->events[FILES - 1]));
	for (calls = 1; calls <= FILES; calls++) {
		n = eset_wait(&self->set, out, 2, 0);
		ASSERT_EQ(2, n);
		if (events_of(out, n, FILES - 1))
			break;
	}
	/* Those before it, two at a time. */
	EXPECT_GE((FILES + 1) / 2, calls);
}

TEST_F(take, gives_each_of_many_once)
{
	enum { MANY = 1000 };
	struct epoll_event *out = calloc(MANY, sizeof(*out));
	bool seen[MANY] = {};
	int i, n, number;

	ASSERT_NE(NULL, out);
	raise_fd_limit(4 * MANY);
	for (i = 0; i < MANY; i++) {
		number = fcntl(self->events[0], F_DUPFD_CLOEXEC, 3);
		ASSERT_LE(3, number);
		ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, number,
				      EPOLLIN | EPOLLET, i));
	}
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	ASSERT_EQ(MANY, eset_wait(&self->set, out, MANY, 0));
	for (i = 0; i < MANY; i++) {
		n = out[i].data.u64;
		ASSERT_GT(MANY, n);
		EXPECT_FALSE(seen[n]);
		seen[n] = true;
	}
	EXPECT_EQ(0, eset_wait(&self->set, out, MANY, 0));
	free(out);
}

/* More than are polled at once, and with room for each of them twice. */
TEST_F(take, gives_each_level_once_in_a_call)
{
	enum { MANY = 50 };
	struct epoll_event out[2 * MANY];
	int i, number;

	for (i = 0; i < MANY; i++) {
		number = fcntl(self->events[0], F_DUPFD_CLOEXEC, 3);
		ASSERT_LE(3, number);
		ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, number,
				      EPOLLIN, i));
	}
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	EXPECT_EQ(MANY, eset_wait(&self->set, out, 2 * MANY, 0));
	EXPECT_EQ(MANY, eset_wait(&self->set, out, 2 * MANY, 0));
}

TEST_HARNESS_MAIN
