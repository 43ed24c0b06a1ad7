/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of items and watches.  The first item of a file and the watch of
 * the file lie in one object, the host.  Read the banner of instance.h first.
 */
#ifndef DEVEPOLL_HOST_H
#define DEVEPOLL_HOST_H

#include <linux/atomic.h>
#include <linux/container_of.h>
#include <linux/init.h>

#include "core/item.h"
#include "core/watch.h"

/**
 * struct dep_host - an item and room for the watch of its file
 * @item: the item; not used where a watch needs memory, but no item
 * @watch: the watch, if the item came first; otherwise, in @watch.next, the
 *	watch that the item is on
 */
struct dep_host {
	struct dep_item item;
	struct dep_watch watch;
};

struct dep_watch *dep_item_watch_elsewhere(struct dep_item *item);

/**
 * dep_host_of() - the host of an item
 * @item: an item with dep_item.hosted
 *
 * Return: the host.
 */
static inline struct dep_host *dep_host_of(struct dep_item *item)
{
	return container_of(item, struct dep_host, item);
}

/**
 * dep_item_watch() - the watch that an item is on
 * @item: an item
 *
 * Context: dep_bucket.lock held.
 * Return: the watch, or NULL.
 */
static inline struct dep_watch *dep_item_watch(struct dep_item *item)
{
	if (unlikely(item->watched != DEP_WATCHED_BY_HOST))
		return dep_item_watch_elsewhere(item);
	return &dep_host_of(item)->watch;
}

/**
 * dep_item_set_watch() - an item comes to a watch
 * @item: an item
 * @watch: the watch
 *
 * Context: dep_bucket.lock held.
 */
static inline void dep_item_set_watch(struct dep_item *item,
				      struct dep_watch *watch)
{
	item->watched = DEP_WATCHED_ELSEWHERE;
	if (!dep_item_hosted(item))
		dep_lone_of(item)->watch = watch;
	else if (watch == &dep_host_of(item)->watch)
		item->watched = DEP_WATCHED_BY_HOST;
	else
		dep_host_of(item)->watch.next = watch;
}

/**
 * dep_item_armed() - the events that ->poll() was called with for an item
 * @item: an item; dep_instance.mtx is held
 *
 * Return: where they stand.
 */
static inline u16 *dep_item_armed(struct dep_item *item)
{
	return likely(dep_item_hosted(item)) ? &dep_host_of(item)->watch.armed :
				      &dep_lone_of(item)->armed;
}

/**
 * dep_host_share() - the item and the watch of a host may end separately
 * @watch: the watch
 *
 * To be called before another item is put on the watch, and before somebody who
 * does not hold B may free the item.  dep_watch.users is 0 until then: whoever
 * frees the item frees the host, and ended the watch before.  From then on, it
 * is how many of the two are left, and whoever ends the last frees the host.
 *
 * Context: dep_bucket.lock held.
 */
static inline void dep_host_share(struct dep_watch *watch)
{
	if (!atomic_read(&watch->users))
		atomic_set(&watch->users, 2);
}

struct dep_item *dep_host_refill(struct dep_instance *inst);
struct dep_item *dep_host_new_lone(bool told);
void dep_item_free(struct dep_item *item);
void dep_item_recycle(struct dep_item *item);
void dep_item_free_several(struct dep_instance *inst, struct dep_item *first);
void dep_item_discard(struct dep_item *item);
void dep_host_empty_stash(struct dep_instance *inst);
struct dep_watch *dep_host_new_watch(void);
void dep_host_end_watch(struct dep_watch *watch);

int __init dep_host_cache_init(void);
void dep_host_cache_exit(void);

#endif /* DEVEPOLL_HOST_H */
