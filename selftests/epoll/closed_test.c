// SPDX-License-Identifier: GPL-2.0
/*
 * The last event of an fd that left the set because its file was closed or its
 * number names another file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

FIXTURE(closed) {
	struct eset set;
	int fds[2];	/* the first is in the set and reports its close */
};

FIXTURE_VARIANT(closed) {
	const struct eset_ops *ops;
	uint32_t mode;
};

#define CLOSED(name, way, what)						\
	FIXTURE_VARIANT_ADD(closed, name) {				\
		.ops = &eset_##way,					\
		.mode = what,						\
	}

CLOSED(level, devepoll, 0);
CLOSED(edge, devepoll, EPOLLET);
CLOSED(one_shot, devepoll, EPOLLONESHOT);
CLOSED(exclusive, devepoll, EPOLLEXCLUSIVE);
CLOSED(level_by_fadvise, devepoll_fadvise, 0);
CLOSED(edge_by_mapping, devepoll_mapped, EPOLLET);

/* Adds or changes an fd that reports its close; its data is its number. */
static int change_told(struct eset *set, int op, int fd, uint32_t events)
{
	struct devepoll_change change = {
		.op = op,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = fd,
		.events = events,
		.data = fd,
	};

	return dep_change(set->fd, &change);
}

static int add_told(struct eset *set, int fd, uint32_t events)
{
	return change_told(set, DEVEPOLL_ADD, fd, events);
}

FIXTURE_SETUP(closed)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	ASSERT_EQ(0, add_told(&self->set, self->fds[0],
			      EPOLLIN | variant->mode));
}

FIXTURE_TEARDOWN(closed)
{
	eset_close(&self->set);
}

TEST_F(closed, is_told_once)
{
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

TEST_F(closed, takes_the_place_of_other_events)
{
	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closed, is_told_after_other_events_were)
{
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closed, wakes_who_sleeps)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(DEVEPOLL_CLOSED, waiter.out[0].events);
	EXPECT_EQ(self->fds[0], waiter.out[0].data.u64);
}

TEST_F(closed, is_told_at_the_last_close)
{
	int duplicate = dup(self->fds[0]);
	int kept = dup(self->fds[0]);

	ASSERT_EQ(0, close(duplicate));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, close(kept));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closed, is_told_of_a_stale_number_when_its_file_stirs)
{
	int kept = dup(self->fds[0]);

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, close(kept));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closed, is_told_when_the_number_is_added_anew)
{
	int kept = dup(self->fds[0]);
	int event = eventfd_new();
	struct epoll_event out[3];

	ASSERT_EQ(self->fds[0], dup2(event, self->fds[0]));
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, self->fds[0],
			      EPOLLIN, 4711));
	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(2, eset_wait(&self->set, out, 3, 0));
	EXPECT_EQ(DEVEPOLL_CLOSED, out[0].events);
	EXPECT_EQ(self->fds[0], out[0].data.u64);
	EXPECT_EQ(EPOLLIN, out[1].events);
	EXPECT_EQ(4711, out[1].data.u64);
	ASSERT_EQ(0, close(kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, 4711, 0));
}

TEST_F(closed, comes_before_events_of_the_next_file_of_the_number)
{
	struct epoll_event out[3];
	int event;

	ASSERT_EQ(0, close(self->fds[0]));
	event = eventfd_new();
	ASSERT_EQ(self->fds[0], event);
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, event, EPOLLOUT,
			      4711));
	ASSERT_EQ(2, eset_wait(&self->set, out, 3, 0));
	EXPECT_EQ(DEVEPOLL_CLOSED, out[0].events);
	EXPECT_EQ(event, out[0].data.u64);
	EXPECT_EQ(EPOLLOUT, out[1].events);
	EXPECT_EQ(4711, out[1].data.u64);
	EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, 4711, 0));
}

TEST_F(closed, is_not_told_of_what_was_removed)
{
	ASSERT_EQ(0, eset_del(&self->set, self->fds[0]));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closed, is_not_told_of_a_closed_number_that_is_removed)
{
	int kept = dup(self->fds[0]);

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, eset_del(&self->set, self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closed, is_not_told_of_a_stale_number_that_is_removed)
{
	int kept = dup(self->fds[0]), event = eventfd_new();

	ASSERT_LE(0, kept);
	ASSERT_EQ(self->fds[0], dup2(event, self->fds[0]));
	ASSERT_EQ(0, eset_del(&self->set, self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closed, is_not_told_unasked)
{
	int event = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, event, EPOLLIN | variant->mode));
	ASSERT_EQ(0, close(event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, event, 0));
}

TEST_F(closed, is_asked_for_by_each_change)
{
	int event = eventfd_new();

	if (variant->mode == EPOLLEXCLUSIVE)
		SKIP(return, "what is exclusive can't be changed");
	ASSERT_EQ(0, eset_mod(&self->set, self->fds[0], EPOLLIN));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));

	ASSERT_EQ(0, add_told(&self->set, event, EPOLLIN));
	ASSERT_EQ(0, eset_mod(&self->set, event, EPOLLIN));
	ASSERT_EQ(0, change_told(&self->set, DEVEPOLL_MOD, event, EPOLLIN));
	ASSERT_EQ(0, close(event));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, event, 0));
}

