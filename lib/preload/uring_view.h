/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A look at the entries of a ring of io_uring.
 */
#ifndef DEVEPOLL_URING_VIEW_H
#define DEVEPOLL_URING_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/io_uring.h>

#include "internal.h"

/* The size and kind of a ring, and the offsets in its mapping. */
struct shape {
	struct io_sqring_offsets sq;
	uint32_t cq_entries_at;
	uint32_t entries;
	uint32_t cq_entries;
	uint32_t flags;
};

struct kept;

/* A ring during its inspection; @kept has it until its number is closed. */
struct view {
	struct kept *kept;
	int fd;
	const struct shape *shape;
	char *ring;
	size_t ring_size;
	struct io_uring_sqe *sqes;
	size_t sqes_size;
};

DEVEPOLL_HIDDEN bool devepoll_uring_remember(int fd, unsigned int flags,
					     const struct io_uring_params *p);
DEVEPOLL_HIDDEN bool devepoll_uring_view_open(struct view *view, int fd);
DEVEPOLL_HIDDEN void devepoll_uring_view_close(struct view *view);
DEVEPOLL_HIDDEN void devepoll_uring_view_drop(unsigned int first,
					      unsigned int last);
DEVEPOLL_HIDDEN struct io_uring_sqe *
devepoll_uring_view_entry(const struct view *view, uint32_t place);

/* The size of one entry of a ring. */
static inline size_t sqe_size(const struct shape *shape)
{
	return sizeof(struct io_uring_sqe) <<
	       !!(shape->flags & IORING_SETUP_SQE128);
}

/* The word at an offset in the mapping of a ring. */
static inline uint32_t read_word(const struct view *view, uint32_t at)
{
	return atomic_load_explicit((_Atomic uint32_t *)(view->ring + at),
				    memory_order_acquire);
}

#endif /* DEVEPOLL_URING_VIEW_H */
