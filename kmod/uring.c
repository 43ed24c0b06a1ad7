// SPDX-License-Identifier: GPL-2.0
/*
 * The requests of the extended interface as io_uring commands: cmd_op is the
 * request, and the first 8 bytes of the command are the argument's address.
 *
 * A wait that finds nothing is queued among the sleeping harvesters.  When its
 * turn comes it goes over the instance's irq_work to the task of the ring,
 * which takes the events, or queues it again.  Whoever takes it off the
 * instance's lists under L owns it: the irq_work, which hands it to the task;
 * or the cancelling of the ring.  The command has a reference on the set, so
 * the instance stays.
 *
 * Kernels that can't cancel a command complete it at once or refuse it.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <linux/devepoll.h>

#include "compat.h"
#include "extended.h"
#include "harvest.h"
#include "instance.h"
#include "limits.h"
#include "uring.h"

static int uring_ctl(struct dep_instance *inst, struct io_uring_cmd *cmd,
		     unsigned int flags)
{
	/* Another thread may hold it for long: let a worker wait for it. */
	if (flags & IO_URING_F_NONBLOCK && mutex_is_locked(&inst->mtx))
		return -EAGAIN;
	return dep_extended_ioctl(inst, cmd->cmd_op, dep_uring_arg(cmd));
}

#ifdef DEP_HAVE_URING_CANCEL
/**
 * struct dep_uring_wait - a wait that is a command of a ring
 * @waiter: the place in the instance's list
 * @timer: the time-out; runs if @timed
 * @cmd: const: the command
 * @inst: const: the set
 * @wait: the call, as it goes on each time
 * @timed: const: there is a time-out
 * @multishot: const: goes on after events, into buffers of the ring
 * @expired: L: the time is over
 * @cancelled: L: the ring goes
 * @group: const: the group of buffers
 * @max: const: the most events of one buffer
 */
struct dep_uring_wait {
	struct dep_waiter waiter;
	struct hrtimer timer;
	struct io_uring_cmd *cmd;
	struct dep_instance *inst;
	struct dep_wait_call wait;
	bool timed;
	bool multishot;
	bool expired;
	bool cancelled;
	u16 group;
	u32 max;
};

/**
 * struct uring_pdu - what stands in the command itself
 * @wait: L, once it can be cancelled: the wait, or NULL when it is done
 */
struct uring_pdu {
	struct dep_uring_wait *wait;
};

static struct uring_pdu *uring_pdu(struct io_uring_cmd *cmd)
{
	return io_uring_cmd_to_pdu(cmd, struct uring_pdu);
}

static void uring_work(struct io_uring_cmd *cmd, unsigned int flags, bool dead);

DEP_URING_WORK(uring_work_entry, uring_work)

static void uring_complete(struct dep_uring_wait *wait, int ret,
			   unsigned int flags)
{
	struct io_uring_cmd *cmd = wait->cmd;

	if (wait->timed)
		hrtimer_cancel(&wait->timer);
	/* Whoever was woken and takes nothing passes it on. */
	if (ret <= 0)
		dep_harvest_pass(wait->inst);
	/* A ring that goes this moment must not find it. */
	spin_lock_irq(&wait->inst->lock);
	uring_pdu(cmd)->wait = NULL;
	spin_unlock_irq(&wait->inst->lock);
	kfree(wait);
	dep_uring_done(cmd, ret, flags);
}

/*
 * Takes what there is for the wait.  Returns the number of events, or an error,
 * or -EIOCBQUEUED once it waits again.
 */
static int uring_take(struct dep_uring_wait *wait)
{
	struct dep_instance *inst = wait->inst;
	bool expired, cancelled, queued;
	u32 seen;
	int ret;

	for (;;) {
		ret = dep_harvest_try(&wait->wait.results, inst,
				      wait->waiter.min, &seen);
		if (ret)
			return ret;
		/* Then nothing is taken, and the ring may wait for us. */
		if (fatal_signal_pending(current))
			return -ECANCELED;
		spin_lock_irq(&inst->lock);
		expired = wait->expired;
		cancelled = wait->cancelled;
		queued = !expired && !cancelled && inst->nr_asks == seen;
		if (queued)
			dep_waiter_queue(inst, &wait->waiter);
		spin_unlock_irq(&inst->lock);
		if (queued)
			return -EIOCBQUEUED;
		if (cancelled)
			return -ECANCELED;
		if (expired)
			return dep_harvest_rest(&wait->wait.results, inst);
		cond_resched();
	}
}

#ifdef DEP_HAVE_URING_MULTISHOT
/* Events are gone with a buffer that could not be told of: ask all again. */
static void uring_ask_all(struct dep_instance *inst)
{
	struct dep_item *item;
	unsigned int fd = 0;

	do {
		spin_lock_irq(&inst->lock);
		item = dep_fdmap_next(&inst->interest, &fd);
		if (item) {
			item->doubt = true;
			dep_item_list(item);
		}
		spin_unlock_irq(&inst->lock);
		fd++;
		cond_resched();
	} while (item);
}

