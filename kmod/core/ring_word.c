// SPDX-License-Identifier: GPL-2.0
/*
 * The word of a ring: what the program has done to it, and the flag in it.
 * Read the banner of ring/ring.c first.
 */
#include "core/holds.h"
#include "core/readers.h"
#include "core/ring_word.h"

/**
 * dep_ring_taken() - the program has taken what was pending
 * @inst: the instance, locked
 * @seen: the word, which names the empty set that is there for it
 */
void dep_ring_taken(struct dep_instance *inst, u64 seen)
{
	dep_ring_switch(inst, inst->ring, seen);
	dep_ring_count_taken(inst, 0);
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
	/* Whatever the value is: this can't fail, and changes nothing else. */
	atomic64_or(DEVEPOLL_RING_ASK, ring->word);
	seen = dep_ring_load(ring);
	if (likely(seen == (ring->expected | DEVEPOLL_RING_ASK)))
		WRITE_ONCE(ring->expected, seen);
	else
		dep_ring_taken(inst, seen);
}

/**
 * dep_ring_switch_held() - dep_ring_switch() where fds report their close
 * @inst: the instance, locked
 * @to: the set that the program has given back
 */
void dep_ring_switch_held(struct dep_instance *inst, u32 to)
{
	const struct dep_readers *readers = dep_instance_readers(inst);
	const struct dep_ring *ring = inst->ring;

	if (readers && readers->sets)
		dep_reader_switch(inst, ((void *)ring->set - ring->slots) /
					ring->stride, to);
}
