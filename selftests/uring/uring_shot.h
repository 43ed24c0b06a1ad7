/* SPDX-License-Identifier: GPL-2.0 */
/* Waits that complete many times, with buffers of the ring. */
#ifndef SELFTESTS_URING_SHOT_H
#define SELFTESTS_URING_SHOT_H

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "uring/uring_ring.h"

#define EVENT_SIZE	sizeof(struct devepoll_event)
#define BUFFERS		4
#define SHOT		77

FIXTURE(uring_shot) {
	struct ring ring;
	struct ring_buffers buffers;
	int set;
	int event;	/* in the set, edge-triggered */
	struct devepoll_wait_args args;
	struct devepoll_event out[8];
};

RING_VARIANTS(uring_shot);

static inline int add(int set, int fd, uint32_t events, uint64_t data)
{
	const struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .fd = fd, .events = events, .data = data,
	};

	return dep_change(set, &change);
}

FIXTURE_SETUP(uring_shot)
{
	if (!kernel_can_shoot())
		SKIP(return, "this kernel completes a command only once");
	ASSERT_EQ(0, ring_open(&self->ring, variant->kind))
		TH_LOG("no %s ring here", variant->kind->name);
	ASSERT_EQ(0, ring_buffers_open(&self->ring, &self->buffers, BUFFERS,
				       8 * EVENT_SIZE));
	self->set = dep_open();
	ASSERT_LE(0, self->set);
	self->event = eventfd_new();
	ASSERT_EQ(0, add(self->set, self->event, EPOLLIN | EPOLLET, 42));
	self->args = wait_args(NULL, 8, -1);
	memset(self->out, 0xa5, sizeof(self->out));
}

FIXTURE_TEARDOWN(uring_shot)
{
	if (!kernel_can_shoot())
		return;
	ring_buffers_close(&self->ring, &self->buffers);
	ring_close(&self->ring);
	close(self->set);
}

static inline int shoot(struct ring *ring, int set,
			const struct devepoll_wait_args *args)
{
	struct io_uring_sqe *sqe;

	sqe = ring_prepare(ring, set, DEVEPOLL_WAIT, args, SHOT);
	if (!sqe)
		return -EBUSY;
	sqe->rw_flags = IORING_URING_CMD_MULTISHOT;
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = RING_GROUP;
	return ring_submit(ring);
}

/* The completion of so many events, with more to come; its buffer. */
static inline const struct devepoll_event *
next_shot(struct ring *ring, const struct ring_buffers *buffers, int events)
{
	struct io_uring_cqe cqe;

	if (ring_complete(ring, &cqe) || cqe.user_data != SHOT ||
	    cqe.res != events * (int)EVENT_SIZE ||
	    !(cqe.flags & IORING_CQE_F_MORE))
		return NULL;
	return ring_buffer_of(buffers, &cqe);
}

/* What the last completion says, or -EAGAIN if it says that more come. */
static inline int last_shot(struct ring *ring)
{
	struct io_uring_cqe cqe;
	int ret = ring_complete(ring, &cqe);

	if (ret)
		return ret;
	return cqe.flags & IORING_CQE_F_MORE ? -EAGAIN : cqe.res;
}

#define GIVE(id)	ring_buffer_give(&self->buffers, id, 8 * EVENT_SIZE)

#define EXPECT_SHOT(fd_, events_, data_)				\
	do {								\
		const struct devepoll_event *__event =			\
			next_shot(&self->ring, &self->buffers, 1);	\
									\
		ASSERT_NE(NULL, __event);				\
		EXPECT_EQ(data_, __event->data);			\
		EXPECT_EQ(fd_, __event->fd);				\
		EXPECT_EQ(events_, __event->events);			\
	} while (0)

#endif /* SELFTESTS_URING_SHOT_H */
