// SPDX-License-Identifier: GPL-2.0
/*
 * write(2) on /dev/epoll as in 2001: sets of that interface and signal sets are
 * changed so.
 */
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/events.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/limits.h"
#include "epoll/request.h"
#include "epoll/write.h"
#include "files/waitqueue.h"
#include "set/add.h"
#include "set/control.h"
#include "set/interest.h"

static void write_replace(struct dep_item *item, u16 events)
{
	spin_lock_irq(&item->inst->lock);
	WRITE_ONCE(item->events, events);
	spin_unlock_irq(&item->inst->lock);
}

/*
 * As in 2001 a change makes no event: what is ready already is not posted.
 * What happens from now on is, so the events are set before the file is told.
 */
static int write_change(struct dep_item *item, u16 events)
{
	/* M is held and the caller has the file: nobody else changes it. */
	u16 before = item->events, ready;
	int err;

	write_replace(item, events);
	/* Pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	/* Counts a change that fails below for want of memory, too. */
	item->inst->stats.mods++;
	/* The file learns of the last two in any case. */
	if (!(events & ~(before | DEP_EVENTS_ALWAYS)))
		return 0;
	err = dep_watch_arm(item, &ready);
	if (!err && !(item->mode & DEP_MODE_KEEP))
		return 0;
	spin_lock_irq(&item->inst->lock);
	if (err) {
		WRITE_ONCE(item->events, before);
		dep_interest_must_poll(item);
	}
	/* The file will not repeat this answer, so it counts as from before. */
	if (item->mode & DEP_MODE_KEEP)
		dep_item_post(item, ready & before, false);
	spin_unlock_irq(&item->inst->lock);
	return err;
}

static int write_set_file(struct dep_instance *inst, struct file *file, int fd,
			  u16 events)
{
	struct dep_item *item = NULL;

	/* With M held, there is none if there was none. */
	if (dep_instance_nr_items(inst))
		item = dep_interest_resolve(inst, file, fd);
	if (item)
		return write_change(item, events);
	/*
	 * A file that can't be polled counts, as in 2001: to poll(2) it is
	 * always ready, and that is posted now and never again.
	 */
	return dep_interest_add(inst, file, fd, events, 0, 0);
}

/*
 * Adds an fd, or changes the events asked for.  For a file that is added, what is
 * ready already is posted.  A change posts nothing.  ->poll() may sleep.
 */
static int write_set(struct dep_instance *inst, int fd, u16 events)
{
	struct fd f = fdget(fd);
	int err;

	lockdep_assert_held(&inst->mtx);
	if (!fd_file(f))
		return -EBADF;
	err = write_set_file(inst, fd_file(f), fd, events);
	fdput(f);
	return err;
}

/* Is the number open at all?  An O_PATH file is, though it can't be polled. */
static bool fd_is_open(int fd)
{
	struct file *file = fget_raw(fd);

	if (!file)
		return false;
	fput(file);
	return true;
}

/* Returns true if the entry took effect. */
static bool write_apply(struct dep_instance *inst, const struct pollfd *entry)
{
	u16 events = entry->events;
	int err = -EBADF;

	if (!(events & POLLREMOVE)) {
		/* Signals report errors as F_SETSIG does, asked for or not. */
		if (inst->onesig)
			events |= DEP_EVENTS_ALWAYS;
		err = write_set(inst, entry->fd, events);
		if (err != -EBADF)
			return !err;
	}
	/*
	 * Removed, or not open, which means the same.  A number that is not in
	 * the set counts too: its item went when its file was closed.
	 */
	dep_interest_remove(inst, entry->fd);
	return entry->events & POLLREMOVE || !fd_is_open(entry->fd);
}

/**
 * dep_write_pollfds() - add, change and remove fds
 * @inst: the instance
 * @buf: an array of struct pollfd
 * @count: its size in bytes
 *
 * Context: process; sleeps.
 * Return: the size of the entries that took effect;
 * -EINVAL: @count is not a multiple of the size of an entry;
 * -EBUSY: a set of the extended interface;
 * -EFAULT: @buf can't be read; nothing was done, unless it became unreadable
 * meanwhile;
 * -EINTR: the caller is being killed.
 */
ssize_t dep_write_pollfds(struct dep_instance *inst, const char __user *buf,
			  size_t count)
{
	struct pollfd batch[DEP_WRITE_BATCH] __aligned(8) __uninitialized;
	ssize_t done = 0;
	size_t i, size;

	if (count % sizeof(struct pollfd))
		return -EINVAL;
	if (READ_ONCE(inst->settled))
		return -EBUSY;
	/* All or nothing, as far as one can tell beforehand. */
	if (count > sizeof(batch) && fault_in_readable(buf, count))
		return -EFAULT;

	while (count) {
		size = min(count, sizeof(batch));
		/* Before mtx: nothing may wait for mmap_lock under it. */
		if (dep_words_from_user((u64 *)batch, size, buf, size))
			return -EFAULT;
		if (mutex_lock_killable(&inst->mtx))
			return done ? done : -EINTR;
		/* The extended interface may have taken the set just now. */
		for (i = 0; i < size / sizeof(struct pollfd) &&
		     !inst->extended; i++) {
			if (write_apply(inst, &batch[i]))
				done += sizeof(struct pollfd);
		}
		mutex_unlock(&inst->mtx);
		buf += size;
		count -= size;
		if (!count || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}
