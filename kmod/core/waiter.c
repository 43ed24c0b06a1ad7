// SPDX-License-Identifier: GPL-2.0
/*
 * Waiters: which tasks and commands sleep for events of an instance, and which
 * of them is woken.  Read the banner of instance.h first.
 */
#include "core/relay.h"
#include "core/waiter.h"

static bool waiter_is_less(struct rb_node *node, const struct rb_node *than)
{
	const struct dep_waiter *a = rb_entry(node, struct dep_waiter, node);
	const struct dep_waiter *b = rb_entry(than, struct dep_waiter, node);

	return a->min < b->min || (a->min == b->min && a->ticket < b->ticket);
}

static struct dep_waiters *waiter_queue(struct dep_instance *inst,
					const struct dep_waiter *waiter)
{
	return waiter->comes ? &inst->deferred : &inst->prompt;
}

/* Is it anywhere but in the list of dep_instance.prompt? */
static bool waiter_is_special(const struct dep_waiter *waiter)
{
	return waiter->min > 1 || waiter->comes;
}

/**
 * dep_waiter_queue() - put a waiter behind the others
 * @inst: the instance, locked
 * @waiter: the waiter, on no list
 */
void dep_waiter_queue(struct dep_instance *inst, struct dep_waiter *waiter)
{
	struct dep_waiters *queue = waiter_queue(inst, waiter);

	lockdep_assert_held(&inst->lock);
	dep_waiter_came(inst, waiter);
	WRITE_ONCE(waiter->queued, true);
	waiter->ticket = inst->ticket++;
	WRITE_ONCE(inst->nr_waiters, inst->nr_waiters + 1);
	/* A waiter that was woken, but never comes, must not keep it asleep. */
	if (inst->awaited && !inst->late)
		dep_relay_watch(inst);
	inst->nr_special += waiter_is_special(waiter);
	if (waiter->min <= 1)
		list_add_tail(&waiter->link, &queue->waiters);
	else
		rb_add_cached(&waiter->node, &queue->hungry, waiter_is_less);
}

/* Takes a waiter off its queue. */
static __always_inline void waiter_leave(struct dep_instance *inst,
					 struct dep_waiter *waiter)
{
	lockdep_assert_held(&inst->lock);
	inst->nr_special -= waiter_is_special(waiter);
	if (unlikely(waiter->min > 1))
		rb_erase_cached(&waiter->node,
				&waiter_queue(inst, waiter)->hungry);
	else
		list_del_init(&waiter->link);
	WRITE_ONCE(inst->nr_waiters, inst->nr_waiters - 1);
	WRITE_ONCE(waiter->queued, false);
}

/**
 * dep_waiter_unqueue() - take a waiter off the list that it is on
 * @inst: the instance, locked
 * @waiter: the waiter
 *
 * Return: true if it was on one, so that nobody else is about to wake it.
 */
bool dep_waiter_unqueue(struct dep_instance *inst, struct dep_waiter *waiter)
{
	lockdep_assert_held(&inst->lock);
	dep_waiter_claim(waiter);
	if (waiter->queued) {
		waiter_leave(inst, waiter);
		return true;
	}
	/* A command that was woken waits for its call of @wake there. */
	if (list_empty(&waiter->link))
		return false;
	list_del_init(&waiter->link);
	return true;
}

static __always_inline void waiter_kick(struct dep_instance *inst,
					struct dep_waiter *waiter)
{
	/* As in dep_waiter_claim(). */
	waiter->kicked = true;
	barrier();
	waiter->looks = inst->looks;
	waiter_leave(inst, waiter);
	inst->awaited++;
	inst->coming += waiter->room;
	/* If it gets no processor, another one must come in its place. */
	if (inst->nr_waiters && !inst->late)
		dep_relay_watch(inst);
	if (waiter->task) {
		/*
		 * It can't leave its stack frame: that takes the lock first.
		 * If it is not asleep yet: see dep_waiting_sleep().
		 */
		wake_up_process(waiter->task);
		return;
	}
	list_add_tail(&waiter->link, &inst->woken);
	dep_instance_relay(inst);
}

/**
 * dep_waiter_kick() - wake one waiter, if it is queued
 * @inst: the instance, locked
 * @waiter: the waiter
 */
void dep_waiter_kick(struct dep_instance *inst, struct dep_waiter *waiter)
{
	if (waiter->queued)
		waiter_kick(inst, waiter);
}

/* Of those that want several events, one for which @nr_ready are enough. */
static struct dep_waiter *waiters_hungry(struct dep_waiters *queue,
					 u32 nr_ready)
{
	struct dep_waiter *waiter = rb_entry_safe(rb_first_cached(&queue->hungry),
						  struct dep_waiter, node);

	return waiter && waiter->min <= nr_ready ? waiter : NULL;
}

/*
 * The one that has waited longest.  Of those that want several events, only the
 * one that wants the fewest is considered, and only if there can be so many.
 */
