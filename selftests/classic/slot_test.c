// SPDX-License-Identifier: GPL-2.0
/*
 * Slots of a page set: which events stand in one, and how it moves.
 */
#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM 1024

DEVEPOLL_FIXTURE(slot, ROOM)

/* An eventfd reports a write by POLLIN and a read by POLLOUT. */
TEST_F(slot, that_moves_keeps_its_own_events)
{
	struct pollfd out[4];
	int first = eventfd_new();
	int moved = eventfd_new();

	ASSERT_EQ(0, set_add(&self->set, first, POLLIN));
	ASSERT_EQ(0, set_add(&self->set, moved, POLLIN | POLLOUT));
	EXPECT_EQ(1, set_drain(&self->set));
	ASSERT_EQ(0, eventfd_post(first));
	ASSERT_EQ(0, eventfd_post(moved));
	ASSERT_EQ(0, eventfd_take(moved));
	ASSERT_EQ(0, set_remove(&self->set, first));
	ASSERT_EQ(1, set_wait(&self->set, out, 4, 0));
	EXPECT_EQ(moved, out[0].fd);
	EXPECT_EQ(POLLIN | POLLOUT, out[0].events);
	EXPECT_EQ(POLLIN | POLLOUT, out[0].revents);
}

TEST_F(slot, carries_the_events_that_were_asked_for)
{
	struct pollfd out[2];
	int event = eventfd_new();

	ASSERT_LE(0, event);
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN | POLLERR));
	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(1, set_wait(&self->set, out, 2, 0));
	EXPECT_EQ(event, out[0].fd);
	EXPECT_EQ(POLLIN | POLLERR, out[0].events);
	EXPECT_EQ(POLLIN, out[0].revents);
}

TEST_F(slot, is_taken_again_by_the_fd_of_an_earlier_snapshot)
{
	struct pollfd out[4];
	int a = eventfd_new();
	int b = eventfd_new();
	int i;

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, set_add(&self->set, a, POLLIN));
	ASSERT_EQ(0, set_add(&self->set, b, POLLIN));
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(0, eventfd_post(i & 1 ? a : b));
		ASSERT_EQ(0, eventfd_post(i & 1 ? b : a));
		ASSERT_EQ(2, set_wait(&self->set, out, 4, 0));
		EXPECT_EQ(i & 1 ? a : b, out[0].fd);
		EXPECT_EQ(i & 1 ? b : a, out[1].fd);
		EXPECT_EQ(POLLIN, out[0].revents);
		EXPECT_EQ(POLLIN, out[1].revents);
	}
}

TEST_F(slot, of_the_first_event_moves_when_it_is_last_of_two)
{
	struct pollfd out[4];
	int a = eventfd_new();
	int b = eventfd_new();

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, set_add(&self->set, a, POLLIN));
	ASSERT_EQ(0, set_add(&self->set, b, POLLIN));
	ASSERT_EQ(0, eventfd_post(a));
	ASSERT_EQ(0, eventfd_post(b));
	ASSERT_EQ(0, set_remove(&self->set, a));
	ASSERT_EQ(1, set_wait(&self->set, out, 4, 0));
	EXPECT_EQ(b, out[0].fd);
	/* The freed place is no one's: a's return takes a slot of its own. */
	ASSERT_EQ(0, set_add(&self->set, a, POLLIN));
	ASSERT_EQ(0, eventfd_post(b));
	ASSERT_EQ(2, set_wait(&self->set, out, 4, 0));
	EXPECT_EQ(a, out[0].fd);
	EXPECT_EQ(b, out[1].fd);
}

TEST_HARNESS_MAIN
