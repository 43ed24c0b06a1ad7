/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiters: threads, and io_uring commands, that sleep for events of an
 * instance.  Read the banner of instance.h first.
 */
#ifndef DEVEPOLL_WAITER_H
#define DEVEPOLL_WAITER_H

#include "core/instance.h"

/**
 * struct dep_waiter - a waiting task, on its stack, or an io_uring command
 *
 * Its first 64 bytes are all that a waker touches of one that wants a single
 * event; a task aligns it, so that they are a line: see dep_waiter_align.
 *
 * @link: L: in dep_waiters.waiters or, for a command that was woken, in
 *	dep_instance.woken until @wake is called
 * @task: const: the task, or NULL
 * @wake: const: without a task: the function to call, from irq_work or a worker
 * @comes: const: would it run promptly if woken now?  NULL if it always does.  L
 *	is held
 * @min: const: how many items must be on the ready list to wake it
 * @room: const: how many events it can take; 0 if that is not counted
 * @looks: L: dep_instance.looks when it was woken
 * @queued: L: in a queue; its task also reads it without a lock
 * @kicked: L: from when it is woken until its pass begins or, with @min above
 *	1, until it runs
 * @ticket: L: its place in the order in which the waiters came
 * @node: L: in dep_waiters.hungry
 */
struct dep_waiter {
	struct list_head link;
	struct task_struct *task;
	void (*wake)(struct dep_waiter *waiter);
	bool (*comes)(struct dep_waiter *waiter);
	u32 min;
	u32 room;
	u32 looks;
	bool queued;
	bool kicked;
	u64 ticket;
	struct rb_node node;
};

static_assert(offsetof(struct dep_waiter, node) == 64);

/* For a variable on the stack of a task. */
#define dep_waiter_align __aligned(64)

/**
 * dep_instance_lacks_room() - is more listed than coming waiters have room for?
 * @inst: the instance, locked
 *
 * Return: true if it is, and so also if an item is listed and no waiter comes.
 */
static inline bool dep_instance_lacks_room(const struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	return inst->nr_ready > inst->coming;
}

/**
 * dep_waiter_claim() - store to a waiter before anything of it is read
 * @waiter: the waiter, which will not stay in a queue; its instance is locked
 *
 * Another processor has written to the line.  If this one read it first, it
 * would travel to be shared, and then again to be written.
 */
static inline void dep_waiter_claim(struct dep_waiter *waiter)
{
	waiter->ticket = 0;
	barrier();
}

/**
 * dep_instance_claim_waiters() - store to what a waker needs before it is read
 * @inst: the instance, locked, which has waiters
 *
 * As dep_waiter_claim().  Tickets only have to grow.
 */
static inline void dep_instance_claim_waiters(struct dep_instance *inst)
{
	inst->ticket++;
	barrier();
}

/**
 * dep_instance_claim_first() - store to the first listed item before it is read
 * @inst: the instance, locked
 *
 * As dep_waiter_claim().  What is stored stands there already.
 */
static inline void dep_instance_claim_first(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	inst->ready.next->prev = &inst->ready;
	barrier();
}

/**
 * dep_waiter_came() - stop counting on a waiter that was woken
 * @inst: the instance, locked
 * @waiter: the waiter; it looks at the list now, or gives up
 */
static inline void dep_waiter_came(struct dep_instance *inst,
				   struct dep_waiter *waiter)
{
	lockdep_assert_held(&inst->lock);
	if (!waiter->kicked)
		return;
	waiter->kicked = false;
	/* Stored to first, as in dep_waiter_claim(). */
	inst->awaited--;
	barrier();
	/* Given up at the second check: see dep_waiter_give_up(). */
	if (unlikely(inst->looks - waiter->looks > 1)) {
		inst->awaited++;
		return;
	}
	inst->coming -= waiter->room;
	if (inst->looks == waiter->looks)
		return;
	inst->awaited_old--;
	inst->coming_old -= waiter->room;
}

/**
 * dep_waiter_give_up() - stop counting on waiters that have not come
 * @inst: the instance, locked
 *
 * These are the waiters that were woken before the previous call of this.
 *
 * Return: true if there was one.
 */
static inline bool dep_waiter_give_up(struct dep_instance *inst)
{
	bool late = inst->awaited_old;

	lockdep_assert_held(&inst->lock);
	inst->looks++;
	inst->awaited -= inst->awaited_old;
	inst->awaited_old = inst->awaited;
	inst->coming -= inst->coming_old;
	inst->coming_old = inst->coming;
	return late;
}

void dep_waiter_queue(struct dep_instance *inst, struct dep_waiter *waiter);
bool dep_waiter_unqueue(struct dep_instance *inst, struct dep_waiter *waiter);
void dep_waiter_kick(struct dep_instance *inst, struct dep_waiter *waiter);
bool dep_instance_has_sleeper(struct dep_instance *inst, unsigned int *left);
void dep_instance_wake(struct dep_instance *inst);
bool dep_instance_wake_some(struct dep_instance *inst);
bool dep_instance_needs_another(struct dep_instance *inst, u32 listed);
void dep_instance_owe(struct dep_instance *inst, bool idle, u32 listed);

/**
 * dep_waiter_back() - a waiter that has slept looks at the list
 * @inst: the instance, locked
 * @waiter: a task, or a command that is in no queue
 *
 * A task that wants one event stays in its queue until now if no event woke it.
 */
static inline void dep_waiter_back(struct dep_instance *inst,
				   struct dep_waiter *waiter)
{
	lockdep_assert_held(&inst->lock);
	dep_waiter_claim(waiter);
	if (likely(waiter->kicked))
		dep_waiter_came(inst, waiter);
	else if (unlikely(waiter->queued))
		dep_waiter_unqueue(inst, waiter);
}

/**
 * dep_instance_arrived() - wake a waiter for something new, if needed
 * @inst: the instance, locked
 * @idle: there was nothing before
 * @listed: dep_instance.nr_ready before
 */
static inline void dep_instance_arrived(struct dep_instance *inst, bool idle,
					u32 listed)
{
	lockdep_assert_held(&inst->lock);
	if (inst->nr_waiters &&
	    (idle || dep_instance_needs_another(inst, listed)))
		dep_instance_wake(inst);
}

#endif /* DEVEPOLL_WAITER_H */
