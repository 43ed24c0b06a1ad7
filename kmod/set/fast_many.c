// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of epoll_wait(2) for several items: batch after batch.  Read
 * fast.c first.
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
#include "core/worker.h"
#include "set/fast_call.h"
#include "set/fast_item.h"
#include "set/fast_many.h"
#include "set/owner.h"
#include "set/ready.h"

/**
 * struct fast_ask - an item that was taken off the list
 * @item: the item; M and the reference on its file keep it
 * @revents: what its file answered
 */
struct fast_ask {
	struct dep_item *item;
	u32 revents;
};

/**
 * struct fast_batch - what was taken in one hold of L
 * @asks: the items
 * @last: files whose last reference is ours, to be dropped with no spin lock
 *	held
 * @last_end: the end of these
 */
struct fast_batch {
	struct fast_ask asks[DEP_ASK_BATCH];
	struct file *last[DEP_ASK_BATCH];
	struct file **last_end;
};

/**
 * struct fast_wait - one call; its address is not taken: it is in registers
 * @inst: the instance
 * @batch: the items at hand
 * @end: the end of the items in @batch
 * @to: where the next event goes
 * @left: how many more events may be written
 * @number: number of the pass
 * @level: the end of those in @batch that go back to the list once all ready
 *	ones have been written; they are at its beginning
 * @over: the list has no item left that this call has not met
 * @flags: FAST_REST and FAST_FAULT
 */
struct fast_wait {
	struct dep_instance *inst;
	struct fast_batch *batch;
	struct fast_ask *end;
	struct epoll_event __user *to;
	u32 left;
	u32 number;
	struct fast_ask *level;
	bool over;
	u32 flags;
};

static __always_inline void fast_put(struct fast_batch *batch,
				     struct file *file)
{
	/* If the program has closed the file, we have to release it. */
	if (unlikely(!dep_file_put_not_last(file)))
		*batch->last_end++ = file;
}

/* Takes the next items off the list. */
static __always_inline void fast_take(struct fast_wait *fast,
				      const struct files_struct *files)
{
	struct dep_instance *inst = fast->inst;
	struct list_head *ready = &inst->ready, *next;
	struct dep_owner_table table = dep_owner_table_of(files);
	struct fast_ask *ask = fast->batch->asks, *most;
	struct dep_item *item;
	u32 gone = 0, taken;

	lockdep_assert_held(&inst->lock);
	most = ask + min_t(u32, fast->left, DEP_ASK_BATCH);
	fast->over = true;
	for (next = ready->next; next != ready; ) {
		item = list_entry(next, struct dep_item, ready);
		if (item->pass == fast->number)
			break;
		if (unlikely(ask == most)) {
			fast->over = false;
			break;
		}
		if (unlikely(!fast_is_ordinary(item, table))) {
			fast->flags = FAST_REST;
			break;
		}
		next = next->next;
		ask->item = item;
		item->pass = fast->number;
		if (likely(fast_take_item(item))) {
			ask++;
		} else if (++gone == DEP_LOOK_BATCH) {
			fast->over = false;
			break;
		}
	}
	/* Removes them all at once. */
	ready->next = next;
	next->prev = ready;
	taken = ask - fast->batch->asks + gone;
	inst->nr_ready -= taken;
	inst->stats.asks += taken;
	fast->end = ask;
}

/**
 * dep_fast_put_back() - put back an event that could not be written
 * @item: the item, off the ready list; its instance is locked
 * @revents: the event, which comes first the next time
 */
void dep_fast_put_back(struct dep_item *item, u32 revents)
{
	lockdep_assert_held(&item->inst->lock);
	item->must_poll = true;
	/* The call comes again: see pass_believes(). */
	item->revents |= revents;
	item->pass = 0;
	dep_item_list(item);
	list_move(&item->ready, &item->inst->ready);
}

static noinline void fast_put_all_back(struct dep_instance *inst,
				       struct fast_batch *batch,
				       const struct fast_ask *from,
				       const struct fast_ask *ask)
{
	spin_lock_irq(&inst->lock);
	while (ask-- > from) {
		if (ask->revents)
			dep_fast_put_back(ask->item, ask->revents);
		fast_put(batch, ask->item->file);
	}
	spin_unlock_irq(&inst->lock);
}

