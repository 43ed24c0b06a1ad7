/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fast path of epoll_wait(2) for one item or two, or for a single event.
 * Read fast.c first.
 */
#ifndef DEVEPOLL_FAST_ONE_H
#define DEVEPOLL_FAST_ONE_H

#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "core/pending.h"
#include "set/fast_call.h"
#include "set/fast_event.h"
#include "set/fast_item.h"
#include "set/owner.h"
#include "set/ready.h"

/*
 * Need L not be locked again?  See fast_is_done() in fast_many.c.  If nothing
 * is found, fast_take_next() or a pass wakes whoever has to take what is left.
 */
static __always_inline bool fast_one_is_done(const struct dep_instance *inst,
					     const struct fast_one *one)
{
	return likely(one->sent) && one->settled &&
	       (!one->revents || !READ_ONCE(inst->nr_waiters));
}

/*
 * What a call returns that met memory which was not there: a pass goes on.  M
 * is held, and @done, which the caller's table keeps, was handed out.  What was
 * put back has no number, so the passes that began before may not go on.
 */
static noinline u64 fast_fault(struct dep_instance *inst, struct dep_item *done,
			       u32 nr)
{
	u32 number = dep_instance_next_pass(inst);

	if (done)
		done->pass = number;
	return (u64)number << FAST_PASS | FAST_REST | FAST_FAULT | nr;
}

/* Writes the event of one that was polled, and returns how many there were. */
static __always_inline u64 fast_one_end(struct dep_instance *inst,
					struct epoll_event __user *to,
					struct fast_one *one)
{
	fast_one_send(one, to);
	if (!fast_one_is_done(inst, one)) {
		spin_lock_irq(&inst->lock);
		fast_one_return(one);
		fast_one_settle(inst, one);
		fast_wake(inst);
		spin_unlock_irq(&inst->lock);
	}
	if (unlikely(!one->sent))
		return fast_fault(inst, NULL, 0);
	return one->revents != 0;
}

/*
 * As fast_run(), but for the first item, without what that does not need.
 * Called with the instance locked, and unlocks it.
 */
static __always_inline u64 fast_take_one(struct dep_instance *inst,
					 struct epoll_event __user *to,
					 struct dep_item *item)
	__releases(&inst->lock)
{
	struct fast_one one = { .item = item };
	poll_table table __uninitialized;

	table._qproc = NULL;
	fast_take_first_item(inst, item);
	spin_unlock_irq(&inst->lock);
	/* Pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	fast_one_poll(&one, &table);
	return fast_one_end(inst, to, &one);
}

/*
 * As fast_take_one(), but for the only two items on the list.  One that was
 * ready for its level is often over, and still there, when the next one comes.
 */
static __always_inline u64 fast_take_two(struct dep_instance *inst,
					 struct epoll_event __user *to,
					 struct dep_item *first,
					 struct dep_item *second)
	__releases(&inst->lock)
{
	poll_table table __uninitialized;
	struct fast_one one, two;
	u64 collected;

	table._qproc = NULL;
	one = fast_one_take(first);
	two = fast_one_take(second);
	INIT_LIST_HEAD(&inst->ready);
	inst->nr_ready -= 2;
	inst->stats.asks += 2;
	spin_unlock_irq(&inst->lock);
	/* Pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	fast_one_poll(&one, &table);
	fast_one_poll(&two, &table);
	fast_one_send(&one, to);
	/* If the memory of the first is not there, neither is that of this. */
	fast_one_send(&two, to + fast_one_counts(&one));
	if (!fast_one_is_done(inst, &one) || !fast_one_is_done(inst, &two)) {
		spin_lock_irq(&inst->lock);
		fast_one_return(&two);
		fast_one_return(&one);
		fast_one_settle(inst, &one);
		fast_one_settle(inst, &two);
		fast_wake(inst);
		spin_unlock_irq(&inst->lock);
	}
	collected = fast_one_counts(&one) + fast_one_counts(&two);
	if (unlikely(!one.sent || !two.sent))
		collected = fast_fault(inst, fast_one_counts(&one) ? first :
					     collected ? second : NULL,
				       collected);
	return collected;
}

/* The first item is not an ordinary one, or there is none; unlocks L. */
static __always_inline u64 fast_take_none(struct dep_instance *inst)
	__releases(&inst->lock)
{
	/* If the list is empty, there may be events in the ring. */
	bool rest = !list_empty(&inst->ready) || dep_instance_has_ring(inst);

	spin_unlock_irq(&inst->lock);
	return rest ? FAST_REST : 0;
}

/*
 * Takes one item or two, if they are ordinary ones.  Called with the instance
 * locked, and unlocks it.
 */
static __always_inline u64 fast_take_first(struct dep_instance *inst,
					   struct epoll_event __user *to,
					   u32 max)
	__releases(&inst->lock)
{
	const struct list_head *ready = &inst->ready, *first = ready->next;
	struct dep_owner_table table = dep_owner_table_of(inst, current->files);
	struct dep_item *item = list_entry(first, struct dep_item, ready);
	struct dep_item *other;

	dep_instance_claim_first(inst);
	if (likely(first != ready && fast_is_ordinary(item, table))) {
		if (likely(first->next == ready) || max == 1)
			return fast_take_one(inst, to, item);
		other = list_next_entry(item, ready);
		if (other->ready.next == ready &&
		    fast_is_ordinary(other, table))
			return fast_take_two(inst, to, item, other);
	}
	return fast_take_none(inst);
}

/*
 * The first item was not ready: goes on until one is.  M is held.  Processes
 * that share a set take one event each, and so meet what others have served.
 */
static noinline u64 fast_take_next(struct dep_instance *inst,
				   struct epoll_event __user *to)
{
	const struct files_struct *files = current->files;
	struct list_head *ready = &inst->ready;
	poll_table table __uninitialized;
	struct fast_one one;
	u32 left;

	table._qproc = NULL;
	/* Those that come from now on are left to the next call. */
	left = dep_instance_nr_ready(inst);
	for (; left; left--) {
		if (unlikely(!(left % DEP_FAST_BATCH))) {
			cond_resched();
			if (fatal_signal_pending(current))
				break;
		}
		spin_lock_irq(&inst->lock);
		one.item = list_entry(ready->next, struct dep_item, ready);
		if (unlikely(ready->next == ready ||
			     !fast_is_ordinary(one.item,
					       dep_owner_table_of(inst, files))))
			return fast_take_none(inst);
		fast_take_first_item(inst, one.item);
		spin_unlock_irq(&inst->lock);
		/* Pairs with smp_mb() in dep_watch_wake(). */
		smp_mb();
		fast_one_poll(&one, &table);
		if (one.revents)
			return fast_one_end(inst, to, &one);
	}
	if (READ_ONCE(inst->nr_waiters)) {
		spin_lock_irq(&inst->lock);
		fast_wake(inst);
		spin_unlock_irq(&inst->lock);
	}
	return 0;
}

/*
 * As fast_collect_many(), if one item or two are ready, or one event is wanted;
 * leaves others to a pass.  Called after fast_begin().
 */
static __always_inline u64 fast_collect_one(struct dep_instance *inst,
					    struct epoll_event __user *to,
					    u32 max)
{
	u64 collected = fast_take_first(inst, to, max);

	if (unlikely(!collected) && dep_instance_nr_ready(inst))
		collected = max == 1 ? fast_take_next(inst, to) : FAST_REST;
	fast_end(inst, collected);
	return collected;
}

#endif /* DEVEPOLL_FAST_ONE_H */
