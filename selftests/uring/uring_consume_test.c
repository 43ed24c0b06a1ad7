// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose ->poll() consumes the event that it reports, in sets on which an
 * io_uring waits: no answer is lost on the way.
 */
#define _GNU_SOURCE
#include <string.h>

#include "kselftest_harness.h"

#include "core/consume.h"
#include "uring/uring_ring.h"

#define NR	4
#define WAIT	71

FIXTURE(uring_consume) {
	struct ring ring;
	struct eset set;
	struct probe probe;
	int event;
};

FIXTURE_VARIANT(uring_consume) {
	const struct consumer *consumer;
	uint32_t mode;
	const struct eset_ops *ops;
};

CONSUMER_BY(uring_consume, mounts, level, 0, devepoll);
CONSUMER_BY(uring_consume, mounts, edge, EPOLLET, devepoll);
CONSUMER_BY(uring_consume, hostname, level, 0, devepoll);
CONSUMER_BY(uring_consume, hostname, edge, EPOLLET, devepoll);
CONSUMER_BY(uring_consume, perf, level, 0, devepoll);
CONSUMER_BY(uring_consume, perf, edge, EPOLLET, devepoll);
CONSUMER_BY(uring_consume, pressure, edge, EPOLLET, devepoll);

FIXTURE_SETUP(uring_consume)
{
	CONSUMER_OPEN();
	ASSERT_EQ(0, ring_open(&self->ring, &ring_plain));
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, self->probe.fd,
			      variant->consumer->events | variant->mode));
	EXPECT_EQ(0, eset_drain(&self->set));
}

FIXTURE_TEARDOWN(uring_consume)
{
	ring_close(&self->ring);
	consumer_close(variant->consumer, &self->probe);
	eset_close(&self->set);
}

#define EXPECT_CONSUMED(out)						\
	do {								\
		EXPECT_EQ(self->probe.fd, (out)->fd);			\
		EXPECT_EQ(variant->consumer->events,			\
			  variant->consumer->events & (out)->events);	\
		EXPECT_EQ(0, eset_drain(&self->set));			\
	} while (0)

TEST_F(uring_consume, event_is_handed_out_into_untouched_memory)
{
	struct devepoll_event *out = untouched(PROT_READ | PROT_WRITE);
	struct devepoll_wait_args args = wait_args(out, NR, 0);

	ASSERT_NE(NULL, out);
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(1, ring_call(&self->ring, self->set.fd, DEVEPOLL_WAIT,
			       &args));
	EXPECT_CONSUMED(out);
}

TEST_F(uring_consume, event_is_handed_out_to_a_wait_that_was_pending)
{
	struct devepoll_event *out = untouched(PROT_READ | PROT_WRITE);
	struct devepoll_wait_args args = wait_args(out, NR, -1);

	NEEDS_WAITS();
	ASSERT_NE(NULL, out);
	ASSERT_EQ(0, ring_request(&self->ring, self->set.fd, DEVEPOLL_WAIT,
				  &args, WAIT));
	ASSERT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(1, ring_result(&self->ring, WAIT));
	EXPECT_CONSUMED(out);
}

TEST_F(uring_consume, event_is_kept_for_a_wait_that_wants_two)
{
	struct devepoll_event *out = untouched(PROT_READ | PROT_WRITE);
	struct devepoll_wait_args args = wait_args(out, NR, -1);

	NEEDS_WAITS();
	ASSERT_NE(NULL, out);
	args.min_events = 2;
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(0, ring_request(&self->ring, self->set.fd, DEVEPOLL_WAIT,
				  &args, WAIT));
	ASSERT_TRUE(ring_waits(&self->ring));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(2, ring_result(&self->ring, WAIT));
	ASSERT_EQ(0, eventfd_take(self->event));
	EXPECT_EQ(0, eset_drain(&self->set));
}

TEST_F(uring_consume, event_that_a_poll_of_the_ring_saw_is_there)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring.uring);

	ASSERT_NE(NULL, sqe);
	io_uring_prep_poll_add(sqe, self->set.fd, POLLIN);
	sqe->user_data = WAIT;
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(0, ring_submit(&self->ring));
	EXPECT_EQ(POLLIN, told_of(POLLIN, ring_result(&self->ring, WAIT)));
	EXPECT_EQ(variant->consumer->events,
		  told_of(variant->consumer->events,
			  eset_wait_one(&self->set, self->probe.fd, 0)));
}

TEST_F(uring_consume, event_is_shot_into_an_untouched_buffer)
{
	struct devepoll_wait_args args = wait_args(NULL, NR, -1);
	size_t size = NR * sizeof(struct devepoll_event);
	const struct devepoll_event *out;
	struct ring_buffers buffers;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe cqe;
	char *own;

	if (!kernel_can_shoot())
		SKIP(return, "this kernel completes a command only once");
	ASSERT_EQ(0, ring_buffers_open(&self->ring, &buffers, 1, size));
	own = buffers.memory;
	buffers.memory = untouched(PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, buffers.memory);
	ring_buffer_give(&buffers, 0, size);
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	sqe = ring_prepare(&self->ring, self->set.fd, DEVEPOLL_WAIT, &args,
			   WAIT);
	ASSERT_NE(NULL, sqe);
	sqe->rw_flags = IORING_URING_CMD_MULTISHOT;
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = RING_GROUP;
	ASSERT_EQ(0, ring_submit(&self->ring));
	ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
	EXPECT_EQ(sizeof(*out), cqe.res);
	out = ring_buffer_of(&buffers, &cqe);
	ASSERT_NE(NULL, out);
	EXPECT_CONSUMED(out);
	munmap(buffers.memory, getpagesize());
	buffers.memory = own;
	ring_buffers_close(&self->ring, &buffers);
}

TEST_HARNESS_MAIN
