// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting on a set of 2001: a page set that another thread still reads is never
 * handed out.
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
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "classic/turn.h"
#include "classic/turnwait.h"
#include "core/waiter.h"
#include "set/ready.h"

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

enum turn_verdict {
	TURN_TAKE,
	TURN_ASK,
	TURN_SLEEP,
	TURN_SLEEP_BLOCKED,
	TURN_TIMEOUT,
	TURN_SIGNAL,
	TURN_NO_ROOM,
};

static enum turn_verdict turn_look(struct dep_waiting *waiting,
				   struct dep_instance *inst)
{
	bool blocked = false;

	lockdep_assert_held(&inst->lock);
	if (!inst->room || inst->extended)
		return TURN_NO_ROOM;
	/* This call began after that turn: its memory is free again. */
	if (inst->turns.open < waiting->turn)
		WRITE_ONCE(inst->turns.open, waiting->turn);

	if (inst->pending && !fatal_signal_pending(current)) {
		if (!dep_turn_may_take(inst, waiting->turn) &&
		    reader_is_gone(&inst->turns))
			WRITE_ONCE(inst->turns.open, inst->turns.now);
		if (dep_turn_may_take(inst, waiting->turn))
			return TURN_TAKE;
		blocked = true;
	}
	if (signal_pending(current))
		return TURN_SIGNAL;
	/* The files were polled: one that wakes us all the time can wait. */
	if (dep_waiting_expired(waiting))
		return TURN_TIMEOUT;
	if (!list_empty(&inst->ready) && !blocked)
		return TURN_ASK;
	return blocked ? TURN_SLEEP_BLOCKED : TURN_SLEEP;
}

/**
 * dep_turn_wait() - wait until there are events that the call may take
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
int dep_turn_wait(struct dep_waiting *waiting, struct dep_instance *inst)
{
	struct dep_waiter waiter dep_waiter_align = {
		.task = current,
		.min = 1,
	};
	enum turn_verdict verdict;

	INIT_LIST_HEAD(&waiter.link);
	dep_waiting_set_deadline(waiting);
	for (;;) {
		if (dep_ready_may_ask(inst))
			dep_ready_ask(inst, true);

		spin_lock_irq(&inst->lock);
		dep_waiter_unqueue(inst, &waiter);
		dep_waiter_came(inst, &waiter);
		verdict = turn_look(waiting, inst);
		if (verdict == TURN_SLEEP ||
		    verdict == TURN_SLEEP_BLOCKED)
			dep_waiter_queue(inst, &waiter);
		spin_unlock_irq(&inst->lock);

		switch (verdict) {
		case TURN_TAKE:
			return 1;
		case TURN_TIMEOUT:
			return 0;
		case TURN_SIGNAL:
			return -EINTR;
		case TURN_NO_ROOM:
			return -EINVAL;
		case TURN_ASK:
			cond_resched();
			break;
		default:
			dep_waiting_sleep(waiting, inst, &waiter,
					  verdict == TURN_SLEEP_BLOCKED);
		}
	}
}
