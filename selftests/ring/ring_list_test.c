// SPDX-License-Identifier: GPL-2.0
/*
 * The ring and the ready list: what goes from one to the other, and is neither
 * lost nor found twice on the way.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/filetype.h"
#include "core/limits.h"
#include "core/ring.h"

#define SLOTS	16

FIXTURE(ring_list) {
	struct ring ring;
	struct consumer me;
};

FIXTURE_SETUP(ring_list)
{
	ASSERT_EQ(0, ring_open(&self->ring, 2, SLOTS))
		TH_LOG("no ring here");
	consumer_init(&self->me, &self->ring, 0);
}

FIXTURE_TEARDOWN(ring_list)
{
	ring_close(&self->ring);
}

/*
 * The event is over when the other wait takes it, but the fd was disabled for
 * it: without it, the program would not know that.
 */
TEST_F(ring_list, gets_a_one_shot_event_that_is_over)
{
	int fds[2];

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, fill(fds[0]));
	ASSERT_EQ(0, eset_add(&self->ring.set, fds[0],
			      EPOLLIN | EPOLLOUT | EPOLLONESHOT));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	ASSERT_EQ(0, take_byte(fds[0]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->ring.set, fds[0], 0));
	/* It is disabled. */
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, empty(fds[1]));
	EXPECT_EQ(0, eset_drain(&self->ring.set));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
	EXPECT_EQ(0, consumer_take(&self->me));
	/* And enabled again. */
	ASSERT_EQ(0, eset_mod(&self->ring.set, fds[0],
			      EPOLLIN | EPOLLOUT | EPOLLONESHOT));
	EXPECT_EQ(EPOLLIN | EPOLLOUT,
		  eset_wait_one(&self->ring.set, fds[0], 0));
}

/* On the list, since there was no slot, and then in the ring. */
TEST_F(ring_list, has_no_one_shot_event_twice)
{
	int others[SLOTS], once = ring_add_eventfd(&self->ring), i;

	ASSERT_EQ(0, ring_mod(&self->ring, once, EPOLLIN | EPOLLONESHOT));
	for (i = 0; i < SLOTS; i++) {
		others[i] = ring_add_eventfd(&self->ring);
		ASSERT_LE(0, others[i]);
		ASSERT_EQ(0, eventfd_post(others[i]));
	}
	ASSERT_EQ(0, eventfd_post(once));
	ASSERT_EQ(SLOTS, consumer_take(&self->me));
	ASSERT_TRUE(self->me.ask);
	ASSERT_EQ(0, eventfd_post(once));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, once));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
	EXPECT_EQ(0, consumer_take(&self->me));
	EXPECT_EQ(0, eset_drain(&self->ring.set));
}

TEST_F(ring_list, gives_a_one_shot_event_back_to_the_ring)
{
	int once = eventfd_new(), edge = ring_add_eventfd(&self->ring);
	struct epoll_event out;

	ASSERT_LE(0, edge);
	ASSERT_EQ(0, eset_add(&self->ring.set, once, EPOLLIN | EPOLLONESHOT));
	ASSERT_EQ(0, eventfd_post(edge));
	ASSERT_EQ(0, eventfd_post(once));
	ASSERT_EQ(2, ring_wait(&self->ring, 0));
	/* Of the two, this takes the first. */
	ASSERT_EQ(1, eset_wait(&self->ring.set, &out, 1, 0));
	ASSERT_EQ(edge, out.data.u64);
	ASSERT_EQ(0, eventfd_take(once));
	EXPECT_EQ(POLLIN, poll_now(self->ring.set.fd, POLLIN));
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, once));
	ASSERT_EQ(0, eventfd_post(once));
	EXPECT_EQ(0, ring_wait(&self->ring, 0));
	EXPECT_EQ(0, eset_drain(&self->ring.set));
}

/* It does not repeat what it told when it was polled for the ring. */
TEST_F(ring_list, keeps_at_a_change_what_a_file_said_once)
{
	const struct filetype *type = &filetype_hostname;
	struct probe probe = { .fd = -1, .peer = -1, .twin = -1 };

	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, unshare(CLONE_NEWUTS));
	ASSERT_EQ(0, type->open(&probe));
	ASSERT_EQ(0, ring_add(&self->ring, probe.fd, EPOLLPRI));
	ring_wait(&self->ring, 0);
	consumer_take(&self->me);
	ASSERT_EQ(0, type->happenings[0].make(&probe));
	ASSERT_EQ(1, ring_wait(&self->ring, 0));
	ASSERT_EQ(0, ring_ctl(&self->ring, DEVEPOLL_MOD, probe.fd,
			      EPOLLPRI | EPOLLET, DEVEPOLL_TRUST, 1234));
	ring_wait(&self->ring, 0);
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(1234, self->me.out[0].data);
	EXPECT_EQ(EPOLLPRI, self->me.out[0].events & EPOLLPRI);
	ring_wait(&self->ring, 0);
	EXPECT_EQ(0, consumer_take(&self->me));
}

/* A set that gets its ring with a close that nobody has been told of. */
static int open_with_a_close(struct ring *ring, uint64_t data)
{
	struct devepoll_change closed = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = eventfd_new(),
		.events = EPOLLIN,
		.data = data,
	};
	int err = eset_open(&ring->set, &eset_devepoll);

	if (!err)
		err = dep_change(ring->set.fd, &closed);
	if (!err)
		err = eventfd_post(closed.fd);
	close(closed.fd);
	if (!err)
		err = ring_request(ring->set.fd, 1, SLOTS);
	ring->consumers = 1;
	ring->slots = SLOTS;
	ring->word = ring_map_word(ring->set.fd);
	ring->sets = ring_map_slots(ring->set.fd, 1, SLOTS);
	return err;
}

