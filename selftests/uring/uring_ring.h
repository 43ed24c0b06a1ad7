/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings whose commands are the device's requests.
 */
#ifndef SELFTESTS_URING_RING_H
#define SELFTESTS_URING_RING_H

#include <liburing.h>
#include <stdatomic.h>

#include "core/request.h"

/* What older headers of liburing don't know. */
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER	(1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN	(1U << 13)
#endif
#ifndef IORING_URING_CMD_MULTISHOT
#define IORING_URING_CMD_MULTISHOT	(1U << 1)
#endif

#define RING_ENTRIES	64

/* A kind of ring, and what each of its entries is flagged with. */
struct ring_kind {
	const char *name;
	unsigned int setup;
	unsigned int sqe_flags;
};

/* The last one delivers its completions when its task asks for them. */
extern const struct ring_kind ring_plain, ring_by_workers, ring_polled,
			      ring_deferred;

/* Each test with each of them. */
#define RING_VARIANTS(fixture)						\
	FIXTURE_VARIANT(fixture) { const struct ring_kind *kind; };	\
	FIXTURE_VARIANT_ADD(fixture, plain) {				\
		.kind = &ring_plain,					\
	};								\
	FIXTURE_VARIANT_ADD(fixture, by_workers) {			\
		.kind = &ring_by_workers,				\
	};								\
	FIXTURE_VARIANT_ADD(fixture, polled) {				\
		.kind = &ring_polled,					\
	};								\
	FIXTURE_VARIANT_ADD(fixture, deferred) {			\
		.kind = &ring_deferred,					\
	}

struct ring {
	struct io_uring uring;
	unsigned int sqe_flags;
};

/* 0 or -errno. */
int ring_open(struct ring *ring, const struct ring_kind *kind);
void ring_close(struct ring *ring);

/* Prepares a request of the device; NULL if the ring is full. */
struct io_uring_sqe *ring_prepare(struct ring *ring, int fd,
				  unsigned int request, const void *arg,
				  uint64_t data);
/* Prepares and submits it; 0 or -errno. */
int ring_request(struct ring *ring, int fd, unsigned int request,
		 const void *arg, uint64_t data);
int ring_submit(struct ring *ring);

/*
 * Waits for a completion and copies it; 0, or -ETIMEDOUT if none comes.
 * ring_peek() does not wait: -EAGAIN if there is none this moment.
 */
int ring_complete(struct ring *ring, struct io_uring_cqe *cqe);
int ring_peek(struct ring *ring, struct io_uring_cqe *cqe);
/* The next completion's result if it is of this data, else -EBADMSG. */
int ring_result(struct ring *ring, uint64_t data);
/* The result of a request that is made and completed now. */
int ring_call(struct ring *ring, int fd, unsigned int request,
	      const void *arg);

/* Is there none, though everything submitted has been started? */
bool ring_waits(struct ring *ring);

/*
 * Have workers begun, too?  A new one has another name until it runs.  For
 * what was submitted a moment ago: without work, workers end.
 */
bool ring_waits_for_all(struct ring *ring);
bool process_has_workers(void);

/* Buffers of one group; the kernel takes them in their order. */
#define RING_GROUP	7

struct ring_buffers {
	struct io_uring_buf_ring *map;
	unsigned int nr;
	size_t size;
	char *memory;
};

int ring_buffers_open(struct ring *ring, struct ring_buffers *buffers,
		      unsigned int nr, size_t size);
void ring_buffers_close(struct ring *ring, struct ring_buffers *buffers);
/* Gives the kernel a buffer, of which it may use so many bytes. */
void ring_buffer_give(struct ring_buffers *buffers, unsigned int id,
		      size_t size);
/* What a completion put where; NULL if it used no buffer. */
const struct devepoll_event *ring_buffer_of(const struct ring_buffers *buffers,
					    const struct io_uring_cqe *cqe);

/*
 * Can this kernel cancel a pending command?  If not, a wait is not left
 * pending.  Can it complete one several times?
 */
bool kernel_can_wait(void);
bool kernel_can_shoot(void);

/* At the beginning of a test whose waits don't end by themselves. */
#define NEEDS_WAITS()							\
	do {								\
		if (!kernel_can_wait())					\
			SKIP(return, "this kernel can't take commands back"); \
	} while (0)

/* How many files of the device are open, or -errno. */
long module_references(void);

/* A thread that posts when it is told to. */
struct racer {
	atomic_int start;
	int event;
};

static inline long post_when_told(void *arg)
{
	struct racer *racer = arg;

	while (!atomic_load(&racer->start))
		;
	return eventfd_post(racer->event);
}

#endif /* SELFTESTS_URING_RING_H */
