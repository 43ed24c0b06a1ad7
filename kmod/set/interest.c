// SPDX-License-Identifier: GPL-2.0
/*
 * The interest list: removing items, and finding that of a number for a caller
 * that may be one of several processes which share the set.  add.c adds items,
 * and control.c has the changes that programs request.
 */
#include <linux/fs.h>
#include <linux/sched.h>

#include "core/closing.h"
#include "core/host.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/readers.h"
#include "core/trace.h"
#include "files/table.h"
#include "set/interest.h"
#include "set/owner.h"

/**
 * dep_item_drop() - take an unhooked item off its watch
 * @item: the item; it may be freed after this
 * @tell: it may get a last event
 *
 * Context: process, with a reference on the set's file; dep_instance.mtx need
 * not be held.
 */
void dep_item_drop(struct dep_item *item, bool tell)
{
	struct dep_instance *inst = item->inst;
	struct dep_leaf *leaf;

	dep_watch_detach(item);
	if (!tell || !(item->mode & DEP_MODE_TELL_CLOSED)) {
		dep_item_recycle(item);
		return;
	}
	spin_lock_irq(&inst->lock);
	leaf = dep_item_close(item);
	spin_unlock_irq(&inst->lock);
	dep_fdmap_free_leaf(leaf);
}

static __always_inline struct dep_item *
interest_unhook(struct dep_instance *inst, int fd)
{
	struct dep_leaf *leaf;
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	leaf = dep_fdmap_leaf(&inst->interest, fd);
	item = dep_owner_claim(dep_fdmap_find_in(&inst->interest, leaf, fd));
	if (item) {
		trace_devepoll_remove(item);
		inst->stats.dels++;
		dep_item_unhook_from(item, leaf);
	}
	spin_unlock_irq(&inst->lock);
	return item;
}

/**
 * dep_interest_unhook() - remove an fd from the set, and free nothing yet
 * @inst: the instance
 * @fd: the number, as for dep_interest_remove()
 *
 * Context: process, dep_instance.mtx held.
 * Return: the item, for dep_item_drop(), which needs no M; NULL if it was not
 * in the set.
 */
struct dep_item *dep_interest_unhook(struct dep_instance *inst, int fd)
{
	return interest_unhook(inst, fd);
}

/**
 * dep_interest_remove() - remove an fd, by its number alone
 * @inst: the instance
 * @fd: the number, in the files of the caller
 *
 * No event of the fd is pending after this.  An item of another process that is
 * alive stays, unless the number names its file here too.
 *
 * Context: process, dep_instance.mtx held.
 * Return: true if it was in the set.
 */
bool dep_interest_remove(struct dep_instance *inst, int fd)
{
	struct dep_item *item = interest_unhook(inst, fd);

	if (item)
		dep_item_drop(item, false);
	return item;
}

/* With no item hooked, only closed ones are on the ready list. */
static void interest_clear_closed(struct dep_instance *inst)
{
	struct dep_item *item;

	do {
		spin_lock_irq(&inst->lock);
		item = list_first_entry_or_null(&inst->ready, struct dep_item,
						ready);
		if (item)
			dep_item_unlist(item);
		spin_unlock_irq(&inst->lock);
		if (item)
			dep_item_discard(item);
		cond_resched();
	} while (item);
}

/*
 * Unhooks some items, from number *@fd on, and returns them, linked by
 * dep_item.next_free: they are ours now, and their data is not needed.
 */
static struct dep_item *interest_unhook_some(struct dep_instance *inst,
					     unsigned int *fd)
{
	struct dep_item *item, *some = NULL;
	int i;

	spin_lock_irq(&inst->lock);
	for (i = 0; i < DEP_CLEAR_BATCH; i++) {
		item = dep_fdmap_next(&inst->interest, fd);
		if (!item)
			break;
		/* The number may have another one. */
		if (!dep_item_peer(item))
			(*fd)++;
		dep_item_unhook(item);
		item->next_free = some;
		some = item;
	}
	spin_unlock_irq(&inst->lock);
	return some;
}

/**
 * dep_interest_clear() - remove all fds
 * @inst: the instance
 *
 * This includes closed items whose last event has not been taken.
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_interest_clear(struct dep_instance *inst)
{
	struct dep_item *item, *some;
	unsigned int fd = 0;

	lockdep_assert_held(&inst->mtx);
	do {
		some = interest_unhook_some(inst, &fd);
		for (item = some; item; item = item->next_free)
			dep_watch_detach(item);
		dep_item_free_several(inst, some);
		cond_resched();
	} while (some);
	if (DEP_HAS_CLOSED)
		dep_readers_drain(inst);
	interest_clear_closed(inst);
	dep_host_free_unused(inst);
}

/* Is it this file's item?  One without a file may only be ours, or nobody's. */
static bool item_is_of(const struct dep_item *item, const struct file *file)
{
	if (item->file != file)
		return false;
	return file || dep_owner_is_caller(item) || dep_owner_is_gone(item);
}

/**
 * dep_interest_resolve_among() - find an item among all of its number
 * @inst: the instance
 * @file: the file that the number names, or NULL if it names none
 * @fd: the number, in the files of the caller
 *
 * Items of the caller that have another file are stale, since its number names
 * that file no more: they go.  Those of other processes are left alone: these
 * may name the file in their tables.
 *
 * Context: process, dep_instance.mtx held.
 * Return: the item of the file, or NULL.
 */
noinline struct dep_item *
dep_interest_resolve_among(struct dep_instance *inst, const struct file *file,
			   int fd)
{
	struct dep_item *item, *stale, *found;

	do {
		stale = NULL;
		found = NULL;
		spin_lock_irq(&inst->lock);
		item = dep_fdmap_find(&inst->interest, fd);
		for (; item; item = dep_item_peer(item)) {
			if (item_is_of(item, file))
				found = item;
			else if (dep_owner_is_caller(item))
				stale = item;
		}
		if (stale) {
			trace_devepoll_close(stale);
			inst->stats.closes++;
			dep_item_unhook(stale);
		} else if (found) {
			dep_owner_adopt(found);
		}
		spin_unlock_irq(&inst->lock);
		if (stale)
			dep_item_drop(stale, true);
	} while (stale);
	dep_owner_provide(inst);
	return found;
}

/**
 * dep_interest_query() - is an fd in the set?
 * @inst: the instance
 * @fd: the number, interpreted as by dep_interest_remove()
 * @events: out: the events asked for
 * @data: out: the user data
 *
 * Context: process; the instance is not locked.
 * Return: true if it is.
 */
bool dep_interest_query(struct dep_instance *inst, int fd, u16 *events,
			u64 *data)
{
	struct dep_item *item;

	spin_lock_irq(&inst->lock);
	item = dep_owner_claim(dep_fdmap_find(&inst->interest, fd));
	if (item) {
		*events = item->events;
		*data = item->data;
	}
	spin_unlock_irq(&inst->lock);
	return item;
}
