// SPDX-License-Identifier: GPL-2.0
/*
 * The ring: the sink of a set whose program takes events from memory.
 *
 * The program maps a word, to read and write, and slot sets, to read.  The
 * word says which set is being filled and how many of its slots are.  A thread
 * takes all of them by one atomic exchange of the word for the number of an
 * empty set that it has read, and owns the set that it got until its next
 * exchange.  So there is a set for each thread that takes, and one more.
 *
 * Nothing that the program writes is trusted.  The word is only compared with
 * what we wrote there: if it is something else, the program has taken the
 * pending events, and only the number of the next set is taken from the word,
 * if it is valid.  The worst that a lie can do is to lose the liar's events.
 *
 * An item has one slot in each set that is filled, so repeated events of one fd
 * take no room.  Events without a slot, and all that are not edges with trusted
 * keys, go to the ready list, and the word gets DEVEPOLL_RING_ASK: the program
 * has to make a request.
 *
 * Each of our changes to the word is one atomic instruction, never a store: of
 * two threads that see events, the second may exchange the word at any moment
 * after the first has taken them.
 *
 * Barriers, and what they pair with in the program:
 *
 *  A. slot stored, then the word (full barrier of cmpxchg) | the word exchanged
 *     with acquire, then slots loaded: a slot that is counted is seen whole.
 *  B. word loaded with acquire, then slot stored | slots loaded, then the word
 *     exchanged with release: a set that we fill was read to its end.
 *  C. slot's events stored, smp_mb(), word loaded | word exchanged, full
 *     barrier, slot's events loaded: either we see that the set was taken, and
 *     post anew, or the program sees the events.
 *  D. what happened to the file, smp_mb() of C, word loaded | word exchanged,
 *     full barrier, the file read: the same for an event that changes nothing
 *     in its slot.
 *  E. what happened to the file, smp_mb() of dep_watch_wake(), word loaded |
 *     word exchanged, full barrier, the file read: the same without our lock
 *     (item_is_in_ring()).
 */
#include <linux/sched.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/holds.h"
#include "core/host.h"
#include "core/limits.h"
#include "core/ring_word.h"
#include "ring/ring.h"

/*
 * Keeps a closed item, off the ready list, whose last event is in a slot, until
 * the program has taken it.
 */
static void ring_put_closed(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;

	lockdep_assert_held(&inst->lock);
	list_add_tail(&item->ready, &inst->ring->told);
}

/**
 * dep_ring_drop() - free closed items whose last event is in a slot
 * @inst: the instance, with a ring
 * @all: also those that the program has not taken: it has no other items
 *
 * They are in the order of their slots.
 *
 * Context: process.
 */
void dep_ring_drop(struct dep_instance *inst, bool all)
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
		/* A one-shot item stays disabled: see pass_is_spent(). */
		item->revents |= events;
	}
	if (!list_empty(&item->ready))
		return;
	dep_item_list(item);
	list_move(&item->ready, at);
}

/*
 * Writes the word if it is still what was seen; or the program was faster, and
 * has taken what was pending: then returns false.
 */
static __always_inline bool ring_write_word(struct dep_instance *inst,
					    u64 seen, u64 next)
{
	struct dep_ring *ring = inst->ring;

	lockdep_assert_held(&inst->lock);
	if (atomic64_cmpxchg(ring->word, seen, next) != seen) {
		dep_ring_taken(inst, dep_ring_load(ring));
		return false;
	}
	WRITE_ONCE(ring->expected, next);
	return true;
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
	if (!ring_write_word(inst, seen, next)) {
		dep_ring_flag(inst);
		return true;
	}
	while (nr-- > kept) {
		if (ring->items[nr])
			ring_relist(ring->items[nr], ring->set[nr].events, at);
	}
	return !kept;
}

/*
 * Begins a pass over the ready list.  While one that posts to the ring runs,
 * the word no longer says that files have to be polled.  If it does not post,
 * what the program has not taken goes back to the list; while it runs, the word
 * says so, since what the pass has taken is in neither.  M and L are held; L is
 * dropped in between.
 */
