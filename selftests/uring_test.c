// SPDX-License-Identifier: GPL-2.0
/*
 * The device's requests as commands of io_uring: changes, and waits that end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring_ring.h"

#define MS		1000000LL

FIXTURE(uring) {
	struct ring ring;
	int set;
	int event;	/* in the set, edge-triggered */
	struct devepoll_event out[WAITER_ROOM];
};

RING_VARIANTS(uring);

FIXTURE_SETUP(uring)
{
	struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN | EPOLLET, .data = 42,
	};

	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	add.fd = self->event;
	ASSERT_EQ(0, ring_open(&self->ring, variant->kind))
		TH_LOG("no %s ring here", variant->kind->name);
	self->set = dep_open();
	ASSERT_LE(0, self->set);
	ASSERT_EQ(0, dep_change(self->set, &add));
	memset(self->out, 0xa5, sizeof(self->out));
}

FIXTURE_TEARDOWN(uring)
{
	ring_close(&self->ring);
	close(self->set);
}

/* Starts a wait that does not end by itself. */
#define START_WAIT(args, data)						\
	do {								\
		ASSERT_EQ(0, ring_request(&self->ring, self->set,	\
					  DEVEPOLL_WAIT, args, data));	\
		ASSERT_TRUE(ring_waits(&self->ring));			\
	} while (0)

#define EXPECT_EVENT(event, fd_, events_)				\
	do {								\
		EXPECT_EQ(42, (event).data);				\
		EXPECT_EQ(fd_, (event).fd);				\
		EXPECT_EQ(events_, (event).events);			\
	} while (0)

TEST_F(uring, makes_changes_and_gives_each_its_result)
{
	int other = eventfd_new();
	struct devepoll_change changes[] = {
		{ .op = DEVEPOLL_ADD, .fd = other, .events = EPOLLIN },
		{ .op = DEVEPOLL_ADD, .fd = other, .events = EPOLLIN },
		{ .op = DEVEPOLL_MOD, .fd = self->event, .events = EPOLLOUT },
		{ .op = DEVEPOLL_DEL, .fd = 1000 },
		{ .op = DEVEPOLL_DEL, .fd = other },
	};
	const int results[] = { 0, -EEXIST, 0, -EBADF, 0 };
	struct devepoll_ctl ctl = ctl_args(changes, 5);
	int i;

	for (i = 0; i < 5; i++)
		changes[i].result = POISON;
	EXPECT_EQ(5, ring_call(&self->ring, self->set, DEVEPOLL_CTL, &ctl));
	EXPECT_EQ(2, ctl.nr_failed);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(results[i], changes[i].result);
	EXPECT_EQ(1, dep_wait(self->set, self->out, 2, 0));
	EXPECT_EQ(EPOLLOUT, self->out[0].events);
}

/* The result of a change that is in the command's own bytes. */
static int change_by_command(struct ring *ring, int set, int op,
			     struct devepoll_event change)
{
	struct io_uring_sqe *sqe = ring_prepare(ring, set,
						DEVEPOLL_EPOLL_CTL(op), NULL,
						7);

	memcpy((char *)sqe + 48, &change, sizeof(change));
	return ring_submit(ring) ?: ring_result(ring, 7);
}

