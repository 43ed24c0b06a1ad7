// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark with multishot polls of io_uring, which tell
 * of each wake-up once, as edge-triggered fds do.  The ring is set up as its
 * manual recommends to a program with one thread: completions appear when it
 * asks for them.
 */
#define _GNU_SOURCE
#include "backend.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "../../selftests/core/raw_ring.h"

#define ENTRIES_MAX	1024U
/* As many polls complete in one call since 6.13, if it waits for none. */
#define POLLS_PER_CALL	20

struct set {
	struct raw_ring ring;
	/* requests that were pushed, but not submitted yet */
	unsigned int pushed;
};

/* An answer that is not an event of an fd. */
#define NO_EVENT	((uint64_t)-1)

static struct set *set_open(int nfds)
{
	struct set *set = calloc(1, sizeof(*set));
	unsigned int n = nfds;

	if (!set)
		err(1, "calloc");
	if (n > ENTRIES_MAX)
		n = ENTRIES_MAX;
	if (raw_ring_open(&set->ring, IORING_SETUP_SINGLE_ISSUER |
			  IORING_SETUP_DEFER_TASKRUN, n))
		errx(1, "no ring of io_uring");
	return set;
}

/* The kernel drops the polls later, when its own worker runs. */
static void set_close(struct set *set)
{
	raw_ring_close(&set->ring);
	free(set);
	usleep(100000);
}

static bool submit(struct set *set)
{
	unsigned int n = set->pushed;

	set->pushed = 0;
	return raw_ring_enter(set->ring.fd, n, 0) == n;
}

/* Starts a request; the ring may be full of them. */
static struct io_uring_sqe *push(struct set *set, uint64_t data)
{
	struct io_uring_sqe *sqe;

	if (set->pushed == set->ring.params.sq_entries && !submit(set))
		errx(1, "requests were refused");
	sqe = raw_ring_next(&set->ring);
	sqe->user_data = data;
	set->pushed++;
	return sqe;
}

/* Passes over the answers to changes; false if one failed. */
static bool answered(struct set *set)
{
	bool ok = true;
	uint64_t data;
	int res;

	while ((res = raw_ring_take(&set->ring, &data)) != -ENOMSG)
		ok = ok && (res >= 0 || res == -ECANCELED);
	return ok;
}

static bool set_add(struct set *set, const int *fds, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = push(set, fds[i]);

		sqe->opcode = IORING_OP_POLL_ADD;
		sqe->fd = fds[i];
		sqe->poll32_events = POLLIN;
		sqe->len = IORING_POLL_ADD_MULTI;
		raw_ring_push(&set->ring);
	}
	return submit(set);
}

static bool update(struct set *set, const int *fds, int n, unsigned int flags)
{
	int i;

	for (i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = push(set, NO_EVENT);

		sqe->opcode = IORING_OP_POLL_REMOVE;
		sqe->addr = fds[i];
		sqe->poll32_events = flags ? POLLIN | POLLHUP : 0;
		sqe->len = flags;
		raw_ring_push(&set->ring);
	}
	return submit(set) && answered(set);
}

static bool set_modify(struct set *set, const int *fds, int n)
{
	return update(set, fds, n,
		      IORING_POLL_UPDATE_EVENTS | IORING_POLL_ADD_MULTI);
}

static bool set_remove(struct set *set, const int *fds, int n)
{
	return update(set, fds, n, 0);
}

static int set_wait(struct set *set, int timeout)
{
	int res, got, n = 0;
	uint64_t data;

	do {
		if (raw_ring_enter(set->ring.fd, 0, timeout && !n) < 0)
			return -1;
		got = 0;
		while ((res = raw_ring_take(&set->ring, &data)) != -ENOMSG) {
			consume(data, res);
			got++;
		}
		n += got;
	} while (got >= POLLS_PER_CALL);
	return n;
}

const struct backend backend_uring = {
	.name = "io_uring, multishot polls",
	.open = set_open,
	.close = set_close,
	.add = set_add,
	.modify = set_modify,
	.remove = set_remove,
	.wait = set_wait,
};
