/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items, which are the fds of an interest list.  Read the banner of instance.h
 * first.
 */
#ifndef DEVEPOLL_ITEM_H
#define DEVEPOLL_ITEM_H

#include <linux/lockdep.h>

#include "core/events.h"
#include "core/instance.h"
#include "core/sink.h"

/**
 * struct dep_extra - what a sink keeps for an item, outside the item
 * @charge: const: how many watches the item counts as
 * @retire: const: called with nothing held when the item is freed, which may be
 *	after its instance
 */
struct dep_extra {
	u32 charge;
	void (*retire)(struct dep_extra *extra);
};

/**
 * struct dep_item - one fd of an interest list
 *
 * Its first line is all that a wait touches of it, and all that a wake-up does
 * besides a line of the watch.
 *
 * @ready: L: in dep_instance.ready, or empty
 * @file: L (changed once, to NULL, under B+L or M+L): the file that the number
 *	named; a key, to be dereferenced only with a reference of one's own
 * @data: L (written under M+L): what the program wants to get back
 * @next_free: the next in dep_instance.free_hosts (M), .returned (L), or a
 *	clear (M)
 * @snapshot: L: the sink's: the snapshot in which @slot holds; in a ring
 *	dep_ring.gen
 * @slot: L: the sink's: where the item's event stands
 * @fd: const: the number
 * @events: L (written under M+L): the poll events asked for
 * @revents: L: the sink's: the events of the slot; in a set of the extended
 *	interface what the keys said or the file answered, not handed out yet
 * @pending: L, read without it by the wake function: the events that a wake-up
 *	need not report any more, as long as @snapshot is that of the instance
 * @hooked: L: in the interest list
 * @must_poll: L: on the ready list because of dep_item_needs_poll()
 * @chosen: L: exclusive, and it alone was given an event: DEP_CHOSEN_*
 * @handover: L: what @chosen was when it was unhooked
 * @hosted: const: it lies in a struct dep_host, and not in a struct dep_lone
 * @cut: the owner's, once unhooked: @leaf is to be freed with the item
 * @watched: B: which watch it is on: DEP_WATCHED_*
 * @pass: M: the last pass over the ready list that took it
 * @mode: L (written under M+L): DEP_MODE_*; DEP_MODE_CLOSED once it is closed,
 *	or, with DEP_MODE_STAY, buried
 * @link: B+W, but a wake function moves it under W alone: among the items of
 *	the watch: see files/bucket.h
 * @inst: const: the instance whose set this is
 * @owner: L (written under M+L), while hooked: who added it
 * @leaf: the owner's, once unhooked, with @cut: memory of the map of numbers
 */
struct dep_item {
	struct list_head ready;
	struct file *file;
	union {
		u64 data;
		struct dep_item *next_free;
	};
	u64 snapshot;
	/* Cleared together. */
	u16 revents;
	u16 pending;
	u16 events;
	/* Of one type, since sparse gives bits of bool a place of their own. */
	u8 hooked:1;
	u8 must_poll:1;
	u8 chosen:2;
	u8 handover:2;
	u8 hosted:1;
	u8 cut:1;
	u8 watched;
	u32 mode;
	int fd;
	u32 pass;
	u32 slot;
	/* The second line. */
	struct list_head link;
	struct dep_instance *inst;
	union {
		struct dep_owner *owner;
		struct dep_leaf *leaf;
	};
};

/**
 * dep_item_hosted() - does an item lie in a struct dep_host?
 * @item: the item
 *
 * This never changes, but bits beside it do, under L, which the caller may not
 * hold.
 *
 * Return: true if so; false if it lies in a struct dep_lone.
 */
static inline bool dep_item_hosted(const struct dep_item *item)
{
	/* See above: this bit never changes. */
	return data_race((bool)item->hosted);
}

/* Values of dep_item.watched. */
#define DEP_WATCHED_NOT		0
/* By the watch in the host, where the item is. */
#define DEP_WATCHED_BY_HOST	1
#define DEP_WATCHED_ELSEWHERE	2

/**
 * struct dep_lone - an item without a host
 *
 * What most items do not need is only here: another set watches the file
 * already, or it is the second of its number, or exclusive, or has an @extra.
 *
 * @item: the item
 * @watch: B: the watch of the file, from attach to detach
 * @armed: M: the events that ->poll() was called with so far
 * @taker: M: the task that took the event, with DEP_CHOSEN_TAKEN
 * @peer: L, while hooked: the next item of the same number, of another file
 * @nest: L: with DEP_MODE_NEST: the place of that set in this one
 * @extra: const: otherwise: what its sink keeps beside it, or NULL
 */
