/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The rings of the preload library: events of an instance that a program takes
 * without a system call.
 */
#ifndef DEVEPOLL_PRELOAD_RING_H
#define DEVEPOLL_PRELOAD_RING_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include <linux/devepoll.h>

#include "devepoll_events.h"

#include "entry.h"
#include "internal.h"

#define MAX_RINGS	64

/* As many as an event loop usually takes; more are taken by a system call. */
#define RING_SLOTS	512

/* Values of preload_ring.state. */
#define RING_FREE		0U
#define RING_HELD		1U
#define RING_TO_BE_DROPPED	2U

/* So many sleeps are system calls after one that left events to such a call. */
#define RING_SLEEPS_BY_CALL	64

/**
 * struct preload_ring - the ring of an instance, or room for one
 * @number: the fd of the instance, plus 1; or 0 if there is no ring
 * @state: free, held by a thread, or to be dropped by that thread
 * @by_call: how many sleeps will be system calls
 * @mapped: an instance is, or may be, mapped at @word
 * @spare: the word that gives back the slot set that the process owns
 * @word: the word, or a page of zeros; an address that never changes
 * @sets: the slot sets
 */
struct preload_ring {
	atomic_int number;
	atomic_uint state;
	atomic_uint by_call;
	atomic_bool mapped;
	uint64_t spare;
	atomic_uint_least64_t *word;
	const struct devepoll_event *sets;
};

/**
 * struct preload_rings - the rings of a process
 * @pid: the process
 * @ring: the ring of an fd is at the index of its number, modulo MAX_RINGS
 */
struct preload_rings {
	atomic_int pid;
	struct preload_ring ring[MAX_RINGS];
};

/**
 * struct preload_written - memory that the kernel wrote events of a thread to
 * @begin: its first byte
 * @end: the byte after its last one
 */
struct preload_written {
	uintptr_t begin;
	uintptr_t end;
};

extern DEVEPOLL_HIDDEN
_Atomic(struct preload_rings *)devepoll_preload_rings;
extern DEVEPOLL_HIDDEN __attribute__((tls_model("initial-exec")))
__thread struct preload_written devepoll_preload_written;

DEVEPOLL_HIDDEN void devepoll_preload_ring_before_fork(void);
DEVEPOLL_HIDDEN void devepoll_preload_ring_in_child(void);
DEVEPOLL_HIDDEN void devepoll_preload_ring_open(int epfd);
DEVEPOLL_HIDDEN void devepoll_preload_ring_close(unsigned int first,
						 unsigned int last);
DEVEPOLL_HIDDEN void devepoll_preload_ring_renumber(int fd);
DEVEPOLL_HIDDEN void devepoll_preload_ring_drop_held(struct preload_ring *ring);
DEVEPOLL_HIDDEN void devepoll_preload_ring_written(struct epoll_event *events,
						   long nr);

/**
 * preload_ring_of() - find the ring of an instance
 * @epfd: the instance
 *
 * Return: the ring, or NULL if there is none.
 */
static inline struct preload_ring *preload_ring_of(int epfd)
{
	struct preload_rings *rings =
		atomic_load_explicit(&devepoll_preload_rings,
				     memory_order_acquire);
	struct preload_ring *ring;

	if (!rings || epfd < 0)
		return NULL;
	ring = &rings->ring[(unsigned int)epfd % MAX_RINGS];
	/* Pairs with the release store that makes the ring known. */
	return atomic_load_explicit(&ring->number, memory_order_acquire) ==
	       epfd + 1 ? ring : NULL;
}

/**
 * preload_ring_hold() - keep other threads from a ring
 * @ring: the ring
 *
 * Return: true if nobody held it.
 */
static inline bool preload_ring_hold(struct preload_ring *ring)
{
	unsigned int state = RING_FREE;

	return atomic_compare_exchange_strong_explicit(&ring->state, &state,
						       RING_HELD,
						       memory_order_acquire,
						       memory_order_relaxed);
}

/**
 * preload_ring_release() - undo preload_ring_hold()
 * @ring: the ring
 *
 * Return: false if the caller still holds the ring, and has to drop it.
 */
static inline bool preload_ring_release(struct preload_ring *ring)
{
	unsigned int state = RING_HELD;

	return atomic_compare_exchange_strong_explicit(&ring->state, &state,
						       RING_FREE,
						       memory_order_release,
						       memory_order_relaxed);
}

static inline bool preload_was_written(const struct epoll_event *events,
				       unsigned int nr)
{
	return (uintptr_t)events >= devepoll_preload_written.begin &&
	       (uintptr_t)(events + nr) <= devepoll_preload_written.end;
}

/*
 * Where the memory of a program ends, or may begin to.  Arrays of 32-bit
 * programs can't reach beyond theirs.
 */
