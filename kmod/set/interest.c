// SPDX-License-Identifier: GPL-2.0
/*
 * The interest set: from the fd numbers of the program to items, and what a
 * file must be like to be watched.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "core/nest.h"
#include "core/relay.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "files/filekind.h"
#include "files/table.h"
#include "files/waitqueue.h"
#include "set/interest.h"
#include "set/owner.h"

/* What may go with EPOLLEXCLUSIVE, as epoll_ctl(2) has it. */
#define DEP_EXCLUSIVE_EVENTS \
	((__force u16)(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP))
#define DEP_EXCLUSIVE_MODES \
	(DEP_MODE_EXCLUSIVE | DEP_MODE_EDGE | DEP_MODE_TRUST | \
	 DEP_MODE_TELL_CLOSED)

/* Takes an unhooked item off its watch; @tell: it may want a last event. */
static void item_drop(struct dep_item *item, bool tell)
{
	struct dep_instance *inst = item->inst;
	struct dep_leaf *leaf;

	dep_watch_detach(item);
	if (!tell || !(item->mode & DEP_MODE_TELL_CLOSED)) {
		dep_item_free(item);
		return;
	}
	spin_lock_irq(&inst->lock);
	leaf = dep_item_close(item);
	spin_unlock_irq(&inst->lock);
	dep_fdmap_free_leaf(leaf);
}

/* Makes an item, as far as it can be made before it is hooked. */
static struct dep_item *interest_new_item(struct dep_instance *inst,
					  struct file *file,
					  const struct dep_change *ch)
{
	struct dep_instance *inner = dep_instance_of(file);
	struct dep_item *item;
	struct dep_nest *nest;
	int err;

	if (dep_file_is_epoll(file) || (inner && !inst->extended))
		return ERR_PTR(-ELOOP);
	/* It may shrink this moment, but not grow. */
	if (READ_ONCE(inst->nr_items) >= inst->room)
		return ERR_PTR(-ENOSPC);
	item = dep_item_new(inst, file, ch->fd, ch->events);
	if (IS_ERR(item))
		return item;
	item->mode = ch->mode;
	if (dep_file_consumes(file))
		item->mode |= DEP_MODE_KEEP;
	item->data = ch->data;
	if (ch->mode & DEP_MODE_TRUST)
		item->needs_poll = DEP_NEEDS_POLL;
	dep_owner_set(item);
	err = unlikely(inst->sink->join) ? inst->sink->join(item) : 0;
	if (err) {
		dep_item_discard(item);
		return ERR_PTR(err);
	}
	if (inner) {
		nest = dep_nest_link(inst, inner);
		if (IS_ERR(nest)) {
			dep_item_discard(item);
			return ERR_CAST(nest);
		}
		item->nest = nest;
	}
	return item;
}

static int interest_add(struct dep_instance *inst, struct file *file,
			const struct dep_change *ch)
{
	struct dep_item *item;
	u16 ready;
	int err;

	item = interest_new_item(inst, file, ch);
	if (IS_ERR(item))
		return PTR_ERR(item);
	err = dep_item_hook(item);
	if (err) {
		dep_item_discard(item);
		return err;
	}
	err = dep_watch_attach(item, &ready);

	/* The file is ours and M is held: the item is still hooked. */
	spin_lock_irq(&inst->lock);
	if (err) {
		dep_item_unhook(item);
	} else {
		inst->stats.adds++;
		trace_devepoll_add(item);
		dep_item_post(item, ready, false);
	}
	spin_unlock_irq(&inst->lock);

	if (err)
		item_drop(item, false);
	return err;
}

static void interest_replace(struct dep_item *item, u16 events)
{
	spin_lock_irq(&item->inst->lock);
	item->events = events;
	spin_unlock_irq(&item->inst->lock);
}

/*
 * A change was taken back.  What happened while it was tried was measured by
 * what it asked for, so the file has to be asked.
 */
