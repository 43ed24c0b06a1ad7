/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owner of an item: which process may decide that its number no longer
 * names its file, and may remove it by its number.
 */
#ifndef DEVEPOLL_OWNER_H
#define DEVEPOLL_OWNER_H

#include <linux/fdtable.h>
#include <linux/nospec.h>
#include <linux/sched.h>

#include "core/instance.h"
#include "core/item.h"

/**
 * dep_owner_names() - does the number of an item name its file in this table?
 * @item: a hooked item; its instance is locked
 * @table: the table; interrupts are off, so RCU keeps it
 *
 * Return: true if it does.
 */
static __always_inline bool dep_owner_names(const struct dep_item *item,
					    const struct fdtable *table)
{
	unsigned int fd = item->fd;

	if (fd >= table->max_fds)
		return false;
	fd = array_index_nospec(fd, table->max_fds);
	return rcu_access_pointer(table->fd[fd]) == item->file;
}

/**
 * dep_owner_set() - let an item be one of the calling process
 * @item: the item; dep_instance.mtx is held, and, once it is hooked, its
 *	instance locked
 */
static inline void dep_owner_set(struct dep_item *item)
{
	item->files = current->files;
	item->owner = task_tgid_nr(current);
	item->owner_born = current->group_leader->start_boottime;
}

bool dep_owner_is_caller(const struct dep_item *item);
bool dep_owner_is_gone(const struct dep_item *item);
void dep_owner_adopt(struct dep_item *item);
bool dep_owner_misses(struct dep_item *item, bool named);
struct dep_item *dep_owner_claim(struct dep_item *first);

#endif /* DEVEPOLL_OWNER_H */