/* However many sets were taken before a request polls what is listed. */
TEST_F(ring_list, has_a_close_from_before_the_ring)
{
	struct consumer c;
	struct ring ring;
	int event, i, n;

	for (n = 0; n < 5; n++) {
		ASSERT_EQ(0, open_with_a_close(&ring, 77));
		consumer_init(&c, &ring, 0);
		event = ring_add_eventfd(&ring);
		for (i = 0; i < n; i++) {
			ASSERT_EQ(0, eventfd_post(event));
			ASSERT_EQ(EPOLLIN, consumer_take_one(&c, event));
			ASSERT_EQ(!i, c.ask);
		}
		ASSERT_EQ(1, consumer_wait(&c, 0)) TH_LOG("after %d", n);
		ASSERT_EQ(1, consumer_take(&c));
		EXPECT_EQ(DEVEPOLL_CLOSED, c.out[0].events);
		EXPECT_EQ(77, c.out[0].data);
		ring_close(&ring);
		close(event);
	}
}

TEST_F(ring_list, gives_the_charge_of_a_close_back)
{
	enum { LIMIT = 32 };
	long before = read_number(WATCHES_FILE);
	struct devepoll_change closed = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.events = EPOLLIN,
	};
	int i, ret = 0;

	if (before < 0 || write_number(WATCHES_FILE, LIMIT))
		SKIP(return, "needs root");
	for (i = 0; i < 4 * LIMIT && !ret; i++) {
		closed.fd = eventfd_new();
		ret = dep_change(self->ring.set.fd, &closed);
		close(closed.fd);
		if (!ret && consumer_wait(&self->me, 0) != 1)
			ret = -ENOMSG;
		if (!ret && consumer_take(&self->me) != 1)
			ret = -ENODATA;
	}
	EXPECT_EQ(0, write_number(WATCHES_FILE, before));
	EXPECT_EQ(0, ret) TH_LOG("close %d", i);
}

/* What has no slot is not even polled, however long the list is. */
TEST_F(ring_list, waits_while_the_ring_is_full)
{
	enum { LEVELS = 16 * SLOTS };
	int level[LEVELS], i, nr, seen = 0;
	bool had[LEVELS + 1] = {};
	int edge = eventfd_new();
	long asks, more;

	ASSERT_EQ(0, raise_fd_limit(2 * LEVELS));
	for (i = 0; i < LEVELS; i++) {
		level[i] = eventfd_new();
		ASSERT_LE(0, level[i]);
		ASSERT_EQ(0, eventfd_post(level[i]));
		ASSERT_EQ(0, eset_ctl(&self->ring.set, EPOLL_CTL_ADD, level[i],
				      EPOLLIN, i));
	}
	asks = count_asks(&self->ring.set);
	ASSERT_LE(0, asks);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(SLOTS, ring_wait(&self->ring, 0));
		more = count_asks(&self->ring.set);
		EXPECT_LE(asks, more);
		EXPECT_GE(asks + 3 * SLOTS, more);
	}
	/* All of them have a turn, though one slot is in use already. */
	ASSERT_EQ(0, ring_ctl(&self->ring, DEVEPOLL_ADD, edge,
			      EPOLLIN | EPOLLET, DEVEPOLL_TRUST, LEVELS));
	for (i = 0; i < 4 * LEVELS / SLOTS; i++) {
		nr = consumer_take(&self->me);
		while (nr-- > 0) {
			seen += !had[self->me.out[nr].data];
			had[self->me.out[nr].data] = true;
		}
		ASSERT_EQ(0, eventfd_post(edge));
		ASSERT_EQ(SLOTS, ring_wait(&self->ring, 0));
	}
	EXPECT_EQ(LEVELS + 1, seen);
}

struct asker {
	struct task task;
	struct ring *ring;
	atomic_bool over;
};

static long ask_all_the_time(void *arg)
{
	struct asker *asker = arg;
	int ret = 0;

	while (ret >= 0 && !atomic_load(&asker->over))
		ret = ring_wait(asker->ring, 0);
	return ret < 0 ? ret : 0;
}

/* At each moment the event is on the list, with another thread, or in there. */
TEST_F(ring_list, is_readable_while_a_thread_moves_the_event)
{
	struct asker asker = { .ring = &self->ring };
	uint64_t end = now_ns() + 1500 * NSEC_PER_MSEC;
	int i, edge = eventfd_new();

	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	ASSERT_EQ(0, eset_add(&self->ring.set, edge, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, task_start(&asker.task, ask_all_the_time, &asker));
	for (i = 0; now_ns() < end; i++) {
		ASSERT_EQ(0, eventfd_post(edge));
		ASSERT_EQ(POLLIN, poll_now(self->ring.set.fd, POLLIN))
			TH_LOG("round %d", i);
		ASSERT_TRUE(await(consumer_take(&self->me)));
		ASSERT_EQ(0, eventfd_take(edge));
	}
	atomic_store(&asker.over, true);
	EXPECT_EQ(0, task_join(&asker.task));
	EXPECT_LT(10, i);
}

TEST_HARNESS_MAIN
