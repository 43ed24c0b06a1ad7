// SPDX-License-Identifier: GPL-2.0
/*
 * The device's requests as io_uring commands: changes, and what is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_set.h"

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

	ctl.flags = 2;
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

/* Only one direction makes a number a request: no other way around the mode. */
TEST_F(uring, refuses_requests_of_another_direction)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .fd = self->event, .result = POISON,
	};
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	struct devepoll_wait_args args = wait_args(self->out, 2, 0);
	const unsigned int dirs = _IOC_DIRMASK << _IOC_DIRSHIFT;
	int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	unsigned int dir;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		int set = open("/dev/epoll", modes[i] | O_CLOEXEC);

		ASSERT_LE(0, set);
		for (dir = 0; dir <= _IOC_DIRMASK; dir++) {
			unsigned int d = dir << _IOC_DIRSHIFT;

			if (d == (DEVEPOLL_WAIT & dirs))
				continue;
			EXPECT_EQ(-EOPNOTSUPP,
				  ring_call(&self->ring, set,
					    (DEVEPOLL_WAIT & ~dirs) | d,
					    &args))
				TH_LOG("wait, mode %d, direction %u", modes[i],
				       dir);
			EXPECT_EQ(-EOPNOTSUPP,
				  ring_call(&self->ring, set,
					    (DEVEPOLL_CTL & ~dirs) | d, &ctl))
				TH_LOG("ctl, mode %d, direction %u", modes[i],
				       dir);
		}
		close(set);
	}
	EXPECT_EQ(POISON, change.result);
}

struct last_wait {
	int set;
	struct devepoll_event out[1];
};

static long wait_for_last(void *arg)
{
	struct last_wait *wait = arg;

	return dep_wait(wait->set, wait->out, 1, -1);
}

/*
 * A last event is held back because of us.  A wait for which we come back, and
 * which is refused then, leaves it to the thread that sleeps.
 */
TEST(a_wait_that_is_refused_leaves_a_last_event_to_others)
{
	struct devepoll_change add = CHANGE(ADD, eventfd_new(),
					    EPOLLIN | EPOLLET);
	struct last_wait wait = { .set = dep_open() };
	struct devepoll_event out[2];
	struct devepoll_wait_args args = wait_args(out, 2, 0);
	struct task task;
	struct ring ring;

	ASSERT_LE(0, wait.set) TH_LOG("no /dev/epoll here");
	ASSERT_EQ(0, ring_open(&ring, &ring_plain));
	add.flags = DEVEPOLL_TELL_CLOSED;
	ASSERT_EQ(0, dep_change(wait.set, &add));
	ASSERT_EQ(0, eventfd_post(add.fd));
	ASSERT_EQ(1, dep_wait(wait.set, out, 2, 0));
	ASSERT_EQ(0, task_start(&task, wait_for_last, &wait));
	ASSERT_EQ(0, task_await_sleep(&task, SYS_ioctl));
	close(add.fd);
	EXPECT_TRUE(sleeps_in(atomic_load(&task.tid), SYS_ioctl));
	EXPECT_EQ(-EOPNOTSUPP, ring_call(&ring, wait.set, DEVEPOLL_WAIT,
					 &args));
	EXPECT_EQ(1, task_join(&task));
	EXPECT_EQ(DEVEPOLL_CLOSED, wait.out[0].events);
	ring_close(&ring);
	close(wait.set);
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

/* It would take a signal that the process never sees. */
TEST(a_worker_of_a_ring_has_no_signal_mask)
{
	struct devepoll_ring shape = { .consumers = 1, .slots = 16 };
	struct devepoll_ring_wait_args args = { .timeout = 0 };
	struct io_uring_sqe *sqe;
	struct ring ring;
	sigset_t none;
	int set, i;

	sigemptyset(&none);
	ASSERT_EQ(0, ring_open(&ring, &ring_plain));
	set = dep_open();
	ASSERT_LE(0, set);
	ASSERT_EQ(0, dep_request(set, DEVEPOLL_RING, &shape));
	for (i = 0; i < 2; i++) {
		sqe = io_uring_get_sqe(&ring.uring);
		ASSERT_NE(NULL, sqe);
		io_uring_prep_fadvise(sqe, set, address_of(&args), 0,
				      DEVEPOLL_RING_WAIT);
		sqe->user_data = i;
		ASSERT_EQ(0, ring_submit(&ring));
		EXPECT_EQ(i ? -EINVAL : 0, ring_result(&ring, i));
		args.sigmask = address_of(&none);
		args.sigsetsize = 8;
	}
	/* Others may have one. */
	EXPECT_EQ(0, dep_request(set, DEVEPOLL_RING_WAIT, &args));
	close(set);
	ring_close(&ring);
}

TEST_HARNESS_MAIN
