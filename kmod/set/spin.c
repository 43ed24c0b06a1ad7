// SPDX-License-Identifier: GPL-2.0
/*
 * Looking before sleeping: a call that finds nothing stays on its processor for
 * the time that the program has set, and looks whether it is woken.  It is a
 * waiter in the queue like any sleeper.  Because it is still running, waking it
 * needs neither an interrupt of another processor nor a switch of tasks.
 *
 * Only a call that waits alone looks: an event goes to the one that has waited
 * longest, so who comes later would look at the events of others.  After n looks
 * in a row that timed out, the next 2^n - 1 sleeps have none; a look that is woken
 * resets n.
 */
#include <linux/bitops.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "core/instance.h"
#include "core/limits.h"
#include "core/waiter.h"
#include "set/spin.h"

/* The bit of dep_spin.flags. */
#define SPIN_LOOKS	0

/* A hint: the caller looks again under L. */
static bool spin_was_woken(const struct dep_waiter *waiter)
{
	return !READ_ONCE(waiter->queued);
}

/* Is the caller, which is queued, the only waiter?  A hint. */
static bool spin_is_alone(const struct dep_instance *inst)
{
	return READ_ONCE(inst->nr_waiters) <= 1;
}

/* Until woken, or something else has to be done; false if @until has come. */
static bool spin_until(const struct dep_waiter *waiter, ktime_t until, u64 *ns)
{
	ktime_t begin = ktime_get(), now = begin;
	bool early;

	/* The scheduler alone would leave another task waiting for a while. */
	while ((early = ktime_before(now, until)) &&
	       !spin_was_woken(waiter) &&
	       single_task_running() && !need_resched() &&
	       !signal_pending(current)) {
		cpu_relax();
		now = ktime_get();
	}
	*ns = ktime_to_ns(ktime_sub(now, begin));
	return early;
}

/* Under the bit; @over: it looked as long as it should. */
static void spin_account(struct dep_spin *spin, bool hit, bool over, u64 ns)
{
	WRITE_ONCE(spin->looks, spin->looks + 1);
	WRITE_ONCE(spin->hits, spin->hits + hit);
	WRITE_ONCE(spin->ns, spin->ns + ns);
	if (hit) {
		spin->misses = 0;
	} else if (over) {
		if (spin->misses < DEP_SPIN_MISSES)
			spin->misses++;
		spin->rest = (1U << spin->misses) - 1;
	}
}

/* Under the bit: does it pay now? */
static bool spin_may_pay(struct dep_spin *spin, u32 usecs)
{
	if (spin->seen != usecs) {
		spin->seen = usecs;
		spin->misses = 0;
		spin->rest = 0;
	}
	if (!spin->rest)
		return true;
	spin->rest--;
	return false;
}

/**
 * dep_spin_look() - look whether a waiter is woken, for a while
 * @inst: the instance
 * @spin: its dep_instance.spin
 * @waiter: the caller, who was queued when it found nothing
 * @until: when the call gives up; KTIME_MAX: never
 *
 * Ends when the waiter is woken; when the time of the set, or that of the call,
 * has passed; when another task wants the processor; and when a signal is
 * pending.  The caller finds out which.
 *
 * Context: process, with nothing held.
 */
void dep_spin_look(const struct dep_instance *inst, struct dep_spin *spin,
		   const struct dep_waiter *waiter, ktime_t until)
{
	u32 usecs = READ_ONCE(spin->usecs);
	bool over;
	u64 ns;

	if (!usecs || !spin_is_alone(inst) ||
	    test_and_set_bit_lock(SPIN_LOOKS, &spin->flags))
		return;
	if (spin_may_pay(spin, usecs)) {
		until = min(until, ktime_add_us(ktime_get(), usecs));
		over = !spin_until(waiter, until, &ns);
		spin_account(spin, spin_was_woken(waiter), over, ns);
	}
	clear_bit_unlock(SPIN_LOOKS, &spin->flags);
}

/**
 * dep_spin_set() - set for how long the calls of a set look
 * @inst: the instance
 * @usecs: how long, in microseconds; 0: not at all
 *
 * Context: process; takes M.
 * Return: 0;
 * -EINTR: the caller is being killed;
 * -ENOMEM: there is not enough memory.
 */
int dep_spin_set(struct dep_instance *inst, u32 usecs)
{
	struct dep_spin *spin;
	int err = 0;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	spin = inst->spin;
	if (!spin && usecs) {
		spin = kzalloc(sizeof(*spin), GFP_KERNEL_ACCOUNT);
		err = spin ? 0 : -ENOMEM;
		/* Pairs with the load in dep_waiting_sleep(). */
		smp_store_release(&inst->spin, spin);
	}
	if (spin)
		WRITE_ONCE(spin->usecs, usecs);
	mutex_unlock(&inst->mtx);
	return err;
}

/**
 * dep_spin_free() - free what dep_spin_set() has allocated
 * @inst: the instance, which is being closed: no call is in it
 */
void dep_spin_free(struct dep_instance *inst)
{
	kfree(inst->spin);
}
