// SPDX-License-Identifier: GPL-2.0
/*
 * The owner of an item is the process that added it, with its table of files.
 * If that process is gone, another one that knows the file by this number, as
 * after fork(2), takes its place.
 *
 * Processes that share a set may name different files by one number.  So only
 * the owner can tell that a number names another file now, and only the owner
 * then takes the item out, or anybody once the owner is gone.  While the number
 * names the file, whoever has the file under it may change or remove the item,
 * as with epoll.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/item.h"
#include "core/limits.h"
#include "set/owner.h"

/*
 * The caller, if it is one of those who have added last; put before the others.
 * One that is not found becomes an owner once more, which does no harm.
 */
static struct dep_owner *owner_find(struct dep_instance *inst)
{
	struct dep_owner *owner;
	u32 left = DEP_OWNERS_SEARCHED;

	list_for_each_entry(owner, &inst->owners, entry) {
		if (dep_owner_is_current(owner)) {
			list_move(&owner->entry, &inst->owners);
			return owner;
		}
		if (!--left)
			break;
	}
	return NULL;
}

/*
 * Room for an owner that needs no allocation, or NULL.  Who takes the last of
 * it makes more before M is released: dep_owner_provide().
 */
static struct dep_owner *owner_room(struct dep_instance *inst)
{
	struct dep_owner *room;
	u32 i;

	room = list_first_entry_or_null(&inst->spare_owners, struct dep_owner,
					entry);
	if (room) {
		list_del_init(&room->entry);
		if (!list_empty(&inst->spare_owners))
			return room;
	}
	for (i = 0; i < ARRAY_SIZE(inst->own_owners); i++) {
		if (!list_empty(&inst->own_owners[i].entry))
			continue;
		if (room)
			return room;
		room = &inst->own_owners[i];
	}
	WRITE_ONCE(inst->wants_owner, true);
	return room;
}

/* Makes the caller the first of the owners, or returns NULL without room. */
static struct dep_owner *owner_enter(struct dep_instance *inst)
{
	struct dep_owner *last = dep_owner_last(inst), *owner;

	lockdep_assert_held(&inst->mtx);
	lockdep_assert_held(&inst->lock);
	owner = owner_find(inst);
	if (!owner) {
		owner = owner_room(inst);
		if (!owner)
			return NULL;
		dep_owner_begin(owner);
		list_add(&owner->entry, &inst->owners);
		dep_owner_recount(inst);
	}
	if (owner != last && !last->nr_items)
		dep_owner_end(inst, last);
	return owner;
}

/**
 * dep_owner_make_room() - the rare half of dep_owner_provide()
 * @inst: the instance; dep_instance.mtx is held
 */
void dep_owner_make_room(struct dep_instance *inst)
{
	struct dep_owner *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);

	if (!spare)
		return;
	spare->allocated = true;
	spin_lock_irq(&inst->lock);
	list_add(&spare->entry, &inst->spare_owners);
	WRITE_ONCE(inst->wants_owner, false);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_owner_make() - the rare half of dep_owner_set()
 * @inst: the instance; dep_instance.mtx is held
 *
 * Return: the owner that stands for the caller, or NULL without memory.
 */
struct dep_owner *dep_owner_make(struct dep_instance *inst)
{
	struct dep_owner *owner;

	dep_owner_provide(inst);
	spin_lock_irq(&inst->lock);
	owner = owner_enter(inst);
	spin_unlock_irq(&inst->lock);
	dep_owner_provide(inst);
	return owner;
}

/* Makes the caller the owner of a hooked item, if there is room. */
static void owner_replace(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	struct dep_owner *owner;

	if (dep_owner_is_current(item->owner))
		return;
	owner = owner_enter(inst);
	if (!owner)
		return;
	owner->nr_items++;
	dep_owner_leave(inst, item->owner);
	item->owner = owner;
}

/**
 * dep_owner_is_gone() - has the process that added an item ended?
 * @item: the item; its instance is locked
 *
 * Return: true if it has, even if it was not waited for yet.
 */
