// SPDX-License-Identifier: GPL-2.0
/*
 * Taking back what the program has not taken out of its ring, for a pass over
 * the ready list; and closed items whose last event is in a slot.
 * Read the banner of ring.c first.
 */
#include <linux/sched.h>

#include <linux/devepoll.h>

#include "core/host.h"
#include "core/limits.h"
#include "core/ring_word.h"
#include "ring/ring.h"

/**
 * dep_ring_put_closed() - keep a closed item whose last event is in the ring
 * @item: closed, off the ready list, and in a slot
 *
 * The item stays until the program has taken the slot.  Its instance is locked.
 */
void dep_ring_put_closed(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;

	lockdep_assert_held(&inst->lock);
	list_add_tail(&item->ready, &inst->ring->told);
}

/* Frees closed items whose slots were taken; they are in the order of slots. */
static void ring_drop_told(struct dep_instance *inst, bool all)
{
	struct dep_ring *ring = inst->ring;
	struct dep_item *item;

	do {
		spin_lock_irq(&inst->lock);
		dep_ring_sync(inst);
		item = list_first_entry_or_null(&ring->told, struct dep_item,
						ready);
		if (item && (all || !dep_ring_is_pending(ring, item)))
			list_del_init(&item->ready);
		else
			item = NULL;
		spin_unlock_irq(&inst->lock);
		if (item)
			dep_item_discard(item);
		cond_resched();
	} while (item);
}

/* Takes an item out of its slot and puts it on the ready list, behind @at. */
static void ring_relist(struct dep_item *item, u32 events, struct list_head *at)
{
	struct dep_instance *inst = item->inst;

	WRITE_ONCE(item->snapshot, 0);
	/*
	 * The pass that begins must take it, even if it continues an earlier
	 * one.
	 */
	item->pass = 0;
	dep_ring_add_count(inst, -1);
	if (item->mode & DEP_MODE_CLOSED) {
		list_del_init(&item->ready);
	} else {
		/* A one-shot item stays disabled: see dep_pass_take_spent(). */
		item->revents |= events;
	}
	if (!list_empty(&item->ready))
		return;
	dep_item_list(item);
	list_move(&item->ready, at);
}

/* Takes back the last few slots; false if there are more. */
static bool ring_recall_some(struct dep_instance *inst)
{
	/* They go behind items that have waited longer, in their order. */
	struct list_head *at = inst->ready.prev;
	struct dep_ring *ring = inst->ring;
	u64 seen = dep_ring_sync(inst), next;
	u32 nr = ring->expected & DEVEPOLL_RING_COUNT;
	u32 kept = nr - min_t(u32, nr, DEP_LOOK_BATCH);

	/* Until the pass ends, who looks at the word has to make a request. */
	next = (ring->expected & ~(u64)DEVEPOLL_RING_COUNT) | kept |
	       DEVEPOLL_RING_ASK;
	if (next == seen)
		return true;
	if (atomic64_cmpxchg(ring->word, seen, next) != seen) {
		/* The program was faster. */
		dep_ring_taken(inst, dep_ring_load(ring));
		dep_ring_flag(inst);
		return true;
	}
	WRITE_ONCE(ring->expected, next);
	while (nr-- > kept) {
		if (ring->items[nr])
			ring_relist(ring->items[nr], ring->set[nr].events, at);
	}
	return !kept;
}

/**
 * dep_ring_begin_pass() - begin a pass over the ready list
 * @inst: the instance, with a ring
 * @posting: the pass posts to the ring; otherwise, items there go to the list
 *
 * While a pass posts, the word no longer says that files have to be polled.
 * While another one runs, it says so: what the pass has taken off the list and
 * out of the ring is in neither.
 *
 * Context: process, dep_instance.mtx held, and dep_instance.lock, which it
 * drops in between.
 */
void dep_ring_begin_pass(struct dep_instance *inst, bool posting)
	__must_hold(&inst->lock)
{
	struct dep_ring *ring = inst->ring;
	u32 left = ring->room / DEP_LOOK_BATCH + 1;
	u64 seen, next;

	lockdep_assert_held(&inst->mtx);
	if (!list_empty(&ring->told)) {
		spin_unlock_irq(&inst->lock);
		ring_drop_told(inst, false);
		spin_lock_irq(&inst->lock);
	}
	if (posting) {
		seen = dep_ring_sync(inst);
		next = ring->expected & ~(u64)DEVEPOLL_RING_ASK;
		if (next != seen &&
		    atomic64_cmpxchg(ring->word, seen, next) == seen)
			WRITE_ONCE(ring->expected, next);
		return;
	}
	/* Some of those that come meanwhile may stay. */
	while (left-- && !ring_recall_some(inst)) {
		spin_unlock_irq(&inst->lock);
		cond_resched();
		spin_lock_irq(&inst->lock);
	}
}

/**
 * dep_ring_end_pass() - end a pass over the ready list
 * @inst: the instance, locked, with a ring
 *
 * The word says whether an item is left on the list.
 *
 * Context: dep_instance.mtx held.
 */
void dep_ring_end_pass(struct dep_instance *inst)
{
	struct dep_ring *ring = inst->ring;
	u64 seen = dep_ring_sync(inst), next = seen & ~(u64)DEVEPOLL_RING_ASK;

	lockdep_assert_held(&inst->mtx);
	if (!list_empty(&inst->ready))
		dep_ring_flag(inst);
	else if (next == seen)
		return;
	else if (atomic64_cmpxchg(ring->word, seen, next) == seen)
		WRITE_ONCE(ring->expected, next);
	else
		dep_ring_taken(inst, dep_ring_load(ring));
}

/**
 * dep_ring_end_call() - end a call that waits, or the making of a ring
 * @inst: the instance, locked, with a ring
 *
 * If an item is left on the list, the word says so.
 */
void dep_ring_end_call(struct dep_instance *inst)
{
	if (!list_empty(&inst->ready))
		dep_ring_flag(inst);
	else
		dep_ring_sync(inst);
}

/**
 * dep_ring_drop() - free all closed items whose last event is in a slot
 * @inst: the instance, with a ring; it has no other items
 *
 * Context: process.
 */
void dep_ring_drop(struct dep_instance *inst)
{
	ring_drop_told(inst, true);
}
