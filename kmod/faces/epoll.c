// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of epoll, with their own arguments: through the fadvise entry, and
 * as io_uring commands.
 */
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/item.h"
#include "faces/access.h"
#include "faces/bind.h"
#include "faces/changes.h"
#include "faces/epoll.h"
#include "set/control.h"
#include "set/fast.h"
#include "set/interest.h"
#include "sinks/results.h"

/* The wait if this may be the first use of the set. */
static noinline int wait_unsettled(struct dep_instance *inst,
				   struct epoll_event __user *to, u32 max,
				   int timeout_ms)
{
	int err = dep_bind_check(inst);

	return err ? err : dep_fast_wait(inst, to, max, timeout_ms);
}

/**
 * dep_epoll_wait() - epoll_wait(2) with its own arguments
 * @file: the set
 * @address: address of the events
 * @length: a value of DEVEPOLL_EPOLL_WAIT_LEN()
 *
 * Context: process; sleeps.
 * Return: as epoll_wait(2);
 * -EBADF: also: not open for reading;
 * -EBUSY: a set of the 2001 interface.
 */
int dep_epoll_wait(struct file *file, u64 address, u64 length)
{
	struct epoll_event __user *to = u64_to_user_ptr(address);
	struct dep_instance *inst = file->private_data;
	int max = length >> 32, timeout_ms = length;

	if (unlikely(!(file->f_mode & FMODE_READ)))
		return -EBADF;
	if (max <= 0 || max > INT_MAX / sizeof(struct epoll_event))
		return -EINVAL;
	if (!access_ok(to, max * sizeof(struct epoll_event)))
		return -EFAULT;
	if (unlikely(!dep_bind_is_settled(inst)))
		return wait_unsettled(inst, to, max, timeout_ms);
	return dep_fast_wait(inst, to, max, timeout_ms);
}

/* A value that is too large for an fd names no file. */
static int fd_of(u64 length)
{
	return (s64)length == (int)length ? (int)length : -1;
}

static int read_event(struct dep_change *ch,
		      const struct epoll_event __user *from)
{
	__poll_t events;
	u64 data;

	if (!user_read_access_begin(from, sizeof(*from)))
		return -EFAULT;
	unsafe_get_user(events, &from->events, efault);
	unsafe_get_user(data, &from->data, efault);
	user_read_access_end();
	dep_change_from_epoll(ch, (__force u32)events, data);
	return 0;

efault:
	user_read_access_end();
	return -EFAULT;
}

/*
 * Makes one change.  In its callers, since this is what a call of epoll_ctl(2)
 * does: of three frames, one is enough.
 */
static __always_inline int make_change(struct dep_instance *inst,
				       const struct dep_change *ch)
{
	struct dep_item *gone = NULL;
	int err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_bind_begin(inst, true);
	if (!err) {
		err = dep_change_check(inst, ch);
		if (!err && ch->op == DEVEPOLL_DEL)
			gone = dep_interest_unhook(inst, ch->fd);
		if (!err && !gone)
			err = dep_interest_change(inst, ch);
		dep_bind_end(inst, !err);
	}
	mutex_unlock(&inst->mtx);
	/* Threads that change one set wait for M most of the time. */
	if (gone)
		dep_item_drop(gone, false);
	return err;
}

/* epoll_ctl(2) */
static int fast_ctl(struct dep_instance *inst, unsigned int op, u64 address,
		    int fd)
{
	struct dep_change ch DEP_UNINITIALIZED;

	if (op == DEVEPOLL_DEL)
		ch = (struct dep_change) {};
	else if (read_event(&ch, u64_to_user_ptr(address)))
		return -EFAULT;
	ch.op = op;
	ch.fd = fd;
	return make_change(inst, &ch);
}

/**
 * dep_epoll_ctl_event() - epoll_ctl(2) with its event by value
 * @inst: the instance
 * @request: DEVEPOLL_EPOLL_CTL() of an operation
 * @event: the fd and, except for a DEL, its events and data
 *
 * Context: process; sleeps.
 * Return: as epoll_ctl(2);
 * -EBUSY: a set of the 2001 interface;
 * -EINTR: the caller is being killed;
 * -EINVAL: also: a DEL with events or data, or a mode that a signal set does
 * not have.
 */
int dep_epoll_ctl_event(struct dep_instance *inst, unsigned int request,
			const struct devepoll_event *event)
{
	struct dep_change ch = {
		.op = request - DEVEPOLL_EPOLL_CTL(0),
		.fd = event->fd,
	};

	if (ch.op != DEVEPOLL_DEL)
		dep_change_from_epoll(&ch, event->events, event->data);
	else if (event->events || event->data)
		return -EINVAL;
	return make_change(inst, &ch);
}

/**
 * dep_epoll_call() - the calls of epoll, with their own arguments
 * @file: the set
 * @request: DEVEPOLL_EPOLL_WAIT or DEVEPOLL_EPOLL_CTL() of an operation
 * @address: address of the events, or of the event
 * @length: a value of DEVEPOLL_EPOLL_WAIT_LEN(), or the fd
 *
 * Context: process; sleeps.
 * Return: as epoll_wait(2) and epoll_ctl(2);
 * -EBADF: also: not open in the mode that the request needs;
 * -EBUSY: a set of the 2001 interface;
 * -EINVAL: also: no such request.
 */
int dep_epoll_call(struct file *file, unsigned int request, u64 address,
		   u64 length)
{
	struct dep_instance *inst = file->private_data;

	if (!dep_access_allows(file, request))
		return -EBADF;
	switch (request) {
	case DEVEPOLL_EPOLL_WAIT:
		return dep_epoll_wait(file, address, length);
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_DEL):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD):
		return fast_ctl(inst, request - DEVEPOLL_EPOLL_CTL(0), address,
				fd_of(length));
	}
	return -EINVAL;
}
