/* SPDX-License-Identifier: GPL-2.0 */
/* Changes of a set by entries of a ring. */
#ifndef SELFTESTS_PRELOAD_URING_H
#define SELFTESTS_PRELOAD_URING_H

#include <unistd.h>

#include "core/fadvise_filter.h"
#include "core/helpers.h"
#include "core/raw_ring.h"
#include "preload/preloaded.h"

static inline struct io_uring_sqe *
prepare(struct raw_ring *r, int set, int op, int fd,
	const struct epoll_event *event)
{
	struct io_uring_sqe *sqe = raw_ring_next(r);

	sqe->opcode = IORING_OP_EPOLL_CTL;
	sqe->fd = set;
	sqe->off = fd;
	sqe->addr = (uintptr_t)event;
	sqe->len = op;
	sqe->user_data = 0xda7a0000ULL << 32 | fd;
	return sqe;
}

/* The result of what was prepared. */
static inline int made(struct raw_ring *r)
{
	uint64_t data = 0;
	long n;
	int ret;

	raw_ring_push(r);
	n = raw_ring_enter(r->fd, 1, 1);
	if (n != 1)
		return n < 0 ? n : -ENODATA;
	ret = raw_ring_take(r, &data);
	return data >> 32 == 0xda7a0000 ? ret : -EBADMSG;
}

static inline int change(struct raw_ring *r, int set, int op, int fd,
			 uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	prepare(r, set, op, fd, &event);
	return made(r);
}

/* A set that has nothing to report is changed by the ring, and works. */
static inline bool works_by(struct raw_ring *r, int set)
{
	int fd = eventfd_new();
	bool right;

	right = change(r, set, EPOLL_CTL_ADD, fd, EPOLLIN) == 0 &&
		ready(set) == -ENOMSG && eventfd_post(fd) == 0 &&
		ready(set) == fd &&
		change(r, set, EPOLL_CTL_MOD, fd, EPOLLPRI) == 0 &&
		ready(set) == -ENOMSG &&
		change(r, set, EPOLL_CTL_MOD, fd, EPOLLIN) == 0 &&
		ready(set) == fd &&
		change(r, set, EPOLL_CTL_DEL, fd, 0) == 0 &&
		ready(set) == -ENOMSG;
	close(fd);
	return right;
}

FIXTURE(by_ring)
{
	struct raw_ring ring;
	int set;
};

FIXTURE_VARIANT(by_ring)
{
	bool on_epoll;
	unsigned int setup;
};

#define VARIANT(name, epoll, flags)					\
	FIXTURE_VARIANT_ADD(by_ring, name) {				\
		.on_epoll = epoll,					\
		.setup = flags,						\
	}

VARIANT(epoll, true, 0);
VARIANT(device, false, 0);
VARIANT(epoll_no_array, true, RAW_SETUP_NO_SQARRAY);
VARIANT(device_no_array, false, RAW_SETUP_NO_SQARRAY);
VARIANT(epoll_large_entries, true, IORING_SETUP_SQE128);
VARIANT(device_large_entries, false, IORING_SETUP_SQE128);
VARIANT(epoll_large_results, true, IORING_SETUP_CQE32);
VARIANT(device_large_results, false, IORING_SETUP_CQE32);

FIXTURE_SETUP(by_ring)
{
	int ret;

	self->set = variant->on_epoll ? epoll_by_libc() :
					epoll_create1(EPOLL_CLOEXEC);
	/* Each of these programs has sets of the device. */
	ASSERT_TRUE(is_set_of_the_device(epoll_create1(0)));
	ASSERT_EQ(variant->on_epoll, is_set_of_epoll(self->set));
	ASSERT_EQ(!variant->on_epoll, is_set_of_the_device(self->set));
	ret = raw_ring_open(&self->ring, variant->setup, RAW_ENTRIES);
	if (ret == -EINVAL && variant->setup == RAW_SETUP_NO_SQARRAY)
		SKIP(return, "this kernel has an array in each ring");
	ASSERT_EQ(0, ret);
}

FIXTURE_TEARDOWN(by_ring)
{
}

#endif /* SELFTESTS_PRELOAD_URING_H */
