// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands, on kernels that can cancel them.
 *
 * A wait that finds nothing is queued among the sleeping waiters.  When its
 * turn comes, the relay passes it to the task of the ring, which takes the
 * events, or queues the wait again.  Whoever takes it off the instance's lists
 * under L owns it: the relay, which hands it to the task; DEVEPOLL_CANCEL
 * (uring.c), which does the same; or the cancellation by the ring.  The
 * command has a reference on the set, so the instance stays.
 */
#include <linux/fs.h>
#include <linux/percpu-refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/limits.h"
#include "core/waiter.h"
#include "epoll/extended.h"
#include "set/waiting.h"
#include "uring/compat.h"
#include "uring/uring.h"

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
	u32 cflags = wait->cflags;

	if (wait->timed)
		hrtimer_cancel(&wait->timer);
	/* A waiter that was woken and takes nothing passes the turn on. */
	if (ret <= 0)
		dep_ready_pass_on(wait->inst);
	/* A ring that is being closed just now must not find it. */
	spin_lock_irq(&wait->inst->lock);
	dep_waiter_came(wait->inst, &wait->waiter);
	dep_uring_leave(wait);
	uring_pdu(cmd)->wait = NULL;
	spin_unlock_irq(&wait->inst->lock);
	kfree(wait);
	dep_uring_done(cmd, ret, flags);
	if (cflags)
		dep_uring_set_cflags(cmd, cflags);
}

/*
 * The ring is closed, even if it has not cancelled this command yet.  Since
 * 6.12.49 it cancels its task work itself, as uring_work() is told.
 */
static bool uring_ring_goes(struct io_uring_cmd *cmd)
{
	return percpu_ref_is_dying(&cmd_to_io_kiocb(cmd)->ctx->refs);
}

/**
 * dep_uring_take() - take the events for a wait
 * @wait: the wait
 *
 * Context: the task of the ring, or a worker of it; sleeps.
 * Return: the number of events, 0 if the timeout has passed;
 * -EIOCBQUEUED: none, and the wait is queued again;
 * -ECANCELED: the ring is being closed, the task is exiting, or
 * DEVEPOLL_CANCEL has found the wait;
 * -EFAULT: the memory can't be written.
 */
int dep_uring_take(struct dep_uring_wait *wait)
{
	struct dep_instance *inst = wait->inst;
	bool expired, cancelled, queued;
	u32 seen;
	int ret;

	for (;;) {
		/* Nobody would read them: leave them to the next waiter. */
		if (uring_ring_goes(wait->cmd))
			return -ECANCELED;
		ret = dep_collect_try(&wait->wait.results, inst,
				      wait->waiter.min, &seen, false);
		if (ret)
			return ret;
		/* Then nothing is taken, and the ring may wait for us. */
		if (fatal_signal_pending(current))
			return -ECANCELED;
		spin_lock_irq(&inst->lock);
		expired = wait->expired;
		cancelled = wait->cancelled;
		queued = !expired && !cancelled && inst->nr_ready == seen;
		if (queued)
			dep_waiter_queue(inst, &wait->waiter);
		spin_unlock_irq(&inst->lock);
		if (queued)
			return -EIOCBQUEUED;
		if (cancelled)
			return -ECANCELED;
		if (expired)
			return dep_collect_rest(&wait->wait.results, inst);
		cond_resched();
	}
}

/* Continues a wait, in the task of the ring. */
static void uring_run(struct dep_uring_wait *wait, unsigned int flags)
{
	unsigned int left = DEP_URING_SHOTS;
	int ret;

	if (wait->multishot) {
		do {
			ret = dep_uring_shoot(wait, flags);
		} while (ret > 0 && --left);
	} else {
		ret = dep_uring_take(wait);
	}
	if (ret == -EIOCBQUEUED)
		return;
	/* Let others have a turn first, the end of the ring among them. */
	if (wait->multishot && !ret)
		uring_complete(wait, wait->bytes, flags);
	else if (wait->multishot && ret > 0)
		io_uring_cmd_complete_in_task(wait->cmd, uring_work_entry);
	else
		uring_complete(wait, ret, flags);
}

static void uring_work(struct io_uring_cmd *cmd, unsigned int flags, bool dead)
{
	struct dep_uring_wait *wait = uring_pdu(cmd)->wait;

	/* Events can't be written to a task that is exiting. */
	if (dead || !current->mm || current->flags & PF_EXITING ||
	    READ_ONCE(wait->cancelled))
		uring_complete(wait, -ECANCELED, flags);
	else
		uring_run(wait, flags);
}

/*
 * Leaves a wait to the end of its ring, which goes on to cancel what it finds.
 * Many kernels do nothing else then, for ever: task work that is queued while
 * they cancel waits for them.
 */
static void uring_leave_to_ring(struct dep_uring_wait *wait)
{
	struct dep_instance *inst = wait->inst;
	unsigned long flags;

	spin_lock_irqsave(&inst->lock, flags);
	list_add(&wait->waiter.link, &wait->left);
	spin_unlock_irqrestore(&inst->lock, flags);
}

