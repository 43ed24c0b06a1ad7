// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: sleeping until there are events, waking one sleeper for them, and
 * never handing out a page set that another thread still reads.
 *
 * Turns
 * =====
 *
 * The events of a turn are handed out together, and the memory in which they
 * stand may be filled again only at the next turn.  A call that begins after
 * events were handed out shows that the program is done with them.  A call that
 * was already waiting shows nothing: it has to wait until another call begins,
 * or until the thread that got the events is gone.  If an io_uring worker got
 * them, it has to wait until the worker's process is gone.
 */
#include <linux/hrtimer.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "core/limits.h"
#include "core/pending.h"
#include "core/turn.h"
#include "core/waiter.h"
#include "set/busy.h"
#include "set/ready.h"
#include "set/spin.h"
#include "set/waiting.h"

/**
 * dep_waiting_leave_namespace() - convert a time to the machine's clock
 * @waiting: the call; its timeout is by the clock of a time namespace
 * @offset: how much later it is there
 *
 * As timens_ktime_to_host(), which modules can't call on 6.1.
 */
void dep_waiting_leave_namespace(struct dep_waiting *waiting,
				 const struct timespec64 *offset)
{
	ktime_t shift = timespec64_to_ktime(*offset);

	if (waiting->timeout <= 0)
		return;
	/* Before the machine started: it is over. */
	if (waiting->timeout < shift)
		waiting->timeout = 0;
	else if (check_sub_overflow(waiting->timeout, shift,
				    &waiting->timeout))
		waiting->timeout = KTIME_MAX;
}

/**
 * dep_waiting_set_end() - dep_waiting_set_deadline() for a wait that has an end
 * @waiting: the call
 */
void dep_waiting_set_end(struct dep_waiting *waiting)
{
	if (waiting->absolute)
		waiting->deadline = waiting->timeout;
	else if (waiting->timeout && !waiting->deadline)
		waiting->deadline = ktime_add_safe(ktime_get(),
						   waiting->timeout);
}

/*
 * Does the reader still run the program that it ran?  A thread that ends loses
 * its address space first; a process keeps it as long as one of its threads.
 */
static bool reader_goes_on(const struct dep_turns *turns,
			   const struct task_struct *task)
{
	const void *mm = READ_ONCE(task->mm);

	if (mm || !turns->reader_is_process)
		return mm == turns->reader_mm;
	/* No thread has called execve(2): it would be the first thread now. */
	return atomic_read(&task->signal->live);
}

/*
 * Did the thread that got the last events exit, or execute another program?  If
 * an io_uring worker got them: did its process?
 */
static bool reader_is_gone(const struct dep_turns *turns)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(turns->reader, &init_pid_ns), PIDTYPE_PID);
	gone = !task || task->start_boottime != turns->reader_start ||
	       !reader_goes_on(turns, task);
	rcu_read_unlock();
	return gone;
}

enum waiting_verdict {
	WAITING_TAKE,
	WAITING_ASK,
	WAITING_SLEEP,
	WAITING_SLEEP_BLOCKED,
	WAITING_TIMEOUT,
	WAITING_SIGNAL,
	WAITING_NO_ROOM,
};

static enum waiting_verdict waiting_look(struct dep_waiting *waiting,
					 struct dep_instance *inst)
{
	bool blocked = false;

	lockdep_assert_held(&inst->lock);
	if (!inst->room || inst->extended)
		return WAITING_NO_ROOM;
	/* This call began after that turn: its memory is free again. */
	if (inst->turns.open < waiting->turn)
		WRITE_ONCE(inst->turns.open, waiting->turn);

	if (inst->pending && !fatal_signal_pending(current)) {
		if (!dep_turn_may_take(inst, waiting->turn) &&
		    reader_is_gone(&inst->turns))
			WRITE_ONCE(inst->turns.open, inst->turns.now);
		if (dep_turn_may_take(inst, waiting->turn))
			return WAITING_TAKE;
		blocked = true;
	}
	if (signal_pending(current))
		return WAITING_SIGNAL;
	/* The files were polled: one that wakes us all the time can wait. */
	if (dep_waiting_expired(waiting))
		return WAITING_TIMEOUT;
	if (!list_empty(&inst->ready) && !blocked)
		return WAITING_ASK;
	return blocked ? WAITING_SLEEP_BLOCKED : WAITING_SLEEP;
}

