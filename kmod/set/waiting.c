// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: sleeping until there are events, and waking one sleeper for them.  A
 * call of the extended interface, or of /dev/poll, takes what there is, or
 * sleeps until there is enough.
 */
#include <linux/hrtimer.h>
#include <linux/nsproxy.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/time_namespace.h>

#include "core/instance.h"
#include "core/limits.h"
#include "core/waiter.h"
#include "set/ready.h"
#include "set/waiting.h"

/**
 * dep_waiting_set_absolute() - the timeout of a call is a point in time
 * @waiting: the call; its timeout is by the clock of the caller
 *
 * A time namespace shifts the clock that its processes read.  This does as
 * timens_ktime_to_host(), which modules can't call on 6.1.
 */
void dep_waiting_set_absolute(struct dep_waiting *waiting)
{
	const struct nsproxy *namespaces = current->nsproxy;
	ktime_t shift;

	waiting->absolute = true;
	/* A task that is about to end has none. */
	if (!IS_ENABLED(CONFIG_TIME_NS) || unlikely(!namespaces) ||
	    waiting->timeout <= 0)
		return;
	shift = timespec64_to_ktime(namespaces->time_ns->offsets.monotonic);
	/* Before the machine started: it is over. */
	if (waiting->timeout < shift)
		waiting->timeout = 0;
	else if (check_sub_overflow(waiting->timeout, shift,
				    &waiting->timeout))
		waiting->timeout = KTIME_MAX;
}

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

static noinline bool waiting_sleep_until(ktime_t until)
{
	return schedule_hrtimeout_range(&until, current->timer_slack_ns,
					HRTIMER_MODE_ABS);
}

/**
 * dep_waiting_sleep() - sleep until woken, or until the deadline of a call
 * @waiting: the call
 * @inst: the instance
 * @waiter: the caller, who was queued when it found nothing
 * @blocked: wake up after a while to check whether the reader is gone
 *
 * A sleep may begin with looking whether an event comes.  The waiter is in the
 * queue then, so whatever wakes a sleeper ends that as well.
 *
 * Context: process; sleeps.
 * Return: false if the time is over; true if anything else has woken it.
 */
