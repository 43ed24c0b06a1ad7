// SPDX-License-Identifier: GPL-2.0
/*
 * The changes that programs request, which are like those of epoll_ctl(2).
 * epoll/write.c has those of a write() of 2001.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/poll.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/events.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/relay.h"
#include "core/waiter.h"
#include "files/waitqueue.h"
#include "set/add.h"
#include "set/control.h"
#include "set/interest.h"

/**
 * dep_interest_must_poll() - a change of an item was taken back
 * @item: the item; its instance is locked
 *
 * While it was tried, wake-ups were compared with the events that it asked for,
 * so the file has to be polled.
 */
void dep_interest_must_poll(struct dep_item *item)
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

/* The mode that an item gets if a change asks for @mode. */
static __always_inline u32 item_new_mode(const struct dep_item *item, u32 mode)
{
	u32 before = item->mode;
	u32 kept = before & (DEP_MODE_OF_FILE | DEP_MODE_POLL);

	if (unlikely((before ^ mode) & DEP_MODE_TRUST)) {
		/* The caller has a reference on the file. */
		mode = dep_check_trust(item->file, mode);
		kept = (kept & ~DEP_MODE_POLL) |
		       dep_item_poll_mode(item->inst, mode);
	}
	return mode | kept;
}

static __always_inline void item_set(struct dep_item *item, u16 events,
				     u32 mode, u64 data)
{
	WRITE_ONCE(item->events, events);
	WRITE_ONCE(item->mode, item_new_mode(item, mode));
	item->data = data;
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
		item_set(item, before->events, before->mode, before->data);
		if (item->mode & DEP_MODE_KEEP)
			revents |= ready;
		if (revents & item->events)
			inst->sink->post(inst, item, revents & item->events);
		/* Disabled by its event, which is not in the ring any more. */
		if (unlikely(dep_instance_has_ring(inst) && !item->events))
			item->revents |= revents;
		dep_interest_must_poll(item);
	} else {
		/* The file won't repeat them, so they count as said now. */
		if (item->mode & DEP_MODE_KEEP)
			ready |= revents;
		interest_post_again(item, ready);
	}
	spin_unlock_irq(&inst->lock);
	return err;
}

/* The rest of a change whose file has to queue us, or that is of a set. */
static noinline int interest_arm_modified(struct dep_item *item,
					  struct dep_change before, u16 revents)
{
	struct dep_instance *inst = item->inst;
	u16 ready;
	int err;

	err = dep_watch_arm_more(item, &ready);
	inst->stats.mods += !err;
	if (!err && !(item->mode & DEP_MODE_KEEP) && !(ready & item->events))
		return 0;
	return interest_end_modify(item, &before, ready, revents, err);
}

/* Will its file be polled by whoever takes it off the list? */
static __always_inline bool item_is_polled(const struct dep_item *item)
{
	return (item->mode & (DEP_MODE_POLL | DEP_MODE_RING)) == DEP_MODE_POLL;
}

/* The rest of one after which something is posted. */
static noinline int interest_post_modified(struct dep_item *item, u16 ready,
					   u16 revents)
{
	struct dep_instance *inst = item->inst;

	if (unlikely(item->mode & DEP_MODE_KEEP))
		return interest_end_modify(item, NULL, ready, revents, 0);
	spin_lock_irq(&inst->lock);
	/* Like a wake-up, if nobody is to be told: nothing is computed. */
	if (likely(item_is_polled(item) && !inst->nr_waiters &&
		   !inst->polled))
		dep_item_list_to_poll(inst, item);
	else
		interest_post_again(item, ready);
	spin_unlock_irq(&inst->lock);
	return 0;
}

/*
 * EPOLLEXCLUSIVE can't be asked for by a change; nor the report of a close:
 * nobody knows who has got an event of the fd before.
 */
static noinline int interest_check_modify(struct dep_instance *inst,
					  struct file *file, int fd, u32 mode)
{
	struct dep_item *item;
	bool held;

	if (mode & DEP_MODE_EXCLUSIVE)
		return -EINVAL;
	item = dep_interest_resolve_lock(inst, file, fd);
	held = !item || item->mode & DEP_MODE_HELD;
	spin_unlock_irq(&inst->lock);
	return held ? 0 : -EINVAL;
}