TEST_F(uring, makes_a_change_that_is_in_the_command)
{
	struct ring *r = &self->ring;
	struct devepoll_event change = {
		.fd = eventfd_new(), .events = EPOLLIN, .data = 42,
	};
	struct devepoll_event bad = change;
	int set = self->set;

	EXPECT_EQ(-ENOENT, change_by_command(r, set, DEVEPOLL_MOD, change));
	EXPECT_EQ(0, change_by_command(r, set, DEVEPOLL_ADD, change));
	EXPECT_EQ(-EEXIST, change_by_command(r, set, DEVEPOLL_ADD, change));
	/* As epoll_ctl(2), which ignores unknown bits. */
	change.events |= 0x00100000;
	EXPECT_EQ(0, change_by_command(r, set, DEVEPOLL_MOD, change));
	bad.fd = 1000;
	EXPECT_EQ(-EBADF, change_by_command(r, set, DEVEPOLL_ADD, bad));
	bad.fd = set;
	EXPECT_EQ(-EINVAL, change_by_command(r, set, DEVEPOLL_ADD, bad));
	ASSERT_EQ(0, eventfd_post(change.fd));
	EXPECT_EQ(1, dep_wait(set, self->out, 8, 0));
	EXPECT_EVENT(self->out[0], change.fd, EPOLLIN);

	EXPECT_EQ(-EINVAL, change_by_command(r, set, DEVEPOLL_DEL, change));
	change.events = 0;
	EXPECT_EQ(-EINVAL, change_by_command(r, set, DEVEPOLL_DEL, change));
	change.data = 0;
	EXPECT_EQ(0, change_by_command(r, set, DEVEPOLL_DEL, change));
	EXPECT_EQ(-ENOENT, change_by_command(r, set, DEVEPOLL_DEL, change));
	EXPECT_EQ(0, dep_wait(set, self->out, 8, 0));
}

TEST_F(uring, forgets_what_is_removed_at_once)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_DEL, .fd = self->event, .result = POISON,
	};
	struct devepoll_ctl ctl = ctl_args(&change, 1);

	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_CTL, &ctl));
	EXPECT_EQ(0, change.result);
	EXPECT_EQ(0, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, refuses_what_an_ioctl_refuses)
{
	struct devepoll_change change = { .op = DEVEPOLL_DEL };
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	struct devepoll_wait_args args = wait_args(self->out, 0, 0);

	ctl.flags = 1;
	EXPECT_EQ(-EINVAL, ring_call(&self->ring, self->set, DEVEPOLL_CTL,
				     &ctl));
	EXPECT_EQ(-EFAULT, ring_call(&self->ring, self->set, DEVEPOLL_CTL,
				     NULL));
	EXPECT_EQ(-EINVAL, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
				     &args));
	args = wait_args(self->out, 1, 0);
	args.min_events = 2;
	EXPECT_EQ(-EINVAL, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
				     &args));
	EXPECT_EQ(-EFAULT, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
				     NULL));
}

TEST_F(uring, knows_no_other_requests)
{
	struct evpoll ev = {};
	struct devepoll_stats stats;

	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set, EP_POLL, &ev));
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set,
					 DEVEPOLL_STATS, &stats));
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set, FIONREAD,
					 &stats));
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set, 0, &stats));
}

TEST_F(uring, leaves_sets_of_2001_alone)
{
	struct devepoll_wait_args args = wait_args(self->out, 1, -1);
	int set = dep_open();

	ASSERT_LE(0, set);
	ASSERT_EQ(0, ioctl(set, EP_ALLOC, 8));
	EXPECT_EQ(-EBUSY, ring_call(&self->ring, set, DEVEPOLL_WAIT, &args));
	close(set);
}

/* The result of an entry that was prepared like this one. */
static int call_entry(struct ring *ring)
{
	int ret = ring_submit(ring);

	return ret ?: ring_result(ring, 99);
}

#define SQE_ROOM	offsetof(struct io_uring_sqe, addr3)

