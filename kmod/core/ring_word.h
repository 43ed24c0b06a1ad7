/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The word of a ring, as the files of the ring (ring/ring.c) share it, and the
 * post of an event from a wake-up.
 */
#ifndef DEVEPOLL_RING_WORD_H
#define DEVEPOLL_RING_WORD_H

#include "core/item.h"

void dep_ring_taken(struct dep_instance *inst, u64 seen);
void dep_ring_flag(struct dep_instance *inst);
void dep_ring_switch_held(struct dep_instance *inst, u32 to);

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
 * dep_ring_switch() - fill the set that the program has given back
 * @inst: the instance, locked
 * @ring: its ring
 * @seen: the word, which names that set
 *
 * The caller then calls dep_ring_count_taken().
 *
 * Return: what is expected there now; no slot of the set is filled.
 */
static __always_inline u64 dep_ring_switch(struct dep_instance *inst,
					   struct dep_ring *ring, u64 seen)
{
	/* The number of the set, which is not trusted. */
	u32 nr = seen >> DEVEPOLL_RING_SET_SHIFT;

	lockdep_assert_held(&inst->lock);
	if (unlikely(nr >= ring->plain_sets)) {
		/* A program that gives an invalid set loses its events. */
		if (nr >= ring->nr_sets) {
			nr = 0;
			seen &= DEVEPOLL_RING_ASK;
		}
		dep_ring_switch_held(inst, nr);
	}
	nr = array_index_nospec(nr, ring->nr_sets);
	ring->set = ring->slots + (size_t)nr * ring->stride;
	WRITE_ONCE(ring->gen, ring->gen + 1);
	/* Pairs with smp_rmb() in item_is_in_ring(). */
	smp_wmb();
	/*
	 * Two threads may have taken events before and after we set the flag.
	 */
	seen &= ~(u64)DEVEPOLL_RING_COUNT;
	WRITE_ONCE(ring->expected, seen);
	return seen;
}

/**
 * dep_ring_count_taken() - count the events that the program has taken
 * @inst: the instance, locked
 * @more: how many wait in the ring since
 */
static __always_inline void dep_ring_count_taken(struct dep_instance *inst,
						 u32 more)
{
	u32 taken = inst->pending;

	lockdep_assert_held(&inst->lock);
	WRITE_ONCE(inst->pending, more);
	WRITE_ONCE(inst->nr_ready, inst->nr_ready - taken + more);
	if (!taken)
		return;
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
 * dep_ring_add_count() - count events that wait in the ring
 * @inst: the instance, locked
 * @more: how many more there are
 */
static inline void dep_ring_add_count(struct dep_instance *inst, int more)
{
	lockdep_assert_held(&inst->lock);
	WRITE_ONCE(inst->pending, inst->pending + more);
	WRITE_ONCE(inst->nr_ready, inst->nr_ready + more);
}

/**
 * dep_ring_append() - give an item a slot, and count its event
 * @inst: the instance, locked
 * @item: the item, which has no slot
 * @events: its events
 * @settled: dep_events_settled() of them
 * @seen: the word
 * @expected: what is expected there: the next slot, which there is
 * @switched: dep_ring_switch() has just begun to fill a set, and what was taken
 *	is still to be counted
 *
 * Return: false if the program has written the word since it was seen; then
 * nothing is counted.
 */
static __always_inline bool dep_ring_append(struct dep_instance *inst,
					    struct dep_item *item, u32 events,
					    u16 settled, u64 seen,
					    u64 expected, bool switched)
{
	struct dep_ring *ring = inst->ring;
	const u32 nr = expected & DEVEPOLL_RING_COUNT;
	struct devepoll_event *slot = &ring->set[nr];

	lockdep_assert_held(&inst->lock);
	WRITE_ONCE(slot->data, item->data);
	WRITE_ONCE(slot->events, events);
	WRITE_ONCE(slot->fd, item->fd);
	/* Barrier A of ring.c. */
	if (unlikely((u64)atomic64_cmpxchg(ring->word, seen, expected + 1) !=
		     seen))
		return false;
	WRITE_ONCE(ring->expected, expected + 1);
	ring->items[nr] = item;
	item->slot = nr;
	/* Before the wake function sees it: see dep_item_list_trusted(). */
	if (switched)
		dep_ring_count_taken(inst, 1);
	else
		dep_ring_add_count(inst, 1);
	WRITE_ONCE(item->pending, settled);
	/* Pairs with smp_rmb() in watch_may_return(). */
	smp_wmb();
	WRITE_ONCE(item->snapshot, ring->gen);
	return true;
}

/**
 * dep_ring_post_first() - post the event of an item that has no slot
 * @inst: the instance, locked
 * @item: a hooked item of it
 * @events: its events
 *
 * This is what the post of the sink does with most events, without a call.
 *
 * Return: false if nothing was posted, and the sink has to do it.
 */
static __always_inline bool dep_ring_post_first(struct dep_instance *inst,
						struct dep_item *item,
						u16 events)
{
	const u32 modes = DEP_MODE_TRUST | DEP_MODE_ONESHOT | DEP_MODE_HELD;
	struct dep_ring *ring = inst->ring;
	u64 seen = dep_ring_load(ring), expected = ring->expected;

	if (unlikely(!DEP_HAS_RING || (item->mode & modes) != DEP_MODE_TRUST ||
		     events & DEP_NEEDS_POLL))
		return false;
	if (likely(seen != expected)) {
		expected = dep_ring_switch(inst, ring, seen);
		/* Of an empty set there is the first slot. */
		if (likely(dep_ring_append(inst, item, events, events, seen,
					   expected, true)))
			return true;
		dep_ring_count_taken(inst, 0);
		return false;
	}
	return !dep_ring_is_pending(ring, item) && dep_ring_has_room(ring) &&
	       dep_ring_append(inst, item, events, events, seen, expected,
			       false);
}

#endif /* DEVEPOLL_RING_WORD_H */
