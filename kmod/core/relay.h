/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The relay of a processor: sets in which an event has happened there, and of
 * which somebody besides the sleeping harvesters has to be told.
 */
#ifndef DEVEPOLL_RELAY_H
#define DEVEPOLL_RELAY_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/limits.h"

struct dep_instance;

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
 * @fresh: R: sets for the interrupt; only this processor adds some
 * @rest: R: what it has left to the worker
 * @late: R: sets of which somebody was woken while others slept on
 * @ticking: R: @timer is set, or running
 * @timer: looks through @late
 * @last: only for the interrupt: when it looked at the clock last
 * @debt: the same: how much more it has done than it may, ns
 * @irq: the interrupt
 * @work: the worker
 * @cpu: const: the processor
 */
struct dep_relay {
	/* R: the queue; nests nothing. */
	spinlock_t lock;
	bool raised;
	bool working;
	struct dep_lanes fresh;
	struct dep_lanes rest;
	struct list_head late;
	bool ticking;
	struct hrtimer timer;
	u64 last;
	u64 debt;
	struct irq_work irq;
	struct work_struct work;
	int cpu;
};

DECLARE_PER_CPU(struct dep_relay, dep_relays);

static inline void dep_lanes_add(struct dep_lanes *lanes,
				 struct list_head *set, u8 lane)
{
	list_add_tail(set, &lanes->lane[lane]);
	lanes->filled |= BIT(lane);
}

void dep_relay_watch(struct dep_instance *inst);
void dep_relay_leave(struct dep_instance *inst);

int __init dep_relay_init(void);
void dep_relay_exit(void);

#endif /* DEVEPOLL_RELAY_H */