struct dep_lone {
	struct dep_item item;
	struct dep_watch *watch;
	u16 armed;
	pid_t taker;
	struct dep_item *peer;
	/* Only a signal set has extras, and no member of it is a set. */
	union {
		struct dep_nest *nest;
		struct dep_extra *extra;
	};
};

/**
 * struct dep_told - an item that reports its close: with DEP_MODE_HELD
 * @lone: the item
 * @first: L: the least number of those that were handed an event of it:
 *	dep_hold.clock; U64_MAX if there are none
 * @last: L: the largest of them, or 0
 */
struct dep_told {
	struct dep_lone lone;
	u64 first;
	u64 last;
};

/**
 * dep_lone_of() - what an item without a host has besides
 * @item: an item without dep_item.hosted
 *
 * Return: it.
 */
static inline struct dep_lone *dep_lone_of(const struct dep_item *item)
{
	return container_of(item, struct dep_lone, item);
}

/**
 * dep_item_peer() - the next item of the same number
 * @item: a hooked item; its instance is locked
 *
 * An item with a host is the only one of its number, or the last.
 *
 * Return: the next one, or NULL.
 */
static inline struct dep_item *dep_item_peer(const struct dep_item *item)
{
	return likely(dep_item_hosted(item)) ? NULL : dep_lone_of(item)->peer;
}

/**
 * dep_item_poll_mode() - must the file be polled whatever a key says?
 * @inst: the instance of the item
 * @mode: what the program asks for
 *
 * Return: %DEP_MODE_POLL if so, or 0.
 */
static inline u32 dep_item_poll_mode(const struct dep_instance *inst, u32 mode)
{
	return !(mode & DEP_MODE_TRUST) && inst->sink->needs_poll == U16_MAX ?
		       DEP_MODE_POLL : 0;
}

/**
 * dep_item_needs_poll() - the events for which the file must be polled
 * @inst: the instance of the item
 * @item: the item
 *
 * Return: the events, of those that a key may claim.
 */
static inline u16 dep_item_needs_poll(const struct dep_instance *inst,
				      const struct dep_item *item)
{
	return item->mode & DEP_MODE_POLL ? U16_MAX :
	       inst->sink->needs_poll & DEP_NEEDS_POLL;
}

/**
 * dep_item_is_exclusive() - does a wake-up choose among the items of its kind?
 * @item: the item
 *
 * Return: true if so; it stays so.
 */
static inline bool dep_item_is_exclusive(const struct dep_item *item)
{
	return item->mode & DEP_MODE_EXCLUSIVE;
}

/**
 * dep_item_is_listed_as_told() - is the ready list all that it needs?
 * @item: the item
 *
 * Return: true if its events go there as keys name them: it is trusted, and
 * there is no ring for them.
 */
static inline bool dep_item_is_listed_as_told(const struct dep_item *item)
{
	return (item->mode & (DEP_MODE_TRUST | DEP_MODE_RING)) ==
	       DEP_MODE_TRUST;
}

/* With the instance as an argument, they don't touch the item's second line. */

/**
 * dep_item_list_in() - put an item on the ready list
 * @inst: its instance, locked
 * @item: a hooked item, or one that is closed
 */
static inline void dep_item_list_in(struct dep_instance *inst,
				    struct dep_item *item)
{
	struct list_head *ready = &inst->ready, *last;

	lockdep_assert_held(&inst->lock);
	if (item->ready.next != &item->ready)
		return;
	/* list_add_tail() without its checks: each event comes through here. */
	last = ready->prev;
	item->ready.next = ready;
	item->ready.prev = last;
	ready->prev = &item->ready;
	WRITE_ONCE(last->next, &item->ready);
	inst->nr_ready++;
}

/**
 * dep_item_list() - dep_item_list_in() for a caller that has the item alone
 * @item: as there; its instance is locked
 */
static inline void dep_item_list(struct dep_item *item)
{
	dep_item_list_in(item->inst, item);
}

/**
 * dep_item_list_to_poll() - put an item on the ready list, to have it polled
 * @inst: its instance, locked
 * @item: a hooked item of which every event needs poll
 *
 * Until it is taken off again, no event of its file is news.
 */
static inline void dep_item_list_to_poll(struct dep_instance *inst,
					 struct dep_item *item)
{
	item->must_poll = true;
	dep_item_list_in(inst, item);
	/* As in dep_item_list_trusted(). */
	smp_wmb();
	WRITE_ONCE(item->pending, U16_MAX);
	WRITE_ONCE(item->snapshot, inst->snapshot);
}

/**
 * dep_item_list_trusted() - put an item on the ready list, whose key is trusted
 * @inst: its instance, locked
 * @item: a hooked item with DEP_MODE_TRUST
 * @events: what its file need not be polled for
 */
