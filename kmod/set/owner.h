/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owner of an item: which process may decide that its number no longer
 * names its file, and may remove it by its number.
 */
#ifndef DEVEPOLL_OWNER_H
#define DEVEPOLL_OWNER_H

#include <linux/atomic.h>
#include <linux/fdtable.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/nospec.h>
#include <linux/sched.h>

#include "core/instance.h"
#include "core/item.h"

/**
 * dep_owner_names() - does the number of an item name its file in this table?
 * @item: a hooked item; its instance is locked
 * @fds: the files of the table; interrupts are off, so RCU keeps it
 * @max: length of @fds
 *
 * Return: true if it does.
 */
static __always_inline bool dep_owner_names(const struct dep_item *item,
					    struct file __rcu **fds, u32 max)
{
	u32 fd = item->fd;

	if (unlikely(fd >= max))
		return false;
	fd = array_index_nospec(fd, max);
	return likely(rcu_access_pointer(fds[fd]) == item->file);
}

/**
 * dep_owner_is_living() - was the owner of an item found alive just now?
 * @item: a hooked item; its instance is locked
 *
 * A process that ends closes its descriptors of the set, which takes this back
 * before the process is gone for anybody else.  One that has handed the set on,
 * and ends, is found gone at most %DEP_OWNER_LIVES later.
 *
 * Return: true if so: then nobody has to take the owner's place.
 */
static inline bool dep_owner_is_living(const struct dep_item *item)
{
	const struct dep_instance *inst = item->inst;

	lockdep_assert_held(&inst->lock);
	return item->owner == inst->living.owner &&
	       time_before(jiffies, inst->living.until);
}

/**
 * dep_owner_table_keeps() - does the caller's table keep the files it names?
 * @files: the caller's table of files
 *
 * As in fdget(): nobody else can close a descriptor of a table that is not
 * shared, nobody but the caller could share it, and the caller closes nothing
 * before its call returns.  So a file that is found in the table after this
 * needs no reference: its release hook does not run, and dep_instance.mtx
 * alone keeps its item.
 *
 * Return: true if it does.
 */
static __always_inline bool
dep_owner_table_keeps(const struct files_struct *files)
{
	/*
	 * A thread that shared the table and has left it may have closed what
	 * is looked up next: pairs with put_files_struct().
	 */
	return atomic_read_acquire(&files->count) == 1;
}

/**
 * struct dep_owner_table - the caller's table of files, while L is held
 * @files: the table
 * @fds: its files
 * @max: length of @fds
 * @owns_all: all items were added with this table
 */
struct dep_owner_table {
	const struct files_struct *files;
	struct file __rcu **fds;
	u32 max;
	bool owns_all;
};

/**
 * dep_owner_table_of() - look up what dep_owner_knows() needs
 * @inst: the instance, locked
 * @files: the caller's table of files
 *
 * Return: it; valid until the instance is unlocked.
 */
static __always_inline struct dep_owner_table
dep_owner_table_of(const struct dep_instance *inst,
		   const struct files_struct *files)
{
	/* RCU keeps it: interrupts are off. */
	const struct fdtable *table = rcu_dereference_raw(files->fdt);

	return (struct dep_owner_table) {
		.files = files,
		.fds = table->fd,
		.max = table->max_fds,
		.owns_all = inst->owner_files == files,
	};
}

/**
 * dep_owner_knows() - is there nothing to decide about the owner of an item?
 * @item: a hooked item; its instance is locked
 * @table: the caller's table
 *
 * As dep_owner_names(): the number names the file; and its owner is the caller,
 * or was found alive just now.
 *
 * Return: true if so.
 */
static __always_inline bool dep_owner_knows(const struct dep_item *item,
					    struct dep_owner_table table)
{
	if (!dep_owner_names(item, table.fds, table.max))
		return false;
	/* That of each item is in its second line. */
	return likely(table.owns_all) || item->owner->files == table.files ||
	       dep_owner_is_living(item);
}

/**
 * dep_owner_is_process() - is it the calling process?
 * @owner: the owner
 *
 * Return: true if it is, with whatever table.
 */
static inline bool dep_owner_is_process(const struct dep_owner *owner)
{
	return owner->pid == task_tgid_nr(current) &&
	       owner->born == current->group_leader->start_boottime;
}

/**
 * dep_owner_is_current() - is it the calling process, with the caller's table?
 * @owner: the owner
 *
 * Context: process, dep_instance.mtx held or its instance locked.
 * Return: true if it is.
 */
static inline bool dep_owner_is_current(const struct dep_owner *owner)
{
	return owner->files == current->files &&
	       dep_owner_is_process(owner);
}

struct dep_owner *dep_owner_make(struct dep_instance *inst);
void dep_owner_make_room(struct dep_instance *inst);

/**
 * dep_owner_provide() - make room for the next process that becomes an owner
 * @inst: the instance
 *
 * Without memory, an item whose owner is gone keeps it until a later pass meets
 * the item.
 *
 * Context: process, dep_instance.mtx held.
 */
static inline void dep_owner_provide(struct dep_instance *inst)
{
	if (unlikely(READ_ONCE(inst->wants_owner)))
		dep_owner_make_room(inst);
}

/**
 * dep_owner_set() - make the calling process the owner of a new item
 * @item: the item, not hooked; dep_instance.mtx is held
 *
 * Return: 0, or -ENOMEM.
 */
static inline int dep_owner_set(struct dep_item *item)
{
	struct dep_owner *owner = dep_owner_last(item->inst);

	if (unlikely(!dep_owner_is_current(owner)))
		owner = dep_owner_make(item->inst);
	item->owner = owner;
	return owner ? 0 : -ENOMEM;
}

void dep_owner_flush(struct dep_instance *inst);
bool dep_owner_is_caller(const struct dep_item *item);
bool dep_owner_is_gone(const struct dep_item *item);
void dep_owner_adopt(struct dep_item *item);
bool dep_owner_misses(struct dep_item *item, bool named, bool removes,
		      bool adopts);
struct dep_item *dep_owner_claim(struct dep_item *first);

#endif /* DEVEPOLL_OWNER_H */
