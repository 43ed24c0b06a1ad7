/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How an item is made, and how it is put into the interest list.  Each add
 * comes through here, so this stands in its callers.  Read the banner of
 * instance.h first.
 */
#ifndef DEVEPOLL_NEWITEM_H
#define DEVEPOLL_NEWITEM_H

#include <linux/err.h>
#include <linux/percpu_counter.h>
#include <linux/sched/user.h>

#include "core/fdmap.h"
#include "core/host.h"
#include "core/item.h"
#include "core/limits.h"

/* Takes the memory of an item. */
static __always_inline struct dep_item *
dep_newitem_take(struct dep_instance *inst, bool hosted, bool told)
{
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	if (unlikely(!hosted))
		return dep_host_new_lone(told);
	item = inst->stash;
	if (unlikely(!item))
		return dep_host_refill(inst);
	inst->stash = item->stashed;
	return item;
}

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
	item = dep_newitem_take(inst, hosted, told);
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
	struct dep_item **first;

	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	first = dep_fdmap_enter(&inst->interest, item->fd);
	if (likely(first && !*first)) {
		*first = item;
		item->hooked = true;
		item->owner->nr_items++;
		inst->nr_items++;
		dep_fdmap_settle(&inst->interest, inst->nr_items, inst->user);
		spin_unlock_irq(&inst->lock);
		return 0;
	}
	/* The number has other items, so no memory comes back. */
	if (first)
		dep_fdmap_erase(&inst->interest,
				dep_fdmap_leaf(&inst->interest, item->fd),
				item->fd, first);
	spin_unlock_irq(&inst->lock);
	return first ? -EEXIST : dep_item_hook(item, true);
}

#endif /* DEVEPOLL_NEWITEM_H */
