// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of epoll_wait(2) for several items, whose files the caller's
 * table keeps: batch after batch.  And what follows this path and that of one
 * item, until the call ends.  Read fast.c first.
 */
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/pending.h"
#include "set/fast.h"
#include "set/fast_call.h"
#include "set/fast_item.h"
#include "set/fast_one.h"
#include "set/owner.h"
#include "set/ready.h"

#define FAST_MORE	BIT(29)

/* What the events of a batch take; a constant is checked faster. */
#define FAST_SIZE	(DEP_FAST_BATCH * sizeof(struct epoll_event))

/**
 * struct fast_ask - an item that was taken off the list
 * @item: the item; M and the caller's table of files keep it
 * @revents: what its file answered
 */
struct fast_ask {
	struct dep_item *item;
	u32 revents;
};

/**
 * struct fast_wait - one call; its address is not taken: it is in registers
 * @inst: the instance
 * @asks: the items at hand, taken in one hold of L
 * @end: the end of these
 * @to: where the next event goes
 * @to_end: the end of the memory for events
 * @number: number of the pass
 * @later: the end of those in @asks that are settled under L once all ready
 *	ones have been written; they are at its beginning
 * @flags: FAST_REST, FAST_FAULT; FAST_MORE: the list may have an ordinary item
 *	that this call has not met; 0: it has no item left
 */
struct fast_wait {
	struct dep_instance *inst;
	struct fast_ask *asks;
	struct fast_ask *end;
	struct epoll_event __user *to;
	struct epoll_event __user *to_end;
	u32 number;
	struct fast_ask *later;
	u32 flags;
};

/* Takes the next items off the list; there is @room for as many events. */
static __always_inline void fast_take(struct fast_wait *fast,
				      const struct files_struct *files,
				      u32 room)
{
	struct dep_instance *inst = fast->inst;
	struct list_head *ready = &inst->ready, *next;
	struct dep_owner_table table = dep_owner_table_of(inst, files);
	struct fast_ask *ask = fast->asks, *most;
	struct dep_item *item;
	u32 taken;

	lockdep_assert_held(&inst->lock);
	most = ask + min_t(u32, room, DEP_FAST_BATCH);
	fast->flags = 0;
	dep_instance_claim_first(inst);
	for (next = ready->next; next != ready; ) {
		item = list_entry(next, struct dep_item, ready);
		if (item->pass == fast->number)
			break;
		if (unlikely(ask == most)) {
			fast->flags = FAST_MORE;
			break;
		}
		if (unlikely(!fast_is_ordinary(item, table))) {
			fast->flags = FAST_REST;
			break;
		}
		next = next->next;
		ask->item = item;
		item->pass = fast->number;
		fast_take_item(item);
		ask++;
	}
	/* Removes them all at once. */
	WRITE_ONCE(ready->next, next);
	next->prev = ready;
	taken = ask - fast->asks;
	inst->nr_ready -= taken;
	inst->stats.asks += taken;
	fast->end = ask;
}

static noinline void fast_put_all_back(struct dep_instance *inst,
				       const struct fast_ask *from,
				       const struct fast_ask *ask)
{
	spin_lock_irq(&inst->lock);
	while (ask-- > from) {
		if (ask->revents)
			fast_put_back(ask->item, ask->revents);
	}
	spin_unlock_irq(&inst->lock);
}

/* Writes until it meets memory that is not there: nothing sleeps here. */
static __always_inline void fast_write(struct fast_wait *fast)
{
	struct epoll_event __user *to = fast->to;
	struct fast_ask *ask = fast->asks, *later = ask;

	pagefault_disable();
	/* At the very end of the address space, a pass writes the events. */
	if (unlikely(!user_write_access_begin(to, FAST_SIZE)))
		goto fault;
	for (; ask < fast->end; ask++) {
		struct dep_item *item = ask->item;

		if (ask->revents) {
			unsafe_put_user((__force __poll_t)ask->revents,
					&to->events, efault);
			unsafe_put_user(item->data, &to->data, efault);
			to++;
			if (!fast_is_settled(item)) {
				later->item = item;
				later++;
			}
		}
	}
	user_write_access_end();
	pagefault_enable();
out:
	fast->to = to;
	fast->later = later;
	return;

efault:
	user_write_access_end();
fault:
	pagefault_enable();
	fast_put_all_back(fast->inst, ask, fast->end);
	fast->flags = FAST_REST | FAST_FAULT;
	goto out;
}

/* Puts level-triggered items back, and disables those of EPOLLONESHOT. */
static __always_inline void fast_settle_all(struct fast_wait *fast)
{
	struct fast_ask *ask;

	lockdep_assert_held(&fast->inst->lock);
	for (ask = fast->asks; ask < fast->later; ask++)
		fast_settle(fast->inst, ask->item);
}