static void interest_must_poll(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u32 listed = inst->nr_ready;

	lockdep_assert_held(&inst->lock);
	item->must_poll = true;
	dep_item_list(item);
	dep_instance_arrived(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
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
	/* Also one that fails below, for want of memory. */
	item->inst->stats.mods++;
	if (!(events & ~before))
		return 0;
	err = dep_watch_arm(item, &ready);
	if (!err && !(item->mode & DEP_MODE_KEEP))
		return 0;
	spin_lock_irq(&item->inst->lock);
	if (err) {
		item->events = before;
		interest_must_poll(item);
	}
	/* What the file told of now, and will not again, happened before. */
	if (item->mode & DEP_MODE_KEEP)
		dep_item_post(item, ready & before, false);
	spin_unlock_irq(&item->inst->lock);
	return err;
}

static void item_set(struct dep_item *item, const struct dep_change *ch)
{
	item->events = ch->events;
	item->mode = ch->mode | (item->mode & DEP_MODE_KEEP);
	item->data = ch->data;
	item->needs_poll = ch->mode & DEP_MODE_TRUST ? DEP_NEEDS_POLL :
						   item->inst->sink->needs_poll;
}

/* Who is on the ready list already has woken everybody. */
static void interest_post_again(struct dep_item *item, u16 ready)
{
	struct dep_instance *inst = item->inst;

	if (list_empty(&item->ready))
		dep_item_post(item, ready, false);
	else if (ready & item->events)
		inst->sink->post(inst, item, ready & item->events);
}

/* As epoll does, this tells what is ready already. */
static int interest_modify(struct dep_item *item, const struct dep_change *ch)
{
	struct dep_instance *inst = item->inst;
	const struct dep_change before = {
		.events = item->events,
		.mode = item->mode,
		.data = item->data,
	};
	u16 ready, revents;
	int err;

	/* What happens from now on counts, so this comes before the asking. */
	spin_lock_irq(&inst->lock);
	item_set(item, ch);
	revents = item->revents;
	item->revents = 0;
	spin_unlock_irq(&inst->lock);
	err = dep_watch_arm(item, &ready);

	spin_lock_irq(&inst->lock);
	if (err) {
		item_set(item, &before);
		if (item->mode & DEP_MODE_KEEP)
			revents |= ready;
		if (revents & item->events)
			inst->sink->post(inst, item, revents & item->events);
		interest_must_poll(item);
	} else {
		inst->stats.mods++;
		/* What the file will not say again is as good as said now. */
		if (item->mode & DEP_MODE_KEEP)
			ready |= revents;
		interest_post_again(item, ready);
	}
	spin_unlock_irq(&inst->lock);
	return err;
}

/* Is it the item of this file?  One without a file is no stranger's. */
static bool item_is_of(const struct dep_item *item, const struct file *file)
{
	if (item->file != file)
		return false;
	return file || dep_owner_is_caller(item) || dep_owner_is_gone(item);
}

/*
 * Looks through all items of a number.  Those of the caller itself that are of
 * another file are stale, since its number names that no more: they go.  Those
 * of others are left alone: they may name it in their tables.
 */
static noinline struct dep_item *interest_find_among(struct dep_instance *inst,
						     const struct file *file,
						     int fd)
{
	struct dep_item *item, *stale, *found;

	do {
		stale = NULL;
		found = NULL;
		spin_lock_irq(&inst->lock);
		item = dep_fdmap_find(&inst->interest, fd);
		for (; item; item = item->peer) {
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
			item_drop(stale, true);
	} while (stale);
	return found;
}

/*
 * The item of a number and a file, for a caller whose number names it.  M is
 * held, and the file is ours: so the item stays.
 */
static struct dep_item *interest_find(struct dep_instance *inst,
				      const struct file *file, int fd)
{
	struct dep_item *item;

	spin_lock_irq(&inst->lock);
	item = dep_fdmap_find(&inst->interest, fd);
	if (likely(!item || (item->file == file && !item->peer &&
			     item->files == current->files))) {
		spin_unlock_irq(&inst->lock);
		return item;
	}
	spin_unlock_irq(&inst->lock);
	return interest_find_among(inst, file, fd);
}

static int interest_set_file(struct dep_instance *inst, struct file *file,
			     int fd, u16 events)
{
	const struct dep_change ch = { .fd = fd, .events = events };
	struct dep_item *item;

	item = interest_find(inst, file, fd);
	if (item)
		return interest_change(item, events);
	/*
	 * One that can't be polled counts, as in 2001: to poll(2) it is always
	 * ready, and that is posted now and never again.
	 */
	return interest_add(inst, file, &ch);
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
 * -EPERM: in a signal set, a file of FUSE or a device of CUSE;
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
 * @fd: the number, in the files of the caller
 *
 * No event of the fd is pending after this.  An item of another process that
 * lives stays, unless the number names its file here too.
 *
 * Context: process, dep_instance.mtx held.
 * Return: true if it was in the set.
 */
bool dep_interest_remove(struct dep_instance *inst, int fd)
{
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	item = dep_owner_claim(dep_fdmap_find(&inst->interest, fd));
	if (item) {
		trace_devepoll_remove(item);
		inst->stats.dels++;
		dep_item_unhook(item);
	}
	spin_unlock_irq(&inst->lock);
	if (item)
		item_drop(item, false);
	return item;
}

/* What epoll_ctl(2) has against it, in its order. */
static int interest_check(struct dep_instance *inst, struct file *file,
			  const struct dep_change *ch)
{
	struct dep_instance *inner = dep_instance_of(file);

	/* To /dev/poll, as to poll(2), these are always ready. */
	if (!file_can_poll(file) && !inst->devpoll)
		return -EPERM;
	/* A set that can't be waited for can't be waited for in another. */
	if (inner && !(file->f_mode & FMODE_READ))
		return -EPERM;
	if (inner == inst || !ch->op || ch->op > DEVEPOLL_MOD)
		return -EINVAL;
	if (ch->op == DEVEPOLL_DEL || !(ch->mode & DEP_MODE_EXCLUSIVE))
		return 0;
	if (ch->op == DEVEPOLL_MOD || inner || dep_file_is_epoll(file) ||
	    ch->odd || ch->events & ~DEP_EXCLUSIVE_EVENTS ||
	    ch->mode & ~DEP_EXCLUSIVE_MODES)
		return -EINVAL;
	return 0;
}

static int interest_change_file(struct dep_instance *inst, struct file *file,
				const struct dep_change *ch)
{
	struct dep_item *item;
	int err;

	err = interest_check(inst, file, ch);
	if (err)
		return err;
	/* What can be removed has been. */
	if (ch->op == DEVEPOLL_DEL)
		return -ENOENT;
	item = interest_find(inst, file, ch->fd);
	if (ch->op == DEVEPOLL_ADD)
		return item ? -EEXIST : interest_add(inst, file, ch);
	if (!item)
		return -ENOENT;
	if (item->mode & DEP_MODE_EXCLUSIVE)
		return -EINVAL;
	return interest_modify(item, ch);
}

/**
 * dep_interest_change() - change a set of the extended interface
 * @inst: the instance
 * @ch: the change; its bits are known ones
 *
 * A number that does not name the file it was added with any more is not in
 * the set, but can be removed nevertheless, by the process that added it.  Of
 * what another process added under the same number nothing is touched, unless
 * it is the same file.  What is ready is posted.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0, or what struct devepoll_change says.
 */
int dep_interest_change(struct dep_instance *inst, const struct dep_change *ch)
{
	struct fd f;
	int err;

	lockdep_assert_held(&inst->mtx);
	/* Whatever the number names now, what it named before can go. */
	if (ch->op == DEVEPOLL_DEL && dep_interest_remove(inst, ch->fd))
		return 0;
	f = fdget(ch->fd);
	if (!fd_file(f))
		return -EBADF;
	err = interest_change_file(inst, fd_file(f), ch);
	fdput(f);
	return err;
}

/* An item without a file, in the set from the first. */
static int interest_add_buried(struct dep_instance *inst,
			       const struct dep_change *ch)
{
	struct dep_item *item;
	int err;

	if (READ_ONCE(inst->nr_items) >= inst->room)
		return -ENOSPC;
	item = dep_item_new(inst, NULL, ch->fd, ch->events);
	if (IS_ERR(item))
		return PTR_ERR(item);
	item->mode = ch->mode;
	item->data = ch->data;
	dep_owner_set(item);
	err = dep_item_hook(item);
	if (err) {
		dep_item_discard(item);
		return err;
	}
	spin_lock_irq(&inst->lock);
	inst->stats.adds++;
	trace_devepoll_add(item);
	dep_item_bury(item);
	spin_unlock_irq(&inst->lock);
	return 0;
}

/**
 * dep_interest_bury() - let a number that is not open stand in the set
 * @inst: the instance, of /dev/poll
 * @ch: the number, and what is asked for; with DEP_MODE_STAY
 *
 * It is reported as such until it is removed, or written when it is open.
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0, or
 * -ENOSPC: no room in the set, or a limit of the user;
 * -ENOMEM: no memory.
 */
int dep_interest_bury(struct dep_instance *inst, const struct dep_change *ch)
{
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	item = interest_find_among(inst, NULL, ch->fd);
	if (!item)
		return interest_add_buried(inst, ch);
	spin_lock_irq(&inst->lock);
	item->data = ch->data;
	inst->stats.mods++;
	spin_unlock_irq(&inst->lock);
	return 0;
}

/**
 * dep_interest_query() - is an fd in the set?
 * @inst: the instance
 * @fd: the number, as dep_interest_remove() takes it
 * @events: out: the events asked for
 * @data: out: what comes back with each event
 *
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

/**
 * dep_interest_clear() - remove all fds
 * @inst: the instance
 *
 * Also those that wait for their last event to be taken.
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
			item_drop(item, false);
		cond_resched();
	} while (item);
	interest_clear_closed(inst);
}

/**
 * dep_interest_sift() - change all items, or remove them
 * @inst: the instance
 * @keep: changes one, with its instance locked, maybe more than once; false:
 *	it is to go
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_interest_sift(struct dep_instance *inst,
		       bool (*keep)(struct dep_item *item))
{
	struct dep_item *first, *item;
	unsigned int fd = 0;

	lockdep_assert_held(&inst->mtx);
	do {
		spin_lock_irq(&inst->lock);
		first = dep_fdmap_next(&inst->interest, &fd);
		for (item = first; item && keep(item); item = item->peer)
			;
		if (item)
			dep_item_unhook(item);
		spin_unlock_irq(&inst->lock);
		/* The number may have others. */
		if (item)
			item_drop(item, false);
		else
			fd++;
		cond_resched();
	} while (first);
}
