/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The word of a ring, as the files of the ring share it.
 */
#ifndef DEVEPOLL_RING_WORD_H
#define DEVEPOLL_RING_WORD_H

#include "core/instance.h"
#include "core/item.h"

void dep_ring_taken(struct dep_instance *inst, u64 seen);
void dep_ring_flag(struct dep_instance *inst);

/**
 * dep_ring_load() - read the word
 * @ring: the ring
 *
 * Return: what stands there, which is not believed.
 */
static inline u64 dep_ring_load(const struct dep_ring *ring)
{
	/* B: what was read from the set that it names was read before. */
	return atomic64_read_acquire(ring->word);
}

/**
 * dep_ring_note_taken() - dep_ring_taken() where each event comes through
 * @inst: the instance, locked
 * @ring: its ring
 * @seen: the word, which names the empty set that is there for it
 */
static __always_inline void dep_ring_note_taken(struct dep_instance *inst,
						struct dep_ring *ring, u64 seen)
{
	/* The number of the set, which is not trusted. */
	u32 nr = seen >> DEVEPOLL_RING_SET_SHIFT, taken = inst->pending;

	lockdep_assert_held(&inst->lock);
	/* A program that gives an invalid set loses its events. */
	if (unlikely(nr >= ring->nr_sets)) {
		nr = 0;
		seen &= DEVEPOLL_RING_ASK;
	}
	ring->set = ring->slots + (size_t)nr * ring->room;
	WRITE_ONCE(ring->gen, ring->gen + 1);
	/* Pairs with smp_rmb() in item_is_in_ring(). */
	smp_wmb();
	/*
	 * Two threads may have taken events before and after we set the flag.
	 */
	WRITE_ONCE(ring->expected, seen & ~(u64)DEVEPOLL_RING_COUNT);
	if (!taken)
		return;
	WRITE_ONCE(inst->pending, 0);
	WRITE_ONCE(inst->nr_ready, inst->nr_ready - taken);
	inst->stats.takes++;
	inst->stats.taken += taken;
}

/**
 * dep_ring_sync() - bring what we know of the word up to date
 * @inst: the instance, locked
 *
 * Return: the word as it is.
 */
static inline u64 dep_ring_sync(struct dep_instance *inst)
{
	u64 seen = dep_ring_load(inst->ring);

	lockdep_assert_held(&inst->lock);
	if (seen != inst->ring->expected)
		dep_ring_taken(inst, seen);
	return seen;
}

/**
 * dep_ring_is_pending() - does an item have a slot that was not taken?
 * @ring: the ring; its instance is locked, and dep_ring_sync() behind us
 * @item: the item
 *
 * Return: true if it has.
 */
static inline bool dep_ring_is_pending(const struct dep_ring *ring,
				       const struct dep_item *item)
{
	return item->snapshot == ring->gen;
}

/**
 * dep_ring_has_room() - is there a slot left?
 * @ring: the ring; its instance is locked, and dep_ring_sync() behind us
 *
 * Return: true if there is one.
 */
static inline bool dep_ring_has_room(const struct dep_ring *ring)
{
	return (ring->expected & DEVEPOLL_RING_COUNT) < ring->room;
}

/**
 * dep_ring_count() - count events that wait in the ring
 * @inst: the instance, locked
 * @more: how many more there are
 */
static inline void dep_ring_count(struct dep_instance *inst, int more)
{
	WRITE_ONCE(inst->pending, inst->pending + more);
	WRITE_ONCE(inst->nr_ready, inst->nr_ready + more);
}

#endif /* DEVEPOLL_RING_WORD_H */
