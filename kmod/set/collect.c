// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for events of the extended interface, or of /dev/poll, and taking
 * them: a call takes what there is, or sleeps until there is enough.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "core/waiter.h"
#include "set/collect.h"
#include "set/ready.h"

enum collect_verdict {
	COLLECT_ASK,
	COLLECT_SLEEP,
	COLLECT_TIMEOUT,
	COLLECT_SIGNAL,
};

/* @woken: an event or a signal has woken the caller: there is little doubt. */
static __always_inline int collect_try(struct dep_results *results,
				       struct dep_instance *inst, u32 min,
				       u32 *seen, bool woken)
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
 * dep_collect_try() - take events if there are enough of them
 * @results: where the events go
 * @inst: the instance, of the extended interface
 * @min: how many there have to be, at least 1
 * @seen: out: how many there are if these are too few; they stay
 *
 * Context: process; sleeps on dep_instance.mtx, in ->poll() and on user memory.
 * Return: as dep_ready_collect(); 0 if there are too few.
 */
int dep_collect_try(struct dep_results *results, struct dep_instance *inst,
		    u32 min, u32 *seen)
{
	return collect_try(results, inst, min, seen, false);
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

	return dep_collect_try(results, inst, 1, &seen);
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

/*
 * Takes a waiter off its queue after its sleep.  One that wants a single event
 * leaves it when it takes L to take events, or to give up, as it does before
 * its stack goes, which a waker may still read.
 */
static __always_inline void collect_woken(struct dep_instance *inst,
					  struct dep_waiter *waiter, u32 min)
{
	if (likely(min <= 1))
		return;
	spin_lock_irq(&inst->lock);
	/* It counts first, and may leave all events there. */
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
			collect_woken(inst, &waiter, min);
		}
		/* After a sleep, the time is over. */
		if (verdict != COLLECT_ASK && !woken) {
			ret = dep_collect_rest(results, inst);
			if (!ret && verdict == COLLECT_SIGNAL)
				ret = -EINTR;
			break;
		}
		ret = collect_try(results, inst, min, &seen, woken);
	}
	results->waiter = NULL;
	/* A waiter that was woken and takes nothing passes it on. */
	if (ret <= 0) {
		spin_lock_irq(&inst->lock);
		dep_waiter_back(inst, &waiter);
		spin_unlock_irq(&inst->lock);
		dep_waiting_pass(inst);
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
		ret = dep_collect_try(results, inst, waiting->min, &seen);
		if (ret)
			return ret;
	}
	return dep_collect_next(waiting, inst, results, seen);
}