static noinline void waiting_sleep_until(ktime_t until)
{
	schedule_hrtimeout_range(&until, current->timer_slack_ns,
				 HRTIMER_MODE_ABS);
}

/**
 * dep_waiting_sleep() - sleep until woken, or until the deadline of a call
 * @waiting: the call
 * @inst: the instance
 * @waiter: the caller, who was queued when it found nothing
 * @blocked: wake up after a while to check whether the reader is gone
 *
 * A sleep may begin with polling the network device, or with looking whether an
 * event comes.  The waiter is in the queue then, so whatever wakes a sleeper ends that as well.
 *
 * Context: process; sleeps.
 */
void dep_waiting_sleep(const struct dep_waiting *waiting,
		       struct dep_instance *inst,
		       const struct dep_waiter *waiter, bool blocked)
{
	ktime_t until = waiting->deadline;
	struct dep_spin *spin;

	if (blocked)
		until = min(until, ktime_add_ns(ktime_get(),
						DEP_READER_CHECK_NS));
	else if (!(dep_busy_is_on(inst) && dep_busy_poll(inst, waiter, until)) &&
		 (spin = smp_load_acquire(&inst->spin)))
		dep_spin_look(inst, spin, waiter, until);
	/* Pairs with wake_up_process() in dep_waiter_kick(). */
	set_current_state(TASK_INTERRUPTIBLE);
	if (READ_ONCE(waiter->queued)) {
		if (until == KTIME_MAX)
			schedule();
		else
			waiting_sleep_until(until);
	}
	__set_current_state(TASK_RUNNING);
}

/**
 * dep_waiting_wait() - wait until there are events that the call may take
 * @waiting: the call
 * @inst: the instance
 *
 * A caller that takes nothing afterwards calls dep_waiting_pass().
 *
 * Context: process; sleeps.
 * Return: 1 if there are events, which another thread may take first;
 * 0 if the timeout has passed;
 * -EINTR: a signal is pending, and no event is;
 * -EINVAL: the set has no room, so there can be no event.
 */
int dep_waiting_wait(struct dep_waiting *waiting, struct dep_instance *inst)
{
	struct dep_waiter waiter dep_waiter_align = {
		.task = current,
		.min = 1,
	};
	enum waiting_verdict verdict;

	INIT_LIST_HEAD(&waiter.link);
	dep_waiting_set_deadline(waiting);
	for (;;) {
		if (dep_ready_may_ask(inst))
			dep_ready_ask(inst, true);

		spin_lock_irq(&inst->lock);
		dep_waiter_unqueue(inst, &waiter);
		dep_waiter_came(inst, &waiter);
		verdict = waiting_look(waiting, inst);
		if (verdict == WAITING_SLEEP ||
		    verdict == WAITING_SLEEP_BLOCKED)
			dep_waiter_queue(inst, &waiter);
		spin_unlock_irq(&inst->lock);

		switch (verdict) {
		case WAITING_TAKE:
			return 1;
		case WAITING_TIMEOUT:
			return 0;
		case WAITING_SIGNAL:
			return -EINTR;
		case WAITING_NO_ROOM:
			return -EINVAL;
		case WAITING_ASK:
			cond_resched();
			break;
		default:
			dep_waiting_sleep(waiting, inst, &waiter,
					  verdict == WAITING_SLEEP_BLOCKED);
		}
	}
}

/**
 * dep_waiting_pass() - let the next waiter look, since nothing was taken
 * @inst: the instance
 *
 * Without this, a call that fails would lose a wake-up that was meant for a
 * waiter that takes the events.
 */
void dep_waiting_pass(struct dep_instance *inst)
{
	if (!dep_instance_has_work(inst))
		return;
	spin_lock_irq(&inst->lock);
	if (inst->pending || dep_instance_lacks_room(inst))
		dep_instance_wake(inst);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_waiting_wake_all() - let every sleeping waiter look again
 * @inst: the instance
 *
 * Context: process; sleeps.
 */
void dep_waiting_wake_all(struct dep_instance *inst)
{
	bool more;

	do {
		spin_lock_irq(&inst->lock);
		more = dep_instance_wake_some(inst);
		spin_unlock_irq(&inst->lock);
		cond_resched();
	} while (more);
}
