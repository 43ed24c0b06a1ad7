// SPDX-License-Identifier: GPL-2.0
/*
 * The extended face: DEVEPOLL_CTL and DEVEPOLL_WAIT, and the calls of epoll
 * with their arguments as they are.
 */
#include <linux/compat.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/stats.h"
#include "faces/access.h"
#include "faces/extended.h"
#include "faces/sigmask.h"
#include "set/harvest.h"
#include "set/interest.h"
#include "set/ready.h"
#include "sinks/area.h"
#include "sinks/pages.h"
#include "sinks/results.h"

static_assert(sizeof(struct devepoll_change) == 24);
static_assert(offsetof(struct devepoll_change, fd) == 4);
static_assert(offsetof(struct devepoll_change, result) == 12);
static_assert(offsetof(struct devepoll_change, data) == 16);
static_assert(sizeof(struct devepoll_ctl) == 24);
static_assert(sizeof(struct devepoll_event) == 16);
static_assert(sizeof(struct devepoll_wait_args) == 64);
static_assert(offsetof(struct devepoll_wait_args, changes) == 40);
static_assert(sizeof(struct devepoll_stats) == 80);
static_assert(DEVEPOLL_CTL == 0xC0185010);
static_assert(DEVEPOLL_WAIT == 0xC0405011);
static_assert(DEVEPOLL_STATS == 0x80505012);
static_assert(DEVEPOLL_EPOLL_WAIT == 0x5020);
static_assert(DEP_MODE_TELL_CLOSED == DEVEPOLL_TELL_CLOSED);
static_assert(DEP_MODE_TRUST == DEVEPOLL_TRUST);

/* The bits of epoll_event.events: what poll reports, and the modes. */
#define EXTENDED_EVENTS \
	((__force u32)(EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP | \
		       EPOLLNVAL | EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM | \
		       EPOLLWRBAND | EPOLLMSG | EPOLLRDHUP))
#define EXTENDED_MODES \
	((__force u32)(EPOLLEXCLUSIVE | EPOLLONESHOT | EPOLLET))
#define EXTENDED_ALWAYS		((__force u16)(EPOLLERR | EPOLLHUP))

/**
 * struct extended_changes - an array of changes in user memory
 * @address: where
 * @nr: how many
 * @size: size of one of them
 * @tried: how many were tried
 * @failed: how many of these failed
 * @signals: they may also be those of a signal set, which is of no interface
 */
struct extended_changes {
	u64 address;
	u32 nr;
	u32 size;
	u32 tried;
	u32 failed;
	bool signals;
};

/*
 * Reads a struct of 64-bit words.  What a program knows is nearly always what
 * we know, and so little is better read than copied.
 */
static int words_from_user(u64 *to, size_t size, const void __user *from,
			   size_t from_size)
{
	const u64 __user *word = from;
	size_t i;

	if (unlikely(size != from_size))
		return copy_struct_from_user(to, size, from, from_size);
	if (!user_read_access_begin(from, size))
		return -EFAULT;
	for (i = 0; i < size / sizeof(u64); i++)
		unsafe_get_user(to[i], &word[i], efault);
	user_read_access_end();
	return 0;

efault:
	user_read_access_end();
	return -EFAULT;
}

/*
 * Begins a use of the set, which makes it one of the extended interface if it
 * is of none yet; extended_end() tells whether it stays one.  @signals: a
 * signal set, which is of no interface, will do, too.
 */
static int extended_begin(struct dep_instance *inst, bool signals)
{
	lockdep_assert_held(&inst->mtx);
	if (likely(inst->extended) || (signals && inst->onesig))
		return 0;
	if (inst->classic || inst->onesig)
		return -EBUSY;
	spin_lock_irq(&inst->lock);
	inst->sink = &dep_ready_sink;
	inst->room = dep_max_fds;
	WRITE_ONCE(inst->extended, true);
	spin_unlock_irq(&inst->lock);
	return 0;
}