/* Can this call take more, in this way? */
static __always_inline bool fast_goes_on(const struct fast_wait *fast)
{
	return fast->flags == FAST_MORE && fast->to != fast->to_end &&
	       !fatal_signal_pending(current);
}

/*
 * A waiter queues itself after it has seen the list empty, and is woken for
 * later items.  So if nothing goes back to the list and nothing was left there,
 * no waiter has to be woken.
 */
static __always_inline bool fast_is_done(const struct fast_wait *fast)
{
	return !fast->flags && fast->later == fast->asks &&
	       !READ_ONCE(fast->inst->nr_waiters);
}

/* Batch after batch; called with the instance locked, and unlocks it. */
static __always_inline void fast_run(struct fast_wait *fast,
				     const struct files_struct *files, u32 room)
	__releases(&fast->inst->lock)
{
	poll_table table __uninitialized;
	const struct epoll_event __user *first = fast->to;
	struct dep_instance *inst = fast->inst;
	struct fast_ask *ask;

	table._qproc = NULL;
	for (;;) {
		fast_take(fast, files, room);
		spin_unlock_irq(&inst->lock);
		/* Pairs with smp_mb() in dep_watch_wake(). */
		smp_mb();
		for (ask = fast->asks; ask < fast->end; ask++)
			ask->revents = fast_poll_item(ask->item, &table);
		fast_write(fast);
		if (likely(fast_is_done(fast)))
			return;
		if (fast->flags == FAST_MORE)
			cond_resched();
		spin_lock_irq(&inst->lock);
		fast_settle_all(fast);
		if (!fast_goes_on(fast))
			break;
		room = fast->to_end - fast->to;
	}
	/* If nothing came back to the list, the pass wakes for the rest. */
	if (fast->to != first || fast->flags != FAST_REST)
		fast_wake(inst);
	spin_unlock_irq(&inst->lock);
}

/*
 * Takes all ready items, or as many as there is room for.  Called after
 * fast_begin().
 */
static __always_inline u64 fast_collect_many(struct dep_instance *inst,
					     struct epoll_event __user *to,
					     u32 max)
{
	const struct files_struct *files = current->files;
	struct fast_ask asks[DEP_FAST_BATCH] __uninitialized;
	struct fast_wait fast = {
		.inst = inst,
		.asks = asks,
		.to = to,
		.to_end = to + max,
		/* A pass begins with what waits in the ring. */
		.flags = FAST_REST,
	};
	u32 nr;

	fast.number = dep_instance_next_pass(inst);
	if (likely(!dep_instance_has_ring(inst)))
		fast_run(&fast, files, max);
	else
		spin_unlock_irq(&inst->lock);
	nr = fast.to - to;
	fast_end(inst, nr);
	if (likely(!fast.flags) || fast.to == fast.to_end)
		return nr;
	return fast_leave(fast.number, fast.flags & FAST_FAULT, nr);
}

/* The dep_results.collect of a call that has slept. */
static int fast_collect_again(struct dep_instance *inst,
			      struct dep_results *results)
{
	u64 collected = FAST_REST;

	/* Under L: without it, this reads what the waker has written. */
	if (unlikely(!fast_begin(inst, current->files, results->waiter)))
		return fast_go_on(inst, results, collected);
	if (fast_expects_one(inst, results->max))
		collected = fast_collect_one(inst, results->user, results->max);
	else
		collected = fast_collect_many(inst, results->user,
					      results->max);
	return fast_go_on(inst, results, collected);
}

/**
 * dep_fast_wait_on() - the rest of a call: other items, or a sleep
 * @inst: the instance
 * @to: where the events go
 * @max: how many at most
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 * @collected: what was collected, as in fast_call.h
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
noinline int dep_fast_wait_on(struct dep_instance *inst,
			      struct epoll_event __user *to, u32 max,
			      int timeout_ms, u64 collected)
{
	struct dep_results results = {
		.user = to,
		.layout = DEP_LAYOUT_EPOLL,
		.max = max,
		.collect = fast_collect_again,
	};

	return fast_continue(inst, &results, timeout_ms, collected);
}

/**
 * dep_fast_wait_many() - a wait for which several items may be ready
 * @inst: the instance
 * @to: where the events go
 * @max: how many at most
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
int dep_fast_wait_many(struct dep_instance *inst,
		       struct epoll_event __user *to, u32 max, int timeout_ms)
{
	u64 collected = FAST_REST;

	if (likely(fast_begin(inst, current->files, NULL)))
		collected = fast_collect_many(inst, to, max);
	if (fast_ends(inst, collected, timeout_ms))
		return collected;
	return dep_fast_wait_on(inst, to, max, timeout_ms, collected);
}