/*
 * Takes events into a buffer of the ring.  Returns 1 if there were some, an
 * error, or -EIOCBQUEUED once the wait is queued again.
 */
static int uring_shoot(struct dep_uring_wait *wait, unsigned int flags)
{
	struct dep_results *results = &wait->wait.results;
	struct io_br_sel sel;
	size_t room = 0;
	int ret;

	sel = io_uring_cmd_buffer_select(wait->cmd, wait->group, &room, flags);
	if (sel.val < 0)
		return sel.val;
	if (!sel.addr)
		return -ENOBUFS;
	results->user = sel.addr;
	results->nr = 0;
	results->max = min_t(size_t, room / sizeof(struct devepoll_event),
			     wait->max);
	if (!results->max)
		ret = -EMSGSIZE;
	else if (!access_ok(sel.addr, room))
		ret = -EFAULT;
	else
		ret = uring_take(wait);
	sel.val = ret > 0 ? ret * sizeof(struct devepoll_event) : 0;
	if (!io_uring_mshot_cmd_post_cqe(wait->cmd, &sel, flags))
		return 1;
	if (ret <= 0)
		return ret;
	uring_ask_all(wait->inst);
	return -EOVERFLOW;
}
#else
static int uring_shoot(struct dep_uring_wait *wait, unsigned int flags)
{
	return -EOPNOTSUPP;
}
#endif

/* Goes on with a wait, in the task of the ring. */
static void uring_run(struct dep_uring_wait *wait, unsigned int flags)
{
	unsigned int left = DEP_URING_SHOTS;
	int ret;

	if (wait->multishot) {
		do {
			ret = uring_shoot(wait, flags);
		} while (ret > 0 && --left);
	} else {
		ret = uring_take(wait);
	}
	if (ret == -EIOCBQUEUED)
		return;
	/* Others have their turn first, the end of the ring among them. */
	if (wait->multishot && ret > 0)
		io_uring_cmd_complete_in_task(wait->cmd, uring_work_entry);
	else
		uring_complete(wait, ret, flags);
}

static void uring_work(struct io_uring_cmd *cmd, unsigned int flags, bool dead)
{
	struct dep_uring_wait *wait = uring_pdu(cmd)->wait;

	/* Events can't be written to a task that goes. */
	if (dead || !current->mm || current->flags & PF_EXITING ||
	    READ_ONCE(wait->cancelled))
		uring_complete(wait, -ECANCELED, flags);
	else
		uring_run(wait, flags);
}

/* From the irq_work of the instance: the wait is off the lists. */
static void uring_wake(struct dep_waiter *waiter)
{
	struct dep_uring_wait *wait;

	wait = container_of(waiter, struct dep_uring_wait, waiter);
	io_uring_cmd_complete_in_task(wait->cmd, uring_work_entry);
}

static enum hrtimer_restart uring_expire(struct hrtimer *timer)
{
	struct dep_uring_wait *wait;
	unsigned long flags;

	wait = container_of(timer, struct dep_uring_wait, timer);
	spin_lock_irqsave(&wait->inst->lock, flags);
	wait->expired = true;
	dep_waiter_kick(wait->inst, &wait->waiter);
	spin_unlock_irqrestore(&wait->inst->lock, flags);
	return HRTIMER_NORESTART;
}

/* The ring goes: a wait that is nobody's at the moment is completed here. */
static int uring_cancel(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct dep_instance *inst = cmd->file->private_data;
	struct dep_uring_wait *wait;
	bool mine = false;

	spin_lock_irq(&inst->lock);
	wait = uring_pdu(cmd)->wait;
	if (wait) {
		wait->cancelled = true;
		mine = dep_waiter_unqueue(inst, &wait->waiter);
	}
	spin_unlock_irq(&inst->lock);
	if (mine)
		uring_complete(wait, -ECANCELED, flags);
	return 0;
}

static void uring_start_timer(struct dep_uring_wait *wait)
{
	const struct dep_harvest *harvest = &wait->wait.harvest;

	dep_hrtimer_setup(&wait->timer, uring_expire, CLOCK_MONOTONIC,
			  harvest->absolute ? HRTIMER_MODE_ABS :
					      HRTIMER_MODE_REL);
	hrtimer_start(&wait->timer, harvest->timeout,
		      harvest->absolute ? HRTIMER_MODE_ABS :
					  HRTIMER_MODE_REL);
}

/* Events go to buffers of the ring. */
static int uring_set_multishot(struct dep_uring_wait *wait,
			       struct io_uring_cmd *cmd)
{
	struct dep_results *results = &wait->wait.results;
	struct dep_harvest *harvest = &wait->wait.harvest;

	if (!dep_uring_is_multishot(cmd))
		return 0;
	if (results->epoll || results->kernel || harvest->min > 1 ||
	    harvest->timeout >= 0)
		return -EINVAL;
	wait->multishot = true;
	wait->group = dep_uring_group(cmd);
	wait->max = results->max;
	return 0;
}

