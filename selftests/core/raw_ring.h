/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of io_uring made by system calls alone, as libuv makes its own:
 * through the C library's syscall(), and with a mapping of its own.
 */
#ifndef SELFTESTS_RAW_RING_H
#define SELFTESTS_RAW_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/io_uring.h>

/* What older headers don't know. */
#define RAW_SETUP_NO_MMAP		(1U << 14)
#define RAW_SETUP_REGISTERED_ONLY	(1U << 15)
#define RAW_SETUP_NO_SQARRAY		(1U << 16)
#define RAW_SETUP_UNKNOWN		(1U << 30)
#define RAW_REGISTER_RING_FDS		20
#define RAW_ENTRIES			16

struct raw_ring {
	int fd;
	struct io_uring_params params;
	char *ring;
	size_t size;
	char *sqes;
	size_t sqe_size;
};

/* 0 or -errno; such a ring has nothing to be closed. */
static inline int raw_ring_open(struct raw_ring *r, unsigned int flags,
				unsigned int entries)
{
	size_t cq_end;
	unsigned int i;
	uint32_t *array;

	memset(r, 0, sizeof(*r));
	r->params.flags = flags;
	r->fd = syscall(SYS_io_uring_setup, entries, &r->params);
	if (r->fd < 0)
		return -errno;
	entries = r->params.sq_entries;
	cq_end = r->params.cq_off.cqes +
		 r->params.cq_entries * (sizeof(struct io_uring_cqe) <<
					 !!(flags & IORING_SETUP_CQE32));
	r->size = r->params.sq_off.array + entries * sizeof(uint32_t);
	if (r->size < cq_end)
		r->size = cq_end;
	r->sqe_size = sizeof(struct io_uring_sqe) <<
		      !!(flags & IORING_SETUP_SQE128);
	r->ring = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, entries * r->sqe_size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	if (r->ring == MAP_FAILED || r->sqes == MAP_FAILED)
		return -ENOMEM;
	if (flags & RAW_SETUP_NO_SQARRAY)
		return 0;
	/* In reverse, so that a place is not mistaken for an entry. */
	array = (uint32_t *)(r->ring + r->params.sq_off.array);
	for (i = 0; i < entries; i++)
		array[i] = entries - 1 - i;
	return 0;
}

static inline void raw_ring_unmap(struct raw_ring *r)
{
	munmap(r->ring, r->size);
	munmap(r->sqes, r->params.sq_entries * r->sqe_size);
}

static inline void raw_ring_close(struct raw_ring *r)
{
	raw_ring_unmap(r);
	close(r->fd);
}

static inline _Atomic uint32_t *raw_word(struct raw_ring *r, uint32_t at)
{
	return (_Atomic uint32_t *)(r->ring + at);
}

/* The next entry, zeroed; raw_ring_push() hands it over. */
static inline struct io_uring_sqe *raw_ring_next(struct raw_ring *r)
{
	uint32_t at = *raw_word(r, r->params.sq_off.tail) &
		      (r->params.sq_entries - 1);

	if (!(r->params.flags & RAW_SETUP_NO_SQARRAY))
		at = r->params.sq_entries - 1 - at;
	return memset(r->sqes + at * r->sqe_size, 0, r->sqe_size);
}

static inline void raw_ring_push(struct raw_ring *r)
{
	(*raw_word(r, r->params.sq_off.tail))++;
}

static inline long raw_ring_enter(int fd, unsigned int to_submit,
				  unsigned int to_wait)
{
	long ret = syscall(SYS_io_uring_enter, fd, to_submit, to_wait,
			   IORING_ENTER_GETEVENTS, NULL, 0L);

	return ret < 0 ? -errno : ret;
}

/* Takes a completion; its result, or -ENOMSG if there is none. */
static inline int raw_ring_take(struct raw_ring *r, uint64_t *data)
{
	_Atomic uint32_t *head = raw_word(r, r->params.cq_off.head);
	struct io_uring_cqe *cqe;

	if (*head == *raw_word(r, r->params.cq_off.tail))
		return -ENOMSG;
	cqe = (void *)(r->ring + r->params.cq_off.cqes +
		       ((*head & (r->params.cq_entries - 1)) * sizeof(*cqe) <<
			!!(r->params.flags & IORING_SETUP_CQE32)));
	if (data)
		*data = cqe->user_data;
	(*head)++;
	return cqe->res;
}

#endif /* SELFTESTS_RAW_RING_H */