/*
 * Ends it.  A first use that came to nothing leaves no item, and leaves the
 * set to either interface.
 */
static void extended_end(struct dep_instance *inst, bool used)
{
	lockdep_assert_held(&inst->mtx);
	if (likely(inst->settled) || inst->onesig)
		return;
	spin_lock_irq(&inst->lock);
	if (used) {
		/* Pairs with extended_check(). */
		smp_store_release(&inst->settled, true);
	} else {
		WARN_ON_ONCE(inst->nr_items);
		inst->sink = &dep_pages_sink;
		inst->room = 0;
		WRITE_ONCE(inst->extended, false);
	}
	spin_unlock_irq(&inst->lock);
}

static noinline int extended_settle(struct dep_instance *inst)
{
	int err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = extended_begin(inst, false);
	if (!err)
		extended_end(inst, true);
	mutex_unlock(&inst->mtx);
	return err;
}

/* Before a wait, and after all that it may be refused for. */
static int extended_check(struct dep_instance *inst)
{
	/* Pairs with extended_end(). */
	if (likely(smp_load_acquire(&inst->settled)))
		return 0;
	return extended_settle(inst);
}

/* Looked at again once mtx is held; here so that nothing is written before. */
static bool extended_is_of_other(const struct dep_instance *inst)
{
	return READ_ONCE(inst->classic);
}

/* There is no more to a signal than the fd and the events. */
static int change_check_onesig(const struct dep_instance *inst,
			       const struct dep_change *ch)
{
	return inst->onesig && ch->mode & ~DEP_MODE_EDGE ? -EINVAL : 0;
}

static int change_from_user(struct dep_change *ch,
			    const struct devepoll_change *from)
{
	u32 known = EXTENDED_EVENTS | EXTENDED_MODES |
		    (__force u32)EPOLLWAKEUP;

	*ch = (struct dep_change) {
		.op = from->op,
		.fd = from->fd,
		.data = from->data,
	};
	if (from->op == DEVEPOLL_DEL)
		return from->flags ? -EINVAL : 0;
	if (from->events & ~known ||
	    from->flags & ~(DEVEPOLL_TELL_CLOSED | DEVEPOLL_TRUST))
		return -EINVAL;
	if (from->flags & DEVEPOLL_TRUST &&
	    !(from->events & (__force u32)EPOLLET))
		return -EINVAL;
	ch->events = (from->events & EXTENDED_EVENTS) | EXTENDED_ALWAYS;
	ch->mode = (from->events & EXTENDED_MODES) | from->flags;
	return 0;
}

static int change_apply(struct dep_instance *inst,
			const struct devepoll_change *from)
{
	struct dep_change ch;
	int err;

	err = change_from_user(&ch, from);
	if (!err)
		err = change_check_onesig(inst, &ch);
	return err ? err : dep_interest_change(inst, &ch);
}

/* Reads changes, of whatever size the program knows them. */
static int changes_read(struct devepoll_change *batch, u64 address, u32 nr,
			u32 size)
{
	const char __user *from = u64_to_user_ptr(address);
	u32 i;
	int err;

	if (size == sizeof(*batch))
		return words_from_user((u64 *)batch, nr * sizeof(*batch), from,
				       nr * sizeof(*batch));
	for (i = 0; i < nr; i++) {
		err = copy_struct_from_user(&batch[i], sizeof(*batch),
					    from + i * size, size);
		if (err)
			return err;
	}
	return 0;
}

static int change_tell(u64 address, int result)
{
	struct devepoll_change __user *to = u64_to_user_ptr(address);

	return put_user(result, &to->result);
}

/*
 * Makes so many changes, which are there to be read and written: so their
 * results are asked of the memory first.
 */
static int changes_apply_batch(struct dep_instance *inst,
			       struct extended_changes *changes, u32 nr)
{
	u64 first = changes->address + (u64)changes->tried * changes->size;
	struct devepoll_change batch[DEP_WRITE_BATCH] DEP_UNINITIALIZED;
	u32 i, failed = 0;
	int err;

