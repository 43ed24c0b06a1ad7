// SPDX-License-Identifier: GPL-2.0
/*
 * The ring: the sink of a set whose program takes events from memory.
 *
 * The program maps a word, to read and write, and slot sets, to read.  The word
 * tells which set is being filled and how many of its slots are.  A thread
 * takes all of them by one exchange of the word for the number of a set that it
 * has read, with nothing in it, and owns the one that it was given until its
 * next exchange.  So there is a set for each thread that takes, and one more.
 *
 * Nothing that the program writes is believed.  What it may have written to the
 * word is only compared with what we wrote there: if it is something else, the
 * program has taken what was pending, and only the number of the next set comes
 * from the word, if it is one.  What a lie can do is to lose the liar's events.
 *
 * An item has one slot in each set that is filled, so repeated events of one fd
 * take no room.  What finds no slot goes to the ready list, with all that is
 * not an edge told by trusted keys, and the word gets DEVEPOLL_RING_ASK: the
 * program is to make a request.
 *
 * Every change of ours to the word is one atomic instruction, never a store: of
 * two threads that see events the second may exchange the word when the first
 * has taken them, at any moment.
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
 */
#include <linux/devepoll.h>

#include "sinks/ring.h"
#include "sinks/ring_word.h"

/* How often a post tries: the program may take between our look and it. */
#define RING_TRIES	2

static_assert(sizeof(struct devepoll_event) == 16);

/* Gives an item a slot; false if there is none, or the program is too fast. */
static bool ring_append(struct dep_item *item, u32 events, u64 seen)
{
	struct dep_instance *inst = item->inst;
	struct dep_ring *ring = inst->ring;
	int tries;

	for (tries = 0; tries < RING_TRIES; tries++) {
		u32 nr = ring->expected & DEVEPOLL_RING_COUNT;
		struct devepoll_event *slot = &ring->set[nr];
		u64 next = ring->expected + 1, found;

		if (nr >= ring->room)
			return false;
		WRITE_ONCE(slot->data, item->data);
		WRITE_ONCE(slot->events, events);
		WRITE_ONCE(slot->fd, item->fd);
		/* A. */
		found = atomic64_cmpxchg(ring->word, seen, next);
		if (likely(found == seen)) {
			WRITE_ONCE(ring->expected, next);
			ring->items[nr] = item;
			item->slot = nr;
			item->snapshot = ring->gen;
			dep_ring_count(inst, 1);
			return true;
		}
		/* One that failed orders nothing. */
		seen = dep_ring_load(ring);
		dep_ring_taken(inst, seen);
	}
	return false;
}

/**
 * dep_ring_put() - let the program find an event
 * @item: the item, hooked or closed; its instance has a ring and is locked
 * @events: the events, added to those of its slot
 *
 * Context: any.
 * Return: false if there is no slot for it.
 */
bool dep_ring_put(struct dep_item *item, u32 events)
{
	struct dep_instance *inst = item->inst;
	struct dep_ring *ring = inst->ring;
	u64 seen = dep_ring_sync(inst);

	lockdep_assert_held(&inst->lock);
	if (dep_ring_is_pending(ring, item)) {
		struct devepoll_event *slot = &ring->set[item->slot];

		WRITE_ONCE(slot->events, slot->events | events);
		/* C and D. */
		smp_mb();
		seen = dep_ring_load(ring);
		if (likely(seen == ring->expected))
			return true;
		/* Taken, with these events or without: one may come twice. */
		dep_ring_taken(inst, seen);
	}
	return ring_append(item, events, seen);
}

/* Puts on the ready list what the ring does not take. */
static noinline void ring_list(struct dep_item *item, u16 events, bool told)
{
	if (told)
		item->revents |= events;
	else
		item->must_poll = true;
	dep_item_list(item);
	dep_ring_flag(item->inst);
}

/*
 * One-shot is disarmed by this.  One that a pass may ask this moment must wait
 * for its end: it would be told twice.
 */
static noinline void ring_post_once(struct dep_item *item, u16 events)
{
	if (item->inst->ask_seq & 1 || !dep_ring_put(item, events))
		ring_list(item, events, true);
	else
		item->events = 0;
}

static void ring_post_told(struct dep_item *item, u16 events)
{
	if (unlikely(item->mode & DEP_MODE_ONESHOT))
		ring_post_once(item, events);
	else if (unlikely(!dep_ring_put(item, events)))
		ring_list(item, events, true);
}

static void ring_post(struct dep_instance *inst, struct dep_item *item,
		      u16 events)
{
	const bool keep = item->mode & DEP_MODE_KEEP;
	u16 ask;

	lockdep_assert_held(&inst->lock);
	if (unlikely(!(item->mode & DEP_MODE_TRUST))) {
		ring_list(item, events, keep);
		return;
	}
	/* A key that claims these is not believed; a file that forgets is. */
	ask = keep ? 0 : events & DEP_NEEDS_POLL;
	events &= ~ask;
	if (unlikely(ask))
		ring_list(item, ask, false);
	if (likely(events))
		ring_post_told(item, events);
}

/*
 * Slots that say nothing are all that is left: they are free again, or the
 * program, which has nothing to take, would find a full set.
 */
static void ring_reuse(struct dep_instance *inst)
{
	struct dep_ring *ring = inst->ring;
	u64 seen = ring->expected, next = seen & ~(u64)DEVEPOLL_RING_COUNT;

	if (atomic64_cmpxchg(ring->word, seen, next) == seen)
		WRITE_ONCE(ring->expected, next);
	else
		dep_ring_taken(inst, dep_ring_load(ring));
}

/*
 * The slot stays, and says nothing: were another moved there, the program could
 * read half of each.
 */
static void ring_forget(struct dep_instance *inst, struct dep_item *item)
{
	struct dep_ring *ring = inst->ring;

	lockdep_assert_held(&inst->lock);
	item->revents = 0;
	dep_ring_sync(inst);
	if (dep_ring_is_pending(ring, item)) {
		/* If it is taken this moment, the program has it or not. */
		WRITE_ONCE(ring->set[item->slot].events, 0);
		ring->items[item->slot] = NULL;
		dep_ring_count(inst, -1);
		if (!inst->pending)
			ring_reuse(inst);
	}
	item->snapshot = 0;
}

/* The fast path of waits does not know of the ring. */
static int ring_join(struct dep_item *item)
{
	item->mode |= DEP_MODE_RING;
	return 0;
}

/*
 * Without a key no sink is told, but the item goes to the list.  Trusted keys
 * that are not to be believed are sorted out by ring_post(), so that nothing
 * else goes there without our knowledge.
 */
const struct dep_sink dep_ring_sink = {
	.needs_poll = 0,
	.post = ring_post,
	.forget = ring_forget,
	.join = ring_join,
	.listed = dep_ring_flag,
};

/**
 * dep_ring_look() - how many events are there for the program?
 * @inst: the instance, locked, with a ring
 *
 * Return: the number of slots that it has not taken, but for those withdrawn.
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
 * Return: true if so; then there is something for the program to take.
 */
bool dep_ring_is_full(const struct dep_instance *inst)
{
	const struct dep_ring *ring = inst->ring;

	return (ring->expected & DEVEPOLL_RING_COUNT) >= ring->room;
}
