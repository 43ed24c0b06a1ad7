// SPDX-License-Identifier: GPL-2.0
/*
 * The engine on io_uring: a multishot poll request for each fd, on a ring
 * without other requests.
 *
 * If a request ends, the engine submits it again.  A request that was removed
 * may still complete; its generation identifies it.  A removal fails if a
 * completion is on its way, and is submitted again, because the request would
 * otherwise keep its file open forever.
 */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "engine.h"

#define REQUESTS	256	/* that wait for the next call, at most */
#define COMPLETIONS	16384
#define BATCH		1024
#define REMOVAL		(1ULL << 63)	/* of the request of this name */
#define GENERATIONS	0x7fffffffU

struct engine_set {
	struct io_uring ring;
	int maxfds;
	struct slot {
		unsigned int generation;
		short events;	/* 0: not watched */
	} *slots;
	struct pollfd ready[BATCH];
};

static int open_ring(struct io_uring *ring)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
		.cq_entries = COMPLETIONS,
	};
	int err = io_uring_queue_init_params(REQUESTS, ring, &params);

	if (err != -EINVAL)
		return err;
	params = (struct io_uring_params){
		.flags = IORING_SETUP_CQSIZE,
		.cq_entries = COMPLETIONS,
	};
	return io_uring_queue_init_params(REQUESTS, ring, &params);
}

static struct engine_set *open_set(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));
	int err = -ENOMEM;

	if (set)
		set->slots = calloc(maxfds, sizeof(*set->slots));
	if (set && set->slots)
		err = open_ring(&set->ring);
	if (!err && !(set->ring.features & IORING_FEAT_EXT_ARG)) {
		io_uring_queue_exit(&set->ring);
		err = -ENOSYS;
	}
	if (!err) {
		set->maxfds = maxfds;
		return set;
	}
	engine_why(why, -err, "io_uring_setup");
	if (set)
		free(set->slots);
	free(set);
	return NULL;
}

static void close_set(struct engine_set *set)
{
	io_uring_queue_exit(&set->ring);
	free(set->slots);
	free(set);
}

static bool has(const struct engine_set *set, int fd)
{
	return fd >= 0 && fd < set->maxfds && set->slots[fd].events;
}

static unsigned long long name_of(const struct engine_set *set, int fd)
{
	return (unsigned long long)(set->slots[fd].generation & GENERATIONS)
	       << 32 | fd;
}

static struct io_uring_sqe *get_sqe(struct engine_set *set)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&set->ring);

	if (!sqe && io_uring_submit(&set->ring) > 0)
		sqe = io_uring_get_sqe(&set->ring);
	return sqe;
}

static int start(struct engine_set *set, int fd)
{
	struct io_uring_sqe *sqe = get_sqe(set);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_poll_multishot(sqe, fd, set->slots[fd].events);
	io_uring_sqe_set_data64(sqe, name_of(set, fd));
	return 0;
}

static int add(struct engine_set *set, int fd, short events)
{
	int err;

	if (fd < 0 || fd >= set->maxfds)
		return -ENOSPC;
	if (set->slots[fd].events)
		return -EEXIST;
	set->slots[fd].events = events;
	err = start(set, fd);
	if (err)
		set->slots[fd].events = 0;
	return err;
}

static int end(struct engine_set *set, unsigned long long name)
{
	struct io_uring_sqe *sqe = get_sqe(set);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_poll_remove(sqe, name);
	io_uring_sqe_set_data64(sqe, name | REMOVAL);
	return 0;
}

static int remove_fd(struct engine_set *set, int fd)
{
	int err;

	if (!has(set, fd))
		return -ENOENT;
	err = end(set, name_of(set, fd));
	if (err)
		return err;
	set->slots[fd].events = 0;
	set->slots[fd].generation++;
	return 0;
}

static int change(struct engine_set *set, int fd, short events)
{
	int err = remove_fd(set, fd);

	return err ? err : add(set, fd, events);
}

/* Whether the completion is an event, which goes to @event. */
static bool take(struct engine_set *set, const struct io_uring_cqe *cqe,
		 struct pollfd *event)
{
	int fd = (int)cqe->user_data;

	if (cqe->user_data & REMOVAL) {
		if (cqe->res == -EALREADY)
			end(set, cqe->user_data & ~REMOVAL);
		return false;
	}
	if (!has(set, fd) || cqe->user_data != name_of(set, fd))
		return false;
	event->fd = fd;
	event->revents = cqe->res < 0 ? POLLNVAL : cqe->res;
	if (!(cqe->flags & IORING_CQE_F_MORE) && cqe->res >= 0 &&
	    start(set, fd))
		event->revents = POLLNVAL;
	return true;
}

/* Takes what completed; returns how much, of which *nr are events. */
static unsigned int take_all(struct engine_set *set, int *nr)
{
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0;

	io_uring_for_each_cqe(&set->ring, head, cqe) {
		seen++;
		*nr += take(set, cqe, &set->ready[*nr]);
		if (*nr == BATCH)
			break;
	}
	io_uring_cq_advance(&set->ring, seen);
	return seen;
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	struct __kernel_timespec ts = {
		.tv_sec = timeout / 1000,
		.tv_nsec = timeout % 1000 * 1000000LL,
	};
	struct io_uring_cqe *cqe;
	unsigned int seen;
	int err, nr = 0;

	*events = set->ready;
	/* Ends of removed requests are no reason to wake up. */
	do {
		err = io_uring_submit_and_wait_timeout(&set->ring, &cqe, 1,
						       timeout < 0 ? NULL : &ts,
						       NULL);
		if (err < 0 && err != -ETIME)
			return err;
		seen = take_all(set, &nr);
	} while (seen && !nr);
	return nr;
}

const struct engine engine_uring = {
	.name = "uring",
	.what = "io_uring, multishot poll",
	ENGINE_OPERATIONS,
};
