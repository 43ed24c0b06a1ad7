// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: sleeping until there are events, and waking one sleeper for them.
 */
#include <linux/hrtimer.h>
#include <linux/overflow.h>
#include <linux/sched.h>

#include "core/limits.h"
#include "core/pending.h"
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
 * A sleep may begin with polling the network device, or with looking whether an
 * event comes.  The waiter is in the queue then, so whatever wakes a sleeper ends
 * that as well.
 *
 * Context: process; sleeps.
 * Return: false if the time is over; true if anything else has woken it.
 */
bool dep_waiting_sleep(const struct dep_waiting *waiting,
		       struct dep_instance *inst,
		       const struct dep_waiter *waiter, bool blocked)
{
	ktime_t until = waiting->deadline;
	struct dep_spin *spin;
	bool woken = true;

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
			woken = waiting_sleep_until(until);
	}
	__set_current_state(TASK_RUNNING);
	return woken;
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
