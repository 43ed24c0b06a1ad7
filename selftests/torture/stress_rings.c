// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of the children that the stress program's chaos forks: they make some
 * requests of the device and go with the child, whatever is pending.
 *
 * Not of the chaos itself: a ring goes some time after its close, and might
 * close files while the tracer is switched.  It does without liburing, so that
 * this program can be built anywhere.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/io_uring.h>

#include "torture/stress_extended.h"

#define ENTRIES		8
#define RINGS		4

/* What older headers don't know; older kernels refuse it. */
#define SINGLE_ISSUER	(1U << 12)
#define DEFER_TASKRUN	(1U << 13)

struct small_ring {
	int fd;
	struct io_uring_params params;
	char *ring;
	size_t ring_size;
	struct io_uring_sqe *sqes;
};

static void ring_unmap(struct small_ring *r)
{
	if (r->ring != MAP_FAILED)
		munmap(r->ring, r->ring_size);
	if (r->sqes != MAP_FAILED)
		munmap(r->sqes, ENTRIES * sizeof(*r->sqes));
}

static bool ring_make(struct small_ring *r, struct rng *rng)
{
	static const unsigned int kinds[] = {
		0, 0, SINGLE_ISSUER | DEFER_TASKRUN, IORING_SETUP_SQPOLL,
	};

	memset(r, 0, sizeof(*r));
	r->params.flags = kinds[rng_below(rng, 4)];
	r->params.sq_thread_idle = 1;
	r->fd = syscall(SYS_io_uring_setup, ENTRIES, &r->params);
	if (r->fd < 0)
		return false;
	r->ring_size = r->params.sq_off.array +
		       r->params.sq_entries * sizeof(unsigned int);
	r->ring = mmap(NULL, r->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       r->fd, IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, ENTRIES * sizeof(*r->sqes),
		       PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		       IORING_OFF_SQES);
	if (r->ring != MAP_FAILED && r->sqes != MAP_FAILED)
		return true;
	ring_unmap(r);
	close(r->fd);
	return false;
}

static void ring_put(struct small_ring *r, unsigned int i,
		     const struct io_uring_sqe *sqe)
{
	unsigned int *array = (void *)(r->ring + r->params.sq_off.array);
	atomic_uint *tail = (void *)(r->ring + r->params.sq_off.tail);

	r->sqes[i] = *sqe;
	array[i] = i;
	atomic_store(tail, i + 1);
}

struct request {
	union {
		struct devepoll_wait_args wait;
		struct devepoll_ctl ctl;
	};
	struct devepoll_change changes[4];
	struct devepoll_event out[8];
};

static void fill_request(struct rng *rng, struct request *req,
			 struct io_uring_sqe *sqe)
{
	uint64_t address = (uintptr_t)req;

	sqe->opcode = IORING_OP_URING_CMD;
	memset(req, 0, sizeof(*req));
	if (rng_below(rng, 4) == 0) {
		sqe->off = DEVEPOLL_CTL;
		req->ctl.changes = (uintptr_t)req->changes;
		req->ctl.nr = 4;
		req->ctl.change_size = sizeof(req->changes[0]);
		extended_fill(rng, req->changes, 4);
	} else {
		sqe->off = DEVEPOLL_WAIT;
		req->wait.events = (uintptr_t)req->out;
		req->wait.max_events = 1 + rng_below(rng, 8);
		req->wait.min_events = rng_below(rng, req->wait.max_events);
		req->wait.timeout = DEVEPOLL_FOREVER;
		if (rng_below(rng, 2))
			req->wait.timeout = rng_below(rng, 3000000);
	}
	memcpy((char *)sqe + offsetof(struct io_uring_sqe, cmd), &address,
	       sizeof(address));
}

static void fill_sqe(struct rng *rng, struct request *req,
		     struct io_uring_sqe *sqe)
{
	struct extended_set *s;

	s = &extended_sets[rng_below(rng, EXTENDED_SETS)];
	memset(sqe, 0, sizeof(*sqe));
	if (rng_below(rng, 4)) {
		fill_request(rng, req, sqe);
	} else {
		sqe->opcode = IORING_OP_POLL_ADD;
		sqe->poll32_events = POLLIN;
		sqe->len = rng_below(rng, 2) ? IORING_POLL_ADD_MULTI : 0;
	}
	sqe->fd = atomic_load(&s->fd);
	if (rng_below(rng, 4) == 0)
		sqe->flags = IOSQE_ASYNC;
}

static void ring_enter(struct small_ring *r, unsigned int n)
{
	syscall(SYS_io_uring_enter, r->fd, n, 0,
		IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP, NULL, 0);
}

void extended_rings(struct rng *rng)
{
	/* Events may be written there until the child is gone. */
	static struct request requests[RINGS][ENTRIES];
	unsigned int i, ring, n;
	struct io_uring_sqe sqe;
	struct small_ring r;

	for (ring = 0; ring < RINGS; ring++) {
		if (!ring_make(&r, rng))
			continue;
		n = 1 + rng_below(rng, ENTRIES);
		for (i = 0; i < n; i++) {
			fill_sqe(rng, &requests[ring][i], &sqe);
			ring_put(&r, i, &sqe);
		}
		ring_enter(&r, n);
		if (rng_below(rng, 2))
			usleep(rng_below(rng, 2000));
		ring_enter(&r, 0);
		if (rng_below(rng, 2))
			continue;
		ring_unmap(&r);
		close(r.fd);
	}
}
