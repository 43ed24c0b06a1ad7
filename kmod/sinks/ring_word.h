/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The word of a ring, as the files of the ring share it.
 */
#ifndef DEVEPOLL_RING_WORD_H
#define DEVEPOLL_RING_WORD_H

#include "core/instance.h"
#include "core/item.h"

void dep_ring_taken(struct dep_instance *inst, u64 seen);
u64 dep_ring_sync(struct dep_instance *inst);
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