#if defined(__x86_64__) && defined(__LP64__)
#define PRELOAD_MEMORY_END	0x7ffffffff000UL
#elif defined(__aarch64__)
/* What lies above is only given to those that ask, or is the tag of a pointer. */
#define PRELOAD_MEMORY_END	(1UL << 48)
#elif defined(__LP64__)
#define PRELOAD_MEMORY_END	(1UL << 47)
#else
#define PRELOAD_MEMORY_END	UINTPTR_MAX
#endif

/*
 * Can the array of a call be taken for one, as epoll takes it before it looks
 * for events?  Otherwise the kernel has to answer.
 */
static inline bool preload_is_array(const struct epoll_event *events,
				    int maxevents)
{
	return maxevents > 0 && maxevents <= ENTRY_MAX_EVENTS &&
	       (uintptr_t)events <=
	       PRELOAD_MEMORY_END - maxevents * sizeof(*events);
}

/**
 * preload_ring_may_sleep() - shall a call sleep by DEVEPOLL_RING_WAIT?
 * @ring: the ring
 * @events: the array of the call
 * @maxevents: its size
 *
 * Return: false if the system call has something to do, or probably will have.
 */
static inline bool preload_ring_may_sleep(struct preload_ring *ring,
					  const struct epoll_event *events,
					  int maxevents)
{
	unsigned int left;

	if (!preload_is_array(events, maxevents) ||
	    !preload_was_written(events, 1) ||
	    (uint32_t)atomic_load_explicit(ring->word, memory_order_relaxed))
		return false;
	left = atomic_load_explicit(&ring->by_call, memory_order_relaxed);
	if (__builtin_expect(!left, 1))
		return true;
	atomic_store_explicit(&ring->by_call, left - 1, memory_order_relaxed);
	return false;
}

/* The last sleep by DEVEPOLL_RING_WAIT was of no use. */
static inline void preload_ring_sleep_by_call(struct preload_ring *ring)
{
	atomic_store_explicit(&ring->by_call, RING_SLEEPS_BY_CALL,
			      memory_order_relaxed);
}

/* Copy events that were not withdrawn; the memory may be changing. */
static inline long preload_ring_copy(struct epoll_event *to,
				     const struct devepoll_event *slot,
				     unsigned int nr)
{
	const struct devepoll_event *end = slot + nr;
	struct epoll_event *next = to;

	for (; slot != end; slot++) {
		uint32_t events = *(const volatile __u32 *)&slot->events;

		if (!events)
			continue;
		next->events = events;
		next->data.u64 = slot->data;
		next++;
	}
	return next - to;
}

/* Take what the word shows, if it still does; the ring is held. */
static inline long preload_ring_exchange(struct preload_ring *ring, int epfd,
					 uint64_t seen,
					 struct epoll_event *events)
{
	uint64_t set = seen >> DEVEPOLL_RING_SET_SHIFT;
	unsigned int nr = seen;

	/*
	 * It was not dropped before it was held.  Another process that has the
	 * instance may have written anything to the word.
	 */
	if (atomic_load_explicit(&ring->number, memory_order_relaxed) !=
	    epfd + 1 || set > 1 || nr > RING_SLOTS ||
	    !atomic_compare_exchange_strong(ring->word, &seen, ring->spare))
		return -EAGAIN;
	devepoll_events_barrier();
	ring->spare = set << DEVEPOLL_RING_SET_SHIFT;
	return preload_ring_copy(events, ring->sets + set * RING_SLOTS, nr);
}

/**
 * preload_ring_take() - take events from memory
 * @ring: the ring, from preload_ring_of()
 * @epfd: the instance
 * @events: out: the events, as for epoll_wait(2)
 * @maxevents: as for epoll_wait(2)
 * @sleeps: the call is not over if there is no event
 * @drop: out: the ring is still held, and the caller has to drop it
 *
 * This is inline, and calls no function, so that epoll_wait(2) needs no stack
 * frame.
 *
 * Return: the number of events, or
 * -EAGAIN: a system call has to find out.
 */
static inline __attribute__((always_inline))
long preload_ring_take(struct preload_ring *ring, int epfd,
		       struct epoll_event *events, int maxevents, bool sleeps,
		       bool *drop)
{
	uint64_t seen = atomic_load_explicit(ring->word, memory_order_relaxed);
	long ret;

	*drop = false;
	if (!preload_is_array(events, maxevents))
		return -EAGAIN;
	if (!(uint32_t)seen)
		return sleeps ? -EAGAIN : 0;
	/* With DEVEPOLL_RING_ASK, the number of events is a large one. */
	if ((uint32_t)seen > (unsigned int)maxevents ||
	    !preload_was_written(events, seen) || !preload_ring_hold(ring))
		return -EAGAIN;
	ret = preload_ring_exchange(ring, epfd, seen, events);
	if (!ret && sleeps)
		ret = -EAGAIN;
	*drop = __builtin_expect(!preload_ring_release(ring), 0);
	return ret;
}

#endif /* DEVEPOLL_PRELOAD_RING_H */
