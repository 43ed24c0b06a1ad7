/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The relay of a processor: a queue of the sets that must wake pollers or
 * io_uring commands for an event that happened there.  service.c serves it.
 */
#ifndef DEVEPOLL_RELAY_H
#define DEVEPOLL_RELAY_H

#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "core/instance.h"

/**
 * struct dep_relay - the relay of a processor
 * @lock: lock number 7
 * @raised: R: the interrupt will look at @fresh, or is doing so
 * @working: R: the worker will look at @rest, or is doing so
 * @fresh: R: the lanes that have sets for the interrupt, by dep_lane.fresh; only
 *	this processor adds to them
 * @rest: R: the lanes that have sets for the worker, by dep_lane.rest
 * @owing: R: lanes that have sets for the worker, too, and wait until their
 *	persons owe less time, in the order of dep_lane.until
 * @served: R: how many sets were taken from @rest
 * @seen: R: the value of @served at @moved
 * @moved: R: while @working: when @served was last seen to change, ns
 * @late: R: the lanes that have sets of which a waiter was woken while others
 *	slept on, by dep_lane.late_at
 * @ticking: R: @timer is set, or running
 * @timer: looks through @late and @owing, and whether the worker gets a
 *	processor
 * @last: only for the interrupt: when it last read the clock
 * @debt: only for the interrupt: the time that it has used beyond its share, ns
 * @irq: the interrupt
 * @work: the worker
 * @help: a worker of any processor, for when @work gets no processor
 * @cpu: const: the processor
 */
struct dep_relay {
	/* R: the queue; nests nothing. */
	spinlock_t lock;
	bool raised;
	bool working;
	struct list_head fresh;
	struct list_head rest;
	struct list_head owing;
	u32 served;
	u32 seen;
	u64 moved;
	struct rb_root_cached late;
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
/* For dep_relay.work. */
extern struct workqueue_struct *dep_relay_queue;
/* For dep_relay.help; one at a time. */
extern struct workqueue_struct *dep_relay_helpers;

/**
 * dep_relay_lane() - the lane of a set in a relay
 * @relay: the relay
 * @inst: the instance
 *
 * Return: the lane of its person.
 */
static inline struct dep_lane *dep_relay_lane(const struct dep_relay *relay,
					      const struct dep_instance *inst)
{
	return &inst->person->lanes[relay->cpu];
}

/**
 * dep_instance_relay() - have pollers and io_uring commands woken
 * @inst: the instance, locked
 */
static inline void dep_instance_relay(struct dep_instance *inst)
{
	/* Whoever has L stays on its processor. */
	struct dep_relay *relay = this_cpu_ptr(&dep_relays);
	bool raised;

	lockdep_assert_held(&inst->lock);
	if (inst->relay)
		return;
	inst->relay = relay;
	spin_lock(&relay->lock);
	dep_queue_add(&dep_relay_lane(relay, inst)->fresh, &inst->in_relay,
		      &relay->fresh);
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
	/* This bit lets io_uring end a loop of rings that wake each other. */
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
	/* Uses only the address: the set may be gone. */
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
void dep_relay_add_late(struct dep_relay *relay, struct dep_instance *inst,
			u64 now);
void dep_relay_settle_late(struct dep_relay *relay, struct dep_lane *lane,
			   u64 now);
void dep_relay_leave(struct dep_instance *inst);

/* Their timer, interrupt and worker. */
int __init dep_service_init(void);
void dep_service_exit(void);

#endif /* DEVEPOLL_RELAY_H */
