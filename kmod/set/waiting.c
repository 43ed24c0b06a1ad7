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
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "core/limits.h"
#include "core/pending.h"
#include "core/turn.h"
#include "core/waiter.h"
#include "set/busy.h"
#include "set/waiting.h"
#include "set/ready.h"

/**
 * dep_waiting_set_deadline() - compute the deadline of a call
 * @waiting: the call
 *
 * Only a call that does not find events at once reads the clock.
 */
void dep_waiting_set_deadline(struct dep_waiting *waiting)
{
	if (waiting->timeout < 0)
		waiting->deadline = KTIME_MAX;
	else if (waiting->absolute)
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

/**
 * dep_waiting_expired() - has the deadline of a call passed?
 * @waiting: the call, after dep_waiting_set_deadline()
 *
 * Return: true if it has.
 */
bool dep_waiting_expired(const struct dep_waiting *waiting)
{
	if (waiting->deadline == KTIME_MAX)
		return false;
	return !waiting->deadline ||
	       ktime_compare(ktime_get(), waiting->deadline) >= 0;
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
 * A sleep may begin with polling the network device.  The waiter is in the
 * queue then, so whatever wakes a sleeper ends that as well.
 *
 * Context: process; sleeps.
 */
void dep_waiting_sleep(const struct dep_waiting *waiting,
		       struct dep_instance *inst,
		       const struct dep_waiter *waiter, bool blocked)
{
	ktime_t until = waiting->deadline;

	if (blocked)
		until = min(until, ktime_add_ns(ktime_get(),
						DEP_READER_CHECK_NS));
	else if (dep_busy_is_on(inst))
		dep_busy_poll(inst, waiter, until);
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
 * 0 if the time-out has passed;
 * -EINTR: a signal is pending, and no event is;
 * -EINVAL: the set has no room, so there can be no event.
 */
int dep_waiting_wait(struct dep_waiting *waiting, struct dep_instance *inst)
{
	struct dep_waiter waiter = { .task = current, .min = 1 };
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

static __always_inline int waiting_try(struct dep_results *results,
				       struct dep_instance *inst, u32 min,
				       u32 *seen)
{
	*seen = 0;
	if (!dep_ready_may_ask(inst))
		return 0;
	results->again = min > 1;
	results->counted = 0;
	if (min > 1) {
		*seen = dep_ready_count(inst, results, min);
		if (*seen < min)
			return 0;
		/* If they go untaken, as many that come are new. */
		*seen = 0;
	}
	results->pass = 0;
	if (results->collect && !results->again)
		return results->collect(inst, results);
	return dep_ready_collect(inst, results);
}

/**
 * dep_waiting_try() - take events if there are enough of them
 * @results: where the events go
 * @inst: the instance, of the extended interface
 * @min: how many there have to be, at least 1
 * @seen: out: how many there are if these are too few; they stay
 *
 * Context: process; sleeps on dep_instance.mtx, in ->poll() and on user memory.
 * Return: as dep_ready_collect(); 0 if there are too few.
 */
int dep_waiting_try(struct dep_results *results, struct dep_instance *inst,
		    u32 min, u32 *seen)
{
	return waiting_try(results, inst, min, seen);
}

/**
 * dep_waiting_rest() - take the events that there are, even if they are too few
 * @results: where the events go
 * @inst: the instance, of the extended interface
 *
 * Context: process; sleeps on dep_instance.mtx, in ->poll() and on user memory.
 * Return: as dep_ready_collect().
 */
int dep_waiting_rest(struct dep_results *results, struct dep_instance *inst)
{
	u32 seen;

	return dep_waiting_try(results, inst, 1, &seen);
}

/*
 * What a call that has not found enough does next: WAITING_ASK to look again,
 * WAITING_SLEEP once it is queued.
 */
static __always_inline enum waiting_verdict
collect_look(struct dep_waiting *waiting, struct dep_instance *inst,
	     struct dep_waiter *waiter, u32 seen)
{
	enum waiting_verdict verdict = WAITING_ASK;

	spin_lock_irq(&inst->lock);
	if (signal_pending(current))
		verdict = WAITING_SIGNAL;
	else if (dep_waiting_expired(waiting))
		verdict = WAITING_TIMEOUT;
	else if (inst->nr_ready == seen)
		verdict = WAITING_SLEEP;
	if (verdict == WAITING_SLEEP)
		dep_waiter_queue(inst, waiter);
	spin_unlock_irq(&inst->lock);
	return verdict;
}

/*
 * Takes a waiter off its queue after its sleep.  If its waker has done that, it
 * may still read our stack; but it holds L, and whoever takes events, or gives
 * up, takes L before the stack goes.
 */
static __always_inline void collect_woken(struct dep_instance *inst,
					  struct dep_waiter *waiter)
{
	if (likely(waiter->min <= 1 && !READ_ONCE(waiter->queued)))
		return;
	spin_lock_irq(&inst->lock);
	dep_waiter_unqueue(inst, waiter);
	/* It counts first, and may leave all events there. */
	if (waiter->min > 1)
		dep_waiter_came(inst, waiter);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_waiting_collect_next() - the rest of a wait that has not found enough
 * @waiting: the call
 * @inst: the instance, of the extended interface
 * @results: where the events go
 * @seen: how many events there were, if it wants several; otherwise 0
 *
 * Sleeps until there are enough events, or the wait has to end.
 *
 * Context: process; sleeps.
 * Return: as dep_waiting_collect().
 */
noinline int dep_waiting_collect_next(struct dep_waiting *waiting,
				      struct dep_instance *inst,
				      struct dep_results *results, u32 seen)
{
	struct dep_waiter waiter = {
		.task = current,
		.min = max(waiting->min, 1U),
		.room = results->max,
	};
	enum waiting_verdict verdict;
	int ret = 0;

	INIT_LIST_HEAD(&waiter.link);
	results->waiter = &waiter;
	dep_waiting_set_deadline(waiting);
	while (!ret) {
		verdict = collect_look(waiting, inst, &waiter, seen);
		if (verdict == WAITING_SLEEP) {
			dep_waiting_sleep(waiting, inst, &waiter, false);
			collect_woken(inst, &waiter);
		} else if (verdict != WAITING_ASK) {
			ret = dep_waiting_rest(results, inst);
			if (!ret && verdict == WAITING_SIGNAL)
				ret = -EINTR;
			break;
		}
		ret = waiting_try(results, inst, waiter.min, &seen);
	}
	results->waiter = NULL;
	/* A waiter that was woken and takes nothing passes it on. */
	if (ret <= 0) {
		spin_lock_irq(&inst->lock);
		dep_waiter_came(inst, &waiter);
		spin_unlock_irq(&inst->lock);
		dep_waiting_pass(inst);
	}
	return ret;
}

/**
 * dep_waiting_collect() - wait for events of the extended interface and take
 * them
 * @waiting: the call
 * @inst: the instance
 * @results: where the events go
 *
 * Context: process; sleeps.
 * Return: how many events @results has; 0 if the time-out has passed;
 * -EFAULT: the memory can't be written; the events stay;
 * -EINTR: a signal is pending, and no event is.
 */
int dep_waiting_collect(struct dep_waiting *waiting, struct dep_instance *inst,
			struct dep_results *results)
{
	u32 seen = 0;
	int ret = 0;

	if (likely(waiting->min <= 1)) {
		if (dep_ready_may_ask(inst))
			ret = dep_ready_collect(inst, results);
		/* It does not wait: the clock need not be read. */
		if (ret || (!waiting->timeout && !waiting->absolute))
			return ret;
	} else {
		ret = dep_waiting_try(results, inst, waiting->min, &seen);
		if (ret)
			return ret;
	}
	return dep_waiting_collect_next(waiting, inst, results, seen);
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