TEST_F(uring, refuses_bytes_that_say_nothing)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	struct devepoll_change change = {
		.op = DEVEPOLL_DEL, .fd = self->event, .result = POISON,
	};
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	struct io_uring_sqe *sqe;
	int i, field;

	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 8; i < 16; i++) {
		sqe = ring_prepare(&self->ring, self->set, DEVEPOLL_WAIT,
				   &args, 99);
		((char *)sqe)[SQE_ROOM + i] = 1;
		EXPECT_EQ(-EINVAL, call_entry(&self->ring));
		sqe = ring_prepare(&self->ring, self->set, DEVEPOLL_CTL, &ctl,
				   99);
		((char *)sqe)[SQE_ROOM + i] = 0x80;
		EXPECT_EQ(-EINVAL, call_entry(&self->ring));
	}
	/* Kernels that can't cancel commands don't show more of an entry. */
	for (field = 0; field < 8 && kernel_can_wait(); field++) {
		sqe = ring_prepare(&self->ring, self->set, field & 1 ?
				   DEVEPOLL_CTL : DEVEPOLL_WAIT, field & 1 ?
				   (void *)&ctl : (void *)&args, 99);
		if (field / 2 == 0)
			sqe->addr = 1ULL << 63;
		else if (field / 2 == 1)
			sqe->len = 1;
		else if (field / 2 == 2)
			sqe->splice_fd_in = 1;
		else
			sqe->buf_index = 1;
		EXPECT_EQ(-EINVAL, call_entry(&self->ring));
	}
	EXPECT_EQ(POISON, change.result);
	EXPECT_EQ(POISON, ctl.nr_failed);
	EXPECT_EQ(0xa5a5a5a5a5a5a5a5, self->out[0].data);
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, refuses_flags_that_have_no_meaning)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	struct iovec buffer = { .iov_base = self->out, .iov_len = 4096 };
	struct devepoll_change change = {
		.op = DEVEPOLL_DEL, .fd = self->event, .result = POISON,
	};
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	struct io_uring_sqe *sqe;
	uint32_t flag;
	int ret;

	/* The kernel passes it on only with a buffer. */
	buffer.iov_base = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(buffer.iov_base != MAP_FAILED);
	ASSERT_EQ(0, io_uring_register_buffers(&self->ring.uring, &buffer, 1));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (flag = 1; flag; flag <<= 1) {
		sqe = ring_prepare(&self->ring, self->set, DEVEPOLL_WAIT,
				   &args, 99);
		sqe->rw_flags = flag;
		ret = call_entry(&self->ring);
		EXPECT_EQ(-EINVAL, ret) TH_LOG("flag %x", flag);
		sqe = ring_prepare(&self->ring, self->set, DEVEPOLL_CTL, &ctl,
				   99);
		sqe->rw_flags = flag;
		ret = call_entry(&self->ring);
		EXPECT_EQ(-EINVAL, ret) TH_LOG("flag %x", flag);
	}
	EXPECT_EQ(POISON, change.result);
	EXPECT_EQ(0xa5a5a5a5a5a5a5a5, self->out[0].data);
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	io_uring_unregister_buffers(&self->ring.uring);
}

TEST(an_entry_of_128_bytes_is_0_to_its_end)
{
	const struct ring_kind wide = {
		.name = "wide", .setup = IORING_SETUP_SQE128,
	};
	struct devepoll_event out[2];
	struct devepoll_wait_args args = wait_args(out, 2, 0);
	struct io_uring_sqe *sqe;
	struct ring ring;
	int set, i;

	ASSERT_EQ(0, ring_open(&ring, &wide));
	set = dep_open();
	ASSERT_LE(0, set);
	for (i = 0; i <= 64; i++) {
		sqe = ring_prepare(&ring, set, DEVEPOLL_WAIT, &args, 99);
		ASSERT_NE(NULL, sqe);
		memset(sqe + 1, 0, sizeof(*sqe));
		if (i < 64)
			((char *)(sqe + 1))[i] = 1;
		EXPECT_EQ(i < 64 ? -EINVAL : 0, call_entry(&ring))
			TH_LOG("byte %d", 64 + i);
	}
	close(set);
	ring_close(&ring);
}

