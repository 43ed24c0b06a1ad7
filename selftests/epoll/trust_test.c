// SPDX-License-Identifier: GPL-2.0
/* Fds that report what their wake-ups named, without a poll. */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

FIXTURE(trust) {
	struct eset set;
	int event;	/* in the set, trusted */
};

DEVICE_VARIANTS(trust);

static int change_trusted(struct eset *set, int op, int fd, uint32_t events)
{
	struct devepoll_change change = {
		.op = op,
		.flags = DEVEPOLL_TRUST,
		.fd = fd,
		.events = events,
		.data = fd,
	};

	return dep_change(set->fd, &change);
}

static int add_trusted(struct eset *set, int fd, uint32_t events)
{
	return change_trusted(set, DEVEPOLL_ADD, fd, events);
}

FIXTURE_SETUP(trust)
{
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, add_trusted(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(trust)
{
	eset_close(&self->set);
}

TEST_F(trust, reports_each_arrival_once)
{
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
		EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	}
}

TEST_F(trust, reports_what_comes_after_a_change_that_found_nothing)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	/* What was told before the change is over, and the file says so. */
	ASSERT_EQ(0, change_trusted(&self->set, DEVEPOLL_MOD, self->event,
				    EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(trust, saves_the_asking)
{
	int i, asked = eventfd_new();
	long before;

	before = count_asks(&self->set);
	ASSERT_LE(0, before);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	}
	EXPECT_EQ(before, count_asks(&self->set));

	ASSERT_EQ(0, eset_add(&self->set, asked, EPOLLIN | EPOLLET));
	before = count_asks(&self->set);
	ASSERT_LE(0, before);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, eventfd_post(asked));
		ASSERT_EQ(EPOLLIN, eset_wait_one(&self->set, asked, 0));
	}
	EXPECT_LE(before + 10, count_asks(&self->set));
}

TEST_F(trust, reports_what_is_over_when_it_is_read)
{
	int asked = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, asked, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(0, eventfd_post(asked));
	ASSERT_EQ(0, eventfd_take(asked));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(trust, adds_up_what_wake_ups_named)
{
	int fds[2];

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, add_trusted(&self->set, fds[0],
				 EPOLLIN | EPOLLOUT | EPOLLET));
	EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, fds[0], 0));
	/* The file would report more than the wake-up names. */
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, fds[0], 0));
	ASSERT_EQ(0, fill(fds[0]));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, empty(fds[1]));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, eset_wait_one(&self->set, fds[0], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, fds[0], 0));
}

TEST_F(trust, reports_only_what_was_asked_for)
{
	int fds[2];

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, fill(fds[0]));
	ASSERT_EQ(0, add_trusted(&self->set, fds[0], EPOLLOUT | EPOLLET));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, fds[0], 0));
	ASSERT_EQ(0, empty(fds[1]));
	EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, fds[0], 0));
}

TEST_F(trust, asks_where_a_wake_up_names_nothing)
{
	int fds[2], in[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, add_trusted(&self->set, fds[0], EPOLLIN | EPOLLET));
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(EPOLLHUP, eset_wait_one(&self->set, fds[0], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, fds[0], 0));

	ASSERT_EQ(0, unix_pair(in, SOCK_STREAM));
	ASSERT_EQ(0, add_trusted(&self->set, in[0],
				 EPOLLIN | EPOLLRDHUP | EPOLLET));
	ASSERT_EQ(0, shutdown(in[1], SHUT_WR));
	EXPECT_EQ(EPOLLIN | EPOLLRDHUP, eset_wait_one(&self->set, in[0], 0));
}

/* Wake-ups of sockets always claim it. */
TEST_F(trust, does_not_believe_in_urgent_data)
{
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(0, add_trusted(&self->set, fds[0],
				 EPOLLIN | EPOLLPRI | EPOLLET));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, fds[0], 10000));
	ASSERT_EQ(0, empty(fds[0]));
	ASSERT_EQ(1, send(fds[1], "u", 1, MSG_OOB));
	ASSERT_TRUE(await(poll_now(fds[0], POLLPRI)));
	EXPECT_EQ(EPOLLPRI,
		  eset_wait_one(&self->set, fds[0], 10000) & EPOLLPRI);
}

TEST_F(trust, reports_what_is_ready_at_add_and_at_a_change)
{
	ASSERT_EQ(0, eset_del(&self->set, self->event));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, add_trusted(&self->set, self->event, EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, change_trusted(&self->set, DEVEPOLL_MOD, self->event,
				    EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(trust, reports_what_is_still_ready_after_a_change)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	/* Its event is on the ready list. */
	ASSERT_EQ(0, change_trusted(&self->set, DEVEPOLL_MOD, self->event,
				    EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(trust, obeys_one_shot)
{
	ASSERT_EQ(0, change_trusted(&self->set, DEVEPOLL_MOD, self->event,
				    EPOLLIN | EPOLLET | EPOLLONESHOT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, change_trusted(&self->set, DEVEPOLL_MOD, self->event,
				    EPOLLIN | EPOLLET | EPOLLONESHOT));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(trust, forgets_what_came_before_a_change)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(0, change_trusted(&self->set, DEVEPOLL_MOD, self->event,
				    EPOLLIN | EPOLLET));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN | EPOLLET));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(trust, of_a_stale_number_is_misplaced)
{
	int kept = dup(self->event);

	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(trust, wakes_who_sleeps)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(EPOLLIN, waiter.out[0].events);
}

TEST_F(trust, is_for_edges_only)
{
	int event = eventfd_new();

	EXPECT_EQ(-EINVAL, add_trusted(&self->set, event, EPOLLIN));
	EXPECT_EQ(-EINVAL, add_trusted(&self->set, event,
				       EPOLLIN | EPOLLONESHOT));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, event));
	EXPECT_EQ(-EINVAL, change_trusted(&self->set, DEVEPOLL_MOD,
					  self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_HARNESS_MAIN
