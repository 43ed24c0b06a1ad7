// SPDX-License-Identifier: GPL-2.0
/*
 * The classic face: write(), EP_ALLOC, EP_POLL, EP_FREE and EP_ISPOLLED as in
 * 2001.  Documentation/differences.rst has what differs, and why.
 */
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "classic.h"
#include "harvest.h"
#include "instance.h"
#include "interest.h"
#include "limits.h"
#include "pages.h"

unsigned int dep_max_fds = DEP_MAX_FDS_DEFAULT;

static_assert(sizeof(struct pollfd) == 8);
static_assert(sizeof(struct evpoll) == 16);
static_assert(offsetof(struct evpoll, ep_resoff) == 8);
static_assert(sizeof(struct evpoll32) == 8);
static_assert(offsetof(struct evpoll32, ep_resoff) == 4);
static_assert(sizeof(struct evpoll_packed) == 12);
static_assert(offsetof(struct evpoll_packed, ep_resoff) == 4);
static_assert(EP_ALLOC == 0x80045001);
static_assert(EP_POLL == 0xC0105002);
static_assert(EP_POLL32 == 0xC0085002);
static_assert(EP_POLL_PACKED == 0xC00C5002);
static_assert(EP_FREE == 0x5003);
static_assert(EP_ISPOLLED == 0xC0085004);

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
static bool classic_apply(struct dep_instance *inst, const struct pollfd *entry)
{
	int err = -EBADF;

	if (!(entry->events & POLLREMOVE)) {
		err = dep_interest_set(inst, entry->fd, (u16)entry->events);
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
 * dep_classic_write() - add, change and remove fds
 * @inst: the instance
 * @buf: an array of struct pollfd
 * @count: its size in bytes
 *
 * Context: process; sleeps.
 * Return: the size of the entries that took effect;
 * -EINVAL: @count is not a multiple of the size of an entry;
 * -EFAULT: @buf can't be read; nothing was done, unless it became unreadable
 * meanwhile.
 */
ssize_t dep_classic_write(struct dep_instance *inst, const char __user *buf,
			  size_t count)
{
	struct pollfd batch[DEP_WRITE_BATCH];
	ssize_t done = 0;
	size_t i, size;

	if (count % sizeof(struct pollfd))
		return -EINVAL;
	/* All or nothing, as far as one can tell beforehand. */
	if (fault_in_readable(buf, count))
		return -EFAULT;

	while (count) {
		size = min(count, sizeof(batch));
		/* Before mtx: under it nothing may wait for mmap_lock. */
		if (copy_from_user(batch, buf, size))
			return -EFAULT;
		mutex_lock(&inst->mtx);
		for (i = 0; i < size / sizeof(struct pollfd); i++) {
			if (classic_apply(inst, &batch[i]))
				done += sizeof(struct pollfd);
		}
		mutex_unlock(&inst->mtx);
		buf += size;
		count -= size;
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}

static long classic_alloc(struct dep_instance *inst, int nr)
{
	long err;

	if (nr < 1 || nr > dep_max_fds)
		return -EINVAL;
	mutex_lock(&inst->mtx);
	err = dep_pages_alloc(inst, nr);
	mutex_unlock(&inst->mtx);
	return err;
}

static long classic_free(struct dep_instance *inst)
{
	long err;

	mutex_lock(&inst->mtx);
	err = dep_pages_retire(inst);
	if (!err) {
		dep_interest_clear(inst);
		dep_pages_free(inst);
	}
	mutex_unlock(&inst->mtx);
	if (!err)
		dep_harvest_wake_all(inst);
	return err;
}

/**
 * struct classic_poll - where one layout of struct evpoll has its members
 * @timeout: ep_timeout
 * @resoff: ep_resoff
 * @size: size of @resoff in bytes
 */
struct classic_poll {
	int __user *timeout;
	void __user *resoff;
	size_t size;
};

/* Told before the events are taken: so a fault loses nothing. */
static int classic_tell(const struct classic_poll *poll, unsigned long offset)
{
	if (poll->size == sizeof(u32))
		return put_user(offset, (u32 __user *)poll->resoff);
	return put_user(offset, (u64 __user *)poll->resoff);
}

static long classic_wait(struct dep_instance *inst,
			 const struct classic_poll *poll,
			 struct dep_harvest *harvest)
{
	unsigned long offset;
	u32 nr;
	int err;

	do {
		err = dep_harvest_wait(harvest, inst);
		if (err <= 0)
			return err;
		if (!atomic_read(&inst->mappings))
			return -EINVAL;
		offset = dep_pages_offset(inst);
		if (classic_tell(poll, offset))
			return -EFAULT;
		nr = dep_pages_take(inst, harvest, offset);
	} while (!nr);
	return nr;
}

static long classic_poll(struct dep_instance *inst,
			 const struct classic_poll *poll)
{
	struct dep_harvest harvest;
	int timeout;
	long ret;

	if (get_user(timeout, poll->timeout))
		return -EFAULT;
	if (!atomic_read(&inst->mappings))
		return -EINVAL;
	dep_harvest_begin(&harvest, inst, timeout);
	ret = classic_wait(inst, poll, &harvest);
	if (ret <= 0)
		dep_harvest_pass(inst);
	return ret;
}

static long classic_ispolled(struct dep_instance *inst,
			     struct pollfd __user *arg)
{
	struct pollfd entry;
	u16 events;

	if (copy_from_user(&entry, arg, sizeof(entry)))
		return -EFAULT;
	if (!dep_interest_query(inst, entry.fd, &events))
		return 0;
	entry.events = events;
	entry.revents = 0;
	return copy_to_user(arg, &entry, sizeof(entry)) ? -EFAULT : 1;
}

#define CLASSIC_POLL(layout, arg)					\
	(&(struct classic_poll) {					\
		.timeout = &((struct layout __user *)(arg))->ep_timeout,\
		.resoff = &((struct layout __user *)(arg))->ep_resoff,	\
		.size = sizeof(((struct layout *)NULL)->ep_resoff),	\
	})

/**
 * dep_classic_ioctl() - the four requests
 * @inst: the instance
 * @cmd: the request; its size tells the layout of its argument, so programs
 *	of 32 and 64 bit share this
 * @arg: the argument, zero-extended
 *
 * Context: process; sleeps.
 * Return: as linux/devepoll.h has it for each request;
 * -ENOTTY: no such request.
 */
long dep_classic_ioctl(struct dep_instance *inst, unsigned int cmd,
		       unsigned long arg)
{
	switch (cmd) {
	case EP_POLL:
		return classic_poll(inst, CLASSIC_POLL(evpoll, arg));
	case EP_POLL32:
		return classic_poll(inst, CLASSIC_POLL(evpoll32, arg));
	case EP_POLL_PACKED:
		return classic_poll(inst, CLASSIC_POLL(evpoll_packed, arg));
	case EP_ALLOC:
		return classic_alloc(inst, arg);
	case EP_FREE:
		return classic_free(inst);
	case EP_ISPOLLED:
		return classic_ispolled(inst, (struct pollfd __user *)arg);
	}
	return -ENOTTY;
}