static struct dep_waiter *waiters_first(struct dep_waiters *queue, u32 nr_ready)
{
	struct dep_waiter *waiter = list_first_entry_or_null(&queue->waiters,
							     struct dep_waiter,
							     link);
	struct dep_waiter *hungry = waiters_hungry(queue, nr_ready);

	return hungry && (!waiter || hungry->ticket < waiter->ticket) ?
		       hungry : waiter;
}

/*
 * A command that comes, among the first @left of those that may not come for
 * long.
 */
static struct dep_waiter *instance_comer(struct dep_instance *inst,
					 unsigned int *left)
{
	struct dep_waiter *waiter;

	list_for_each_entry(waiter, &inst->deferred.waiters, link) {
		if (!*left)
			break;
		--*left;
		if (waiter->comes(waiter))
			return waiter;
	}
	return NULL;
}

/**
 * dep_instance_has_sleeper() - would a sleeping waiter come for one event?
 * @inst: the instance, locked
 * @left: how many commands this may look at that may not come for long; what
 *	remains of it for other sets
 *
 * Return: false also if all sleeping waiters want several events.
 */
bool dep_instance_has_sleeper(struct dep_instance *inst, unsigned int *left)
{
	lockdep_assert_held(&inst->lock);
	return !list_empty(&inst->prompt.waiters) ||
	       (inst->nr_special && instance_comer(inst, left));
}

/**
 * dep_instance_wake() - wake the waiter that has waited longest
 * @inst: the instance, locked
 *
 * If that one may not come for long, another one is woken, too.
 */
void dep_instance_wake(struct dep_instance *inst)
{
	struct dep_waiter *prompt, *deferred, *comer;
	unsigned int left = DEP_LOOK_BATCH;

	lockdep_assert_held(&inst->lock);
	if (likely(!inst->nr_special)) {
		prompt = list_first_entry_or_null(&inst->prompt.waiters,
						  struct dep_waiter, link);
		if (likely(prompt))
			waiter_kick(inst, prompt);
		return;
	}
	prompt = waiters_first(&inst->prompt, inst->nr_ready);
	deferred = waiters_first(&inst->deferred, inst->nr_ready);
	if (unlikely(deferred)) {
		comer = deferred->comes(deferred) ?
			deferred : instance_comer(inst, &left);
		if (comer == deferred)
			deferred = NULL;
		if (comer && (!prompt || comer->ticket < prompt->ticket))
			prompt = comer;
	}
	if (prompt)
		dep_waiter_kick(inst, prompt);
	if (deferred)
		dep_waiter_kick(inst, deferred);
}

/* Wakes up to @left waiters; returns what remains of @left. */
static unsigned int waiters_wake(struct dep_instance *inst,
				 struct dep_waiters *queue, unsigned int left)
{
	struct dep_waiter *waiter;

	for (; left && (waiter = waiters_first(queue, U32_MAX)); left--)
		dep_waiter_kick(inst, waiter);
	return left;
}

/**
 * dep_instance_wake_some() - let sleeping waiters look again
 * @inst: the instance, locked
 *
 * Return: true if there may be more of them.
 */
bool dep_instance_wake_some(struct dep_instance *inst)
{
	unsigned int left = DEP_WAKE_BATCH;

	lockdep_assert_held(&inst->lock);
	left = waiters_wake(inst, &inst->prompt, left);
	left = waiters_wake(inst, &inst->deferred, left);
	return !left;
}

/**
 * dep_instance_needs_another() - must a further waiter be woken?
 * @inst: the instance, locked
 * @listed: dep_instance.nr_ready before an item came
 *
 * A waiter that was woken for the first event takes the later ones too, as far
 * as it has room.  For the rest, the next one is woken for new events as long
 * as the first has not begun; from then on, it wakes the next one itself when
 * it has taken its events.
 *
 * Return: true if so.
 */
bool dep_instance_needs_another(struct dep_instance *inst, u32 listed)
{
	lockdep_assert_held(&inst->lock);
	if (!dep_instance_lacks_room(inst))
		return false;
	return (inst->nr_ready > listed && inst->coming) ||
	       (inst->nr_special &&
		(waiters_hungry(&inst->prompt, inst->nr_ready) ||
		 waiters_hungry(&inst->deferred, inst->nr_ready)));
}

/**
 * dep_instance_owe() - as dep_instance_arrived(), but the relay wakes the
 * waiter
 * @inst: the instance, locked
 * @idle: there was nothing before
 * @listed: dep_instance.nr_ready before
 */
void dep_instance_owe(struct dep_instance *inst, bool idle, u32 listed)
{
	lockdep_assert_held(&inst->lock);
	if (!inst->nr_waiters ||
	    (!idle && !dep_instance_needs_another(inst, listed)))
		return;
	inst->owed = true;
	dep_instance_relay(inst);
}
