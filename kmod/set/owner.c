// SPDX-License-Identifier: GPL-2.0
/*
 * Whose an item is: the process that added it, with its table of files.  If
 * that is gone, another one that knows the file by this number, as after
 * fork(2), takes its place.
 *
 * Processes that share a set may name different files by one number.  So only
 * the owner can tell that a number names another file now, and only it takes
 * the item out then, or anybody once it is gone.  While the number names the
 * file, whoever has it may change or remove the item, as with epoll.
 */
#include <linux/atomic.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "core/item.h"
#include "set/owner.h"

static bool owner_is_this_process(const struct dep_item *item)
{
	return item->owner == task_tgid_nr(current) &&
	       item->owner_born == current->group_leader->start_boottime;
}

/**
 * dep_owner_is_gone() - has the process ended that added an item?
 * @item: the item; its instance is locked
 *
 * Return: true if so, be it waited for or not.
 */
bool dep_owner_is_gone(const struct dep_item *item)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(item->owner, &init_pid_ns), PIDTYPE_TGID);
	/* A task keeps its signal_struct as long as RCU keeps the task. */
	gone = !task || task->start_boottime != item->owner_born ||
	       !atomic_read(&task->signal->live);
	rcu_read_unlock();
	return gone;
}

/**
 * dep_owner_is_caller() - was an item added with the caller's table of files?
 * @item: the item; its instance is locked
 *
 * A thread that has a table of its own is like another process.  The table of
 * a process may change when it executes a program, which leaves one thread.
 *
 * Return: true if so.
 */
bool dep_owner_is_caller(const struct dep_item *item)
{
	return owner_is_this_process(item) &&
	       (item->files == current->files || thread_group_empty(current));
}

/**
 * dep_owner_adopt() - take the place of an owner that is gone
 * @item: an item whose number names its file in the caller's table; its
 *	instance is locked, and dep_instance.mtx held
 */
void dep_owner_adopt(struct dep_item *item)
{
	if (owner_is_this_process(item) ? thread_group_empty(current) :
					  dep_owner_is_gone(item))
		dep_owner_set(item);
}

/**
 * dep_owner_misses() - does the number not name the file any more?
 * @item: the item; its instance is locked, and dep_instance.mtx held
 * @named: the number names the file in the caller's table
 *
 * That is for the process to tell in which it was added.  If that is gone,
 * and the number names the file here, the caller takes its place.  Whoever
 * else was given the set can't tell.
 *
 * Return: true if the caller is the owner, and the number not its any more.
 */
bool dep_owner_misses(struct dep_item *item, bool named)
{
	if (!current->files)
		return false;
	if (!named)
		return item->files == current->files &&
		       owner_is_this_process(item);
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
	for (item = first; item; item = item->peer) {
		/* A buried item has no file to compare. */
		if (table && item->file && dep_owner_names(item, table))
			return item;
		if (dep_owner_is_caller(item))
			own = item;
	}
	if (own)
		return own;
	for (item = first; item; item = item->peer) {
		if (dep_owner_is_gone(item))
			return item;
	}
	return NULL;
}
