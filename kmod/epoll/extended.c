// SPDX-License-Identifier: GPL-2.0
/*
 * The extended interface: DEVEPOLL_CTL and DEVEPOLL_WAIT.
 */
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/holds.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/stats.h"
#include "epoll/bind.h"
#include "epoll/changes.h"
#include "epoll/extended.h"
#include "epoll/request.h"
#include "set/area.h"
#include "set/results.h"
#include "set/waiting.h"

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
static_assert(!DEP_HAS_CLOSED || DEP_MODE_TELL_CLOSED == DEVEPOLL_TELL_CLOSED);
static_assert(DEP_MODE_TRUST == DEVEPOLL_TRUST);

static long extended_ctl(struct dep_instance *inst, void __user *arg,
			 size_t size)
{
	struct devepoll_ctl __user *user = arg;
	struct dep_changes changes;
	struct devepoll_ctl ctl;
	long err;

	err = dep_words_from_user((u64 *)&ctl, sizeof(ctl), arg, size);
	if (err)
		return err;
	if (ctl.flags & ~DEVEPOLL_NO_RESULTS)
		return -EINVAL;
	changes = (struct dep_changes) {
		.address = ctl.changes,
		.nr = ctl.nr,
		.size = ctl.change_size,
		.signals = true,
		.read_only = ctl.flags,
	};
	err = dep_changes_check_array(&changes);
	if (!err && dep_bind_is_classic(inst))
		err = -EBUSY;
	/* Written in advance, so that no fault can come after the changes. */
	if (!err && !changes.read_only)
		err = put_user(0, &user->nr_failed);
	if (!err)
		err = dep_changes_apply(inst, &changes);
	if (err)
		return err;
	if (changes.failed && !changes.read_only &&
	    put_user(changes.failed, &user->nr_failed))
		return -EFAULT;
	return changes.tried;
}

static int wait_results(struct dep_instance *inst,
			const struct devepoll_wait_args *args,
			struct dep_results *results)
{
	size_t size;

	/* The call is not cleared before: other members become zero. */
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
	/* Members without a meaning may get one in a later kernel. */
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
	/* An io_uring worker has no signals to be masked. */
	if (args->sigsetsize != sizeof(call->sigset) ||
	    current->flags & (PF_IO_WORKER | PF_KTHREAD))
		return -EINVAL;
	return copy_from_user(&call->sigset, u64_to_user_ptr(args->sigmask),
			      sizeof(call->sigset)) ? -EFAULT : 0;
}

/* Tells how many changes were tried, and how many failed. */
static int wait_tell(struct devepoll_wait_args __user *user,
		     const struct dep_changes *changes)
{
	return put_user(changes->tried, &user->nr_tried) ?:
	       put_user(changes->failed, &user->nr_failed);
}

/* Makes the changes of a wait; sets @all to whether all took effect. */
static int wait_change(struct dep_instance *inst,
		       const struct devepoll_wait_args *args,
		       struct devepoll_wait_args __user *user, bool *all)
{
	struct dep_changes changes = {
		.address = args->changes,
		.nr = args->nr_changes,
		.size = args->change_size,
	};
	int err;

	err = dep_changes_check_array(&changes);
	if (err)
		return err;
	if (dep_bind_is_classic(inst) || READ_ONCE(inst->onesig))
		return -EBUSY;
	/* Written in advance: see extended_ctl(). */
	err = wait_tell(user, &changes);
	if (!err)
		err = dep_changes_apply(inst, &changes);
	*all = changes.tried == changes.nr && !changes.failed;
	return err ?: wait_tell(user, &changes);
}

/**
 * dep_extended_prepare() - read and check a DEVEPOLL_WAIT
 * @file: the set, open for reading
 * @cmd: the request
 * @arg: the argument's address
 * @call: out: the call, ready for dep_extended_change()
 *
 * A call that is refused here has changed nothing.
 *
 * Context: process; sleeps.
 * Return: 0, or an error of the request, see linux/devepoll.h.
 */
