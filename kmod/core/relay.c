// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of the relays: how a set gets into one, and out again.  A set is
 * in one relay at most.  service.c serves them.  Read the banner of instance.h
 * first.
 */
#include <linux/bitops.h>
#include <linux/wait_bit.h>

#include "core/instance.h"
#include "core/limits.h"
#include "core/relay.h"

DEFINE_PER_CPU(struct dep_relay, dep_relays);
struct workqueue_struct *dep_relay_helpers;

/**
 * dep_relay_watch() - check whether a waiter that was woken comes
 * @inst: the instance, locked; others sleep on, and it is not watched yet
 *
 * If the waiter gets no processor, the next one is woken.
 */
void dep_relay_watch(struct dep_instance *inst)
{
	/* Interrupts are off. */
	struct dep_relay *relay = this_cpu_ptr(&dep_relays);
	u64 now = ktime_get_ns();
	bool tick;

	lockdep_assert_held(&inst->lock);
	inst->late = relay;
	spin_lock(&relay->lock);
	inst->late_at = now + DEP_LATE_NS;
	dep_lanes_add(&relay->late, &inst->in_late, inst->lane);
	tick = dep_relay_begins_ticking(relay);
	spin_unlock(&relay->lock);
	if (tick)
		dep_relay_set_timer(relay);
}

/**
 * dep_relay_take() - take the next set
 * @relay: the relay
 * @lanes: its fresh sets, or the rest
 *
 * It takes no set of the user who had the last one while others have some.  The
 * set is being served from now on, until dep_relay_served().
 *
 * Return: the set, or NULL if there is none.
 */
struct dep_instance *dep_relay_take(struct dep_relay *relay,
				    struct dep_lanes *lanes)
{
	struct dep_instance *inst = NULL;
	unsigned long flags;

	spin_lock_irqsave(&relay->lock, flags);
	while (lanes->filled && !inst) {
		unsigned int i = find_next_bit_wrap(&lanes->filled,
						    DEP_RELAY_LANES,
						    lanes->turn + 1);

		lanes->turn = i;
		inst = list_first_entry_or_null(&lanes->lane[i],
						struct dep_instance, in_relay);
		if (inst) {
			list_del_init(&inst->in_relay);
			atomic_inc(&inst->serving);
			relay->served += lanes == &relay->rest;
		}
		if (list_empty(&lanes->lane[i]))
			__clear_bit(i, &lanes->filled);
	}
	spin_unlock_irqrestore(&relay->lock, flags);
	return inst;
}

/* Takes a set off a list of a relay, unless it has just been taken. */
static void relay_unlist(struct dep_relay **relay, struct list_head *place)
{
	if (!*relay)
		return;
	spin_lock(&(*relay)->lock);
	if (list_empty(place)) {
		spin_unlock(&(*relay)->lock);
		return;
	}
	list_del_init(place);
	spin_unlock(&(*relay)->lock);
	*relay = NULL;
}

static bool relay_forget(struct dep_instance *inst)
{
	bool gone;

	spin_lock_irq(&inst->lock);
	relay_unlist(&inst->relay, &inst->in_relay);
	relay_unlist(&inst->late, &inst->in_late);
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
