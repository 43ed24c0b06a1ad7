// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll: the ring: events that consumers take from memory, and those that
 * they need the kernel for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "library/lib_ring.h"

TEST_F(lib_ring, event_is_taken_without_a_call)
{
	int fd = add_trusted(self->set);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, refuse_requests());
	EXPECT_EQ(0, devepoll_events_consume(self->me, 0));
	EXPECT_EQ(0, devepoll_events_next(self->me, &self->event));
	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(1, devepoll_events_consume(self->me, -1));
	ASSERT_EQ(1, devepoll_events_next(self->me, &self->event));
	EXPECT_EQ(EPOLLIN, self->event.events);
	EXPECT_EQ(fd, self->event.fd);
	EXPECT_EQ(0x100000000 + fd, self->event.data);
	EXPECT_EQ(0, devepoll_events_next(self->me, &self->event));
	EXPECT_EQ(0, devepoll_events_consume(self->me, 0));
	EXPECT_EQ(0, devepoll_events_next(self->me, &self->event));
}

TEST_F(lib_ring, wait_that_has_to_sleep_tells_that_it_may_not)
{
	ASSERT_LE(0, add_trusted(self->set));
	ASSERT_EQ(0, refuse_requests());
	EXPECT_EQ(0, devepoll_events_consume(self->me, 0));
	EXPECT_EQ(-EPERM, devepoll_events_consume(self->me, 1));
	EXPECT_EQ(-EPERM, devepoll_events_consume(self->me, -1));
}

TEST_F(lib_ring, events_come_in_the_order_in_which_they_happened)
{
	static const int order[] = { 2, 0, 3, 1, 0, 2 };
	int fds[4], round, i;

	for (i = 0; i < 4; i++)
		fds[i] = add_trusted(self->set);
	/* All slot sets have their turn. */
	for (round = 0; round < 2 * (CONSUMERS + 1); round++) {
		for (i = 0; i < 6; i++)
			ASSERT_EQ(0, eventfd_post(fds[order[i]]));
		ASSERT_EQ(4, devepoll_events_consume(&self->c[round % 2], -1));
		for (i = 0; i < 4; i++) {
			ASSERT_EQ(1, devepoll_events_next(&self->c[round % 2],
							  &self->event));
			EXPECT_EQ(fds[order[i]], self->event.fd);
		}
		EXPECT_EQ(0, devepoll_events_next(&self->c[round % 2],
						  &self->event));
	}
}

TEST_F(lib_ring, events_stay_while_another_consumer_takes)
{
	int first = add_trusted(self->set), second = add_trusted(self->set);

	ASSERT_EQ(0, eventfd_post(first));
	ASSERT_EQ(1, devepoll_events_consume(&self->c[0], 0));
	ASSERT_EQ(0, eventfd_post(second));
	EXPECT_EQ(second, take_one(&self->c[1], 0));
	ASSERT_EQ(0, eventfd_post(second));
	EXPECT_EQ(second, take_one(&self->c[1], 0));
	ASSERT_EQ(1, devepoll_events_next(&self->c[0], &self->event));
	EXPECT_EQ(first, self->event.fd);
}

TEST_F(lib_ring, events_stay_while_others_happen)
{
	int fds[] = { add_trusted(self->set), add_trusted(self->set) };
	int i;

	ASSERT_EQ(0, eventfd_post(fds[0]));
	for (i = 0; i < 6; i++) {
		ASSERT_EQ(1, devepoll_events_consume(self->me, 0));
		ASSERT_EQ(0, eventfd_post(fds[!(i % 2)]));
		ASSERT_EQ(1, devepoll_events_next(self->me, &self->event));
		EXPECT_EQ(fds[i % 2], self->event.fd);
	}
}

