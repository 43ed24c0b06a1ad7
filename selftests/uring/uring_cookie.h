/* SPDX-License-Identifier: GPL-2.0 */
/* Waits of an io_uring with cookies, and their cancellation. */
#ifndef SELFTESTS_URING_COOKIE_H
#define SELFTESTS_URING_COOKIE_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "uring/uring_ring.h"

/* Where the bytes of a command stand in an entry. */
#define SQE_COMMAND	offsetof(struct io_uring_sqe, addr3)

/* Prepares a wait that has a cookie; NULL if the ring is full. */
static inline struct io_uring_sqe *
prepare_wait(struct ring *ring, int set, const struct devepoll_wait_args *args,
	     uint64_t cookie, uint64_t data)
{
	const struct devepoll_command command = {
		.arg = address_of(args), .cookie = cookie,
	};
	struct io_uring_sqe *sqe;

	sqe = ring_prepare(ring, set, DEVEPOLL_WAIT, args, data);
	if (sqe)
		memcpy((char *)sqe + SQE_COMMAND, &command, sizeof(command));
	return sqe;
}

/* Begins it; 0 or -errno. */
static inline int begin_wait(struct ring *ring, int set,
			     const struct devepoll_wait_args *args,
			     uint64_t cookie, uint64_t data)
{
	if (!prepare_wait(ring, set, args, cookie, data))
		return -EBUSY;
	return ring_submit(ring);
}

/* How many were cancelled, or -errno. */
static inline int cancel(int set, uint64_t cookie)
{
	struct devepoll_cancel arg = { .cookie = cookie };

	return dep_request(set, DEVEPOLL_CANCEL, &arg);
}

#endif /* SELFTESTS_URING_COOKIE_H */
