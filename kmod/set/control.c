// SPDX-License-Identifier: GPL-2.0
/*
 * The changes that programs request: one like those of epoll_ctl(2), or an
 * entry of a write() of 2001, which adds an fd or replaces its events.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/poll.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "core/nest.h"
#include "core/pending.h"
#include "core/relay.h"
#include "core/waiter.h"
#include "files/filekind.h"
#include "files/waitqueue.h"
#include "set/add.h"
#include "set/control.h"
#include "set/interest.h"
#include "set/lookup.h"
#include "sinks/ring.h"

/* The bits that EPOLLEXCLUSIVE permits, as in epoll_ctl(2). */
#define DEP_EXCLUSIVE_EVENTS \
	((__force u16)(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP))
#define DEP_EXCLUSIVE_MODES \
	(DEP_MODE_EXCLUSIVE | DEP_MODE_EDGE | DEP_MODE_TRUST | \
	 DEP_MODE_TELL_CLOSED)

static void interest_replace(struct dep_item *item, u16 events)
{
	spin_lock_irq(&item->inst->lock);
	WRITE_ONCE(item->events, events);
	spin_unlock_irq(&item->inst->lock);
}

/*
 * A change was taken back.  While it was tried, wake-ups were compared with the
 * events that it asked for, so the file has to be polled.
 */
