// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of the relays: how a set gets into one, and out again.  A set is
 * in one relay at most.  service.c serves them.  Read the banner of instance.h
 * first.
 */
#include "core/relay.h"

DEFINE_PER_CPU(struct dep_relay, dep_relays);
struct workqueue_struct *dep_relay_queue;
struct workqueue_struct *dep_relay_helpers;

static bool lane_is_due_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct dep_lane, in_late)->late_at <
	       rb_entry(b, struct dep_lane, in_late)->late_at;
}

/**
 * dep_relay_settle_late() - a set has left the late ones of its lane
 * @relay: the relay, locked
 * @lane: the lane
 * @now: the lane's next turn comes no earlier than this, ns
 *
 * So a person with many overdue sets has no turn before others whose sets have
 * become due meanwhile.
 */
void dep_relay_settle_late(struct dep_relay *relay, struct dep_lane *lane,
			   u64 now)
{
	struct dep_instance *first;

	lockdep_assert_held(&relay->lock);
	rb_erase_cached(&lane->in_late, &relay->late);
	RB_CLEAR_NODE(&lane->in_late);
	first = list_first_entry_or_null(&lane->late, struct dep_instance,
					 in_late);
	if (!first)
		return;
	lane->late_at = max(first->late_at, now);
	rb_add_cached(&lane->in_late, &relay->late, lane_is_due_before);
}

/**
 * dep_relay_add_late() - let the timer check whether a set's waiters have come
 * @relay: the relay, locked
 * @inst: the instance, locked
 * @now: the time, ns
 */
void dep_relay_add_late(struct dep_relay *relay, struct dep_instance *inst,
			u64 now)
{
	struct dep_lane *lane = dep_relay_lane(relay, inst);

	lockdep_assert_held(&relay->lock);
	inst->late_at = now + DEP_LATE_NS;
	list_add_tail(&inst->in_late, &lane->late);
	if (!RB_EMPTY_NODE(&lane->in_late))
		return;
	lane->late_at = inst->late_at;
	rb_add_cached(&lane->in_late, &relay->late, lane_is_due_before);
}

/**
 * dep_relay_watch() - let the timer check whether a waiter that was woken comes
 * @inst: the instance, locked; other waiters sleep, and it is not checked yet
 *
 * If the waiter gets no processor, the next one is woken.
 */
void dep_relay_watch(struct dep_instance *inst)
{
	/* Whoever has L stays on its processor. */
	struct dep_relay *relay = this_cpu_ptr(&dep_relays);
	u64 now = ktime_get_ns();
	bool tick;

	lockdep_assert_held(&inst->lock);
	inst->late = relay;
	spin_lock(&relay->lock);
	dep_relay_add_late(relay, inst, now);
	tick = dep_relay_begins_ticking(relay);
	spin_unlock(&relay->lock);
	if (tick)
		dep_relay_set_timer(relay);
}

/* Takes a set off a list of a relay, unless it has just been taken. */
static void relay_unlist(struct dep_instance *inst, struct dep_relay **place,
			 struct list_head *link)
{
	struct dep_relay *relay = *place;
	struct dep_lane *lane;

	if (!relay)
		return;
	spin_lock(&relay->lock);
	if (list_empty(link)) {
		spin_unlock(&relay->lock);
		return;
	}
	list_del_init(link);
	lane = dep_relay_lane(relay, inst);
	if (link == &inst->in_late) {
		dep_relay_settle_late(relay, lane, lane->late_at);
	} else {
		/* The set was in one of the two queues. */
		dep_queue_settle(&lane->fresh);
		dep_queue_settle(&lane->rest);
	}
	spin_unlock(&relay->lock);
	*place = NULL;
}

static bool relay_forget(struct dep_instance *inst)
{
	bool gone;

	spin_lock_irq(&inst->lock);
	relay_unlist(inst, &inst->relay, &inst->in_relay);
	relay_unlist(inst, &inst->late, &inst->in_late);
	gone = !inst->relay && !inst->late && !atomic_read(&inst->serving);
	spin_unlock_irq(&inst->lock);
	return gone;
}

/**
 * dep_relay_leave() - take a set out of the relay, or wait until it was served
 * @inst: the instance; nothing adds it again
 *
 * Context: process; sleeps.
 */
void dep_relay_leave(struct dep_instance *inst)
{
	might_sleep();
	/* A relay that serves the set may put it back. */
	while (!relay_forget(inst))
		wait_var_event(&inst->serving, !atomic_read(&inst->serving));
}
