/* SPDX-License-Identifier: GPL-2.0 */
/* The early return of the wake function, before it takes a lock. */
#ifndef DEVEPOLL_EARLY_H
#define DEVEPOLL_EARLY_H

#include <linux/poll.h>

#include "core/instance.h"
#include "core/item.h"
#include "core/pending.h"
#include "core/trace.h"

/* What is known of an item whose file wakes us. */
enum watch_item {
	WATCH_ANY,
	/* the only one of its file, in a set without a ring */
	WATCH_ONE,
	/* the only one of its file, in a set with a ring */
	WATCH_RING,
};

/*
 * Are these events of an item in its slot of the ring?  If the program takes
 * them after we looked at the word, it looks at the file later still; if it
 * took them before, the word or the number of the set tells.
 */
static __always_inline bool item_is_in_ring(const struct dep_item *item,
					    const struct dep_instance *inst)
{
	const struct dep_ring *ring = dep_instance_ring(inst);

	if (READ_ONCE(ring->expected) != (u64)atomic64_read(ring->word))
		return false;
	/* Pairs with smp_wmb() in dep_ring_switch(). */
	smp_rmb();
	return READ_ONCE(item->snapshot) == READ_ONCE(ring->gen);
}

/**
 * dep_watch_may_return() - is there nothing to do for the only item of a file?
 * @item: the item
 * @inst: its instance, not locked: see the banner, Handshakes with the outside
 * @key: what the waker says
 * @kind: what is known of the item
 *
 * A trace shows everything.
 *
 * Return: true if the item asks for no event of the key, or all that it asks
 * for are pending already and nobody is to be told.
 */
static __always_inline bool
dep_watch_may_return(const struct dep_item *item,
		     const struct dep_instance *inst, __poll_t key,
		     enum watch_item kind)
{
	const u16 events = READ_ONCE(item->events) & (__force u16)key;

	if (!events)
		return (__force u16)key;
	if (kind == WATCH_RING) {
		if (!item_is_in_ring(item, inst))
			return false;
	} else if (READ_ONCE(item->snapshot) !=
		   READ_ONCE(inst->snapshot)) {
		return false;
	}
	/* Pairs with smp_wmb() where a sink writes the two. */
	smp_rmb();
	if (events & ~READ_ONCE(item->pending))
		return false;
	return !READ_ONCE(inst->nr_waiters) && !READ_ONCE(inst->polled) &&
	       !trace_devepoll_event_enabled();
}

#endif /* DEVEPOLL_EARLY_H */