static void interest_must_poll(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u32 listed = inst->nr_ready;

	lockdep_assert_held(&inst->lock);
	item->must_poll = true;
	dep_item_list_told(item);
	dep_instance_arrived(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
}

/*
 * As in 2001 a change makes no event: what is ready already is not posted.
 * What happens from now on is, so the events are set before the file is told.
 */
static int interest_change(struct dep_item *item, u16 events)
{
	/* M is held and the caller has the file: nobody else changes it. */
	u16 before = item->events, ready;
	int err;

	interest_replace(item, events);
	/* Pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	/* Counts a change that fails below for want of memory, too. */
	item->inst->stats.mods++;
	/* The file learns of the last two in any case. */
	if (!(events & ~(before | DEP_KEY_ALWAYS)))
		return 0;
	err = dep_watch_arm(item, &ready);
	if (!err && !(item->mode & DEP_MODE_KEEP))
		return 0;
	spin_lock_irq(&item->inst->lock);
	if (err) {
		WRITE_ONCE(item->events, before);
		interest_must_poll(item);
	}
	/* The file will not repeat this answer, so it counts as from before. */
	if (item->mode & DEP_MODE_KEEP)
		dep_item_post(item, ready & before, false);
	spin_unlock_irq(&item->inst->lock);
	return err;
}

static __always_inline void item_set(struct dep_item *item,
				     const struct dep_change *ch)
{
	const u32 kept = DEP_MODE_OF_FILE | DEP_MODE_POLL;
	u32 before = item->mode;
	u32 mode = ch->mode | (before & kept);

	if (unlikely((before ^ ch->mode) & DEP_MODE_TRUST))
		mode = (mode & ~DEP_MODE_POLL) |
		       dep_item_poll_mode(item->inst, ch->mode);
	WRITE_ONCE(item->events, ch->events);
	WRITE_ONCE(item->mode, mode);
	item->data = ch->data;
}

/* An item that is on the ready list already has woken everybody. */
static void interest_post_again(struct dep_item *item, u16 ready)
{
	struct dep_instance *inst = item->inst;

	if (list_empty(&item->ready))
		dep_item_post(item, ready, false);
	else if (ready & item->events)
		inst->sink->post(inst, item, ready & item->events);
}

/*
 * Ends a change that posts something, or that failed: @before is how the item
 * was, @ready what the file answered, and @revents what was pending.
 */
static noinline int interest_end_modify(struct dep_item *item,
					const struct dep_change *before,
					u16 ready, u16 revents, int err)
{
	struct dep_instance *inst = item->inst;

	spin_lock_irq(&inst->lock);
	if (err) {
		item_set(item, before);
		if (item->mode & DEP_MODE_KEEP)
			revents |= ready;
		if (revents & item->events)
			inst->sink->post(inst, item, revents & item->events);
		/* Disabled by its event, which is not in the ring any more. */
		if (unlikely(inst->ring && !item->events))
			item->revents |= revents;
		interest_must_poll(item);
	} else {
		/* The file won't repeat them, so they count as said now. */
		if (item->mode & DEP_MODE_KEEP)
			ready |= revents;
		interest_post_again(item, ready);
	}
	spin_unlock_irq(&inst->lock);
	return err;
}

/* As epoll does, this reports what is ready already. */
static int interest_modify(struct dep_instance *inst, struct file *file,
			   const struct dep_change *ch)
{
	struct dep_change before DEP_UNINITIALIZED;
	u16 revents, ready DEP_UNINITIALIZED;
	struct dep_item *item;
	int err;

	item = dep_interest_find_lock(inst, file, ch->fd);
	if (unlikely(!item || dep_item_is_exclusive(item))) {
		spin_unlock_irq(&inst->lock);
		return item ? -EINVAL : -ENOENT;
	}
	before.events = item->events;
	before.mode = item->mode;
	before.data = item->data;
	/* Set before the poll, since what happens from now on counts. */
	item_set(item, ch);
	revents = item->revents;
	item->revents = 0;
	WRITE_ONCE(item->pending, 0);
	if (list_empty(&item->ready))
		item->must_poll = false;
	/* Events in the ring have the data of before. */
	if (unlikely(inst->ring))
		revents |= dep_ring_withdraw(item);
	spin_unlock_irq(&inst->lock);
	/* Pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	err = dep_watch_arm(item, &ready);
	inst->stats.mods += !err;
	/* Often there is nothing to post, and L is not needed again. */
	if (likely(!err && !(item->mode & DEP_MODE_KEEP) &&
		   !(ready & ch->events)))
		return 0;

	return interest_end_modify(item, &before, ready, revents, err);
}

static int interest_set_file(struct dep_instance *inst, struct file *file,
			     int fd, u16 events)
{
	const struct dep_change ch = { .fd = fd, .events = events };
	struct dep_item *item;

	item = dep_interest_find(inst, file, fd);
	if (item)
		return interest_change(item, events);
	/*
	 * A file that can't be polled counts, as in 2001: to poll(2) it is
	 * always ready, and that is posted now and never again.
	 */
	return dep_interest_add(inst, file, &ch);
}

/**
 * dep_interest_set() - add an fd, or change the events asked for
 * @inst: the instance
 * @fd: the number, in the files of the caller
 * @events: the events
 *
 * For a file that is added, what is ready already is posted.  A change posts
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

/* The checks of epoll_ctl(2), in its order. */
static int interest_check(struct dep_instance *inst, struct file *file,
			  const struct dep_change *ch)
{
	struct dep_instance *inner = dep_instance_of(file);

	/* To /dev/poll, as to poll(2), these are always ready. */
	if (!file_can_poll(file) && !inst->devpoll)
		return -EPERM;
	/* A set that can't be waited on can't be waited on through another. */
	if (unlikely(inner) && !(file->f_mode & FMODE_READ))
		return -EPERM;
	if (unlikely(inner == inst || !ch->op || ch->op > DEVEPOLL_MOD))
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
	int err;

	err = interest_check(inst, file, ch);
	if (err)
		return err;
	/* dep_interest_change() has removed what can be removed. */
	if (ch->op == DEVEPOLL_DEL)
		return -ENOENT;
	if (ch->op == DEVEPOLL_MOD)
		return interest_modify(inst, file, ch);
	return dep_interest_add(inst, file, ch);
}

/**
 * dep_interest_change() - change a set of the extended interface
 * @inst: the instance
 * @ch: the change; its bits are known ones
 *
 * A number that no longer names the file with which it was added is not in the
 * set, but the process that added it can still remove it.  An item that another
 * process added under the same number is not touched, unless it has the same
 * file.  What is ready is posted.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0, or a result of struct devepoll_change.
 */
int dep_interest_change(struct dep_instance *inst, const struct dep_change *ch)
{
	struct fd f;
	int err;

	lockdep_assert_held(&inst->mtx);
	/* What the number named before can go, whatever it names now. */
	if (ch->op == DEVEPOLL_DEL && dep_interest_remove(inst, ch->fd))
		return 0;
	f = fdget(ch->fd);
	if (!fd_file(f))
		return -EBADF;
	err = interest_change_file(inst, fd_file(f), ch);
	fdput(f);
	return err;
}
