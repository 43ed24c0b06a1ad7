// SPDX-License-Identifier: GPL-2.0
/*
 * DEVEPOLL_TAKE: the short form of a wait for trusted edges in mapped memory,
 * beside DEVEPOLL_WAIT, which must give the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* More than the module looks at in one hold of its lock. */
#define MANY	200

FIXTURE(take) {
	struct eset set;
	int events[MANY];
	const struct devepoll_event *out;
};

FIXTURE_VARIANT(take) {
	bool by_wait;
};

FIXTURE_VARIANT_ADD(take, by_take) {
	.by_wait = false,
};

FIXTURE_VARIANT_ADD(take, by_wait) {
	.by_wait = true,
};

static int add(struct eset *set, int fd, uint64_t data, uint32_t events,
	       uint32_t flags)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = flags,
		.fd = fd,
		.events = events,
		.data = data,
	};

	return dep_change(set->fd, &change);
}

FIXTURE_SETUP(take)
{
	int i;

	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll_mapped));
	self->out = self->set.map;
	for (i = 0; i < MANY; i++) {
		self->events[i] = eventfd_new();
		ASSERT_LE(0, self->events[i]);
	}
}

FIXTURE_TEARDOWN(take)
{
	eset_close(&self->set);
}

/* Adds the first @nr of the files as trusted edges. */
static int add_trusted(struct eset *set, const int *events, int nr)
{
	int i, ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = add(set, events[i], i, EPOLLIN | EPOLLET, DEVEPOLL_TRUST);
	return ret;
}

static int post(const int *events, int from, int to)
{
	int i, ret = 0;

	for (i = from; i < to && !ret; i++)
		ret = eventfd_post(events[i]);
	return ret;
}

static int take(struct eset *set, bool by_wait, unsigned int max, int ms)
{
	struct devepoll_wait_args args = {
		.max_events = max,
		.timeout = ms < 0 ? DEVEPOLL_FOREVER : ms * 1000000LL,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};

	return by_wait ? dep_request(set->fd, DEVEPOLL_WAIT, &args) :
			 dep_take(set->fd, 0, max, ms);
}

#define TAKE(max, ms)	take(&self->set, variant->by_wait, max, ms)

/* Index of the first event that is not @from, @from + 1...; or @nr. */
static int in_order(const struct devepoll_event *out, int nr, uint64_t from,
		    const int *events)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (out[i].data != from + i || out[i].events != EPOLLIN ||
		    out[i].fd != events[from + i])
			break;
	}
	return i;
}

TEST_F(take, gives_all_in_the_order_of_arrival)
{
	ASSERT_EQ(0, add_trusted(&self->set, self->events, MANY));
	ASSERT_EQ(0, TAKE(MANY, 0));
	ASSERT_EQ(0, post(self->events, 0, MANY));
	ASSERT_EQ(MANY, TAKE(MANY + 1, 0));
	EXPECT_EQ(MANY, in_order(self->out, MANY, 0, self->events));
	EXPECT_EQ(0, TAKE(MANY, 0));
}

TEST_F(take, gives_no_more_than_asked_for)
{
	int max, from = 0;

	ASSERT_EQ(0, add_trusted(&self->set, self->events, MANY));
	ASSERT_EQ(0, post(self->events, 0, MANY));
	for (max = 1; from + max <= MANY; max++) {
		ASSERT_EQ(max, TAKE(max, 0));
		ASSERT_EQ(max, in_order(self->out, max, from, self->events));
		from += max;
	}
	EXPECT_EQ(MANY - from, TAKE(MANY, 0));
	EXPECT_EQ(0, TAKE(1, 0));
}

/* An event of each kind, with trusted ones before, between and after them. */
TEST_F(take, goes_on_with_what_is_polled)
{
	struct eset *set = &self->set;
	int given[8] = {}, i, nr;

	ASSERT_EQ(0, add(set, self->events[0], 0, EPOLLIN | EPOLLET,
			 DEVEPOLL_TRUST));
	ASSERT_EQ(0, add(set, self->events[1], 1, EPOLLIN, 0));
	ASSERT_EQ(0, add(set, self->events[2], 2, EPOLLIN | EPOLLET,
			 DEVEPOLL_TRUST));
	ASSERT_EQ(0, add(set, self->events[3], 3, EPOLLIN | EPOLLET, 0));
	ASSERT_EQ(0, add(set, self->events[4], 4,
			 EPOLLIN | EPOLLET | EPOLLONESHOT, DEVEPOLL_TRUST));
	ASSERT_EQ(0, add(set, self->events[5], 5, EPOLLIN | EPOLLET,
			 DEVEPOLL_TELL_CLOSED));
	ASSERT_EQ(0, add(set, self->events[6], 6, EPOLLIN | EPOLLONESHOT, 0));
	ASSERT_EQ(0, add(set, self->events[7], 7, EPOLLIN | EPOLLET,
			 DEVEPOLL_TRUST));
	ASSERT_EQ(0, post(self->events, 0, 5));
	ASSERT_EQ(0, close(self->events[5]));
	ASSERT_EQ(0, post(self->events, 6, 8));

	ASSERT_EQ(8, TAKE(20, 0));
	/* Trusted ones come before those that were polled in the same batch. */
	for (i = 0; i < 8; i++) {
		ASSERT_GT(8, self->out[i].data);
		given[self->out[i].data]++;
		EXPECT_EQ(self->out[i].data == 5 ? DEVEPOLL_CLOSED : EPOLLIN,
			  self->out[i].events);
	}
	for (i = 0; i < 8; i++)
		EXPECT_EQ(1, given[i]);
	memset(given, 0, sizeof(given));
	/* The level-triggered one alone is there still. */
	ASSERT_EQ(1, TAKE(20, 0));
	EXPECT_EQ(1, self->out[0].data);

	/* One-shot ones are disarmed; and no room is left before all came. */
	ASSERT_EQ(0, post(self->events, 0, 5));
	ASSERT_EQ(0, post(self->events, 6, 8));
	for (i = 0; i < 10; i++) {
		nr = TAKE(2, 0);
		ASSERT_LT(0, nr);
		given[self->out[0].data]++;
		if (nr == 2)
			given[self->out[1].data]++;
	}
	for (i = 0; i < 8; i++) {
		/* The level-triggered one comes again and again. */
		EXPECT_EQ(i == 1 || i < 4 || i == 7, given[i] > 0);
		EXPECT_EQ(i != 1, given[i] < 2);
	}
}

