// SPDX-License-Identifier: GPL-2.0
/*
 * Finding the item of an fd number, for a caller that may be one of several
 * processes which share the set.
 */
#include <linux/fs.h>
#include <linux/sched.h>

#include "core/item.h"
#include "core/trace.h"
#include "set/interest.h"
#include "set/lookup.h"
#include "set/owner.h"

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
