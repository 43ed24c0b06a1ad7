/* SPDX-License-Identifier: GPL-2.0 */
/* What a set has: items, events that are pending, files to be polled. */
#ifndef DEVEPOLL_PENDING_H
#define DEVEPOLL_PENDING_H

#include <linux/devepoll.h>

#include "core/has.h"
#include "core/instance.h"

/**
 * dep_instance_nr_items() - how many items the interest list has
 * @inst: the instance, not locked
 *
 * Whoever has L changes the number by one plain instruction, so this is a value
 * that it had.  With dep_instance.mtx held it can only shrink.
 *
 * Return: the number.
 */
static inline u32 dep_instance_nr_items(const struct dep_instance *inst)
{
	/* One plain instruction, see above. */
	return data_race(READ_ONCE(inst->nr_items));
}

/**
 * dep_instance_nr_ready() - how many items are listed, or in the ring
 * @inst: the instance, not locked
 *
 * Changed as dep_instance_nr_items().
 *
 * Return: the number.
 */
static inline u32 dep_instance_nr_ready(const struct dep_instance *inst)
{
	/* One plain instruction, see above. */
	return data_race(READ_ONCE(inst->nr_ready));
}

/**
 * dep_instance_ring() - the ring of a set
 * @inst: the instance; not locked
 *
 * Return: the ring, which stays as long as the instance, or NULL.
 */
static inline struct dep_ring *
dep_instance_ring(const struct dep_instance *inst)
{
	/* Pairs with dep_ring_make(). */
	return DEP_HAS_RING ? smp_load_acquire(&inst->ring) : NULL;
}

/**
 * dep_instance_has_ring() - does the program take events without a call?
 * @inst: the instance; locked, or dep_instance.mtx is held
 *
 * Return: true if it may: then the sink has all operations.
 */
static inline bool dep_instance_has_ring(const struct dep_instance *inst)
{
	return DEP_HAS_RING && inst->ring;
}

/**
 * dep_instance_has_events() - do events wait in the sink?
 * @inst: the instance, locked for a true answer, not locked for a hint
 *
 * Return: true if so; false if the program has taken them out of the ring.
 */
static inline bool dep_instance_has_events(const struct dep_instance *inst)
{
	const struct dep_ring *ring;

	if (likely(!READ_ONCE(inst->pending)))
		return false;
	ring = dep_instance_ring(inst);
	/* A post changes the word first, and then what is expected there. */
	return !ring || atomic64_read(ring->word) & DEVEPOLL_RING_COUNT;
}

/**
 * dep_instance_has_work() - is there anything for a waiter to do?
 * @inst: the instance; the answer is exact if it is locked, or else a hint
 *
 * Return: true if events are pending or files have to be polled.
 */
static inline bool dep_instance_has_work(const struct dep_instance *inst)
{
	return dep_instance_has_events(inst) ||
	       READ_ONCE(inst->ready.next) != &inst->ready;
}

#endif /* DEVEPOLL_PENDING_H */