/* Called by the relay or by DEVEPOLL_CANCEL: the wait is off the lists. */
static void uring_wake(struct dep_waiter *waiter)
{
	struct dep_uring_wait *wait;

	wait = container_of(waiter, struct dep_uring_wait, waiter);
	if (unlikely(uring_ring_goes(wait->cmd)))
		uring_leave_to_ring(wait);
	else
		io_uring_cmd_complete_in_task(wait->cmd, uring_work_entry);
}

/*
 * In a ring with deferred task work nothing happens before its task enters,
 * which may be never: is it in there now?  If the answer is out of date, the
 * relay soon notices that the waiter has not come.
 */
static bool uring_comes(struct dep_waiter *waiter)
{
	struct dep_uring_wait *wait;

	wait = container_of(waiter, struct dep_uring_wait, waiter);
	/* All bits set: the kernel's own mark for "no task". */
	return atomic_read(&cmd_to_io_kiocb(wait->cmd)->ctx->cq_wait_nr) != -1;
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

/**
 * dep_uring_cancel() - cancel a wait because its ring is being closed
 * @cmd: the command; a task that already owns the wait completes it
 * @flags: IO_URING_F_*
 *
 * Return: 0.
 */
int dep_uring_cancel(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct dep_instance *inst = cmd->file->private_data;
	struct dep_uring_wait *wait;
	bool mine = false;

	spin_lock_irq(&inst->lock);
	wait = uring_pdu(cmd)->wait;
	if (wait)
		mine = dep_uring_mark(wait);
	spin_unlock_irq(&inst->lock);
	if (mine)
		uring_complete(wait, -ECANCELED, flags);
	return 0;
}

static void uring_start_timer(struct dep_uring_wait *wait)
{
	const struct dep_waiting *waiting = &wait->wait.waiting;

	dep_hrtimer_setup(&wait->timer, uring_expire, CLOCK_MONOTONIC,
			  waiting->absolute ? HRTIMER_MODE_ABS :
					      HRTIMER_MODE_REL);
	hrtimer_start(&wait->timer, waiting->timeout,
		      waiting->absolute ? HRTIMER_MODE_ABS :
					  HRTIMER_MODE_REL);
}

/* Events go to buffers of the ring. */
static int uring_set_multishot(struct dep_uring_wait *wait,
			       struct io_uring_cmd *cmd)
{
	struct dep_results *results = &wait->wait.results;
	struct dep_waiting *waiting = &wait->wait.waiting;

	if (!dep_uring_is_multishot(cmd))
		return 0;
	if (results->layout || results->kernel || results->user ||
	    waiting->min > 1 || waiting->timeout >= 0)
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
	err = dep_extended_prepare(cmd->file, cmd->cmd_op, dep_uring_arg(cmd),
				   &wait->wait);
	if (!err && wait->wait.masked)
		err = -EINVAL;
	if (!err)
		err = uring_set_multishot(wait, cmd);
	/* Going on after a failed change would hide the failure. */
	if (!err)
		err = dep_extended_change(inst, &wait->wait, wait->multishot);
	/* Even if it would find nothing now: see collect_begin(). */
	if (!err && dep_instance_readers(inst))
		err = dep_extended_refuse(inst);
	if (err) {
		kfree(wait);
		return ERR_PTR(err);
	}
	INIT_LIST_HEAD(&wait->waiter.link);
	INIT_LIST_HEAD(&wait->left);
	wait->waiter.min = max(wait->wait.waiting.min, 1U);
	wait->waiter.wake = uring_wake;
	if (cmd_to_io_kiocb(cmd)->ctx->flags & IORING_SETUP_DEFER_TASKRUN)
		wait->waiter.comes = uring_comes;
	wait->wait.results.waiter = &wait->waiter;
	wait->wait.results.by_ring = true;
	wait->cmd = cmd;
	wait->inst = inst;
	wait->cookie.value = dep_uring_cookie(cmd);
	wait->timed = wait->wait.waiting.timeout > 0 ||
		      (wait->wait.waiting.absolute &&
		       wait->wait.waiting.timeout >= 0);
	return wait;
}

/**
 * dep_uring_wait() - DEVEPOLL_WAIT as a command
 * @inst: the instance
 * @cmd: the command
 * @flags: IO_URING_F_*
 *
 * Context: the task of the ring, or a worker of it; sleeps.
 * Return: what the request returns;
 * -EIOCBQUEUED: it will complete later.
 */
int dep_uring_wait(struct dep_instance *inst, struct io_uring_cmd *cmd,
		   unsigned int flags)
{
	struct dep_uring_wait *wait;
	int ret;

	wait = uring_new(inst, cmd);
	if (IS_ERR(wait))
		return PTR_ERR(wait);
	if (!wait->multishot) {
		ret = dep_collect_try(&wait->wait.results, inst,
				      wait->waiter.min, &(u32){ 0 }, false);
		if (!ret && !wait->timed && !wait->wait.waiting.timeout)
			ret = dep_collect_rest(&wait->wait.results, inst);
		if (ret || (!wait->timed && !wait->wait.waiting.timeout))
			goto out_free;
	}

	uring_pdu(cmd)->wait = wait;
	dep_uring_enter(wait);
	if (wait->timed)
		uring_start_timer(wait);
	/* From here on it completes like one that was queued. */
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
