// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring's own requests on a set: shutdown() of a unix socket wakes its peer
 * without saying what happened, and the set must not tell of an event before
 * both directions are shut.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM	10

/* An io_uring that polls the set: it believes what a wake-up says. */
FIXTURE(ring) {
	struct set set;
	int fds[2];
	int fd;
	char *ring;
	struct io_uring_sqe *sqe;
	struct io_uring_params params;
};

typedef FIXTURE_DATA(ring) ring_data;

static atomic_uint *ring_index(ring_data *self, unsigned int offset)
{
	return (atomic_uint *)(self->ring + offset);
}

static int ring_open(ring_data *self)
{
	self->fd = syscall(SYS_io_uring_setup, 1, &self->params);
	if (self->fd < 0)
		return -errno;
	self->ring = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_SHARED, self->fd, IORING_OFF_SQ_RING);
	self->sqe = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			 MAP_SHARED, self->fd, IORING_OFF_SQES);
	if (self->ring == MAP_FAILED || self->sqe == MAP_FAILED)
		return -errno;
	return 0;
}

/* Both rings are one mapping, and one page. */
static int ring_submit(ring_data *self, const struct io_uring_sqe *sqe)
{
	*self->sqe = *sqe;
	atomic_store(ring_index(self, self->params.sq_off.array), 0);
	atomic_fetch_add(ring_index(self, self->params.sq_off.tail), 1);
	return syscall(SYS_io_uring_enter, self->fd, 1, 0, 0, NULL, 0) == 1 ?
	       0 : -errno;
}

/* The answer, or -ENOMSG. */
static int ring_answer(ring_data *self)
{
	atomic_uint *head = ring_index(self, self->params.cq_off.head);
	atomic_uint *tail = ring_index(self, self->params.cq_off.tail);
	struct io_uring_cqe *cqes;
	unsigned int at;

	/* Whatever a wake-up left for this thread to do is done here. */
	if (syscall(SYS_io_uring_enter, self->fd, 0, 0, IORING_ENTER_GETEVENTS,
		    NULL, 0))
		return -errno;
	at = atomic_load(head);
	if (at == atomic_load(tail))
		return -ENOMSG;
	cqes = (void *)(self->ring + self->params.cq_off.cqes);
	atomic_store(head, at + 1);
	return cqes[at % self->params.cq_entries].res;
}

FIXTURE_SETUP(ring)
{
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, ROOM));
	ASSERT_EQ(0, ring_open(self)) TH_LOG("no io_uring here");
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	ASSERT_EQ(0, set_add(&self->set, self->fds[0], POLLHUP));
}

FIXTURE_TEARDOWN(ring)
{
	munmap(self->ring, getpagesize());
	munmap(self->sqe, getpagesize());
	close(self->fd);
	set_close(&self->set);
	close(self->fds[0]);
	close(self->fds[1]);
}

TEST_F(ring, that_polls_the_set_is_answered_by_an_event_alone)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_POLL_ADD,
		.fd = self->set.fd,
		.poll32_events = POLLIN,
	};

	ASSERT_EQ(0, ring_submit(self, &sqe));
	EXPECT_EQ(-ENOMSG, ring_answer(self));
	ASSERT_EQ(0, shutdown(self->fds[1], SHUT_RD));
	EXPECT_EQ(-ENOMSG, ring_answer(self));
	EXPECT_EQ(0, set_drain(&self->set));
	EXPECT_EQ(-ENOMSG, ring_answer(self));

	ASSERT_EQ(0, shutdown(self->fds[1], SHUT_WR));
	EXPECT_TRUE(await(ring_answer(self) == POLLIN));
	EXPECT_EQ(-ENOMSG, ring_answer(self));
	EXPECT_EQ(POLLHUP, set_wait_one(&self->set, self->fds[0], 0));
}

/* It would write once it sees POLLOUT, which a set never reports. */
TEST_F(ring, that_writes_to_the_set_is_not_answered)
{
	struct pollfd entry = { .fd = self->fds[1], .events = POLLIN };
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_WRITE,
		.fd = self->set.fd,
		.addr = (unsigned long)&entry,
		.len = sizeof(entry),
	};

	ASSERT_EQ(0, ring_submit(self, &sqe));
	EXPECT_EQ(-ENOMSG, ring_answer(self));
	EXPECT_EQ(0, set_has(&self->set, self->fds[1]));
	ASSERT_EQ(0, shutdown(self->fds[1], SHUT_RDWR));
	EXPECT_EQ(-ENOMSG, ring_answer(self));
	EXPECT_EQ(POLLHUP, set_wait_one(&self->set, self->fds[0], 0));
	EXPECT_EQ(0, set_has(&self->set, self->fds[1]));
}

TEST_HARNESS_MAIN