static inline void dep_item_list_trusted(struct dep_instance *inst,
					 struct dep_item *item, u16 events)
{
	item->revents |= events;
	dep_item_list_in(inst, item);
	/*
	 * After it is counted: a thread whose wake-up returns because of one of
	 * these finds the event.  Pairs with the two barriers in
	 * watch_may_return().
	 */
	smp_wmb();
	WRITE_ONCE(item->pending, item->revents);
	WRITE_ONCE(item->snapshot, inst->snapshot);
}

/**
 * dep_item_list_told() - put an item on the ready list, and tell the sink
 * @item: as for dep_item_list()
 */
static inline void dep_item_list_told(struct dep_item *item)
{
	const struct dep_sink *sink = item->inst->sink;

	dep_item_list(item);
	if (sink->listed)
		sink->listed(item->inst);
}

/**
 * dep_item_forget() - no event of an item is pending any more
 * @item: the item; its instance is locked and has no ring, in which it may have
 *	a slot
 *
 * The number of no snapshot is 0.  So the wake function learns from that alone
 * that an event is news.  The bits are cleared too, in one store.
 */
static inline void dep_item_forget(struct dep_item *item)
{
	lockdep_assert_held(&item->inst->lock);
	item->revents = 0;
	/* Marked like this, it stays one store with the other. */
	data_race(item->pending = 0);
	WRITE_ONCE(item->snapshot, 0);
}

/**
 * dep_item_unlist() - take an item off the ready list
 * @item: the item; its instance is locked
 */
static inline void dep_item_unlist(struct dep_item *item)
{
	lockdep_assert_held(&item->inst->lock);
	if (list_empty(&item->ready))
		return;
	list_del_init(&item->ready);
	if (item->inst->extended)
		WRITE_ONCE(item->pending, 0);
	item->inst->nr_ready--;
}

/**
 * dep_item_disable() - EPOLLONESHOT: report no more events until a change
 * @item: a hooked item; its instance is locked
 */
static inline void dep_item_disable(struct dep_item *item)
{
	lockdep_assert_held(&item->inst->lock);
	WRITE_ONCE(item->events, 0);
	item->revents = 0;
	dep_item_unlist(item);
}

/**
 * dep_item_extra() - what its sink keeps beside an item
 * @item: the item
 *
 * Return: it, or NULL.
 */
static inline struct dep_extra *dep_item_extra(const struct dep_item *item)
{
	if (likely(dep_item_hosted(item)) || item->mode & DEP_MODE_NEST)
		return NULL;
	return dep_lone_of(item)->extra;
}

/**
 * dep_item_charge() - how many watches of the user an item counts as
 * @item: the item
 *
 * Return: the number.
 */
static inline s64 dep_item_charge(const struct dep_item *item)
{
	const struct dep_extra *extra = dep_item_extra(item);

	return extra ? extra->charge : 1;
}

bool dep_item_unhook_from(struct dep_item *item, struct dep_leaf *leaf);
void dep_item_bury(struct dep_item *item);
void dep_item_list_closed(struct dep_item *item);
void dep_item_post(struct dep_item *item, u16 events, bool taking);
bool dep_item_is_open(const struct dep_instance *inst,
		      const struct dep_item *item, unsigned int fd);

/**
 * dep_item_unhook() - dep_item_unhook_from() by a caller that knows no leaf
 * @item: an item that can't be freed meanwhile; its instance is locked
 *
 * Return: as dep_item_unhook_from().
 */
static inline bool dep_item_unhook(struct dep_item *item)
{
	return dep_item_unhook_from(item, dep_fdmap_leaf(&item->inst->interest,
							 item->fd));
}

/**
 * dep_owner_last() - who added the last item of a set
 * @inst: the instance
 *
 * The owner stays in its place, even without items, as long as M is held.
 *
 * Context: dep_instance.mtx held, or its instance locked.
 * Return: the owner; its process may have ended.
 */
static inline struct dep_owner *dep_owner_last(const struct dep_instance *inst)
{
	return list_first_entry(&inst->owners, struct dep_owner, entry);
}

/**
 * dep_owner_recount() - the owners of a set have changed
 * @inst: the instance, which is locked
 *
 * As a rule there is one, and a wait need not look for that of each item.
 */
static inline void dep_owner_recount(struct dep_instance *inst)
{
	inst->owner_files = list_is_singular(&inst->owners) ?
				    dep_owner_last(inst)->files : NULL;
}

void dep_owner_end(struct dep_instance *inst, struct dep_owner *owner);
void dep_owner_leave(struct dep_instance *inst, struct dep_owner *owner);
void dep_owner_free_spare(struct dep_instance *inst);

#endif /* DEVEPOLL_ITEM_H */
