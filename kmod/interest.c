// SPDX-License-Identifier: GPL-2.0
/*
 * The interest set: from the fd numbers of the program to items, and what a
 * file must be like to be watched.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "compat.h"
#include "interest.h"
#include "watch.h"

/*
 * Sets in sets can form a cycle, and a cycle hangs the machine.  What an
 * in-tree epoll file watches can't be seen, and its operations can't be
 * reached, but its name can.
 */
static bool file_is_set(const struct file *file)
{
	if (file->f_op->owner == THIS_MODULE)
		return true;
	return file_inode(file)->i_sb->s_magic == ANON_INODE_FS_MAGIC &&
	       !strcmp(file->f_path.dentry->d_name.name, "[eventpoll]");
}

static void item_drop(struct dep_item *item)
{
	dep_watch_detach(item);
	dep_item_free(item);
}

static int interest_add(struct dep_instance *inst, struct file *file, int fd,
			u16 events)
{
	struct dep_item *item;
	u16 ready;
	int err;

	if (!file_can_poll(file))
		return -EPERM;
	if (file_is_set(file))
		return -ELOOP;
	/* It may shrink this moment, but not grow. */
	if (READ_ONCE(inst->nr_items) >= inst->room)
		return -ENOSPC;

	item = dep_item_new(inst, file, fd, events);
	if (IS_ERR(item))
		return PTR_ERR(item);
	err = dep_item_hook(item);
	if (err) {
		dep_item_free(item);
		return err;
	}
	err = dep_watch_attach(item, &ready);

	/* The file is ours and M is held: the item is still hooked. */
	spin_lock_irq(&inst->lock);
	if (err)
		dep_item_unhook(item);
	else
		dep_item_post(item, ready, false);
	spin_unlock_irq(&inst->lock);

	if (err)
		item_drop(item);
	return err;
}

static void interest_replace(struct dep_item *item, u16 events)
{
	spin_lock_irq(&item->inst->lock);
	item->events = events;
	spin_unlock_irq(&item->inst->lock);
}

/*
 * As in 2001 a change makes no event: what is ready already is not posted.
 * What happens from now on is, so the events come before the file is told.
 */
static int interest_change(struct dep_item *item, u16 events)
{
	/* M is held and the caller has the file: nobody else changes it. */
	u16 before = item->events, ready;
	int err;

	interest_replace(item, events);
	if (!(events & ~before))
		return 0;
	err = dep_watch_arm(item, events, &ready);
	if (err)
		interest_replace(item, before);
	return err;
}

static int interest_set_file(struct dep_instance *inst, struct file *file,
			     int fd, u16 events)
{
	struct dep_item *item;

	spin_lock_irq(&inst->lock);
	item = dep_fdmap_find(&inst->interest, fd);
	if (item && item->file == file) {
		spin_unlock_irq(&inst->lock);
		return interest_change(item, events);
	}
	/* The number names another file now. */
	if (item)
		dep_item_unhook(item);
	spin_unlock_irq(&inst->lock);
	if (item)
		item_drop(item);

	return interest_add(inst, file, fd, events);
}

/**
 * dep_interest_set() - add an fd, or change the events it is asked for
 * @inst: the instance
 * @fd: the number, in the files of the caller
 * @events: the events
 *
 * What is ready already when a file is added is posted.  A change posts
 * nothing.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0, or
 * -EBADF: not open, or opened with O_PATH;
 * -EPERM: a file that can't be polled;
 * -ELOOP: a set, ours or in-tree epoll's;
 * -ENOSPC: no room in the set, or a limit of the user or of the file;
 * -ENOMEM: no memory.
 */
int dep_interest_set(struct dep_instance *inst, int fd, u16 events)
{
	struct fd f = fdget(fd);
	int err;

	lockdep_assert_held(&inst->mtx);
	if (!fd_file(f))
		return -EBADF;
	err = interest_set_file(inst, fd_file(f), fd, events);
	fdput(f);
	return err;
}

/**
 * dep_interest_remove() - remove an fd, by its number alone
 * @inst: the instance
 * @fd: the number
 *
 * No event of the fd is pending after this.
 *
 * Context: process, dep_instance.mtx held.
 * Return: true if it was in the set.
 */
bool dep_interest_remove(struct dep_instance *inst, int fd)
{
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	item = dep_fdmap_find(&inst->interest, fd);
	if (item)
		dep_item_unhook(item);
	spin_unlock_irq(&inst->lock);
	if (item)
		item_drop(item);
	return item;
}

/**
 * dep_interest_query() - is an fd in the set?
 * @inst: the instance
 * @fd: the number
 * @events: out: the events asked for
 *
 * Return: true if it is.
 */
bool dep_interest_query(struct dep_instance *inst, int fd, u16 *events)
{
	struct dep_item *item;

	spin_lock_irq(&inst->lock);
	item = dep_fdmap_find(&inst->interest, fd);
	if (item)
		*events = item->events;
	spin_unlock_irq(&inst->lock);
	return item;
}

/**
 * dep_interest_clear() - remove all fds
 * @inst: the instance
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_interest_clear(struct dep_instance *inst)
{
	struct dep_item *item;
	unsigned int fd = 0;

	lockdep_assert_held(&inst->mtx);
	do {
		spin_lock_irq(&inst->lock);
		item = dep_fdmap_next(&inst->interest, &fd);
		if (item)
			dep_item_unhook(item);
		spin_unlock_irq(&inst->lock);
		if (item)
			item_drop(item);
		cond_resched();
	} while (item);
}
