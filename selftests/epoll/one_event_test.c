// SPDX-License-Identifier: GPL-2.0
/*
 * Waits with room for one event, while many fds may be ready: as threads wait
 * that share a set.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define FDS	100

FIXTURE(one_event) {
	struct eset set;
	int fds[FDS];
};

ESET_VARIANTS(one_event);

FIXTURE_SETUP(one_event)
{
	int i;

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	for (i = 0; i < FDS; i++) {
		self->fds[i] = eventfd_new();
		ASSERT_LE(0, self->fds[i]);
	}
}

FIXTURE_TEARDOWN(one_event)
{
	eset_close(&self->set);
}

/* Adds @nr fds, and makes them ready in their order; 0 or -errno. */
static int add_ready(struct eset *set, const int *fds, int nr, uint32_t events)
{
	int i, ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = eset_add(set, fds[i], events) ?: eventfd_post(fds[i]);
	return ret;
}

/* The fd whose event a wait returns, -ENOMSG if there is none, or -errno. */
static int fd_of_next(struct eset *set)
{
	struct epoll_event out;
	int ret = eset_wait(set, &out, 1, 0);

	if (ret != 1)
		return ret ?: -ENOMSG;
	return out.events == EPOLLIN ? (int)out.data.u64 : -EBADMSG;
}

TEST_F(one_event, of_many_edges_comes_in_their_order)
{
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN | EPOLLET));
	for (i = 0; i < FDS; i++)
		EXPECT_EQ(self->fds[i], fd_of_next(&self->set));
	EXPECT_EQ(-ENOMSG, fd_of_next(&self->set));
}

TEST_F(one_event, is_found_behind_many_that_are_over)
{
	int i, last = FDS - 1;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN | EPOLLET));
	for (i = 0; i < last; i++)
		ASSERT_EQ(0, empty(self->fds[i]));
	EXPECT_EQ(self->fds[last], fd_of_next(&self->set));
	EXPECT_EQ(-ENOMSG, fd_of_next(&self->set));
	/* Those that were looked at in vain are watched as before. */
	for (i = last; i-- > 0; ) {
		ASSERT_EQ(0, eventfd_post(self->fds[i]));
		EXPECT_EQ(self->fds[i], fd_of_next(&self->set));
	}
}

/* Each kind in its turn is the one that is ready, behind some of all kinds. */
TEST_F(one_event, is_found_behind_fds_of_other_kinds)
{
	static const uint32_t kinds[] = {
		EPOLLIN, EPOLLIN | EPOLLEXCLUSIVE, EPOLLIN | EPOLLET,
		EPOLLIN | EPOLLONESHOT,
	};
	const int last = 12;
	int i, turn;

	for (turn = 0; turn < 4; turn++) {
		for (i = 0; i <= last; i++)
			ASSERT_EQ(0, add_ready(&self->set, &self->fds[i], 1,
					       kinds[(i + turn) % 4]));
		for (i = 0; i < last; i++)
			ASSERT_EQ(0, empty(self->fds[i]));
		EXPECT_EQ(self->fds[last], fd_of_next(&self->set));
		ASSERT_EQ(0, empty(self->fds[last]));
		EXPECT_EQ(-ENOMSG, fd_of_next(&self->set));
		for (i = 0; i <= last; i++)
			ASSERT_EQ(0, eset_del(&self->set, self->fds[i]));
	}
}

TEST_F(one_event, is_none_if_all_are_over)
{
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN));
	for (i = 0; i < FDS; i++)
		ASSERT_EQ(0, empty(self->fds[i]));
	EXPECT_EQ(-ENOMSG, fd_of_next(&self->set));
	ASSERT_EQ(0, eventfd_post(self->fds[7]));
	EXPECT_EQ(self->fds[7], fd_of_next(&self->set));
}

