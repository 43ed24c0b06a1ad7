// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of a snapshot: which events come, when they come again, and in
 * which order.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM 1024

SET_FIXTURE(edge, ROOM)

TEST_F(edge, what_is_ready_already_is_reported_on_add)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, fds[0], 0));
}

TEST_F(edge, what_is_not_ready_is_not_reported_on_add)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, fds[0], 0));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, fds[0], 0));
}

TEST_F(edge, an_event_is_reported_once)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, fds[0], 0));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, fds[0], 0));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, fds[0], 10));
}

TEST_F(edge, every_arrival_is_reported_though_nothing_was_read)
{
	int i, pipes[2], sockets[2], event;

	ASSERT_EQ(0, pipe_pair(pipes));
	ASSERT_EQ(0, unix_pair(sockets, SOCK_STREAM));
	event = eventfd_new();
	ASSERT_LE(0, event);
	ASSERT_EQ(0, set_add(&self->set, pipes[0], POLLIN));
	ASSERT_EQ(0, set_add(&self->set, sockets[0], POLLIN));
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, put_byte(pipes[1]));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, pipes[0], 0));
		ASSERT_EQ(0, put_byte(sockets[1]));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, sockets[0], 0));
		ASSERT_EQ(0, eventfd_post(event));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, event, 0));
	}
}

TEST_F(edge, arrivals_between_two_waits_share_one_slot)
{
	struct pollfd out[8];
	int i, fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(1, set_wait(&self->set, out, 8, 0));
	EXPECT_EQ(fds[0], out[0].fd);
	EXPECT_EQ(POLLIN, out[0].revents);
}

TEST_F(edge, different_events_of_one_file_are_joined)
{
	int fds[2];

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, fill(fds[0]));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN | POLLOUT));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, fds[0], 0));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, empty(fds[1]));
	EXPECT_EQ(POLLIN | POLLOUT, set_wait_one(&self->set, fds[0], 0));
}

TEST_F(edge, events_come_in_the_order_of_each_first_arrival)
{
	static const int order[] = { 3, 0, 4, 1, 0, 3, 2 };
	static const int expected[] = { 3, 0, 4, 1, 2 };
	struct pollfd out[8];
	int fds[5];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = eventfd_new();
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, set_add(&self->set, fds[i], POLLIN));
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		ASSERT_EQ(0, eventfd_post(fds[order[i]]));
	ASSERT_EQ(5, set_wait(&self->set, out, 8, 0));
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		EXPECT_EQ(fds[expected[i]], out[i].fd);
		EXPECT_EQ(POLLIN, out[i].revents);
	}
}

TEST_F(edge, a_removed_fd_takes_its_pending_event_along)
{
	struct pollfd out[8];
	int i, n, fds[5];
	int last;

	for (i = 0; i < 5; i++) {
		fds[i] = eventfd_new();
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, set_add(&self->set, fds[i], POLLIN));
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	ASSERT_EQ(0, set_remove(&self->set, fds[1]));
	n = set_wait(&self->set, out, 8, 0);
	ASSERT_EQ(4, n);
	EXPECT_EQ(0, event_of(out, n, fds[1]));
	last = has_trait(&self->set, MOVES_LAST_SLOT) ? 4 : 2;
	EXPECT_EQ(fds[0], out[0].fd);
	EXPECT_EQ(fds[last], out[1].fd);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(i == 1 ? 0 : POLLIN, event_of(out, n, fds[i]));
}

TEST_F(edge, a_moved_slot_still_collects_its_events)
{
	struct pollfd out[8];
	int a[2], b[2], c[2], n;

	ASSERT_EQ(0, unix_pair(a, SOCK_STREAM));
	ASSERT_EQ(0, unix_pair(b, SOCK_STREAM));
	ASSERT_EQ(0, unix_pair(c, SOCK_STREAM));
	ASSERT_EQ(0, fill(c[0]));
	ASSERT_EQ(0, set_add(&self->set, a[0], POLLIN));
	ASSERT_EQ(0, set_add(&self->set, b[0], POLLIN));
	ASSERT_EQ(0, set_add(&self->set, c[0], POLLIN | POLLOUT));
	ASSERT_EQ(0, put_byte(a[1]));
	ASSERT_EQ(0, put_byte(b[1]));
	ASSERT_EQ(0, put_byte(c[1]));
	ASSERT_EQ(0, set_remove(&self->set, a[0]));
	ASSERT_EQ(0, empty(c[1]));
	n = set_wait(&self->set, out, 8, 0);
	ASSERT_EQ(2, n);
	EXPECT_EQ(POLLIN, event_of(out, n, b[0]));
	EXPECT_EQ(POLLIN | POLLOUT, event_of(out, n, c[0]));
}

/* On epoll it just stays where it is. */
TEST_F(edge, a_moved_slot_moves_again)
{
	static const int order[] = { 1, 2, 0 };
	struct pollfd out[8];
	int i, fds[4];

	for (i = 0; i < 4; i++) {
		fds[i] = eventfd_new();
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, set_add(&self->set, fds[i], POLLIN));
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, set_remove(&self->set, fds[order[i]]));
	ASSERT_EQ(1, set_wait(&self->set, out, 8, 0));
	EXPECT_EQ(fds[3], out[0].fd);
	EXPECT_EQ(POLLIN, out[0].revents);
}