bool dep_waiting_sleep(const struct dep_waiting *waiting,
		       struct dep_instance *inst,
		       const struct dep_waiter *waiter, bool blocked)
{
	ktime_t until = waiting->deadline;
	struct dep_look *look;
	bool woken = true;

	if (blocked) {
		until = min(until, ktime_add_ns(ktime_get(),
						DEP_READER_CHECK_NS));
	} else {
		/* Pairs with the exchange that puts it there. */
		look = smp_load_acquire(&inst->look);
		if (unlikely(look))
			look->look(inst, look, waiter, until);
	}
	/* Pairs with wake_up_process() in dep_waiter_kick(). */
	set_current_state(TASK_INTERRUPTIBLE);
	if (READ_ONCE(waiter->queued)) {
		if (until == KTIME_MAX)
			schedule();
		else
			woken = waiting_sleep_until(until);
	}
	__set_current_state(TASK_RUNNING);
	return woken;
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

enum collect_verdict {
	COLLECT_ASK,
	COLLECT_SLEEP,
	COLLECT_TIMEOUT,
	COLLECT_SIGNAL,
};

/**
 * dep_collect_try() - take events if there are enough of them
 * @results: where the events go
 * @inst: the instance, of the extended interface
 * @min: how many there have to be, at least 1
 * @seen: out: how many there are if these are too few; they stay
 * @woken: an event or a signal has woken the caller: there is little doubt
 *
 * Context: process; sleeps on dep_instance.mtx, in ->poll() and on user memory.
 * Return: as dep_ready_collect(); 0 if there are too few.
 */
int dep_collect_try(struct dep_results *results, struct dep_instance *inst,
		    u32 min, u32 *seen, bool woken)
{
	*seen = 0;
	if (!woken && !dep_ready_may_ask(inst))
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
 * dep_collect_rest() - take the events that there are, even if they are too few
 * @results: where the events go
 * @inst: the instance, of the extended interface
 *
 * Context: process; sleeps on dep_instance.mtx, in ->poll() and on user memory.
 * Return: as dep_ready_collect().
 */
int dep_collect_rest(struct dep_results *results, struct dep_instance *inst)
{
	u32 seen;

	return dep_collect_try(results, inst, 1, &seen, false);
}

/*
 * What a call that has not found enough does next: COLLECT_ASK to look again,
 * COLLECT_SLEEP once it is queued.
 */
static __always_inline enum collect_verdict
collect_look(struct dep_waiting *waiting, struct dep_instance *inst,
	     struct dep_waiter *waiter, u32 seen)
{
	enum collect_verdict verdict = COLLECT_ASK;

	spin_lock_irq(&inst->lock);
	if (signal_pending(current))
		verdict = COLLECT_SIGNAL;
	else if (dep_waiting_expired(waiting))
		verdict = COLLECT_TIMEOUT;
	else if (inst->nr_ready == seen)
		verdict = COLLECT_SLEEP;
	if (verdict == COLLECT_SLEEP)
		dep_waiter_queue(inst, waiter);
	spin_unlock_irq(&inst->lock);
	return verdict;
}

static void collect_back(struct dep_instance *inst, struct dep_waiter *waiter)
{
	spin_lock_irq(&inst->lock);
	dep_waiter_back(inst, waiter);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_collect_next() - the rest of a wait that has not found enough
 * @waiting: the call
 * @inst: the instance, of the extended interface
 * @results: where the events go
 * @seen: how many events there were, if it wants several; otherwise 0
 *
 * Sleeps until there are enough events, or the wait has to end.
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
noinline int dep_collect_next(struct dep_waiting *waiting,
			      struct dep_instance *inst,
			      struct dep_results *results, u32 seen)
{
	const u32 min = max(waiting->min, 1U);
	struct dep_waiter waiter dep_waiter_align = {
		.task = current,
		.min = min,
		.room = results->max,
	};
	enum collect_verdict verdict;
	bool woken;
	int ret = 0;

	INIT_LIST_HEAD(&waiter.link);
	results->waiter = &waiter;
	dep_waiting_set_deadline(waiting);
	while (!ret) {
		verdict = collect_look(waiting, inst, &waiter, seen);
		woken = false;
		if (verdict == COLLECT_SLEEP) {
			woken = dep_waiting_sleep(waiting, inst, &waiter,
						  false);
			/*
			 * One that wants a single event leaves the queue when
			 * it takes L to take events, or to give up, as it does
			 * before its stack goes, which a waker may still read.
			 * Others count first, and may leave all events there.
			 */
			if (unlikely(min > 1))
				collect_back(inst, &waiter);
		}
		/* After a sleep, the time is over. */
		if (verdict != COLLECT_ASK && !woken) {
			ret = dep_collect_rest(results, inst);
			if (!ret && verdict == COLLECT_SIGNAL)
				ret = -EINTR;
			break;
		}
		ret = dep_collect_try(results, inst, min, &seen, woken);
	}
	results->waiter = NULL;
	/* A waiter that was woken and takes nothing passes it on. */
	if (ret <= 0) {
		collect_back(inst, &waiter);
		dep_ready_pass_on(inst);
	}
	return ret;
}

/**
 * dep_collect_wait() - wait for events of the extended interface and take them
 * @waiting: the call
 * @inst: the instance
 * @results: where the events go
 *
 * Context: process; sleeps.
 * Return: how many events @results has; 0 if the timeout has passed;
 * -EFAULT: the memory can't be written; the events stay;
 * -EINTR: a signal is pending, and no event is.
 */
int dep_collect_wait(struct dep_waiting *waiting, struct dep_instance *inst,
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
		ret = dep_collect_try(results, inst, waiting->min, &seen,
				      false);
		if (ret)
			return ret;
	}
	return dep_collect_next(waiting, inst, results, seen);
}

/**
 * dep_collect_ms() - dep_collect_wait() with the time-out of epoll_wait(2)
 * @results: where the events go
 * @inst: the instance
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
int dep_collect_ms(struct dep_results *results, struct dep_instance *inst,
		   int timeout_ms)
{
	struct dep_waiting waiting = dep_waiting_of_ms(timeout_ms);

	return dep_collect_wait(&waiting, inst, results);
}