/* As epoll does, this reports what is ready already. */
static __always_inline int interest_modify(struct dep_instance *inst,
					   struct file *file, int fd,
					   u16 events, u32 mode, u64 data)
{
	struct dep_change before __uninitialized;
	struct dep_item *item;
	u16 revents, ready;
	bool listed;

	item = dep_interest_resolve_lock(inst, file, fd);
	if (unlikely(!item || dep_item_is_exclusive(item))) {
		spin_unlock_irq(&inst->lock);
		return item ? -EINVAL : -ENOENT;
	}
	before.events = item->events;
	before.mode = item->mode;
	before.data = item->data;
	/* Set before the poll, since what happens from now on counts. */
	item_set(item, events, mode, data);
	revents = item->revents;
	item->revents = 0;
	WRITE_ONCE(item->pending, 0);
	listed = !list_empty(&item->ready);
	if (!listed)
		item->must_poll = false;
	/* Events in the ring have the data of before. */
	if (unlikely(dep_instance_has_ring(inst)))
		revents |= inst->sink->withdraw(item);
	spin_unlock_irq(&inst->lock);
	/* Pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	if (unlikely(dep_watch_must_arm(item)))
		return interest_arm_modified(item, before, revents);
	ready = dep_watch_ask(item, file);
	inst->stats.mods++;
	/*
	 * Often there is nothing to post, and L is not needed again.  M keeps
	 * an item on the list, where its file is polled.
	 */
	if (likely(!(item->mode & DEP_MODE_KEEP) &&
		   (!(ready & events) || (listed && item_is_polled(item)))))
		return 0;
	return interest_post_modified(item, ready, revents);
}

/**
 * dep_interest_modify() - change what is asked for, as EPOLL_CTL_MOD does
 * @inst: the instance
 * @fd: the number
 * @events: the poll events asked for
 * @mode: DEP_MODE_*
 * @data: the user data
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: as dep_interest_change().
 */
int dep_interest_modify(struct dep_instance *inst, int fd, u16 events, u32 mode,
			u64 data)
{
	struct fd f = fdget(fd);
	int err;

	lockdep_assert_held(&inst->mtx);
	if (unlikely(!fd_file(f)))
		return -EBADF;
	err = dep_check_file(inst, fd_file(f));
	if (unlikely(mode & (DEP_MODE_EXCLUSIVE | DEP_MODE_TELL_CLOSED)) &&
	    !err)
		err = interest_check_modify(inst, fd_file(f), fd, mode);
	if (likely(!err))
		err = interest_modify(inst, fd_file(f), fd, events, mode,
				      data);
	fdput(f);
	return err;
}

/*
 * What EPOLL_CTL_DEL says of a number that is not in the set, with -ENOENT, and
 * an operation that there is not, with -EINVAL, unless the number is at fault.
 */
static int interest_refuse(struct dep_instance *inst, int fd, int err)
{
	struct fd f = fdget(fd);

	if (!fd_file(f))
		return -EBADF;
	err = dep_check_file(inst, fd_file(f)) ?: err;
	fdput(f);
	return err;
}

/**
 * dep_interest_change() - change a set of the extended interface
 * @inst: the instance
 * @op: DEVEPOLL_ADD, DEVEPOLL_MOD or DEVEPOLL_DEL, or an unknown one
 * @fd: the number
 * @events: the poll events asked for
 * @mode: DEP_MODE_*
 * @data: the user data
 *
 * A number that no longer names the file with which it was added is not in the
 * set, but the process that added it can still remove it.  An item that another
 * process added under the same number is not touched, unless it has the same
 * file.  What is ready is posted.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0, or a result of struct devepoll_change.
 */
int dep_interest_change(struct dep_instance *inst, u16 op, int fd, u16 events,
			u32 mode, u64 data)
{
	lockdep_assert_held(&inst->mtx);
	switch (op) {
	case DEVEPOLL_ADD:
		return dep_interest_add_fd(inst, fd, events, mode, data);
	case DEVEPOLL_MOD:
		return dep_interest_modify(inst, fd, events, mode, data);
	case DEVEPOLL_DEL:
		/* It can go, whatever the number names now. */
		return dep_interest_remove(inst, fd) ? 0 :
		       interest_refuse(inst, fd, -ENOENT);
	}
	return interest_refuse(inst, fd, -EINVAL);
}