TEST_F(edge, removing_the_only_pending_fd_leaves_nothing)
{
	int event = eventfd_new();

	ASSERT_LE(0, event);
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(0, set_remove(&self->set, event));
	EXPECT_EQ(0, set_drain(&self->set));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

TEST_F(edge, a_removed_and_added_fd_is_reported_anew)
{
	int event = eventfd_new();

	ASSERT_LE(0, event);
	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, event, 0));
	ASSERT_EQ(0, set_remove(&self->set, event));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, event, 0));
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, event, 0));
}

TEST_F(edge, what_was_not_asked_for_is_not_reported)
{
	int fds[2], event;

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	event = eventfd_new();
	ASSERT_LE(0, event);
	ASSERT_EQ(0, fill(fds[0]));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLOUT));
	ASSERT_EQ(0, set_add(&self->set, event, 0));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, empty(fds[1]));
	EXPECT_EQ(POLLOUT, set_wait_one(&self->set, fds[0], 0));
}

TEST_F(edge, hang_ups_and_errors_come_to_who_asks_for_them)
{
	const int asked = POLLIN | POLLHUP | POLLERR;
	int in[2], out[2];

	ASSERT_EQ(0, pipe_pair(in));
	ASSERT_EQ(0, pipe_pair(out));
	ASSERT_EQ(0, fill(out[1]));
	ASSERT_EQ(0, set_add(&self->set, in[0], asked));
	ASSERT_EQ(0, set_add(&self->set, out[1], POLLERR));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, close(in[1]));
	EXPECT_EQ(POLLHUP, set_wait_one(&self->set, in[0], 0));
	ASSERT_EQ(0, close(out[0]));
	EXPECT_EQ(POLLERR, set_wait_one(&self->set, out[1], 0));
}

TEST_F(edge, hang_ups_and_errors_stay_away_from_who_does_not)
{
	bool added = has_trait(&self->set, ADDS_ERR_AND_HUP);
	int in[2], out[2];

	ASSERT_EQ(0, pipe_pair(in));
	ASSERT_EQ(0, pipe_pair(out));
	ASSERT_EQ(0, fill(out[1]));
	ASSERT_EQ(0, set_add(&self->set, in[0], POLLIN));
	ASSERT_EQ(0, set_add(&self->set, out[1], POLLPRI));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, close(in[1]));
	EXPECT_EQ(added ? POLLHUP : -ENOMSG,
		  set_wait_one(&self->set, in[0], 0));
	ASSERT_EQ(0, close(out[0]));
	EXPECT_EQ(added ? POLLERR : -ENOMSG,
		  set_wait_one(&self->set, out[1], 0));
}

/* A socket's wake-up claims POLLPRI and POLLRDBAND with every POLLIN. */
TEST_F(edge, bits_that_only_the_wake_up_claims_are_not_reported)
{
	const int asked = POLLIN | POLLPRI | POLLRDBAND;
	int tcp[2], local[2];

	ASSERT_EQ(0, tcp_pair(tcp));
	ASSERT_EQ(0, unix_pair(local, SOCK_STREAM));
	ASSERT_EQ(0, set_add(&self->set, tcp[0], asked));
	ASSERT_EQ(0, set_add(&self->set, local[0], asked));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, put_byte(tcp[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, tcp[0], 10000));
	ASSERT_EQ(0, put_byte(local[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, local[0], 10000));
}

TEST_F(edge, only_urgent_data_is_urgent)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, set_add(&self->set, fds[0], POLLPRI));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, fds[0], 50));
	ASSERT_EQ(1, send(fds[1], "u", 1, MSG_OOB));
	EXPECT_EQ(POLLPRI, set_wait_one(&self->set, fds[0], 10000));
}

TEST_F(edge, an_event_whose_cause_went_is_kept_by_the_device_alone)
{
	bool kept = has_trait(&self->set, KEEPS_WHAT_WAS_POSTED);
	int event = eventfd_new();

	ASSERT_LE(0, event);
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(0, eventfd_take(event));
	EXPECT_EQ(kept ? POLLIN : -ENOMSG,
		  set_wait_one(&self->set, event, 0));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, event, 0));
}

TEST_F(edge, hundreds_of_events_come_in_one_call)
{
	enum { N = 900 };	/* more than one page holds */
	static struct pollfd out[ROOM];
	static int fds[N];
	int i;

	for (i = 0; i < N; i++) {
		fds[i] = eventfd_new();
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, set_add(&self->set, fds[i], POLLIN));
	}
	EXPECT_EQ(0, set_drain(&self->set));
	for (i = N - 1; i >= 0; i--)
		ASSERT_EQ(0, eventfd_post(fds[i]));
	ASSERT_EQ(N, set_wait(&self->set, out, ROOM, 0));
	for (i = 0; i < N; i++) {
		ASSERT_EQ(fds[N - 1 - i], out[i].fd);
		ASSERT_EQ(POLLIN, out[i].revents);
	}
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_HARNESS_MAIN
