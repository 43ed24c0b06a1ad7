// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of epoll_wait(2): it takes ordinary items off the ready list,
 * polls their files and writes the events, in one function for an item or two,
 * or one event, and in another one for several, batch after batch.  Both need a
 * table of files that the caller does not share: it keeps the files.  A third
 * one is for threads that share it (fast_shared.c).  Each stops at the first
 * item that is not ordinary, and at memory that is not there; a pass (pass.c)
 * continues where it stopped.
 *
 * It does what a pass does, and nothing else: a module that is built with
 * WITHOUT=fast leaves everything to the passes, and must pass the same tests.
 */
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/limits.h"
#include "fast/fast.h"
#include "fast/fast_path.h"
#include "set/owner.h"
#include "set/ready.h"

/*
 * Is there nothing to do under L any more?  See fast_is_done().  If nothing is
 * found, fast_take_next() or a pass wakes whoever has to take what is left.
 */
static __always_inline bool fast_one_is_done(const struct dep_instance *inst,
					     const struct fast_one *one)
{
	return likely(one->sent) && one->settled &&
	       (!one->revents || !READ_ONCE(inst->nr_waiters));
}

/*
 * What taking events returns if memory is not there: a pass goes on.  M is
 * held.  @done, which the caller's table keeps, was handed out.  An item that
 * was put back has no number, so the passes that began before may not go on.
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
 * As fast_run(), but for the first item alone.  Called with the instance
 * locked, and unlocks it.
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
 * As fast_take_one(), but for the only two items on the list.  When an event
 * comes, the list often still has a level-triggered item whose level is over.
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
	/* If there is no memory for the first, there is none for this. */
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
 * that share a set take one event each, and so meet items whose events others
 * have dealt with.
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

/* Can the fast path take more in this call? */
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
 * dep_fast_go_on() - the rest of a call: other items, or a sleep
 * @inst: the instance
 * @to: where the events go
 * @max: how many at most
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 * @collected: what was collected, as in fast_path.h
 *
 * Nobody can come to share the caller's table of files meanwhile.  Who shared it
 * when the call began may have ended: then the table is the caller's alone, as
 * of the acquire in dep_owner_table_keeps().
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
noinline int dep_fast_go_on(struct dep_instance *inst,
			    struct epoll_event __user *to, u32 max,
			    int timeout_ms, u64 collected)
{
	struct dep_results results = {
		.user = to,
		.layout = DEP_LAYOUT_EPOLL,
		.max = max,
		.collect = fast_is_alone() ? fast_collect_again :
					     dep_fast_collect_shared,
	};

	return fast_continue(inst, &results, timeout_ms, collected);
}

static noinline int fast_wait_many(struct dep_instance *inst,
				   struct epoll_event __user *to, u32 max,
				   int timeout_ms)
{
	u64 collected = FAST_REST;

	if (likely(fast_begin(inst, current->files, NULL)))
		collected = fast_collect_many(inst, to, max);
	if (fast_ends(inst, collected, timeout_ms))
		return collected;
	return dep_fast_go_on(inst, to, max, timeout_ms, collected);
}

static noinline int fast_wait_one(struct dep_instance *inst,
				  struct epoll_event __user *to, u32 max,
				  int timeout_ms)
{
	u64 collected = FAST_REST;

	if (likely(fast_begin(inst, current->files, NULL)))
		collected = fast_collect_one(inst, to, max);
	if (fast_ends(inst, collected, timeout_ms))
		return collected;
	return dep_fast_go_on(inst, to, max, timeout_ms, collected);
}

/**
 * dep_fast_wait() - epoll_wait(2)
 * @inst: the instance, of the extended interface
 * @to: where the events go; access_ok() for @max
 * @max: how many at most, at least 1
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
int dep_fast_wait(struct dep_instance *inst, struct epoll_event __user *to,
		  u32 max, int timeout_ms)
{
	if (!dep_ready_may_ask(inst)) {
		if (!timeout_ms)
			return 0;
		return dep_fast_go_on(inst, to, max, timeout_ms, 0);
	}
	if (!fast_is_alone())
		return dep_fast_wait_shared(inst, to, max, timeout_ms);
	if (fast_expects_one(inst, max))
		return fast_wait_one(inst, to, max, timeout_ms);
	return fast_wait_many(inst, to, max, timeout_ms);
}
