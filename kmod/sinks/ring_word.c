// SPDX-License-Identifier: GPL-2.0
/*
 * The word of a ring: what the program has done to it, and the flag in it.
 * Read the banner of ring.c first.
 */
#include <linux/devepoll.h>

#include "sinks/ring_word.h"

/* Of the word: the number of the set, which is not believed. */
static u32 ring_set_of(u64 word)
{
	return word >> DEVEPOLL_RING_SET_SHIFT;
}

/**
 * dep_ring_taken() - the program has taken what was pending
 * @inst: the instance, locked
 * @seen: the word, which names the empty set that is there for it
 */
void dep_ring_taken(struct dep_instance *inst, u64 seen)
{
	struct dep_ring *ring = inst->ring;
	u32 nr = ring_set_of(seen), taken = inst->pending;

	lockdep_assert_held(&inst->lock);
	/* Whoever gives a set that there is not loses what it had. */
	if (unlikely(nr >= ring->nr_sets))
		nr = 0;
	ring->set = ring->slots + (size_t)nr * ring->room;
	/* Two threads may have taken before and after we set the flag. */
	WRITE_ONCE(ring->expected, (u64)nr << DEVEPOLL_RING_SET_SHIFT |
		   (seen & DEVEPOLL_RING_ASK));
	ring->gen++;
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
u64 dep_ring_sync(struct dep_instance *inst)
{
	u64 seen = dep_ring_load(inst->ring);

	lockdep_assert_held(&inst->lock);
	if (seen != inst->ring->expected)
		dep_ring_taken(inst, seen);
	return seen;
}

/**
 * dep_ring_flag() - tell the program that it has to make a request
 * @inst: the instance, locked
 *
 * Something is on the ready list, or will be before the lock is released.
 */
void dep_ring_flag(struct dep_instance *inst)
{
	struct dep_ring *ring = inst->ring;
	u64 seen;

	lockdep_assert_held(&inst->lock);
	dep_ring_sync(inst);
	if (ring->expected & DEVEPOLL_RING_ASK)
		return;
	/* Whatever is there: it can't fail, and it changes nothing else. */
	atomic64_or(DEVEPOLL_RING_ASK, ring->word);
	seen = dep_ring_load(ring);
	if (likely(seen == (ring->expected | DEVEPOLL_RING_ASK)))
		WRITE_ONCE(ring->expected, seen);
	else
		dep_ring_taken(inst, seen);
}
