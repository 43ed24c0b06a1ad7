/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lane: the sets of one person in the relay of one processor.  The lanes of a
 * relay are served in turn, and a person owes the time that the worker takes, and
 * interrupts, beyond what a plain event costs.
 */
#ifndef DEVEPOLL_LANE_H
#define DEVEPOLL_LANE_H

#include <linux/cache.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/rbtree.h>

#include "core/limits.h"

/**
 * struct dep_queue - sets of a lane, in the order in which they are served
 * @sets: R: the sets
 * @turn: R: among the queues of other lanes; in no list while there is no set
 */
struct dep_queue {
	struct list_head sets;
	struct list_head turn;
};

/**
 * struct dep_lane - the sets of one person in the relay of one processor
 * @fresh: R: sets for the interrupt
 * @rest: R: sets for the worker; its turn may be among those of dep_relay.owing
 * @late: R: sets of which a waiter was woken while others slept on
 * @in_late: R: in dep_relay.late while there is such a set
 * @late_at: R: when the turn of @late is, ns
 * @until: R: how long @rest is in dep_relay.owing, ns
 * @debt: R: how much more time the relay has taken for the person than it may
 * @last: R: when a part of @debt was paid back last, ns
 * @credit: const: how large a debt delays nothing
 */
struct dep_lane {
	struct dep_queue fresh;
	struct dep_queue rest;
	struct list_head late;
	struct rb_node in_late;
	u64 late_at;
	u64 until;
	u64 debt;
	u64 last;
	u64 credit;
} ____cacheline_aligned;

/**
 * dep_queue_add() - put a set behind the others of its lane
 * @queue: the queue of the lane; dep_relay.lock is held
 * @set: the set's link, in no list
 * @turns: the queues of the lanes that have sets
 */
static inline void dep_queue_add(struct dep_queue *queue, struct list_head *set,
				 struct list_head *turns)
{
	list_add_tail(set, &queue->sets);
	/* Its turn may be among the others already. */
	if (list_empty(&queue->turn))
		list_add_tail(&queue->turn, turns);
}

/**
 * dep_queue_settle() - a set has left a lane
 * @queue: a queue of the lane; dep_relay.lock is held
 */
static inline void dep_queue_settle(struct dep_queue *queue)
{
	if (list_empty(&queue->sets))
		list_del_init(&queue->turn);
}

/**
 * dep_lane_owes() - does a person owe more time than delays nothing?
 * @lane: the lane; dep_relay.lock is held
 * @now: the clock of the processor, ns
 *
 * A debt is paid back by a part of the time that passes.
 *
 * Return: true if so: the person's sets have to wait.
 */
static inline bool dep_lane_owes(struct dep_lane *lane, u64 now)
{
	/* The worker may run on another processor, with a clock of its own. */
	u64 past = now > lane->last ? now - lane->last : 0;

	lane->debt -= min(lane->debt, past / DEP_OWE_SHARE);
	lane->last = now;
	return lane->debt > lane->credit;
}

/**
 * dep_lane_charge() - the relay has taken time for a person
 * @lane: the lane; dep_relay.lock is held
 * @spent: how long, ns
 *
 * A debt has a limit, since the clock may be wrong: the host of a virtual
 * machine may have run something else.
 */
static inline void dep_lane_charge(struct dep_lane *lane, u64 spent)
{
	lane->debt = min(lane->debt + min(spent, (u64)DEP_OWE_NS),
			 (u64)2 * DEP_OWE_NS);
}

/**
 * dep_lane_init() - make an empty lane
 * @lane: the lane, zeroed
 * @exempt: the person owes nothing
 */
static inline void dep_lane_init(struct dep_lane *lane, bool exempt)
{
	INIT_LIST_HEAD(&lane->fresh.sets);
	INIT_LIST_HEAD(&lane->fresh.turn);
	INIT_LIST_HEAD(&lane->rest.sets);
	INIT_LIST_HEAD(&lane->rest.turn);
	INIT_LIST_HEAD(&lane->late);
	RB_CLEAR_NODE(&lane->in_late);
	lane->credit = exempt ? U64_MAX : DEP_OWE_NS;
}

#endif /* DEVEPOLL_LANE_H */