	/* Before mtx: under it nothing may wait for mmap_lock. */
	err = changes_read(batch, first, nr, changes->size);
	if (err)
		return err;
	for (i = 0; i < nr; i++) {
		if (change_tell(first + (u64)i * changes->size, -ECANCELED))
			return -EFAULT;
	}
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = extended_begin(inst, changes->signals);
	if (!err) {
		for (i = 0; i < nr; i++) {
			batch[i].result = change_apply(inst, &batch[i]);
			failed += !!batch[i].result;
		}
		extended_end(inst, failed < nr);
	}
	mutex_unlock(&inst->mtx);
	if (err)
		return err;
	changes->failed += failed;
	changes->tried += nr;
	for (i = 0; i < nr; i++) {
		if (change_tell(first + (u64)i * changes->size,
				batch[i].result))
			return -EFAULT;
	}
	return 0;
}

/*
 * A batch that can't be read and written as a whole is made one by one, as far
 * as it can.
 */
static int changes_apply(struct dep_instance *inst,
			 struct extended_changes *changes)
{
	u32 left, batch = DEP_WRITE_BATCH;
	int err = 0;

	while ((left = changes->nr - changes->tried)) {
		u32 before = changes->tried;

		err = changes_apply_batch(inst, changes, min(left, batch));
		if (err && changes->tried == before && batch > 1 &&
		    err != -EINTR) {
			batch = 1;
			continue;
		}
		if (err || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return changes->tried ? 0 : err;
}

static int changes_check(const struct extended_changes *changes)
{
	if (!changes->nr || changes->nr > DEVEPOLL_MAX_CHANGES ||
	    changes->size < sizeof(struct devepoll_change) ||
	    changes->size > PAGE_SIZE || changes->size % sizeof(u64))
		return -EINVAL;
	return 0;
}

static long extended_ctl(struct dep_instance *inst, void __user *arg,
			 size_t size)
{
	struct devepoll_ctl __user *user = arg;
	struct extended_changes changes;
	struct devepoll_ctl ctl;
	long err;

	if (size < sizeof(ctl))
		return -ENOTTY;
	err = words_from_user((u64 *)&ctl, sizeof(ctl), arg, size);
	if (err)
		return err;
	if (ctl.flags)
		return -EINVAL;
	changes = (struct extended_changes) {
		.address = ctl.changes,
		.nr = ctl.nr,
		.size = ctl.change_size,
		.signals = true,
	};
	err = changes_check(&changes);
	if (!err && extended_is_of_other(inst))
		err = -EBUSY;
	/* Told in advance, so that a fault can't come after the changes. */
	if (!err)
		err = put_user(0, &user->nr_failed);
	if (!err)
		err = changes_apply(inst, &changes);
	if (err)
		return err;
	if (changes.failed && put_user(changes.failed, &user->nr_failed))
		return -EFAULT;
	return changes.tried;
}

static int wait_results(struct dep_instance *inst,
			const struct devepoll_wait_args *args,
			struct dep_results *results)
{
	size_t size;

	/* The call is not cleared before: whatever is not named is zero. */
	*results = (struct dep_results) {
		.user = u64_to_user_ptr(args->events),
		.layout = args->flags & DEVEPOLL_WAIT_EPOLL ?
			  DEP_LAYOUT_EPOLL : DEP_LAYOUT_EVENT,
		.max = args->max_events,
	};
	if (args->flags & DEVEPOLL_WAIT_MAPPED) {
		results->kernel = dep_area_find(inst, args->events,
						args->max_events);
		return results->kernel ? 0 : -EINVAL;
	}
	size = results->max * dep_layout_size(results->layout);
	return access_ok(results->user, size) ? 0 : -EFAULT;
}

static int wait_check(const struct devepoll_wait_args *args)
{
	u32 flags = args->flags;

	if (flags & ~(DEVEPOLL_WAIT_ABSTIME | DEVEPOLL_WAIT_EPOLL |
		      DEVEPOLL_WAIT_MAPPED) ||
	    (flags & DEVEPOLL_WAIT_EPOLL && flags & DEVEPOLL_WAIT_MAPPED))
		return -EINVAL;
	if (!args->max_events || args->max_events > DEVEPOLL_MAX_EVENTS ||
	    args->min_events > args->max_events)
		return -EINVAL;
	/* What says nothing now may say something to a later kernel. */
	if (!args->nr_changes && (args->changes || args->change_size))
		return -EINVAL;
	return 0;
}

static int wait_sigset(const struct devepoll_wait_args *args,
		       struct dep_wait_call *call)
{
	call->masked = args->sigmask;
	if (!call->masked)
		return args->sigsetsize ? -EINVAL : 0;
	/* A worker of a ring has no signals to be masked. */
	if (args->sigsetsize != sizeof(call->sigset) ||
	    current->flags & (PF_IO_WORKER | PF_KTHREAD))
		return -EINVAL;
	return copy_from_user(&call->sigset, u64_to_user_ptr(args->sigmask),
			      sizeof(call->sigset)) ? -EFAULT : 0;
}

/* Makes the changes of a wait; tells in @all whether all took effect. */
static int wait_change(struct dep_instance *inst,
		       const struct devepoll_wait_args *args,
		       struct devepoll_wait_args __user *user, bool *all)
{
	struct extended_changes changes = {
		.address = args->changes,
		.nr = args->nr_changes,
		.size = args->change_size,
	};
	int err;

	err = changes_check(&changes);
	if (err)
		return err;
	if (extended_is_of_other(inst) || READ_ONCE(inst->onesig))
		return -EBUSY;
	/* Told in advance: see extended_ctl(). */
	if (put_user(0, &user->nr_tried) || put_user(0, &user->nr_failed))
		return -EFAULT;
	err = changes_apply(inst, &changes);
	if (err)
		return err;
	if (put_user(changes.tried, &user->nr_tried) ||
	    put_user(changes.failed, &user->nr_failed))
		return -EFAULT;
	*all = changes.tried == changes.nr && !changes.failed;
	return 0;
}

/**
 * dep_extended_prepare() - read and check a DEVEPOLL_WAIT
 * @file: the set, open for reading
 * @cmd: the request
 * @arg: the argument's address
 * @call: out: what remains to be done
 *
 * A call that is refused here has changed nothing.
 *
 * Context: process; sleeps.
 * Return: 0, or what linux/devepoll.h has for the request.
 */
int dep_extended_prepare(struct file *file, unsigned int cmd,
			 unsigned long arg, struct dep_wait_call *call)
{
	struct dep_instance *inst = file->private_data;
	struct devepoll_wait_args *args = &call->args;
	int ret;

	call->user = (void __user *)arg;
	if (_IOC_SIZE(cmd) < sizeof(*args))
		return -ENOTTY;
	ret = words_from_user((u64 *)args, sizeof(*args), call->user,
			      _IOC_SIZE(cmd));
	if (!ret)
		ret = wait_check(args);
	if (!ret && args->nr_changes && !(file->f_mode & FMODE_WRITE))
		ret = -EBADF;
	if (!ret)
		ret = wait_results(inst, args, &call->results);
	if (!ret)
		ret = wait_sigset(args, call);
	call->harvest = (struct dep_harvest) {
		.min = args->min_events,
		.timeout = args->timeout,
		.absolute = args->flags & DEVEPOLL_WAIT_ABSTIME,
	};
	return ret;
}

/**
 * dep_extended_change() - make the changes of a DEVEPOLL_WAIT
 * @inst: the instance
 * @call: the call
 *
 * From here on the set is one of the extended interface, unless this fails.
 *
 * Context: process; sleeps.
 * Return: 0, or what linux/devepoll.h has for the request.
 */
int dep_extended_change(struct dep_instance *inst, struct dep_wait_call *call)
{
	bool all;
	int err;

	if (likely(!call->args.nr_changes))
		return extended_check(inst);
	err = wait_change(inst, &call->args, call->user, &all);
	if (err)
		return err;
	/* A change that failed is to be seen at once. */
	if (!all)
		call->harvest = (struct dep_harvest) {};
	return extended_check(inst);
}

/**
 * dep_extended_change_all() - make the changes of a wait that goes on, or of
 * one that fails
 * @inst: the instance
 * @call: the call
 *
 * As dep_extended_change(), but a change that fails is an error of the call: so
 * if none took effect the set stays one of no interface.
 *
 * Context: process; sleeps.
 * Return: as there;
 * -ECANCELED: not all took effect.
 */
int dep_extended_change_all(struct dep_instance *inst,
			    struct dep_wait_call *call)
{
	bool all = true;
	int err = 0;

	if (call->args.nr_changes)
		err = wait_change(inst, &call->args, call->user, &all);
	if (err)
		return err;
	return all ? extended_check(inst) : -ECANCELED;
}

/**
 * dep_extended_is_fresh() - is a set of no interface yet?
 * @inst: the instance
 *
 * Return: true if it was this moment, so that it has no events.
 */
bool dep_extended_is_fresh(const struct dep_instance *inst)
{
	return !READ_ONCE(inst->settled) && !READ_ONCE(inst->classic) &&
	       !READ_ONCE(inst->onesig);
}

static long extended_wait(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	struct dep_instance *inst = file->private_data;
	struct dep_wait_call call DEP_UNINITIALIZED;
	int ret;

	ret = dep_extended_prepare(file, cmd, arg, &call);
	if (!ret)
		ret = dep_extended_change(inst, &call);
	if (ret)
		return ret;
	if (!call.masked)
		return dep_harvest_collect(&call.harvest, inst, &call.results);
	dep_sigmask_begin(&call.sigset);
	ret = dep_harvest_collect(&call.harvest, inst, &call.results);
	dep_sigmask_end(ret);
	return ret;
}

/**
 * dep_extended_ioctl() - the requests of the extended interface
 * @file: the set, open as dep_access_allows() wants it
 * @cmd: the request; its size is that of the argument as the program knows it
 * @arg: the argument's address
 *
 * Context: process; sleeps.
 * Return: as linux/devepoll.h has it for each request;
 * -ENOTTY: no such request.
 */
long dep_extended_ioctl(struct file *file, unsigned int cmd,
			unsigned long arg)
{
	struct dep_instance *inst = file->private_data;
	unsigned int fixed = _IOC_DIRMASK << _IOC_DIRSHIFT |
			     _IOC_TYPEMASK << _IOC_TYPESHIFT |
			     _IOC_NRMASK << _IOC_NRSHIFT;
	void __user *user = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);

	if ((cmd & fixed) == (DEVEPOLL_WAIT & fixed))
		return extended_wait(file, cmd, arg);
	if ((cmd & fixed) == (DEVEPOLL_CTL & fixed))
		return extended_ctl(inst, user, size);
	if ((cmd & fixed) == (DEVEPOLL_STATS & fixed))
		return dep_stats_get(inst, user, size);
	return -ENOTTY;
}

/* epoll_wait(2) */
static int door_wait(struct dep_instance *inst, u64 address, int max,
		     int timeout_ms)
{
	struct dep_harvest harvest = {
		.timeout = timeout_ms < 0 ? -1 : timeout_ms * NSEC_PER_MSEC,
	};
	struct dep_results results = {
		.user = u64_to_user_ptr(address),
		.layout = DEP_LAYOUT_EPOLL,
		.max = max,
	};
	int err;

	if (max <= 0 || max > INT_MAX / sizeof(struct epoll_event))
		return -EINVAL;
	if (!access_ok(results.user, max * sizeof(struct epoll_event)))
		return -EFAULT;
	err = extended_check(inst);
	return err ? err : dep_harvest_collect(&harvest, inst, &results);
}

/* A change as epoll_ctl(2) has it: bits that nobody knows are none. */
static void change_from_epoll(struct dep_change *ch, u32 events, u64 data)
{
	ch->data = data;
	ch->mode = events & EXTENDED_MODES;
	ch->events = (events & EXTENDED_EVENTS) | EXTENDED_ALWAYS;
	ch->odd = events & ~(EXTENDED_EVENTS | EXTENDED_MODES |
			     (__force u32)EPOLLWAKEUP);
}

static int change_make(struct dep_instance *inst, const struct dep_change *ch)
{
	int err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = extended_begin(inst, true);
	if (!err) {
		err = change_check_onesig(inst, ch);
		if (!err)
			err = dep_interest_change(inst, ch);
		extended_end(inst, !err);
	}
	mutex_unlock(&inst->mtx);
	return err;
}

/* What does not fit into a number of a file names none. */
static int fd_of(u64 length)
{
	return (s64)length == (int)length ? (int)length : -1;
}

/* epoll_ctl(2) */
static int door_ctl(struct dep_instance *inst, unsigned int op, u64 address,
		    int fd)
{
	struct dep_change ch = { .op = op, .fd = fd };
	struct epoll_event event;

	if (op != DEVEPOLL_DEL) {
		const struct epoll_event __user *from;

		from = u64_to_user_ptr(address);
		if (get_user(event.events, &from->events) ||
		    get_user(event.data, &from->data))
			return -EFAULT;
		change_from_epoll(&ch, (__force u32)event.events, event.data);
	}
	return change_make(inst, &ch);
}

/**
 * dep_extended_ctl_event() - epoll_ctl(2) with its event by value
 * @inst: the instance
 * @request: DEVEPOLL_EPOLL_CTL() of an operation
 * @event: the fd, and, but for a DEL, its events and data
 *
 * Context: process; sleeps.
 * Return: as epoll_ctl(2);
 * -EBUSY: a set of the 2001 interface;
 * -EINVAL: also: events or data of a DEL.
 */
int dep_extended_ctl_event(struct dep_instance *inst, unsigned int request,
			   const struct devepoll_event *event)
{
	struct dep_change ch = {
		.op = request - DEVEPOLL_EPOLL_CTL(0),
		.fd = event->fd,
	};

	if (ch.op != DEVEPOLL_DEL)
		change_from_epoll(&ch, event->events, event->data);
	else if (event->events || event->data)
		return -EINVAL;
	return change_make(inst, &ch);
}

/**
 * dep_extended_door() - the calls of epoll, with their own arguments
 * @file: the set
 * @request: DEVEPOLL_EPOLL_WAIT or DEVEPOLL_EPOLL_CTL() of an operation
 * @address: of the events, or of the event
 * @length: what DEVEPOLL_EPOLL_WAIT_LEN() made, or the fd
 *
 * Context: process; sleeps.
 * Return: as epoll_wait(2) and epoll_ctl(2);
 * -EBADF: also: not open as the request needs it;
 * -EBUSY: a set of the 2001 interface;
 * -EINVAL: also: no such request.
 */
int dep_extended_door(struct file *file, unsigned int request, u64 address,
		      u64 length)
{
	struct dep_instance *inst = file->private_data;

	if (!dep_access_allows(file, request))
		return -EBADF;
	switch (request) {
	case DEVEPOLL_EPOLL_WAIT:
		return door_wait(inst, address, length >> 32, (int)length);
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_DEL):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD):
		return door_ctl(inst, request - DEVEPOLL_EPOLL_CTL(0), address,
				fd_of(length));
	}
	return -EINVAL;
}