TEST_F(lib_ring, withdrawn_events_are_left_out)
{
	int fds[3], i;

	for (i = 0; i < 3; i++) {
		fds[i] = add_trusted(self->set);
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	ASSERT_EQ(0, change(self->set, DEVEPOLL_DEL, fds[0], 0, 0));
	ASSERT_EQ(0, close(fds[2]));
	EXPECT_LE(1, devepoll_events_consume(self->me, 0));
	ASSERT_EQ(1, devepoll_events_next(self->me, &self->event));
	EXPECT_EQ(fds[1], self->event.fd);
	EXPECT_EQ(0, devepoll_events_next(self->me, &self->event));
}

TEST_F(lib_ring, level_is_reported_until_the_file_is_read)
{
	int edge = add_trusted(self->set);
	int fd = add_eventfd(self->set, EPOLLIN, 0);
	int i;

	ASSERT_EQ(0, eventfd_post(fd));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(fd, take_one(&self->c[i % 2], i == 1 ? -1 : 0));
	ASSERT_EQ(0, eventfd_post(edge));
	EXPECT_EQ(2, devepoll_events_consume(self->me, 0));
	EXPECT_EQ(fd, take_one(self->me, -1));
	/* No consumer has asked meanwhile: it is not reported once more. */
	ASSERT_EQ(0, eventfd_take(fd));
	EXPECT_EQ(-ENOMSG, take_one(&self->c[1], 0));
	EXPECT_EQ(-ENOMSG, take_one(self->me, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, take_one(self->me, -1));
}

/* What one consumer was to ask, another asks that does not sleep. */
TEST_F(lib_ring, level_is_seen_by_a_consumer_that_only_looks)
{
	int fd = add_eventfd(self->set, EPOLLIN, 0);

	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, take_one(&self->c[0], 0));
	EXPECT_EQ(fd, take_one(&self->c[1], 0));
	EXPECT_EQ(fd, take_one(&self->c[1], 0));
}

TEST_F(lib_ring, what_the_ring_does_not_get_by_itself_is_asked_for)
{
	int edge = add_eventfd(self->set, EDGE, 0);
	int told = add_eventfd(self->set, EDGE,
			       DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED);
	int fds[2];

	ASSERT_EQ(0, eventfd_post(edge));
	EXPECT_EQ(edge, take_one(self->me, 0));
	EXPECT_EQ(-ENOMSG, take_one(self->me, 0));

	/* A hang-up names nothing. */
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, change(self->set, DEVEPOLL_ADD, fds[0], EDGE,
			    DEVEPOLL_TRUST));
	ASSERT_EQ(0, close(fds[1]));
	EXPECT_EQ(fds[0], take_one(self->me, -1));

	ASSERT_EQ(0, close(told));
	ASSERT_EQ(1, devepoll_events_consume(self->me, 0));
	ASSERT_EQ(1, devepoll_events_next(self->me, &self->event));
	EXPECT_EQ(DEVEPOLL_CLOSED, self->event.events);
	EXPECT_EQ(0x100000000 + told, self->event.data);
	EXPECT_EQ(-ENOMSG, take_one(self->me, 0));
}

