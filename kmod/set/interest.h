/* SPDX-License-Identifier: GPL-2.0 */
/* The interest list: finding the item of a number, and removing items. */
#ifndef DEVEPOLL_INTEREST_H
#define DEVEPOLL_INTEREST_H

#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "core/fdmap.h"
#include "core/instance.h"
#include "core/item.h"

/**
 * struct dep_change - one change of a set of the extended interface
 * @op: DEVEPOLL_ADD, DEVEPOLL_MOD or DEVEPOLL_DEL
 * @fd: the number
 * @events: the poll events asked for
 * @mode: DEP_MODE_*
 * @data: the user data
 */
struct dep_change {
	u16 op;
	int fd;
	u16 events;
	u32 mode;
	u64 data;
};

void dep_item_drop(struct dep_item *item, bool tell);
struct dep_item *dep_interest_unhook(struct dep_instance *inst, int fd);
bool dep_interest_remove(struct dep_instance *inst, int fd);
void dep_interest_clear(struct dep_instance *inst);

struct dep_item *dep_interest_resolve_among(struct dep_instance *inst,
					    const struct file *file, int fd);

/**
 * dep_interest_resolve_lock() - find an item, and leave the instance locked
 * @inst: the instance, not locked
 * @file: the file, on which the caller has a reference
 * @fd: the number, in the files of the caller
 *
 * Stale items of the caller go, and an item whose owner has gone becomes the
 * caller's.  M and the reference keep the item in the set.
 *
 * Context: process, dep_instance.mtx held.
 * Return: the item of the number and of the file that it names, or NULL.
 */
static inline struct dep_item *
dep_interest_resolve_lock(struct dep_instance *inst, const struct file *file,
			  int fd)
	__acquires(&inst->lock)
{
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	item = dep_fdmap_find(&inst->interest, fd);
	if (likely(!item || (item->file == file && !dep_item_peer(item) &&
			     item->owner->files == current->files)))
		return item;
	spin_unlock_irq(&inst->lock);
	item = dep_interest_resolve_among(inst, file, fd);
	spin_lock_irq(&inst->lock);
	return item;
}

/**
 * dep_interest_resolve() - find the item of a number and of its file
 * @inst: the instance, not locked
 * @file: the file, on which the caller has a reference
 * @fd: the number, in the files of the caller
 *
 * Context: process, dep_instance.mtx held.
 * Return: as dep_interest_resolve_lock().
 */
static inline struct dep_item *dep_interest_resolve(struct dep_instance *inst,
						    const struct file *file,
						    int fd)
{
	struct dep_item *item = dep_interest_resolve_lock(inst, file, fd);

	spin_unlock_irq(&inst->lock);
	return item;
}

bool dep_interest_query(struct dep_instance *inst, int fd, u16 *events,
			u64 *data);

#endif /* DEVEPOLL_INTEREST_H */