int dep_extended_prepare(struct file *file, unsigned int cmd,
			 unsigned long arg, struct dep_wait_call *call)
{
	struct dep_instance *inst = file->private_data;
	struct devepoll_wait_args *args = &call->args;
	int ret;

	call->user = (void __user *)arg;
	ret = dep_words_from_user((u64 *)args, sizeof(*args), call->user,
				  _IOC_SIZE(cmd));
	if (!ret)
		ret = wait_check(args);
	if (!ret && args->nr_changes && !(file->f_mode & FMODE_WRITE))
		ret = -EBADF;
	if (!ret)
		ret = wait_results(inst, args, &call->results);
	if (!ret)
		ret = wait_sigset(args, call);
	if (!ret && unlikely(!(file->f_mode & FMODE_WRITE)))
		ret = dep_bind_for_reading(file, &call->results);
	call->waiting = (struct dep_waiting) {
		.min = args->min_events,
		.timeout = args->timeout,
	};
	if (unlikely(args->flags & DEVEPOLL_WAIT_ABSTIME))
		dep_waiting_set_absolute(&call->waiting);
	return ret;
}

/**
 * dep_extended_change() - make the changes of a DEVEPOLL_WAIT
 * @inst: the instance
 * @call: the call
 * @whole: a change that fails is an error of the call
 *
 * From here on the set is one of the extended interface, unless this fails: if
 * it is @whole and no change took effect, the set still belongs to none.
 *
 * Context: process; sleeps.
 * Return: 0, or an error of the request, see linux/devepoll.h;
 * -ECANCELED: it is @whole, and not all changes took effect.
 */
int dep_extended_change(struct dep_instance *inst, struct dep_wait_call *call,
			bool whole)
{
	bool all;
	int err;

	if (likely(!call->args.nr_changes))
		return dep_bind_for_wait(inst);
	err = wait_change(inst, &call->args, call->user, &all);
	if (err)
		return err;
	if (!all && whole)
		return -ECANCELED;
	/* The caller must learn of a failed change at once. */
	if (!all)
		call->waiting = (struct dep_waiting) {};
	return dep_bind_for_wait(inst);
}

/**
 * dep_extended_refuse() - end a wait that dep_extended_change() has begun
 * @inst: the instance
 *
 * The caller came back for events, and so may have listed some that were held
 * back because of it: they are another waiter's.
 *
 * Context: process.
 * Return: -EOPNOTSUPP.
 */
int dep_extended_refuse(struct dep_instance *inst)
{
	dep_ready_pass_on(inst);
	return -EOPNOTSUPP;
}

static long extended_wait(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	struct dep_instance *inst = file->private_data;
	struct dep_wait_call call __uninitialized;
	int ret;

	ret = dep_extended_prepare(file, cmd, arg, &call);
	if (!ret)
		ret = dep_extended_change(inst, &call, false);
	if (ret)
		return ret;
	if (!call.masked)
		return dep_collect_wait(&call.waiting, inst, &call.results);
	dep_sigmask_begin(&call.sigset);
	ret = dep_collect_wait(&call.waiting, inst, &call.results);
	dep_sigmask_end(ret);
	return ret;
}

static long extended_step_back(struct dep_instance *inst)
{
	if (dep_bind_is_classic(inst))
		return -EBUSY;
	if (dep_instance_readers(inst))
		dep_reader_steps_back(inst);
	return 0;
}

/**
 * dep_extended_ioctl() - the requests of the extended interface
 * @file: the set, open as dep_access_allows() requires
 * @cmd: the request; its size is the argument's size as the program knows it
 * @arg: the argument's address
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h for each request;
 * -ENOTTY: no such request.
 */
long dep_extended_ioctl(struct file *file, unsigned int cmd,
			unsigned long arg)
{
	struct dep_instance *inst = file->private_data;
	void __user *user = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);

	if (dep_request_is(cmd, DEVEPOLL_WAIT))
		return extended_wait(file, cmd, arg);
	if (dep_request_is(cmd, DEVEPOLL_CTL))
		return extended_ctl(inst, user, size);
	if (cmd == DEVEPOLL_STEP_BACK)
		return extended_step_back(inst);
	if (DEP_HAS_STATS && dep_request_is(cmd, DEVEPOLL_STATS))
		return dep_stats_get(inst, user, size);
	return -ENOTTY;
}