/* What is ready at the add was found by a poll, and may be over. */
TEST_F(take, polls_what_was_found_by_a_poll)
{
	ASSERT_EQ(0, post(self->events, 0, 2));
	ASSERT_EQ(0, add_trusted(&self->set, self->events, 3));
	ASSERT_EQ(0, post(self->events, 2, 3));
	ASSERT_EQ(3, TAKE(4, 0));
	EXPECT_EQ(3, in_order(self->out, 3, 0, self->events));
	EXPECT_EQ(0, TAKE(4, 0));
}

TEST_F(take, of_a_stale_number_gives_nothing)
{
	int kept = dup(self->events[1]);

	ASSERT_LE(0, kept);
	ASSERT_EQ(0, add_trusted(&self->set, self->events, 3));
	ASSERT_EQ(0, post(self->events, 0, 3));
	ASSERT_EQ(0, close(self->events[1]));
	ASSERT_EQ(2, TAKE(4, 0));
	EXPECT_EQ(0, self->out[0].data);
	EXPECT_EQ(2, self->out[1].data);
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(0, TAKE(4, 0));
}

struct sleeper {
	struct task task;
	struct eset *set;
	bool by_wait;
	int ms;
};

static long sleep_in_take(void *arg)
{
	struct sleeper *sleeper = arg;

	return take(sleeper->set, sleeper->by_wait, 4, sleeper->ms);
}

TEST_F(take, sleeps_until_an_event_comes)
{
	struct sleeper sleeper = {
		.set = &self->set,
		.by_wait = variant->by_wait,
		.ms = -1,
	};

	ASSERT_EQ(0, add_trusted(&self->set, self->events, 2));
	ASSERT_EQ(0, task_start(&sleeper.task, sleep_in_take, &sleeper));
	ASSERT_EQ(0, await_sleep(atomic_load(&sleeper.task.tid),
				 variant->by_wait ? SYS_ioctl :
				 self->set.ops->wait_syscall));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	ASSERT_EQ(1, task_join(&sleeper.task));
	EXPECT_EQ(1, in_order(self->out, 1, 1, self->events));
}

TEST_F(take, sleeps_no_longer_than_asked_for)
{
	ASSERT_EQ(0, add_trusted(&self->set, self->events, 2));
	EXPECT_EQ(0, TAKE(4, 1));
}

TEST_F(take, counts_as_a_wait)
{
	struct devepoll_stats stats;

	ASSERT_EQ(0, add_trusted(&self->set, self->events, 3));
	ASSERT_EQ(0, post(self->events, 0, 3));
	ASSERT_EQ(3, TAKE(4, 0));
	ASSERT_EQ(0, TAKE(4, 0));
	ASSERT_EQ(0, dep_request(self->set.fd, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(1, stats.harvests);
	EXPECT_EQ(3, stats.events);
}

TEST_F(take, is_refused_beyond_the_mapping)
{
	const size_t event = sizeof(struct devepoll_event);
	unsigned int room = 0;
	int fd = self->set.fd;

	if (variant->by_wait)
		SKIP(return, "page_test has the same for DEVEPOLL_WAIT");
	ASSERT_EQ(0, add_trusted(&self->set, self->events, 3));
	ASSERT_EQ(0, post(self->events, 0, 3));
	while (dep_take(fd, (room + 1024) * event, 1, 0) > 0) {
		ASSERT_EQ(0, post(self->events, 0, 1));
		room += 1024;
	}
	room += 1024;
	ASSERT_LT(1024, room);
	EXPECT_EQ(-EINVAL, dep_take(fd, 0, 0, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, 0, room + 1, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, 0, UINT32_MAX, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, 1, 1, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, 8, 1, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, event, room, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, room * event, 1, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, -event, 1, 0));
	EXPECT_EQ(-EINVAL, dep_take(fd, 1ULL << 63, 1, 0));
	EXPECT_EQ(-ENOTTY, dep_request(fd, DEVEPOLL_TAKE, NULL));
	ASSERT_EQ(0, post(self->events, 0, 1));
	EXPECT_EQ(1, dep_take(fd, (room - 1) * event, 1, 0));
	EXPECT_EQ(0, self->out[room - 1].data);
}

TEST(take_is_for_mapped_sets_of_its_interface)
{
	int fd = dep_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, dep_take(fd, 0, 1, 0));
	ASSERT_EQ(0, dep_alloc(fd, 10));
	EXPECT_EQ(-EINVAL, dep_take(fd, 0, 1, 0));
	ASSERT_EQ(0, close(fd));
	fd = dep_open();
	ASSERT_LE(0, fd);
	ASSERT_TRUE(dep_map_events(fd, getpagesize()) != MAP_FAILED);
	ASSERT_EQ(0, dep_take(fd, 0, 1, 0));
	/* It has an interface now. */
	EXPECT_EQ(-EBUSY, dep_alloc(fd, 10));
}

TEST_HARNESS_MAIN