bool dep_owner_is_gone(const struct dep_item *item)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(item->owner->pid, &init_pid_ns),
			PIDTYPE_TGID);
	/* A task keeps its signal_struct as long as RCU keeps the task. */
	gone = !task || task->start_boottime != item->owner->born ||
	       !atomic_read(&task->signal->live);
	rcu_read_unlock();
	return gone;
}

/**
 * dep_owner_is_caller() - was an item added with the caller's table of files?
 * @item: the item; its instance is locked
 *
 * A thread that has a table of its own counts as another process.  The table of
 * a process may change when it executes a program, which leaves one thread.
 *
 * Return: true if it was.
 */
bool dep_owner_is_caller(const struct dep_item *item)
{
	return dep_owner_is_process(item->owner) &&
	       (item->owner->files == current->files ||
		thread_group_empty(current));
}

/* As dep_owner_is_gone(), but without a search for each event of a child. */
static bool owner_has_gone(const struct dep_item *item)
{
	struct dep_instance *inst = item->inst;

	lockdep_assert_held(&inst->lock);
	if (dep_owner_is_living(item))
		return false;
	if (dep_owner_is_gone(item))
		return true;
	inst->living.owner = item->owner;
	inst->living.until = jiffies + DEP_OWNER_LIVES;
	return false;
}

/**
 * dep_owner_flush() - a process has closed a descriptor of a set
 * @inst: the instance
 *
 * The process may be ending: its count of living threads is 0 by now, and the
 * lock orders this after any search that has seen it alive.
 *
 * Context: process.
 */
void dep_owner_flush(struct dep_instance *inst)
{
	spin_lock_irq(&inst->lock);
	inst->living.owner = NULL;
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_owner_adopt() - take the place of an owner that is gone
 * @item: an item whose number names its file in the caller's table; its
 *	instance is locked, and dep_instance.mtx held
 */
void dep_owner_adopt(struct dep_item *item)
{
	lockdep_assert_held(&item->inst->lock);
	if (dep_owner_is_process(item->owner) ? thread_group_empty(current) :
						 owner_has_gone(item))
		owner_replace(item);
}

/**
 * dep_owner_misses() - has the caller's number stopped naming the file?
 * @item: the item; its instance is locked, and dep_instance.mtx held
 * @named: the number names the file in the caller's table
 * @removes: dep_pass.removes
 * @adopts: dep_pass.adopts
 *
 * Only the process that added the item can tell, by an open that may change the
 * set.  If it is gone, and the number names the file here, the caller takes its
 * place, if it waits by such an open.  Other processes that have the set can't
 * tell.
 *
 * Return: true if the caller is the owner and its number names the file no
 * more.
 */
bool dep_owner_misses(struct dep_item *item, bool named, bool removes,
		      bool adopts)
{
	if (!current->files)
		return false;
	if (!named)
		return removes && dep_owner_is_current(item->owner);
	if (adopts)
		dep_owner_adopt(item);
	return false;
}

/**
 * dep_owner_claim() - find the item that the caller means by a number alone
 * @first: the first item of the number, or NULL; its instance is locked
 *
 * That is the one whose file the number names; or the caller's own, even if the
 * number is closed or names another file now; or one whose owner is gone.
 *
 * Return: the item, or NULL.
 */
struct dep_item *dep_owner_claim(struct dep_item *first)
{
	const struct files_struct *files = current->files;
	struct dep_item *item, *own = NULL;
	const struct fdtable *table;

	table = files ? rcu_dereference_raw(files->fdt) : NULL;
	for (item = first; item; item = dep_item_peer(item)) {
		/* A buried item has no file to compare. */
		if (table && item->file &&
		    dep_owner_names(item, table->fd, table->max_fds))
			return item;
		if (dep_owner_is_caller(item))
			own = item;
	}
	if (own)
		return own;
	for (item = first; item; item = dep_item_peer(item)) {
		if (dep_owner_is_gone(item))
			return item;
	}
	return NULL;
}