TEST_F(uring, asks_how_the_set_was_opened)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .fd = self->event, .result = POISON,
	};
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	int reader = open("/dev/epoll", O_RDONLY | O_CLOEXEC);
	int writer = open("/dev/epoll", O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, reader);
	ASSERT_LE(0, writer);
	EXPECT_EQ(-EBADF, ring_call(&self->ring, reader, DEVEPOLL_CTL, &ctl));
	EXPECT_EQ(-EBADF, ring_call(&self->ring, writer, DEVEPOLL_WAIT, &args));
	EXPECT_EQ(0, ring_call(&self->ring, reader, DEVEPOLL_WAIT, &args));
	args.changes = ctl.changes;
	args.nr_changes = 1;
	args.change_size = sizeof(change);
	EXPECT_EQ(-EBADF, ring_call(&self->ring, reader, DEVEPOLL_WAIT, &args));
	EXPECT_EQ(POISON, change.result);
	EXPECT_EQ(POISON, ctl.nr_failed);
	EXPECT_EQ(1, ring_call(&self->ring, writer, DEVEPOLL_CTL, &ctl));
	EXPECT_EQ(0, change.result);
	close(reader);
	close(writer);
}

TEST_F(uring, takes_what_is_ready)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(self->out[0], self->event, EPOLLIN);
	EXPECT_EQ(0, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, takes_what_is_ready_as_epoll_has_it)
{
	struct epoll_event out[2];
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = 2,
		.timeout = DEVEPOLL_FOREVER,
		.flags = DEVEPOLL_WAIT_EPOLL,
	};

	memset(out, 0xa5, sizeof(out));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EQ(42, out[0].data.u64);
	EXPECT_EQ(EPOLLIN, out[0].events);
}

TEST_F(uring, puts_events_into_the_mapping)
{
	struct devepoll_wait_args args = {
		.events = 16 * sizeof(struct devepoll_event),
		.max_events = 2,
		.timeout = DEVEPOLL_FOREVER,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};
	struct devepoll_event *map = dep_map_events(self->set, 4096);

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(map[16], self->event, EPOLLIN);
}

TEST_F(uring, does_not_wait_where_no_time_is_given)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);

	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	args.min_events = 2;
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, refuses_a_signal_mask)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	uint64_t mask = 0;

	args.sigmask = address_of(&mask);
	args.sigsetsize = sizeof(mask);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EINVAL, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
				     &args));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, makes_the_changes_of_a_wait_first)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.fd = eventfd_new(),
		.events = EPOLLOUT,
		.data = 42,
		.result = POISON,
	};
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);

	if (kernel_can_wait())
		args.timeout = DEVEPOLL_FOREVER;
	args.changes = address_of(&change);
	args.nr_changes = 1;
	args.change_size = sizeof(change);
	args.nr_tried = POISON;
	args.nr_failed = POISON;
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(self->out[0], change.fd, EPOLLOUT);
	EXPECT_EQ(0, change.result);
	EXPECT_EQ(1, args.nr_tried);
	EXPECT_EQ(0, args.nr_failed);
}

TEST_F(uring, does_not_wait_after_a_change_that_failed)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_MOD, .fd = self->set, .result = POISON,
	};
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);

	if (kernel_can_wait())
		args.timeout = DEVEPOLL_FOREVER;
	args.changes = address_of(&change);
	args.nr_changes = 1;
	args.change_size = sizeof(change);
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EQ(-EINVAL, change.result);
	EXPECT_EQ(1, args.nr_failed);
}