/* Nobody knows who has an event of it. */
TEST_F(closed, is_not_asked_for_later)
{
	int event = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, event, EPOLLIN));
	EXPECT_EQ(-EINVAL, change_told(&self->set, DEVEPOLL_MOD, event,
				       EPOLLIN));
	ASSERT_EQ(0, close(event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, event, 0));
}

TEST_F(closed, is_told_to_every_set_that_asked)
{
	struct eset sets[3];
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eset_open(&sets[i], variant->ops));
		ASSERT_EQ(0, i == 1 ?
			  eset_add(&sets[i], self->fds[0], EPOLLIN) :
			  add_told(&sets[i], self->fds[0], EPOLLIN));
	}
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, self->fds[0], 0));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(i == 1 ? -ENOMSG : DEVEPOLL_CLOSED,
			  eset_wait_one(&sets[i], self->fds[0], 0));
		eset_close(&sets[i]);
	}
}

TEST_F(closed, is_told_when_another_process_closes_last)
{
	int go[2];
	pid_t pid;

	ASSERT_EQ(0, pipe2(go, O_CLOEXEC));
	pid = fork();
	if (!pid)
		_exit(take_byte(go[0]) ? 1 : 0);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, put_byte(go[1]));
	EXPECT_EQ(DEVEPOLL_CLOSED,
		  eset_wait_one(&self->set, self->fds[0], 10000));
	EXPECT_EQ(0, reap(pid));
}

TEST_F(closed, of_many_is_told_of_each)
{
	enum { MANY = 100, FIRST = 500 };
	struct epoll_event out[7];
	bool told[MANY] = {};
	int i, n, number, sum = 0;

	for (i = 0; i < MANY; i++) {
		int event = eventfd_new();

		ASSERT_EQ(FIRST + i, dup3(event, FIRST + i, O_CLOEXEC));
		ASSERT_EQ(0, close(event));
		ASSERT_EQ(0, add_told(&self->set, FIRST + i,
				      EPOLLOUT | variant->mode));
	}
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, close(FIRST + i));
	/* Taken in pieces. */
	while ((n = eset_wait(&self->set, out, 7, 0)) > 0) {
		for (i = 0; i < n; i++, sum++) {
			EXPECT_EQ(DEVEPOLL_CLOSED, out[i].events);
			number = (int)out[i].data.u64 - FIRST;
			ASSERT_LE(0, number);
			ASSERT_GT(MANY, number);
			EXPECT_FALSE(told[number]);
			told[number] = true;
		}
	}
	EXPECT_EQ(0, n);
	EXPECT_EQ(MANY, sum);
}

TEST_F(closed, that_nobody_took_goes_with_the_set)
{
	int i, event;

	for (i = 0; i < 100; i++) {
		event = eventfd_new();
		ASSERT_EQ(0, add_told(&self->set, event, EPOLLIN));
		ASSERT_EQ(0, close(event));
	}
	ASSERT_EQ(0, close(self->fds[0]));
	eset_close(&self->set);
	EXPECT_LE(0, next_fd());
}

/* The object to which the data points: freed by the thread that is told. */
struct object {
	atomic_int told;
};

struct freer {
	struct eset set;
	atomic_ulong told;
	atomic_bool stop;
	struct task task;
};

static long free_what_is_closed(void *arg)
{
	struct freer *freer = arg;
	struct epoll_event out[8];
	struct object *object;
	int i, n;

	while (!atomic_load(&freer->stop)) {
		n = eset_wait(&freer->set, out, 8, 20);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			object = out[i].data.ptr;
			if (!(out[i].events & DEVEPOLL_CLOSED)) {
				if (atomic_load(&object->told))
					return -ESTALE;
				continue;
			}
			if (atomic_fetch_add(&object->told, 1))
				return -EEXIST;
			atomic_fetch_add(&freer->told, 1);
		}
	}
	return 0;
}

TEST_F(closed, is_told_to_one_of_several_threads)
{
	enum { THREADS = 3 };
	const int rounds = slowness() > 1 ? 200 : 1000;
	struct object *objects = calloc(rounds, sizeof(*objects));
	struct freer freers[THREADS];
	unsigned long sum;
	int i, event;

	ASSERT_NE(NULL, objects);
	for (i = 0; i < THREADS; i++) {
		freers[i] = (struct freer){ .set = self->set };
		ASSERT_EQ(0, task_start(&freers[i].task, free_what_is_closed,
					&freers[i]));
	}
	for (i = 0; i < rounds; i++) {
		struct devepoll_change change = {
			.op = DEVEPOLL_ADD,
			.flags = DEVEPOLL_TELL_CLOSED,
			.events = EPOLLIN | EPOLLET,
			.data = address_of(&objects[i]),
		};

		event = eventfd_new();
		change.fd = event;
		ASSERT_EQ(0, dep_change(self->set.fd, &change));
		ASSERT_EQ(0, eventfd_post(event));
		ASSERT_EQ(0, close(event));
	}
	EXPECT_TRUE(await((sum = atomic_load(&freers[0].told) +
				 atomic_load(&freers[1].told) +
				 atomic_load(&freers[2].told)) == (unsigned long)rounds))
		TH_LOG("%lu of %d were told", sum, rounds);
	for (i = 0; i < THREADS; i++)
		atomic_store(&freers[i].stop, true);
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(0, task_join(&freers[i].task));
	for (i = 0; i < rounds; i++)
		ASSERT_EQ(1, atomic_load(&objects[i].told));
	free(objects);
}

TEST_HARNESS_MAIN