TEST_F(lib_ring, more_fds_than_slots_are_reported_in_turn)
{
	int fds[3 * SLOTS], seen[3 * SLOTS] = { 0 };
	int i, n = 0;

	for (i = 0; i < 3 * SLOTS; i++) {
		fds[i] = add_trusted(self->set);
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	while (devepoll_events_consume(self->me, 0) > 0) {
		while (devepoll_events_next(self->me, &self->event)) {
			ASSERT_LE(fds[0], self->event.fd);
			seen[self->event.fd - fds[0]]++;
			n++;
		}
		ASSERT_GE(3 * SLOTS, n);
	}
	for (i = 0; i < 3 * SLOTS; i++)
		EXPECT_EQ(1, seen[i]);
}

TEST_F(lib_ring, one_shot_is_reported_once)
{
	int fd = add_eventfd(self->set, EDGE | EPOLLONESHOT, DEVEPOLL_TRUST);

	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, take_one(self->me, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(-ENOMSG, take_one(self->me, 0));
	ASSERT_EQ(0, change(self->set, DEVEPOLL_MOD, fd, EDGE | EPOLLONESHOT,
			    DEVEPOLL_TRUST));
	EXPECT_EQ(fd, take_one(self->me, 0));
}

TEST_F(lib_ring, other_waits_take_what_was_not_taken)
{
	int fd = add_trusted(self->set);

	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, devepoll_events_wait(self->set, &self->event, 1, 0));
	EXPECT_EQ(fd, self->event.fd);
	EXPECT_EQ(-ENOMSG, take_one(self->me, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, take_one(self->me, 0));
	EXPECT_EQ(0, devepoll_events_wait(self->set, &self->event, 1, 0));
}

#define FILES		16
#define WRITES		4000

/* Counts what it reads, until the last fd is ready. */
struct reader {
	struct devepoll_consumer *consumer;
	struct task task;
	int last;
	uint64_t read;
	bool looks;	/* it does not sleep */
};

static long read_all(void *arg)
{
	struct reader *r = arg;
	struct devepoll_event event;
	bool over = false;
	eventfd_t n;
	int ret;

	while (!over) {
		ret = devepoll_events_consume(r->consumer, r->looks ? 0 : -1);
		if (ret < 0)
			return ret;
		while (devepoll_events_next(r->consumer, &event)) {
			if (event.fd == r->last)
				over = true;
			else if (!eventfd_read(event.fd, &n))
				r->read += n;
		}
	}
	return 0;
}

TEST_F(lib_ring, threads_take_all_there_is)
{
	int fds[FILES], last, i, looks;
	struct reader r[CONSUMERS];

	NEEDS_THREADS();
	for (i = 0; i < FILES; i++)
		fds[i] = i % 4 ? add_trusted(self->set) :
				 add_eventfd(self->set, EPOLLIN, 0);
	/* By level, so that each consumer sees it. */
	last = add_eventfd(self->set, EPOLLIN, 0);
	for (looks = 0; looks <= CONSUMERS; looks++) {
		for (i = 0; i < CONSUMERS; i++) {
			r[i] = (struct reader){ .consumer = &self->c[i],
						.last = last,
						.looks = i < looks };
			ASSERT_EQ(0, task_start(&r[i].task, read_all, &r[i]));
		}
		for (i = 0; i < WRITES; i++)
			ASSERT_EQ(0, eventfd_post(fds[i * 7 % FILES]));
		/* Nobody is helped: whoever sleeps must come by himself. */
		for (i = 0; i < FILES; i++)
			ASSERT_TRUE(await(!poll_now(fds[i], POLLIN)));
		ASSERT_EQ(0, eventfd_post(last));
		EXPECT_EQ(0, task_join(&r[0].task));
		EXPECT_EQ(0, task_join(&r[1].task));
		EXPECT_EQ(WRITES, r[0].read + r[1].read);
		ASSERT_EQ(0, eventfd_take(last));
	}
}

TEST_F(lib_ring, child_waits_by_calls_and_its_parent_goes_on)
{
	int fd = add_trusted(self->set);
	pid_t child;

	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, take_one(self->me, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	child = fork();
	if (!child)
		_exit(devepoll_events_ring(self->set, self->c, 1, 1) !=
		      -EBUSY ||
		      devepoll_events_wait(self->set, &self->event, 1, 0) !=
		      1 || self->event.fd != fd || eventfd_post(fd));
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(fd, take_one(self->me, 0));
	EXPECT_EQ(-ENOMSG, take_one(self->me, 0));
}

TEST_F(lib_ring, child_has_no_part_in_the_memory)
{
	int fd = add_trusted(self->set), status;
	pid_t child;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, eventfd_post(fd));
	child = fork();
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		_exit(devepoll_events_consume(self->me, 0));
	}
	status = reap(child);
	/* A sanitizer may have put memory of its own there. */
	if (status)
		EXPECT_EQ(128 + SIGSEGV, status);
	EXPECT_EQ(fd, take_one(self->me, 0));
}

TEST_F(lib_ring, closed_set_is_read_to_its_end)
{
	int fd = add_trusted(self->set), fds[2], other;

	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(0, close(self->set));
	EXPECT_EQ(fd, take_one(self->me, -1));
	EXPECT_EQ(0, devepoll_events_consume(self->me, 0));
	EXPECT_EQ(-EBADF, devepoll_events_consume(self->me, -1));
	EXPECT_EQ(-EBADF, devepoll_events_consume(self->me, 1));

	/* The number may name another file by now. */
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(self->set, dup2(fds[0], self->set));
	EXPECT_EQ(-ENOTTY, devepoll_events_consume(self->me, -1));
	other = devepoll_events_open(0);
	ASSERT_EQ(self->set, dup2(other, self->set));
	EXPECT_EQ(-EINVAL, devepoll_events_consume(self->me, -1));
}

TEST_F(lib_ring, unmapped_ring_leaves_the_set_alone)
{
	struct devepoll_stats stats;
	int copy = dup(self->set), fd = add_trusted(self->set);

	devepoll_events_ring_unmap(self->c, CONSUMERS);
	/* The set goes on without it. */
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, devepoll_events_wait(copy, &self->event, 1, 0));
	ASSERT_EQ(0, devepoll_events_stats(copy, &stats));
	EXPECT_EQ(1, stats.items);
	/* For the teardown. */
	self->set = devepoll_events_open(0);
	ASSERT_EQ(0, devepoll_events_ring(self->set, self->c, CONSUMERS,
					  SLOTS));
	EXPECT_EQ(0, close(copy));
}

