// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a relay: it checks whether waiters that were woken have come,
 * whether those who owed time have waited long enough, and whether the worker
 * gets a processor.
 */
#include <linux/sched/clock.h>

#include "core/instance.h"
#include "core/limits.h"
#include "core/pending.h"
#include "core/relay.h"
#include "core/waiter.h"

/* Wakes other waiters in the place of those that are late. */
static void late_look(struct dep_relay *relay, struct dep_instance *inst,
		      u64 now)
{
	unsigned long flags;

	spin_lock_irqsave(&inst->lock, flags);
	if (dep_waiter_give_up(inst) && dep_instance_has_work(inst))
		dep_instance_wake(inst);
	/* The list may lack items only because their files are being polled. */
	if (inst->nr_waiters && inst->awaited) {
		spin_lock(&relay->lock);
		dep_relay_add_late(relay, inst, now);
		spin_unlock(&relay->lock);
	} else {
		inst->late = NULL;
	}
	spin_unlock_irqrestore(&inst->lock, flags);
	dep_relay_served(inst);
}

/* The lane whose turn is first, or NULL. */
static struct dep_lane *late_first(struct dep_relay *relay)
{
	lockdep_assert_held(&relay->lock);
	return rb_entry_safe(rb_first_cached(&relay->late), struct dep_lane,
			     in_late);
}

/*
 * Takes the next set that is due, or returns NULL.  No person has two turns in
 * a row while others have sets that are due.
 */
static struct dep_instance *late_take(struct dep_relay *relay, u64 now)
{
	struct dep_lane *lane = late_first(relay);
	struct dep_instance *inst;

	if (!lane || lane->late_at > now)
		return NULL;
	inst = list_first_entry(&lane->late, struct dep_instance, in_late);
	list_del_init(&inst->in_late);
	dep_relay_settle_late(relay, lane, now);
	atomic_inc(&inst->serving);
	return inst;
}

/* Lets those go on who have waited because they owed time. */
static void late_end_pauses(struct dep_relay *relay, u64 now)
{
	struct dep_lane *lane, *next;

	lockdep_assert_held(&relay->lock);
	list_for_each_entry_safe(lane, next, &relay->owing, rest.turn) {
		if (lane->until > now)
			break;
		list_move_tail(&lane->rest.turn, &relay->rest);
	}
}

/*
 * Is there work that the worker has not begun though it had time enough?  True
 * only once for each such period.
 */
static bool late_needs_help(struct dep_relay *relay, u64 now)
{
	lockdep_assert_held(&relay->lock);
	if (list_empty(&relay->rest))
		return false;
	if (relay->seen == relay->served && now - relay->moved < DEP_LATE_NS)
		return false;
	if (relay->seen != relay->served) {
		relay->seen = relay->served;
		relay->moved = now;
		return false;
	}
	relay->moved = now;
	return true;
}

/* When the timer has to look again; U64_MAX if never. */
static u64 late_next(struct dep_relay *relay)
{
	u64 next = U64_MAX;
	struct dep_lane *lane = late_first(relay);

	if (lane)
		next = lane->late_at;
	if (!list_empty(&relay->rest))
		next = min(next, relay->moved + DEP_LATE_NS);
	lane = list_first_entry_or_null(&relay->owing, struct dep_lane,
					rest.turn);
	if (lane)
		next = min(next, lane->until);
	return next;
}

/**
 * dep_late_tick() - the timer of a relay
 * @timer: the timer
 *
 * Context: hard interrupt.
 * Return: HRTIMER_RESTART if it has to look again.
 */
enum hrtimer_restart dep_late_tick(struct hrtimer *timer)
{
	struct dep_relay *relay = container_of(timer, struct dep_relay, timer);
	u64 now = ktime_get_ns(), begun = local_clock(), next;
	unsigned int left = DEP_WAKE_BATCH;
	struct dep_instance *inst;
	unsigned long flags;
	bool help, work;

	spin_lock_irqsave(&relay->lock, flags);
	help = late_needs_help(relay, now);
	late_end_pauses(relay, now);
	work = dep_relay_wants_worker(relay, now);
	while (left-- && (inst = late_take(relay, now))) {
		spin_unlock_irqrestore(&relay->lock, flags);
		late_look(relay, inst, now);
		spin_lock_irqsave(&relay->lock, flags);
		if (local_clock() - begun > DEP_RELAY_NS)
			break;
	}
	next = late_next(relay);
	relay->ticking = next != U64_MAX;
	spin_unlock_irqrestore(&relay->lock, flags);
	if (work)
		queue_work_on(relay->cpu, dep_relay_queue, &relay->work);
	if (help)
		queue_work(dep_relay_helpers, &relay->help);
	if (next == U64_MAX)
		return HRTIMER_NORESTART;
	/* Enough for one interrupt: the rest is checked a bit later. */
	next = max(next, now + DEP_LATE_PAUSE_NS);
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}