TEST_F(one_event, of_levels_comes_from_each_in_turn)
{
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, 3, EPOLLIN));
	for (i = 0; i < 9; i++)
		EXPECT_EQ(self->fds[i % 3], fd_of_next(&self->set));
	ASSERT_EQ(0, empty(self->fds[0]));
	for (i = 0; i < 6; i++)
		EXPECT_EQ(self->fds[1 + i % 2], fd_of_next(&self->set));
}

TEST_F(one_event, of_a_one_shot_comes_once_and_again_after_a_change)
{
	static const uint32_t kinds[] = {
		EPOLLIN | EPOLLONESHOT,
		EPOLLIN | EPOLLONESHOT | EPOLLET,
	};
	int i, j;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, add_ready(&self->set, &self->fds[i], 1, kinds[i]));
	for (j = 0; j < 3; j++) {
		for (i = 0; i < 2; i++)
			EXPECT_EQ(self->fds[i], fd_of_next(&self->set));
		/* Disabled: what comes now is not reported. */
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, eventfd_post(self->fds[i]));
		EXPECT_EQ(-ENOMSG, fd_of_next(&self->set));
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, eset_mod(&self->set, self->fds[i],
					      kinds[i]));
	}
}

TEST_F(one_event, of_a_one_shot_that_is_over_leaves_it_enabled)
{
	ASSERT_EQ(0, add_ready(&self->set, self->fds, 2,
			       EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, empty(self->fds[0]));
	EXPECT_EQ(self->fds[1], fd_of_next(&self->set));
	EXPECT_EQ(-ENOMSG, fd_of_next(&self->set));
	ASSERT_EQ(0, eventfd_post(self->fds[0]));
	EXPECT_EQ(self->fds[0], fd_of_next(&self->set));
}

TEST_F(one_event, comes_as_a_change_of_a_ready_fd_asks_for_it)
{
	struct epoll_event out;
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, 3, EPOLLIN));
	/* It is on the ready list, and stays where it is. */
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_MOD, self->fds[1],
			      EPOLLOUT | EPOLLET, 12345));
	EXPECT_EQ(self->fds[0], fd_of_next(&self->set));
	ASSERT_EQ(1, eset_wait(&self->set, &out, 1, 0));
	EXPECT_EQ(12345, out.data.u64);
	EXPECT_EQ(EPOLLOUT, out.events);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(self->fds[i % 2 ? 0 : 2], fd_of_next(&self->set));
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_MOD, self->fds[0],
			      EPOLLPRI, 0));
	EXPECT_EQ(self->fds[2], fd_of_next(&self->set));
	EXPECT_EQ(self->fds[2], fd_of_next(&self->set));
}

TEST_F(one_event, stays_if_it_can_not_be_written)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	const uint32_t kinds[] = { EPOLLONESHOT, EPOLLET, 0 };
	struct epoll_event *nowhere;
	int i;

	if (variant->ops == &eset_devepoll ||
	    variant->ops == &eset_devepoll_mapped)
		SKIP(return, "the events do not go there at once");
	nowhere = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	ASSERT_NE(MAP_FAILED, nowhere);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, add_ready(&self->set, &self->fds[i], 1,
				       EPOLLIN | kinds[i]));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-EFAULT, self->set.ops->wait(&self->set, nowhere, 1,
						       0));
		EXPECT_EQ(self->fds[i], fd_of_next(&self->set));
	}
	/* The same behind fds that are over; the last is level-triggered. */
	for (i = 3; i < 6; i++)
		ASSERT_EQ(0, add_ready(&self->set, &self->fds[i], 1,
				       EPOLLIN | EPOLLET));
	for (i = 2; i < 5; i++)
		ASSERT_EQ(0, empty(self->fds[i]));
	EXPECT_EQ(-EFAULT, self->set.ops->wait(&self->set, nowhere, 1, 0));
	EXPECT_EQ(self->fds[5], fd_of_next(&self->set));
	EXPECT_EQ(-ENOMSG, fd_of_next(&self->set));
	munmap(nowhere, size);
}

TEST_HARNESS_MAIN
