/* SPDX-License-Identifier: GPL-2.0 */
/* The items on a watch: a ring, of which the watch knows one, the first. */
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
 *
 * Its link stays as it is: a wake function that has just found it as the first
 * must not take it for the only one.
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

#endif /* DEVEPOLL_MEMBERS_H */
