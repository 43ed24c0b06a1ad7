/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring of a set, and consumers that take events out of it, by the letter of
 * linux/devepoll.h and without the library.
 */
#ifndef SELFTESTS_RING_H
#define SELFTESTS_RING_H

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/eset.h"

#define RING_OUT	64

struct ring {
	struct eset set;
	unsigned int consumers;
	unsigned int slots;
	atomic_ullong *word;
	const volatile struct devepoll_event *sets;
};

/* A thread's part: the set that it owns, and what it took last. */
struct consumer {
	struct ring *ring;
	uint32_t spare;
	bool ask;		/* the word had DEVEPOLL_RING_ASK */
	unsigned int count;	/* of the word, slots with no events included */
	struct devepoll_event out[RING_OUT];
};

/* DEVEPOLL_RING */
static inline int ring_request(int fd, unsigned int consumers,
			       unsigned int slots)
{
	struct devepoll_ring args = {
		.consumers = consumers,
		.slots = slots,
	};

	return dep_request(fd, DEVEPOLL_RING, &args);
}

static inline size_t ring_slots_size(unsigned int consumers,
				     unsigned int slots)
{
	size_t page = getpagesize();

	return (DEVEPOLL_RING_SIZE(consumers, slots) + page - 1) / page * page;
}

static inline void *ring_map_word(int fd)
{
	return mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, DEVEPOLL_MAP_RING);
}

static inline void *ring_map_slots(int fd, unsigned int consumers,
				   unsigned int slots)
{
	return mmap(NULL, ring_slots_size(consumers, slots), PROT_READ,
		    MAP_SHARED, fd, DEVEPOLL_MAP_RING_SLOTS);
}

/* A set with a ring; 0 or -errno. */
static inline int ring_open(struct ring *ring, unsigned int consumers,
			    unsigned int slots)
{
	int err = eset_open(&ring->set, &eset_devepoll);

	ring->consumers = consumers;
	ring->slots = slots;
	ring->word = MAP_FAILED;
	ring->sets = MAP_FAILED;
	if (!err)
		err = ring_request(ring->set.fd, consumers, slots);
	if (err)
		return err;
	ring->word = ring_map_word(ring->set.fd);
	ring->sets = ring_map_slots(ring->set.fd, consumers, slots);
	return ring->word == MAP_FAILED || ring->sets == MAP_FAILED ?
	       -errno : 0;
}

static inline void ring_unmap(struct ring *ring)
{
	if (ring->word != MAP_FAILED)
		munmap((void *)ring->word, getpagesize());
	if (ring->sets != MAP_FAILED)
		munmap((void *)ring->sets,
		       ring_slots_size(ring->consumers, ring->slots));
	ring->word = MAP_FAILED;
	ring->sets = MAP_FAILED;
}

static inline void ring_close(struct ring *ring)
{
	ring_unmap(ring);
	eset_close(&ring->set);
}

static inline void consumer_init(struct consumer *c, struct ring *ring,
				 unsigned int number)
{
	*c = (struct consumer){ .ring = ring, .spare = number + 1 };
}

/* How many events were taken into c->out; those with no events are left out. */
static inline int consumer_take(struct consumer *c)
{
	struct ring *ring = c->ring;
	const volatile struct devepoll_event *slot;
	unsigned int i, nr = 0;
	uint64_t old;

	c->ask = false;
	c->count = 0;
	if (!(uint32_t)atomic_load_explicit(ring->word, memory_order_relaxed))
		return 0;
	old = atomic_exchange(ring->word, (uint64_t)c->spare <<
			      DEVEPOLL_RING_SET_SHIFT);
	atomic_thread_fence(memory_order_seq_cst);
	c->spare = old >> DEVEPOLL_RING_SET_SHIFT;
	c->ask = old & DEVEPOLL_RING_ASK;
	c->count = old & DEVEPOLL_RING_COUNT;
	if (c->spare > ring->consumers || c->count > ring->slots)
		return -EOVERFLOW;
	slot = ring->sets + c->spare * DEVEPOLL_RING_STRIDE(ring->slots) /
			    sizeof(*slot);
	for (i = 0; i < c->count; i++, slot++) {
		struct devepoll_event *out = &c->out[nr % RING_OUT];

		out->data = slot->data;
		out->events = slot->events;
		out->fd = slot->fd;
		nr += !!out->events;
	}
	return nr;
}

/* The events of the one fd that was taken: -ENOMSG if none was. */
static inline int consumer_take_one(struct consumer *c, int fd)
{
	int nr = consumer_take(c);

	if (nr < 0)
		return nr;
	if (nr != 1)
		return nr ? -EMSGSIZE : -ENOMSG;
	return c->out[0].fd == fd ? (int)c->out[0].events : -EXDEV;
}

/* DEVEPOLL_RING_WAIT, for so many milliseconds. */
static inline int ring_wait_min(struct ring *ring, int ms, uint32_t min)
{
	struct devepoll_ring_wait_args args = {
		.timeout = ms < 0 ? -1 : (int64_t)ms * NSEC_PER_MSEC,
		.min_events = min,
	};

	return dep_request(ring->set.fd, DEVEPOLL_RING_WAIT, &args);
}

/* The same by a consumer, which names the slot set that it owns. */
static inline int consumer_wait(const struct consumer *c, int ms)
{
	struct devepoll_ring_wait_args args = {
		.timeout = ms < 0 ? -1 : (int64_t)ms * NSEC_PER_MSEC,
		.flags = DEVEPOLL_WAIT_SPARE,
		.spare = c->spare,
	};

	return dep_request(c->ring->set.fd, DEVEPOLL_RING_WAIT, &args);
}

static inline int ring_wait(struct ring *ring, int ms)
{
	return ring_wait_min(ring, ms, 0);
}

static inline int ring_ctl(struct ring *ring, int op, int fd, uint32_t events,
			   uint16_t flags, uint64_t data)
{
	struct devepoll_change change = {
		.op = op,
		.flags = flags,
		.fd = fd,
		.events = events,
		.data = data,
	};

	return dep_change(ring->set.fd, &change);
}

/* An edge that is told by trusted keys; its data is its number. */
static inline int ring_add(struct ring *ring, int fd, uint32_t events)
{
	return ring_ctl(ring, DEVEPOLL_ADD, fd, events | EPOLLET,
			DEVEPOLL_TRUST, fd);
}

static inline int ring_mod(struct ring *ring, int fd, uint32_t events)
{
	return ring_ctl(ring, DEVEPOLL_MOD, fd, events | EPOLLET,
			DEVEPOLL_TRUST, fd);
}

/* An eventfd that is watched like this, or -errno. */
static inline int ring_add_eventfd(struct ring *ring)
{
	int fd = eventfd_new();
	int err = fd < 0 ? fd : ring_add(ring, fd, EPOLLIN);

	return err ?: fd;
}

#endif /* SELFTESTS_RING_H */