TEST_F(lib_ring, consumer_takes_the_place_of_one_that_has_ended)
{
	struct devepoll_consumer heir;
	int fd = add_trusted(self->set), i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, eventfd_post(fd));
		ASSERT_EQ(fd, take_one(&self->c[i % 2], 0));
		ASSERT_EQ(0, devepoll_events_ring_join(self->set, &heir,
						       &self->c[0].spare, 1));
		EXPECT_EQ(self->c[1].spare, heir.spare);
		ASSERT_EQ(0, eventfd_post(fd));
		ASSERT_EQ(fd, take_one(&heir, 0));
		self->c[1].spare = heir.spare;
		devepoll_events_ring_unmap(&heir, 1);
	}
}

/* A child has no mapping, and the parent's consumer ends with its process. */
TEST_F(lib_ring, consumer_of_another_process_joins)
{
	struct devepoll_consumer mine;
	int fd = add_trusted(self->set);
	pid_t child = fork();

	if (!child) {
		if (devepoll_events_ring_join(self->set, &mine,
					      &self->c[0].spare, 1))
			_exit(1);
		if (eventfd_post(fd) || take_one(&mine, -1) != fd)
			_exit(2);
		_exit(0);
	}
	EXPECT_EQ(0, reap(child));
	/* It took set 0, and gave back another before it ended. */
	ASSERT_EQ(0, devepoll_events_ring_join(self->set, &mine,
					       &self->c[0].spare, 1));
	EXPECT_EQ(0, mine.spare);
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(fd, take_one(&mine, -1));
	devepoll_events_ring_unmap(&mine, 1);
}

TEST_F(lib_ring, consumer_that_can_not_join_is_told_why)
{
	const uint32_t owned[] = { 1, 2 }, filling = 0, none = 3;
	struct devepoll_consumer c;
	int set = devepoll_events_open(0);

	EXPECT_EQ(-EFAULT, devepoll_events_ring_join(self->set, NULL, owned,
						     1));
	EXPECT_EQ(-EFAULT, devepoll_events_ring_join(self->set, &c, NULL, 1));
	EXPECT_EQ(-EINVAL, devepoll_events_ring_join(self->set, &c, owned, 2));
	EXPECT_EQ(-EINVAL, devepoll_events_ring_join(self->set, &c, &none, 1));
	EXPECT_EQ(-EBUSY, devepoll_events_ring_join(self->set, &c, &filling,
						    1));
	EXPECT_EQ(-EINVAL, devepoll_events_ring_join(set, &c, owned, 1));
	EXPECT_EQ(-EBADF, devepoll_events_ring_join(-1, &c, owned, 1));
	close(set);
}

TEST_HARNESS_MAIN