TEST_F(uring, keeps_events_that_can_not_be_written)
{
	struct devepoll_wait_args args = wait_args((void *)4096, 2, -1);

	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EFAULT, ring_call(&self->ring, self->set, DEVEPOLL_WAIT,
				     &args));
	EXPECT_EQ(1, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, refuses_to_wait_where_it_could_not_be_ended)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	struct devepoll_change change = {
		.op = DEVEPOLL_DEL, .fd = self->event, .result = POISON,
	};
	struct io_uring_cqe cqe;

	if (kernel_can_wait())
		SKIP(return, "this kernel can take commands back");
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set,
					 DEVEPOLL_WAIT, &args));
	args.timeout = 50 * MS;
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set,
					 DEVEPOLL_WAIT, &args));
	args.changes = address_of(&change);
	args.nr_changes = 1;
	args.change_size = sizeof(change);
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&self->ring, self->set,
					 DEVEPOLL_WAIT, &args));
	EXPECT_EQ(POISON, change.result);
	args.changes = 0;
	args.nr_changes = 0;
	args.change_size = 0;
	/* Nothing is left of it, and nothing is lost. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EAGAIN, ring_peek(&self->ring, &cqe));
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, waits_until_there_is_an_event)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	int i;

	NEEDS_WAITS();
	for (i = 0; i < 3; i++) {
		memset(self->out, 0xa5, sizeof(self->out));
		START_WAIT(&args, i);
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, ring_result(&self->ring, i));
		EXPECT_EVENT(self->out[0], self->event, EPOLLIN);
	}
	EXPECT_EQ(0, dep_wait(self->set, self->out, 1, 0));
}

TEST_F(uring, reads_its_arguments_when_it_begins)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);

	NEEDS_WAITS();
	if (variant->kind->sqe_flags & IOSQE_ASYNC ||
	    variant->kind->setup & IORING_SETUP_SQPOLL)
		SKIP(return, "nobody can tell when it begins");
	START_WAIT(&args, 1);
	memset(&args, 0xff, sizeof(args));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
}

TEST_F(uring, waits_into_the_mapping)
{
	struct devepoll_wait_args args = {
		.max_events = 2,
		.timeout = DEVEPOLL_FOREVER,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};
	struct devepoll_event *map = dep_map_events(self->set, 4096);

	NEEDS_WAITS();
	ASSERT_NE(MAP_FAILED, map);
	START_WAIT(&args, 1);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_result(&self->ring, 1));
	EXPECT_EVENT(map[0], self->event, EPOLLIN);
}

TEST_F(uring, waits_no_longer_than_it_is_told)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 20 * MS);
	uint64_t begun = now_ns();

	NEEDS_WAITS();
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_LE(20 * MS, now_ns() - begun);
	/* Its time-out ends with it. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, waits_until_a_point_in_time)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	uint64_t until = now_ns() + 20 * MS;

	NEEDS_WAITS();
	args.timeout = until;
	args.flags = DEVEPOLL_WAIT_ABSTIME;
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_LE(until, now_ns());
	args.timeout = 1;
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	args.timeout = 0;
	EXPECT_EQ(0, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
}

TEST_F(uring, waits_until_there_are_enough)
{
	struct devepoll_wait_args args = wait_args(self->out, 4, -1);
	int other = eventfd_new();
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .fd = other, .events = EPOLLIN, .data = 43,
	};

	NEEDS_WAITS();
	ASSERT_EQ(0, dep_change(self->set, &add));
	args.min_events = 2;
	START_WAIT(&args, 1);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(ring_waits(&self->ring));
	/* It waits for what is ready, not for what has happened. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, eventfd_post(other));
	ASSERT_EQ(2, ring_result(&self->ring, 1));
	EXPECT_EQ(42 + 43, self->out[0].data + self->out[1].data);
}

TEST_F(uring, takes_fewer_when_the_time_is_over)
{
	struct devepoll_wait_args args = wait_args(self->out, 4, 20 * MS);

	NEEDS_WAITS();
	args.min_events = 2;
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, ring_call(&self->ring, self->set, DEVEPOLL_WAIT, &args));
	EXPECT_EVENT(self->out[0], self->event, EPOLLIN);
}

TEST_F(uring, is_told_of_what_is_added_while_it_waits)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD,
		.fd = eventfd_new(),
		.events = EPOLLOUT,
		.data = 42,
	};

	NEEDS_WAITS();
	START_WAIT(&args, 1);
	ASSERT_EQ(0, dep_change(self->set, &add));
	ASSERT_EQ(1, ring_result(&self->ring, 1));
	EXPECT_EVENT(self->out[0], add.fd, EPOLLOUT);
}

TEST_F(uring, stays_asleep_for_what_is_over)
{
	struct devepoll_wait_args args = wait_args(self->out, 2, -1);
	struct devepoll_event out;

	NEEDS_WAITS();
	START_WAIT(&args, 1);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	/* Whether it looked in between or not. */
	if (ring_waits(&self->ring)) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, ring_result(&self->ring, 1));
	}
	EXPECT_EQ(0, dep_wait(self->set, &out, 1, 0));
}

