// SPDX-License-Identifier: GPL-2.0
/*
 * The two faces of /dev/poll, the Linux device of 2000 and the Solaris device:
 * what a write() does to them, and how a set comes to belong to one of them.
 *
 * A write comes before the first request and has no number that would tell its
 * face.  Until a request tells it, an item keeps what either face would make of
 * the writes so far, and asks for the larger set of events, which is that of
 * Solaris.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devpoll.h>

#include "core/compat.h"
#include "core/events.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/limits.h"
#include "devpoll/devpoll.h"
#include "set/control.h"
#include "set/interest.h"
#include "set/lookup.h"

#define DEVPOLL_REMOVE		(POLLREMOVE | DP_SOLARIS_POLLREMOVE)

/* dep_item.data: below, what is asked for; above, what was written last. */
#define DEVPOLL_DATA(asked, last)	((asked) | (u32)(last) << 16)
#define DEVPOLL_DATA_LAST(data)		((u16)((data) >> 16))

/**
 * dep_devpoll_begin() - make a new instance one of /dev/poll
 * @inst: the instance; nobody else can reach it yet
 */
void dep_devpoll_begin(struct dep_instance *inst)
{
	inst->extended = true;
	inst->devpoll = DEP_DEVPOLL_OPEN;
	inst->room = dep_max_fds;
}

/* In the Linux face the last write counts, and a closed fd is not a member. */
static bool item_keep(struct dep_item *item)
{
	u16 last = DEVPOLL_DATA_LAST(item->data);

	if (item->mode & DEP_MODE_CLOSED)
		return false;
	WRITE_ONCE(item->mode, item->mode & ~DEP_MODE_STAY);
	WRITE_ONCE(item->events, last | DEP_EVENTS_ALWAYS);
	item->data = DEVPOLL_DATA(last, last);
	return true;
}

/**
 * dep_devpoll_is_of_other() - does a set belong to the other face?
 * @inst: the instance
 * @face: the face of a request
 *
 * Return: false also if the set belongs to no face yet: a request may choose.
 */
bool dep_devpoll_is_of_other(const struct dep_instance *inst,
			     enum dep_devpoll face)
{
	u8 now = READ_ONCE(inst->devpoll);

	return now != DEP_DEVPOLL_OPEN && now != face;
}

/**
 * dep_devpoll_settle() - give a set its face, if it has none yet
 * @inst: the instance
 * @face: the face
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_devpoll_settle(struct dep_instance *inst, enum dep_devpoll face)
{
	lockdep_assert_held(&inst->mtx);
	if (inst->devpoll != DEP_DEVPOLL_OPEN)
		return;
	WRITE_ONCE(inst->devpoll, face);
	if (face == DEP_DEVPOLL_LINUX)
		dep_interest_sift(inst, item_keep);
}

/**
 * dep_devpoll_choose() - give a set its face, unless it belongs to the other
 * @inst: the instance
 * @face: the face
 *
 * To be called for a request once nothing else can refuse it any more.
 *
 * Context: process; sleeps.
 * Return: 0;
 * -EBUSY: it belongs to the other face;
 * -EINTR: the caller is being killed.
 */
int dep_devpoll_choose(struct dep_instance *inst, enum dep_devpoll face)
{
	int err = 0;

	if (READ_ONCE(inst->devpoll) == face)
		return 0;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	if (dep_devpoll_is_of_other(inst, face))
		err = -EBUSY;
	else
		dep_devpoll_settle(inst, face);
	mutex_unlock(&inst->mtx);
	return err;
}

/* Computes the item's new state from its old one and what was written. */
static void change_make(struct dep_change *ch, const struct dep_instance *inst,
			u16 written, u64 before)
{
	bool replaces = inst->devpoll == DEP_DEVPOLL_LINUX;
	u16 asked = replaces ? written : written | (u16)before;

	ch->events = asked | DEP_EVENTS_ALWAYS;
	ch->mode = replaces ? 0 : DEP_MODE_STAY;
	ch->data = DEVPOLL_DATA(asked, written);
}

/* Applies an entry whose number is not open. */
static int devpoll_apply_closed(struct dep_instance *inst,
				const struct dep_change *ch)
{
	if (inst->devpoll == DEP_DEVPOLL_LINUX) {
		dep_interest_remove(inst, ch->fd);
		return 0;
	}
	/* A number that can't be open is ignored. */
	if (ch->fd >= rlimit(RLIMIT_NOFILE) || ch->fd > DEP_MAX_FD)
		return 0;
	return dep_interest_bury(inst, ch);
}

static int devpoll_apply(struct dep_instance *inst, const struct pollfd *entry)
{
	struct dep_change ch = { .fd = entry->fd };
	u16 written = (u16)entry->events & DEP_EVENTS_ALL;
	int err = -ENOENT;
	u16 events;
	u64 before;

	if (entry->fd < 0)
		return 0;
	if (entry->events & DEVPOLL_REMOVE) {
		dep_interest_remove(inst, entry->fd);
		return 0;
	}
	if (dep_interest_query(inst, entry->fd, &events, &before)) {
		ch.op = DEVEPOLL_MOD;
		change_make(&ch, inst, written, before);
		err = dep_interest_change(inst, ch.op, ch.fd, ch.events,
					  ch.mode, ch.data);
	}
	/* Not in the set, or the number names another file now. */
	if (err == -ENOENT) {
		ch.op = DEVEPOLL_ADD;
		change_make(&ch, inst, written, 0);
		err = dep_interest_change(inst, ch.op, ch.fd, ch.events,
					  ch.mode, ch.data);
	}
	return err == -EBADF ? devpoll_apply_closed(inst, &ch) : err;
}

/* Applies @nr entries; sets @done to how many succeeded before one failed. */
static int devpoll_apply_batch(struct dep_instance *inst,
			       const struct pollfd *batch, size_t nr,
			       size_t *done)
{
	int err = 0;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	for (*done = 0; *done < nr; ++*done) {
		err = devpoll_apply(inst, &batch[*done]);
		if (err)
			break;
	}
	mutex_unlock(&inst->mtx);
	return err;
}

/**
 * dep_devpoll_write() - add, change and remove fds
 * @inst: the instance
 * @buf: an array of struct pollfd
 * @count: its size in bytes
 *
 * Context: process; sleeps.
 * Return: see linux/devpoll.h.
 */
ssize_t dep_devpoll_write(struct dep_instance *inst, const char __user *buf,
			  size_t count)
{
	struct pollfd batch[DEP_WRITE_BATCH] __uninitialized;
	ssize_t done = 0;
	int err = 0;

	if (count % sizeof(struct pollfd))
		return -EINVAL;
	while (count && !err) {
		size_t size = min(count, sizeof(batch)), nr = 0;
		size_t whole;

		/* Before mtx: under it nothing may wait for mmap_lock. */
		whole = (size - copy_from_user(batch, buf, size)) /
			sizeof(batch[0]);
		if (whole)
			err = devpoll_apply_batch(inst, batch, whole, &nr);
		if (!err && whole < size / sizeof(batch[0]))
			err = -EFAULT;
		buf += size;
		count -= size;
		done += nr * sizeof(batch[0]);
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done ? done : err;
}
