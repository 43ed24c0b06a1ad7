/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of items and watches.  The first item of a file and the watch of
 * the file lie in one object, the host.  Read the banner of instance.h first.
 */
#ifndef DEVEPOLL_HOST_H
#define DEVEPOLL_HOST_H

#include <linux/err.h>
#include <linux/init.h>
#include <linux/percpu_counter.h>
#include <linux/sched/user.h>

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
int dep_item_hook(struct dep_item *item, bool alone);
bool dep_item_has_many_peers(const struct dep_item *first);
void dep_item_free(struct dep_item *item);
void dep_item_recycle(struct dep_item *item);
void dep_item_free_several(struct dep_instance *inst, struct dep_item *first);
void dep_item_discard(struct dep_item *item);
void dep_host_free_unused(struct dep_instance *inst);
struct dep_watch *dep_host_new_watch(void);
void dep_host_end_watch(struct dep_watch *watch);

int __init dep_host_cache_init(void);
void dep_host_cache_exit(void);

/*
 * How an item is made and put into the interest list: this stands in the
 * callers, since each add needs it.
 */

/**
 * dep_item_new() - make an item and charge it to the instance's user
 * @inst: the instance
 * @file: the file that @fd names; the caller has a reference
 * @fd: the number
 * @events: the events asked for
 * @hosted: it gets a host: the file seems to have no watch, and the number has
 *	no item; it is no set and not exclusive, and the sink keeps nothing
 *	beside it
 * @told: not @hosted, and the caller gives it DEP_MODE_HELD
 *
 * Context: process, dep_instance.mtx held.
 * Return: the item, owned by the caller and not hooked; or an ERR_PTR:
 * -ENOSPC: the user's limit of watches is reached;
 * -ENOMEM: no memory.
 */
static __always_inline struct dep_item *
dep_item_new(struct dep_instance *inst, struct file *file, int fd, u16 events,
	     bool hosted, bool told)
{
	struct percpu_counter *watches = &inst->user->epoll_watches;
	long most = min_t(unsigned long, LONG_MAX,
			  READ_ONCE(dep_max_user_watches));
	struct dep_item *item;

	/* Such a counter is read without its lock, by epoll as well. */
	if (data_race(percpu_counter_compare(watches, most)) >= 0)
		return ERR_PTR(-ENOSPC);
	lockdep_assert_held(&inst->mtx);
	item = inst->free_hosts;
	if (unlikely(!hosted))
		item = dep_host_new_lone(told);
	else if (likely(item))
		inst->free_hosts = item->next_free;
	else
		item = dep_host_refill(inst);
	if (unlikely(!item))
		return ERR_PTR(-ENOMEM);
	percpu_counter_inc(watches);

	/* Nothing of it is set but what dep_host_new_lone() sets. */
	item->hosted = hosted;
	if (likely(hosted))
		atomic_set(&dep_host_of(item)->watch.users, 0);
	INIT_LIST_HEAD(&item->link);
	INIT_LIST_HEAD(&item->ready);
	item->inst = inst;
	item->file = file;
	item->snapshot = 0;
	item->slot = 0;
	item->fd = fd;
	item->events = events;
	item->revents = 0;
	item->pending = 0;
	*dep_item_armed(item) = events;
	item->hooked = false;
	item->must_poll = false;
	item->cut = false;
	item->watched = DEP_WATCHED_NOT;
	item->pass = 0;
	item->mode = 0;
	item->data = 0;
	item->owner = NULL;
	item->chosen = 0;
	item->handover = 0;
	return item;
}

/*
 * Puts an item before the others of its number, or, if it is to be @alone, there
 * if there is none; -EAGAIN if dep_fdmap_grow() has to make room first.
 */
static __always_inline int dep_item_insert(struct dep_item *item, bool alone)
{
	struct dep_instance *inst = item->inst;
	struct dep_item **first;

	lockdep_assert_held(&inst->lock);
	first = dep_fdmap_enter(&inst->interest, item->fd);
	if (unlikely(!first))
		return -EAGAIN;
	if (unlikely(*first) && (alone || dep_item_has_many_peers(*first))) {
		/* The number has other items, so no memory comes back. */
		dep_fdmap_erase(&inst->interest,
				dep_fdmap_leaf(&inst->interest, item->fd),
				item->fd, first);
		return alone ? -EEXIST : -ENOSPC;
	}
	/* One with a host is alone. */
	if (!alone && !dep_item_hosted(item))
		dep_lone_of(item)->peer = *first;
	*first = item;
	item->hooked = true;
	item->owner->nr_items++;
	inst->nr_items++;
	dep_fdmap_settle(&inst->interest, inst->nr_items, inst->user);
	return 0;
}

/**
 * dep_item_hook_alone() - dep_item_hook() of an item that is to be alone
 * @item: as for dep_item_hook()
 *
 * Context: process, dep_instance.mtx held.
 * Return: as dep_item_hook().
 */
static __always_inline int dep_item_hook_alone(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	int err;

	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	err = dep_item_insert(item, true);
	spin_unlock_irq(&inst->lock);
	return likely(err != -EAGAIN) ? err : dep_item_hook(item, true);
}

#endif /* DEVEPOLL_HOST_H */
