/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The relay of a processor: a queue of the sets in which an event has happened
 * there and which have more to wake than sleeping waiters.  service.c and
 * late.c serve it.
 */
#ifndef DEVEPOLL_RELAY_H
#define DEVEPOLL_RELAY_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "core/instance.h"
#include "core/limits.h"

/**
 * struct dep_lanes - sets, in the order in which they are served
 * @lane: the sets, by dep_instance.lane
 * @filled: the lanes that may have one
 * @turn: the lane that was served last
 */
struct dep_lanes {
	struct list_head lane[DEP_RELAY_LANES];
	unsigned long filled;
	unsigned int turn;
};

/**
 * struct dep_relay - the relay of a processor
 * @lock: lock number 7
 * @raised: R: the interrupt will look at @fresh, or is doing so
 * @working: R: the worker will look at @rest, or is doing so
 * @fresh: R: sets for the interrupt; only this processor adds to them
 * @rest: R: sets that the interrupt left to the worker
 * @served: R: how many sets were taken from @rest
 * @seen: R: the value of @served at @moved
 * @moved: R: while @working: when @served was last seen to change, ns
 * @late: R: sets of which a waiter was woken while others slept on
 * @ticking: R: @timer is set, or running
 * @timer: looks through @late, and whether the worker gets a processor
 * @last: only for the interrupt: when it last read the clock
 * @debt: the same: how much more time it has used than it may, ns
 * @irq: the interrupt
 * @work: the worker
 * @help: a worker of any processor, for when that one gets no time
 * @cpu: const: the processor
 */
struct dep_relay {
	/* R: the queue; nests nothing. */
	spinlock_t lock;
	bool raised;
	bool working;
	struct dep_lanes fresh;
	struct dep_lanes rest;
	u32 served;
	u32 seen;
	u64 moved;
	struct dep_lanes late;
	bool ticking;
	struct hrtimer timer;
	u64 last;
	u64 debt;
	struct irq_work irq;
	struct work_struct work;
	struct work_struct help;
	int cpu;
};

DECLARE_PER_CPU(struct dep_relay, dep_relays);
/* For dep_relay.help; one at a time. */
extern struct workqueue_struct *dep_relay_helpers;

/**
 * dep_lanes_add() - put a set behind the others of its lane
 * @lanes: the lanes; dep_relay.lock is held
 * @set: the set's link, in no list
 * @lane: its lane
 */
static inline void dep_lanes_add(struct dep_lanes *lanes,
				 struct list_head *set, u8 lane)
{
	list_add_tail(set, &lanes->lane[lane]);
	lanes->filled |= BIT(lane);
}

/**
 * dep_instance_relay() - have pollers and io_uring commands woken
 * @inst: the instance, locked
 */
static inline void dep_instance_relay(struct dep_instance *inst)
{
	/* Interrupts are off. */
	struct dep_relay *relay = this_cpu_ptr(&dep_relays);
	bool raised;

	lockdep_assert_held(&inst->lock);
	if (inst->relay)
		return;
	inst->relay = relay;
	spin_lock(&relay->lock);
	dep_lanes_add(&relay->fresh, &inst->in_relay, inst->lane);
	raised = relay->raised;
	relay->raised = true;
	spin_unlock(&relay->lock);
	if (!raised)
		irq_work_queue(&relay->irq);
}

/**
 * dep_instance_wake_pollers() - wake the pollers of the device itself
 * @inst: the instance, locked and polled
 * @key: the key of the watched file's wake-up
 */
static inline void dep_instance_wake_pollers(struct dep_instance *inst,
					     __poll_t key)
{
	/* By this bit io_uring ends a loop of rings that wake each other. */
	inst->poll_wake |= key & EPOLL_URING_WAKE;
	dep_instance_relay(inst);
}

/**
 * dep_relay_served() - let go of a set that was taken
 * @inst: the instance; its close may free it from now on
 *
 * Pairs with dep_relay_leave().
 */
static inline void dep_relay_served(struct dep_instance *inst)
{
	/* Uses nothing but the address. */
	if (atomic_dec_and_test(&inst->serving))
		wake_up_var(&inst->serving);
}

/**
 * dep_relay_begins_ticking() - does the timer have to be set?
 * @relay: the relay, locked
 *
 * Return: true if it is not set yet; then the caller sets it.
 */
static inline bool dep_relay_begins_ticking(struct dep_relay *relay)
{
	bool begins = !relay->ticking;

	lockdep_assert_held(&relay->lock);
	relay->ticking = true;
	return begins;
}

/**
 * dep_relay_set_timer() - set the timer, which is not running
 * @relay: the relay of this processor
 */
static inline void dep_relay_set_timer(struct dep_relay *relay)
{
	/* Pinned: the timers of several processors must not meet on one. */
	hrtimer_start(&relay->timer, ns_to_ktime(DEP_LATE_NS),
		      HRTIMER_MODE_REL_PINNED);
}

void dep_relay_watch(struct dep_instance *inst);
struct dep_instance *dep_relay_take(struct dep_relay *relay,
				    struct dep_lanes *lanes);
void dep_relay_leave(struct dep_instance *inst);

#endif /* DEVEPOLL_RELAY_H */
