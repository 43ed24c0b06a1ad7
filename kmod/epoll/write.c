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
#include "core/limits.h"
#include "epoll/request.h"
#include "epoll/write.h"
#include "set/control.h"
#include "set/interest.h"

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
		err = dep_interest_set(inst, entry->fd, events);
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
