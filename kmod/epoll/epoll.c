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
#include "epoll/bind.h"
#include "epoll/changes.h"
#include "epoll/epoll.h"
#include "epoll/request.h"
#include "fast/fast.h"
#include "set/add.h"
#include "set/control.h"
#include "set/interest.h"
#include "set/results.h"
#include "set/waiting.h"

static __always_inline int wait_settled(struct dep_instance *inst,
					struct epoll_event __user *to, u32 max,
					int timeout_ms)
{
	struct dep_results results = {
		.user = to,
		.layout = DEP_LAYOUT_EPOLL,
		.max = max,
	};

	return DEP_HAS_FAST ? dep_fast_wait(inst, to, max, timeout_ms) :
			      dep_collect_ms(&results, inst, timeout_ms);
}

/* The wait if this may be the first use of the set, or fds report closes. */
static noinline int wait_unsettled(struct dep_instance *inst,
				   struct epoll_event __user *to, u32 max,
				   int timeout_ms)
{
	int err = dep_bind_for_wait(inst);

	return err ? err : wait_settled(inst, to, max, timeout_ms);
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
	if (unlikely(!dep_bind_is_plain(inst)))
		return wait_unsettled(inst, to, max, timeout_ms);
	return wait_settled(inst, to, max, timeout_ms);
}

/* A value that is too large for an fd names no file. */
static int fd_of(u64 length)
{
	return (s64)length == (int)length ? (int)length : -1;
}

static __always_inline int read_event(struct dep_change *ch, u64 address)
{
	u32 events;
	u64 data;
	int err = dep_event_from_user(address, &events, &data);

	if (likely(!err))
		dep_change_from_epoll(ch, events, data);
	return err;
}

/*
 * @op is a constant in each caller, so one case remains; with 0, the change is
 * one of any kind.  An item that was unhooked goes to @gone: it is dropped
 * without M.
 */
static __always_inline int apply(struct dep_instance *inst,
				 const struct dep_change *ch, u16 op,
				 struct dep_item **gone)
{
	if (op == DEVEPOLL_ADD)
		return dep_interest_add_fd(inst, ch->fd, ch->events, ch->mode,
					   ch->data);
	if (op == DEVEPOLL_MOD)
		return dep_interest_modify(inst, ch->fd, ch->events, ch->mode,
					   ch->data);
	if (op == DEVEPOLL_DEL)
		*gone = dep_interest_unhook(inst, ch->fd);
	if (*gone)
		return 0;
	return dep_interest_change(inst, ch->op, ch->fd, ch->events, ch->mode,
				   ch->data);
}

/* The same if this may be the first use of the set, or it is a signal set. */
static __always_inline int apply_unsettled(struct dep_instance *inst,
					   const struct dep_change *ch, u16 op,
					   struct dep_item **gone)
{
	int err = dep_bind_begin(inst, true);

	if (err)
		return err;
	err = dep_change_check_mode(inst, ch->mode);
	if (!err)
		err = apply(inst, ch, op, gone);
	dep_bind_end(inst, !err);
	return err;
}

/* An add makes the first change as a rule; the other two are out of its way. */
static noinline int make_first_change(struct dep_instance *inst,
				      struct dep_change ch)
{
	struct dep_item *none = NULL;

	return apply_unsettled(inst, &ch, 0, &none);
}

/*
 * Makes one change.  In its callers, each with its operation @op, since this is
 * what a call of epoll_ctl(2) does: of three frames, one is enough.
 */
static __always_inline int make_change(struct dep_instance *inst,
				       const struct dep_change *ch, u16 op)
{
	struct dep_item *gone = NULL;
	int err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	if (likely(inst->settled))
		err = apply(inst, ch, op, &gone);
	else if (op == DEVEPOLL_ADD)
		err = apply_unsettled(inst, ch, op, &gone);
	else
		err = make_first_change(inst, *ch);
	mutex_unlock(&inst->mtx);
	/* Threads that change one set wait for M most of the time. */
	if (gone)
		dep_item_drop(gone, false);
	return err;
}

/* epoll_ctl(2) with an event */
static __always_inline int fast_ctl(struct dep_instance *inst, u16 op,
				    u64 address, int fd)
{
	struct dep_change ch __uninitialized;

	ch.op = op;
	ch.fd = fd;
	if (read_event(&ch, address))
		return -EFAULT;
	return make_change(inst, &ch, op);
}

static noinline int first_add(struct dep_instance *inst, u64 address, int fd)
{
	return fast_ctl(inst, DEVEPOLL_ADD, address, fd);
}

/* In the usual case with one frame less: what follows takes M. */
static noinline int fast_add(struct dep_instance *inst, u64 address, int fd)
{
	struct dep_change ch __uninitialized;

	if (unlikely(!dep_bind_is_settled(inst)))
		return first_add(inst, address, fd);
	ch.op = DEVEPOLL_ADD;
	if (read_event(&ch, address))
		return -EFAULT;
	return dep_interest_add_locking(inst, fd, ch.events, ch.mode, ch.data);
}

static noinline int fast_modify(struct dep_instance *inst, u64 address, int fd)
{
	return fast_ctl(inst, DEVEPOLL_MOD, address, fd);
}

static noinline int fast_remove(struct dep_instance *inst, int fd)
{
	const struct dep_change ch = { .op = DEVEPOLL_DEL, .fd = fd };

	return make_change(inst, &ch, DEVEPOLL_DEL);
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
	return make_change(inst, &ch, ch.op);
}

/**
 * dep_epoll_ctl() - epoll_ctl(2) with its own arguments
 * @file: the set
 * @request: DEVEPOLL_EPOLL_CTL() of an operation
 * @address: address of the event
 * @length: the fd
 *
 * Context: process; sleeps.
 * Return: as epoll_ctl(2);
 * -EBADF: also: not open for writing;
 * -EBUSY: a set of the 2001 interface.
 */
int dep_epoll_ctl(struct file *file, unsigned int request, u64 address,
		  u64 length)
{
	struct dep_instance *inst = file->private_data;
	int fd = fd_of(length);

	if (unlikely(!(file->f_mode & FMODE_WRITE)))
		return -EBADF;
	if (request == DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD))
		return fast_modify(inst, address, fd);
	if (request == DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD))
		return fast_add(inst, address, fd);
	return fast_remove(inst, fd);
}