static struct dep_uring_wait *uring_new(struct dep_instance *inst,
					struct io_uring_cmd *cmd)
{
	struct dep_uring_wait *wait;
	int err;

	wait = kzalloc(sizeof(*wait), GFP_KERNEL_ACCOUNT);
	if (!wait)
		return ERR_PTR(-ENOMEM);
	err = dep_extended_prepare(inst, cmd->cmd_op, dep_uring_arg(cmd),
				   &wait->wait);
	if (!err && wait->wait.masked)
		err = -EINVAL;
	if (!err)
		err = uring_set_multishot(wait, cmd);
	if (!err)
		err = dep_extended_change(inst, &wait->wait);
	if (err) {
		kfree(wait);
		return ERR_PTR(err);
	}
	INIT_LIST_HEAD(&wait->waiter.link);
	wait->waiter.min = max(wait->wait.harvest.min, 1U);
	wait->waiter.wake = uring_wake;
	wait->cmd = cmd;
	wait->inst = inst;
	wait->timed = wait->wait.harvest.timeout > 0 ||
		      (wait->wait.harvest.absolute &&
		       wait->wait.harvest.timeout >= 0);
	return wait;
}

static int uring_wait(struct dep_instance *inst, struct io_uring_cmd *cmd,
		      unsigned int flags)
{
	struct dep_uring_wait *wait;
	int ret;

	wait = uring_new(inst, cmd);
	if (IS_ERR(wait))
		return PTR_ERR(wait);
	/* One that goes on after a failed change would hide it. */
	if (wait->multishot && wait->wait.harvest.timeout >= 0) {
		ret = -ECANCELED;
		goto out_free;
	}
	if (!wait->multishot) {
		ret = dep_harvest_try(&wait->wait.results, inst,
				      wait->waiter.min, &(u32){ 0 });
		if (!ret && !wait->timed && !wait->wait.harvest.timeout)
			ret = dep_harvest_rest(&wait->wait.results, inst);
		if (ret || (!wait->timed && !wait->wait.harvest.timeout))
			goto out_free;
	}

	uring_pdu(cmd)->wait = wait;
	if (wait->timed)
		uring_start_timer(wait);
	/* From here on it is completed like one that was queued. */
	io_uring_cmd_mark_cancelable(cmd, flags);
	if (wait->multishot)
		io_uring_cmd_complete_in_task(cmd, uring_work_entry);
	else
		uring_run(wait, flags);
	return -EIOCBQUEUED;

out_free:
	kfree(wait);
	return ret;
}
#else
/* A command that can't be cancelled must not be left pending. */
static int uring_wait(struct dep_instance *inst, struct io_uring_cmd *cmd,
		      unsigned int flags)
{
	struct dep_wait_call wait;
	int ret;

	ret = dep_extended_prepare(inst, cmd->cmd_op, dep_uring_arg(cmd),
				   &wait);
	if (ret)
		return ret;
	if (wait.masked)
		return -EINVAL;
	/* What can't be waited for must not have changed anything. */
	if (wait.args.nr_changes && wait.harvest.timeout)
		return -EOPNOTSUPP;
	ret = dep_extended_change(inst, &wait);
	if (ret)
		return ret;
	ret = dep_harvest_rest(&wait.results, inst);
	if (!ret && wait.harvest.timeout)
		return -EOPNOTSUPP;
	return ret;
}
#endif

/*
 * Kernels that can't cancel a command lose one whose result is above 0, if a
 * worker has it, unless it is completed like one that was queued.
 */
static int uring_result(struct io_uring_cmd *cmd, int ret, unsigned int flags)
{
#ifndef DEP_HAVE_URING_CANCEL
	if (ret > 0) {
		dep_uring_done(cmd, ret, flags);
		return -EIOCBQUEUED;
	}
#endif
	return ret;
}

/**
 * dep_uring_cmd() - a command of a ring on the node
 * @cmd: the command
 * @flags: IO_URING_F_*
 *
 * Context: the task of the ring, or a worker of it; sleeps.
 * Return: what the request returns;
 * -EIOCBQUEUED: a wait, which will be completed;
 * -EOPNOTSUPP: not a request of the extended interface, or a wait that would
 * have to wait, on a kernel that can't cancel commands;
 * -EAGAIN: a worker should do it.
 */
int dep_uring_cmd(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct dep_instance *inst = cmd->file->private_data;

#ifdef DEP_HAVE_URING_CANCEL
	if (flags & IO_URING_F_CANCEL)
		return uring_cancel(cmd, flags);
#endif
	if (_IOC_TYPE(cmd->cmd_op) != EP_IOC_MAGIC)
		return -EOPNOTSUPP;
	switch (_IOC_NR(cmd->cmd_op)) {
	case _IOC_NR(DEVEPOLL_CTL):
		return uring_result(cmd, uring_ctl(inst, cmd, flags), flags);
	case _IOC_NR(DEVEPOLL_WAIT):
		return uring_result(cmd, uring_wait(inst, cmd, flags), flags);
	}
	return -EOPNOTSUPP;
}