static void ring_begin_pass(struct dep_instance *inst, bool posting)
	__must_hold(&inst->lock)
{
	struct dep_ring *ring = inst->ring;
	u32 left = ring->room / DEP_LOOK_BATCH + 1;
	u64 seen, next;

	lockdep_assert_held(&inst->mtx);
	if (!list_empty(&ring->told)) {
		spin_unlock_irq(&inst->lock);
		dep_ring_drop(inst, false);
		spin_lock_irq(&inst->lock);
	}
	if (posting) {
		seen = dep_ring_sync(inst);
		next = ring->expected & ~(u64)DEVEPOLL_RING_ASK;
		if (next != seen)
			ring_write_word(inst, seen, next);
		return;
	}
	/* Some of those that come meanwhile may stay. */
	while (left-- && !ring_recall_some(inst)) {
		spin_unlock_irq(&inst->lock);
		cond_resched();
		spin_lock_irq(&inst->lock);
	}
}

/* Ends it: the word says whether an item is left on the list.  M, L are held. */
static void ring_end_pass(struct dep_instance *inst)
{
	u64 seen = dep_ring_sync(inst), next = seen & ~(u64)DEVEPOLL_RING_ASK;

	lockdep_assert_held(&inst->mtx);
	if (!list_empty(&inst->ready))
		dep_ring_flag(inst);
	else if (next != seen)
		ring_write_word(inst, seen, next);
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

static_assert(sizeof(struct devepoll_event) == 16);

/* Gives an item a slot, unless the program has written the word since. */
static bool ring_append(struct dep_instance *inst, struct dep_item *item,
			u32 events, u64 seen)
{
	return dep_ring_append(inst, item, events, dep_events_settled(events),
			       seen, inst->ring->expected, false);
}

/* The same after the program was faster. */
static noinline bool ring_append_again(struct dep_instance *inst,
				       struct dep_item *item, u32 events)
{
	/* A cmpxchg that fails orders nothing. */
	u64 seen = dep_ring_load(inst->ring);

	dep_ring_taken(inst, seen);
	/* The set is empty. */
	if (ring_append(inst, item, events, seen))
		return true;
	dep_ring_sync(inst);
	return false;
}

/* Adds events to those in the slot of an item; false if it was taken. */
static bool ring_add(struct dep_instance *inst, struct dep_item *item,
		     u32 events)
{
	struct dep_ring *ring = inst->ring;
	struct devepoll_event *slot = &ring->set[item->slot];
	u64 seen;

	WRITE_ONCE(slot->events, slot->events | events);
	/* Barriers C and D of the banner. */
	smp_mb();
	seen = dep_ring_load(ring);
	if (likely(seen == ring->expected)) {
		WRITE_ONCE(item->pending,
			   item->pending | dep_events_settled(events));
		return true;
	}
	/* Taken, with these events or without: an event may come twice. */
	dep_ring_taken(inst, seen);
	return false;
}

static bool ring_put(struct dep_item *item, u32 events)
{
	struct dep_instance *inst = item->inst;
	struct dep_ring *ring = inst->ring;
	u64 seen = dep_ring_sync(inst);

	lockdep_assert_held(&inst->lock);
	if (dep_ring_is_pending(ring, item)) {
		if (ring_add(inst, item, events))
			return true;
		seen = ring->expected;
	}
	if (unlikely(!dep_ring_has_room(ring)))
		return false;
	return likely(ring_append(inst, item, events, seen)) ||
	       ring_append_again(inst, item, events);
}

/*
 * Adds events to the slot of an item, hooked or closed, in any context; L is
 * held.  Returns false if there is no slot for it.
 */
static bool ring_put_item(struct dep_item *item, u32 events)
{
	bool done = ring_put(item, events);

	if (unlikely(item->mode & DEP_MODE_HELD) && done)
		dep_reader_post(item);
	return done;
}

/* Puts events on the ready list that the ring can't take. */
static void ring_list(struct dep_item *item, u16 events, bool told)
{
	if (told)
		item->revents |= events;
	else
		item->must_poll = true;
	dep_item_list(item);
	dep_ring_flag(item->inst);
}

/*
 * Posting disarms a one-shot item.  While a pass may be polling it, it must
 * wait for the end of the pass, or it would be reported twice.
 */
static void ring_post_once(struct dep_item *item, u16 events)
{
	if (READ_ONCE(item->inst->ask_seq) & 1 ||
	    !ring_put_item(item, events)) {
		ring_list(item, events, true);
		return;
	}
	WRITE_ONCE(item->events, 0);
	/* If it is on the list, it has had its event now. */
	item->revents = 0;
}

static void ring_post(struct dep_instance *inst, struct dep_item *item,
		      u16 events)
{
	if (DEP_HAS_FAST &&
	    likely(dep_ring_post_first(inst, item, events)))
		return;
	if (unlikely(!(item->mode & DEP_MODE_TRUST))) {
		ring_list(item, events, item->mode & DEP_MODE_KEEP);
		return;
	}
	/* Whoever polls the file learns of all its events. */
	if (unlikely(events & DEP_NEEDS_POLL))
		ring_list(item, 0, false);
	else if (item->mode & DEP_MODE_ONESHOT)
		ring_post_once(item, events);
	else if (!ring_put_item(item, events))
		ring_list(item, events, true);
}

/*
 * The slot stays, without events: if another slot were moved there, the program
 * could read half of each.
 */
static void ring_forget(struct dep_instance *inst, struct dep_item *item)
{
	struct dep_ring *ring = inst->ring;
	u64 seen;

	lockdep_assert_held(&inst->lock);
	item->revents = 0;
	dep_ring_sync(inst);
	if (dep_ring_is_pending(ring, item)) {
		/*
		 * If it is being taken just now, the program may see the event
		 * or not.
		 */
		WRITE_ONCE(ring->set[item->slot].events, 0);
		ring->items[item->slot] = NULL;
		dep_ring_add_count(inst, -1);
		/*
		 * Only withdrawn slots are left, which are free again; or the
		 * program, which has nothing to take, would find a full set.
		 */
		seen = ring->expected;
		if (!inst->pending)
			ring_write_word(inst, seen,
					seen & ~(u64)DEVEPOLL_RING_COUNT);
	}
	WRITE_ONCE(item->snapshot, 0);
}

/* Takes back the events that the program has not taken. */
static u16 ring_withdraw(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	struct dep_ring *ring = inst->ring;
	u16 events = 0;

	dep_ring_sync(inst);
	if (dep_ring_is_pending(ring, item))
		events = ring->set[item->slot].events;
	ring_forget(inst, item);
	return events;
}

/* The fast path of waits (fast.c) does not know of the ring. */
static int ring_join(struct dep_item *item)
{
	item->mode |= DEP_MODE_RING;
	return 0;
}

/**
 * dep_ring_look() - count the events in the ring
 * @inst: the instance, locked, with a ring
 *
 * Return: the number of slots that the program has not taken, without withdrawn
 * ones.
 */
u32 dep_ring_look(struct dep_instance *inst)
{
	dep_ring_sync(inst);
	return inst->pending;
}

/**
 * dep_ring_is_full() - is there no slot left?
 * @inst: the instance, locked since dep_ring_look()
 *
 * Return: true if there is none; then the program has something to take.
 */
bool dep_ring_is_full(const struct dep_instance *inst)
{
	return !dep_ring_has_room(inst->ring);
}

static bool ring_is_full(struct dep_instance *inst)
{
	return dep_ring_look(inst) && dep_ring_is_full(inst);
}

/*
 * A wake-up without a key goes to the list, not to the sink.  ring_post() sorts
 * out the untrusted bits of trusted keys, so nothing else goes to the list
 * unnoticed.
 */
const struct dep_sink dep_ring_sink = {
	.needs_poll = 0,
	.post = ring_post,
	.forget = ring_forget,
	.join = ring_join,
	.listed = dep_ring_flag,
	.begin_pass = ring_begin_pass,
	.end_pass = ring_end_pass,
	.put = ring_put_item,
	.put_closed = ring_put_closed,
	.is_full = ring_is_full,
	.withdraw = ring_withdraw,
};

/**
 * dep_ring_filling() - which slot set is being filled?
 * @inst: the instance, not locked, with a ring
 *
 * Context: process.
 * Return: its number, as of now.
 */
u32 dep_ring_filling(struct dep_instance *inst)
{
	struct dep_ring *ring = inst->ring;
	u32 bytes;

	spin_lock_irq(&inst->lock);
	dep_ring_sync(inst);
	bytes = (void *)ring->set - ring->slots;
	spin_unlock_irq(&inst->lock);
	return bytes / ring->stride;
}
