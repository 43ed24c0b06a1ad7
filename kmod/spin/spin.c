// SPDX-License-Identifier: GPL-2.0
/*
 * Looking before sleeping: a call that finds nothing spins on its processor for
 * the time that the program has set, until it is woken.  It is a waiter in the
 * queue like any sleeper.  Because it is still running, waking it needs neither
 * an interrupt of another processor nor a switch of tasks.
 *
 * Only a call that waits alone looks: an event wakes the one that has waited
 * longest, so any later one would spin while the events go to others.  After n
 * looks in a row that timed out, the next 2^n - 1 calls sleep at once; a look
 * that a wake-up ends resets n.
 */
#include <linux/bitops.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>

#include "core/instance.h"
#include "core/limits.h"
#include "core/waiter.h"
#include "spin/busy.h"
#include "spin/spin.h"

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

/*
 * Spins until the caller is woken, has a signal, or has to leave the processor
 * to another task; false if @until came first.
 */
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

/* Under the bit; @over: the look lasted until its time was up. */
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

/* Under the bit: should this call look, after the misses so far? */
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

/* Looks without polling a device, for the time that DEVEPOLL_SPIN has set. */
static void spin_look(const struct dep_instance *inst, struct dep_spin *spin,
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
 * dep_spin_look() - look whether a waiter is woken, for a while
 * @inst: the instance
 * @look: its dep_instance.look
 * @waiter: the caller, who was queued when it found nothing
 * @until: when the call gives up; KTIME_MAX: never
 *
 * Polls the network device where the program wants that and a device feeds a
 * socket of the set.  Ends when the waiter is woken; when the time of the set,
 * or that of the call, has passed; when a signal is pending; and, unless it
 * polls, when another task wants the processor.  The caller finds out which.
 *
 * Context: process, with nothing held.
 */
void dep_spin_look(struct dep_instance *inst, struct dep_look *look,
		   const struct dep_waiter *waiter, ktime_t until)
{
	struct dep_spin *spin = container_of(look, struct dep_spin, look);

	if (!dep_busy_is_on(&spin->busy) ||
	    !dep_busy_poll(inst, &spin->busy, waiter, until))
		spin_look(inst, spin, waiter, until);
}