/* Writes until it meets memory that is not there: nothing sleeps here. */
static __always_inline void fast_write(struct fast_wait *fast)
{
	struct epoll_event __user *to = fast->to;
	struct fast_ask *ask = fast->batch->asks, *level = ask;
	size_t size = (fast->end - ask) * sizeof(*to);

	pagefault_disable();
	if (unlikely(!user_write_access_begin(to, size)))
		goto fault;
	for (; ask < fast->end; ask++) {
		struct dep_item *item = ask->item;

		if (ask->revents) {
			unsafe_put_user((__force __poll_t)ask->revents,
					&to->events, efault);
			unsafe_put_user(item->data, &to->data, efault);
			to++;
			if (!(item->mode & DEP_MODE_EDGE)) {
				level->item = item;
				level++;
				continue;
			}
		}
		fast_put(fast->batch, item->file);
	}
	user_write_access_end();
	pagefault_enable();
out:
	fast->left -= to - fast->to;
	fast->to = to;
	fast->level = level;
	return;

efault:
	user_write_access_end();
fault:
	pagefault_enable();
	fast_put_all_back(fast->inst, fast->batch, ask, fast->end);
	fast->flags = FAST_REST | FAST_FAULT;
	goto out;
}

/* Puts level-triggered items back: their files are ours, so they exist. */
static __always_inline void fast_relist(struct fast_wait *fast)
{
	struct fast_ask *ask;

	lockdep_assert_held(&fast->inst->lock);
	for (ask = fast->batch->asks; ask < fast->level; ask++) {
		dep_item_list(ask->item);
		fast_put(fast->batch, ask->item->file);
	}
}

/* Can this call take more, in this way? */
static __always_inline bool fast_goes_on(const struct fast_wait *fast)
{
	return !fast->over && fast->left && !fast->flags &&
	       fast->batch->last_end == fast->batch->last &&
	       !fatal_signal_pending(current);
}

/*
 * A waiter queues itself after it has seen the list empty, and is woken for
 * later items.  So if nothing goes back to the list and nothing was left there,
 * no waiter has to be woken.
 */
static __always_inline bool fast_is_done(const struct fast_wait *fast)
{
	return fast->over && fast->level == fast->batch->asks &&
	       !fast->flags && !READ_ONCE(fast->inst->nr_waiters);
}

/* Batch after batch; called with the instance locked, and unlocks it. */
static __always_inline void fast_run(struct fast_wait *fast,
				     const struct files_struct *files)
	__releases(&fast->inst->lock)
{
	poll_table table DEP_UNINITIALIZED;
	const struct epoll_event __user *first = fast->to;
	struct dep_instance *inst = fast->inst;
	struct fast_ask *ask;

	table._qproc = NULL;
	for (;;) {
		fast_take(fast, files);
		spin_unlock_irq(&inst->lock);
		/* Pairs with smp_mb() in dep_watch_wake(). */
		smp_mb();
		for (ask = fast->batch->asks; ask < fast->end; ask++)
			ask->revents = fast_poll_item(ask->item, &table);
		fast_write(fast);
		if (likely(fast_is_done(fast)))
			return;
		if (!fast->over)
			cond_resched();
		spin_lock_irq(&inst->lock);
		fast_relist(fast);
		if (!fast_goes_on(fast))
			break;
	}
	/* If nothing came back to the list, the pass wakes for the rest. */
	if (fast->to != first || fast->flags != FAST_REST)
		fast_wake(inst);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_fast_many() - take all ready items, or as many as there is room for
 * @inst: the instance, locked; unlocked on return
 * @to: where the events go
 * @max: how many at most
 * @files: the caller's table of files
 *
 * Context: process, dep_instance.mtx held; sleeps in ->poll().
 * Return: what was collected, as in fast_call.h.
 */
u64 dep_fast_many(struct dep_instance *inst, struct epoll_event __user *to,
		  u32 max, const struct files_struct *files)
	__releases(&inst->lock)
{
	struct fast_batch batch DEP_UNINITIALIZED;
	struct fast_wait fast = {
		.inst = inst,
		.batch = &batch,
		.to = to,
		.left = max,
		.number = dep_instance_next_pass(inst),
	};

	/* A pass begins with what waits there. */
	if (unlikely(inst->ring)) {
		spin_unlock_irq(&inst->lock);
		return FAST_REST;
	}
	batch.last_end = batch.last;
	fast_run(&fast, files);
	while (unlikely(batch.last_end != batch.last))
		dep_worker_fput(*--batch.last_end);
	if (!fast.over && fast.left)
		fast.flags |= FAST_REST;
	return (u64)fast.number << FAST_PASS | fast.flags | (max - fast.left);
}
