/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The items on a watch: a ring, of which the watch knows one, the first, and
 * whether there is another.
 */
#ifndef DEVEPOLL_MEMBERS_H
#define DEVEPOLL_MEMBERS_H

#include <linux/list.h>

#include "core/item.h"
#include "core/watch.h"

/**
 * dep_watch_next() - the item after another one
 * @watch: the watch; dep_watch.lock or dep_bucket.lock is held
 * @item: an item on it
 *
 * Return: the next item, or NULL after the last.
 */
static inline struct dep_item *dep_watch_next(const struct dep_watch *watch,
					      struct dep_item *item)
{
	struct dep_item *next = list_next_entry(item, link);

	return next == watch->first ? NULL : next;
}

/* All items on a watch; none may come or leave meanwhile. */
#define dep_watch_for_each(watch, item) \
	for ((item) = (watch)->first; (item); \
	     (item) = dep_watch_next(watch, item))

/* This one, and those behind it; none of them if it is NULL. */
#define dep_watch_for_each_from(watch, item) \
	for (; (item); (item) = dep_watch_next(watch, item))

/**
 * dep_watch_enter() - put an item behind the others
 * @watch: the watch, which has an item; dep_watch.lock is held
 * @item: the item
 */
static inline void dep_watch_enter(struct dep_watch *watch,
				   struct dep_item *item)
{
	list_add_tail(&item->link, &watch->first->link);
}

/**
 * dep_watch_leave() - take an item off a watch
 * @watch: the watch; dep_watch.lock is held, or no wake function runs
 * @item: the item
 */
static inline void dep_watch_leave(struct dep_watch *watch,
				   struct dep_item *item)
{
	if (watch->first == item)
		WRITE_ONCE(watch->first, dep_watch_next(watch, item));
	__list_del_entry(&item->link);
}

/**
 * dep_watch_rotate() - put an item on a watch behind the others
 * @watch: the watch; dep_watch.lock is held
 * @item: the item
 */
static inline void dep_watch_rotate(struct dep_watch *watch,
				    struct dep_item *item)
{
	if (watch->first == item)
		WRITE_ONCE(watch->first, list_next_entry(item, link));
	else
		list_move_tail(&item->link, &watch->first->link);
}

/**
 * dep_watch_tell_sole() - let wake functions take the only item without W
 * @watch: the watch, with an item
 *
 * A wake function reads dep_watch.first, and then dep_watch.sole; both must be of
 * the same item.  So whoever puts a second item on the watch clears the latter
 * before, and this is not called before each wake function has returned that may
 * have read what was there until then: see dep_watch_flush().
 *
 * Context: dep_bucket.lock held, or nobody can find the watch.
 */
static inline void dep_watch_tell_sole(struct dep_watch *watch)
{
	struct dep_item *item = watch->first;

	if (watch->nr_items == 1 && !dep_item_is_exclusive(item))
		/* What the item is, before it can be found. */
		smp_store_release(&watch->sole, item->inst);
}

#endif /* DEVEPOLL_MEMBERS_H */