TEST_F(uring, gives_each_event_to_one_of_many_waits)
{
	struct devepoll_event out[8][1];
	struct devepoll_wait_args args[8];
	struct io_uring_cqe cqe;
	bool done[8] = {};
	int i;

	NEEDS_WAITS();
	for (i = 0; i < 8; i++) {
		args[i] = wait_args(out[i], 1, -1);
		START_WAIT(&args[i], i);
	}
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(1, cqe.res);
		ASSERT_GT(8, cqe.user_data);
		EXPECT_FALSE(done[cqe.user_data]);
		done[cqe.user_data] = true;
		EXPECT_EVENT(out[cqe.user_data][0], self->event, EPOLLIN);
		EXPECT_EQ(-EAGAIN, ring_peek(&self->ring, &cqe));
	}
}

/* Counts in @taken what has come to either ring. */
static int shared_taken(struct ring *ring, struct ring *other, int *taken)
{
	struct io_uring_cqe cqe;

	*taken += !ring_peek(ring, &cqe);
	*taken += !ring_peek(other, &cqe);
	return *taken;
}

TEST_F(uring, shares_a_set_with_rings_and_threads)
{
	struct devepoll_event out[2][1];
	struct devepoll_wait_args args[2] = {
		wait_args(out[0], 1, -1), wait_args(out[1], 1, -1),
	};
	struct ewaiter waiter = {};
	struct eset set;
	struct ring other;
	int i, taken = 0;

	NEEDS_WAITS();
	ASSERT_EQ(0, ring_open(&other, &ring_plain));
	ASSERT_EQ(0, eset_adopt(&set, &eset_devepoll, dup(self->set)));
	START_WAIT(&args[0], 1);
	ASSERT_EQ(0, ring_request(&other, self->set, DEVEPOLL_WAIT, &args[1],
				  2));
	ASSERT_EQ(0, ewaiter_start(&waiter, &set, -1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_TRUE(await(shared_taken(&self->ring, &other, &taken) +
				  ewaiters_done(&waiter, 1) == i + 1));
	}
	EXPECT_EQ(2, taken);
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(0, dep_wait(self->set, out[0], 1, 0));
	eset_close(&set);
	ring_close(&other);
}

/* A ring runs an fadvise in a worker, which no signal ever reaches. */
TEST(a_worker_of_a_ring_is_not_told_by_signals)
{
	struct devepoll_signal args = {
		.signo = SIGRTMIN + 3, .flags = DEVEPOLL_SIGNAL_THREAD,
	};
	struct io_uring_sqe *sqe;
	struct ring ring;
	int set, i;

	ASSERT_EQ(0, ring_open(&ring, &ring_plain));
	set = dep_open();
	ASSERT_LE(0, set);
	for (i = 0; i < 2; i++) {
		sqe = io_uring_get_sqe(&ring.uring);
		ASSERT_NE(NULL, sqe);
		io_uring_prep_fadvise(sqe, set, address_of(&args), 0,
				      DEVEPOLL_SIGNAL);
		sqe->user_data = i;
		ASSERT_EQ(0, ring_submit(&ring));
		EXPECT_EQ(i ? 0 : -EINVAL, ring_result(&ring, i));
		/* Its process can get the signals. */
		args.flags = 0;
	}
	close(set);
	ring_close(&ring);
}

TEST_HARNESS_MAIN
