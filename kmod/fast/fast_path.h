/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fast paths of waits have in common: how they begin and end, how they
 * tell how far they came, and how a pass continues there; which items are
 * ordinary, and how one is taken, polled, written and settled.
 */
#ifndef DEVEPOLL_FAST_PATH_H
#define DEVEPOLL_FAST_PATH_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "set/owner.h"
#include "set/ready.h"
#include "set/results.h"
#include "set/waiting.h"

/*
 * What taking events returns: how many; that memory was not there; that there
 * may be more for a pass; and, in the upper half, the number of the pass.
 */
#define FAST_NR		((1U << 30) - 1)
#define FAST_FAULT	BIT(30)
#define FAST_REST	BIT(31)
#define FAST_PASS	32

/* Are one item or two ready, or is there room for one event only?  A guess. */
static __always_inline bool fast_expects_one(const struct dep_instance *inst,
					     u32 max)
{
	return max == 1 || dep_instance_nr_ready(inst) - 1 <= 1;
}

/* Does the caller's table keep the files that it names? */
static __always_inline bool fast_is_alone(void)
{
	const struct files_struct *files = current->files;

	return likely(files) && dep_owner_table_keeps(files);
}

/*
 * Takes M and L, as ready_begin() in ready.c, which has the other halves of the
 * barriers.  @waiter is the caller, if it has slept.  Returns false, and takes
 * nothing, if a pass has to do everything.
 */
static __always_inline bool fast_begin(struct dep_instance *inst,
				       const struct files_struct *files,
				       struct dep_waiter *waiter)
{
	if (!files || mutex_lock_killable(&inst->mtx))
		return false;
	spin_lock_irq(&inst->lock);
	WRITE_ONCE(inst->ask_seq, inst->ask_seq + 1);
	/* Pairs with smp_rmb() in dep_ready_may_ask(). */
	smp_wmb();
	if (waiter)
		dep_waiter_back(inst, waiter);
	return true;
}

/*
 * Counts the events of @collected, and drops M; L was dropped.  Releases, with
 * nothing held, the file that dep_last_leave() has left.  If a pass goes on, a
 * worker does so: the pass wakes others for what is left, and must not wait.
 */
static __always_inline void fast_end(struct dep_instance *inst, u64 collected)
{
	struct file *last = dep_last_take(inst);
	u32 handed = collected & FAST_NR;

	inst->stats.waits += handed != 0;
	inst->stats.handed += handed;
	/* Pairs with the acquire in dep_ready_may_ask(). */
	smp_store_release(&inst->ask_seq, inst->ask_seq + 1);
	mutex_unlock(&inst->mtx);
	if (likely(!last))
		return;
	if (collected & FAST_REST)
		dep_fput_by_worker(last);
	else
		dep_fput_by_caller(last, handed);
}

/* Wakes another waiter for what is left. */
static __always_inline void fast_wake(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	if (inst->nr_waiters && dep_instance_lacks_room(inst))
		dep_instance_wake(inst);
}

/* What taking events returns if a pass has to go on. */
static __always_inline u64 fast_leave(u32 number, u32 flags, u32 nr)
{
	return (u64)number << FAST_PASS | FAST_REST | flags | nr;
}

/* Prepares a pass that continues where the fast path has stopped. */
static inline void fast_resume(struct dep_results *results, u64 collected)
{
	if (!(collected & FAST_REST))
		return;
	results->nr = collected & FAST_NR;
	results->pass = collected >> FAST_PASS;
	results->again = collected & FAST_FAULT;
}

/* Does a call end with what it took? */
static __always_inline bool fast_ends(struct dep_instance *inst,
				      u64 collected, int timeout_ms)
{
	/* Negative if FAST_REST is set. */
	int nr = collected;

	if (likely(nr > 0)) {
		trace_devepoll_harvest(inst, nr);
		return true;
	}
	return !nr && !timeout_ms;
}

/* Ends a dep_results.collect of a call that has slept. */
static __always_inline int fast_go_on(struct dep_instance *inst,
				      struct dep_results *results,
				      u64 collected)
{
	if (likely((int)collected > 0)) {
		trace_devepoll_harvest(inst, (int)collected);
		return collected;
	}
	if (!(collected & FAST_REST))
		return 0;
	fast_resume(results, collected);
	return dep_ready_collect(inst, results);
}

/* The rest of a call: items that are not ordinary, or a sleep. */
static __always_inline int fast_continue(struct dep_instance *inst,
					 struct dep_results *results,
					 int timeout_ms, u64 collected)
{
	struct dep_waiting waiting = dep_waiting_of_ms(timeout_ms);

	/* Nothing is ready, and the call may wait. */
	if (likely(!collected))
		return dep_collect_next(&waiting, inst, results, 0);
	fast_resume(results, collected);
	if (results->nr)
		return dep_ready_collect(inst, results);
	return dep_collect_wait(&waiting, inst, results);
}

/* An item with one of these modes is not ordinary. */
#define FAST_ODD (DEP_MODE_TRUST | DEP_MODE_CLOSED | DEP_MODE_STAY | \
		  DEP_MODE_KEEP | DEP_MODE_NEST | DEP_MODE_RING | \
		  DEP_MODE_EXCLUSIVE | DEP_MODE_HELD)

/* Can this item be taken here? */
static __always_inline bool fast_is_ordinary(const struct dep_item *item,
					     struct dep_owner_table table)
{
	return likely(!(item->mode & FAST_ODD)) && dep_owner_knows(item, table);
}

/* Takes it off the list: a wake-up from now on puts it back. */
static __always_inline void fast_take_item(struct dep_item *item)
{
	item->ready.next = &item->ready;
	dep_item_forget(item);
}

/* The same for the first one on the list. */
static __always_inline void fast_take_first_item(struct dep_instance *inst,
						 struct dep_item *item)
{
	struct list_head *ready = &inst->ready, *next = item->ready.next;

	lockdep_assert_held(&inst->lock);
	fast_take_item(item);
	WRITE_ONCE(ready->next, next);
	next->prev = ready;
	inst->nr_ready--;
	inst->stats.asks++;
}

static __always_inline u32 fast_poll_item(const struct dep_item *item,
					  poll_table *table)
{
	struct file *file = item->file;

	/* dep_item_key(), for a set that is not of 2001. */
	table->_key = (__force __poll_t)
		(item->events | (item->mode & ~DEP_MODE_OWN));
	/* vfs_poll(), of a file that has a ->poll(): see dep_check_file(). */
	return item->events & (__force u32)file->f_op->poll(file, table);
}

/*
 * Is nothing left to do for an item whose event was written?  That is so for an
 * edge that is not one-shot: these are the two upper bits, so one comparison
 * finds out.
 */
static __always_inline bool fast_is_settled(const struct dep_item *item)
{
	BUILD_BUG_ON(DEP_MODE_EDGE != BIT(31) || DEP_MODE_ONESHOT != BIT(30));
	return (s32)item->mode < (s32)(DEP_MODE_EDGE | DEP_MODE_ONESHOT);
}

/*
 * Settles an item that is not: disables it, or puts it back on the list.  The
 * item is in the set, and its instance is locked.
 */
static __always_inline void fast_settle(struct dep_instance *inst,
					struct dep_item *item)
{
	lockdep_assert_held(&inst->lock);
	if (unlikely(item->mode & DEP_MODE_ONESHOT))
		dep_item_disable(item);
	else
		dep_item_list_in(inst, item);
}

/*
 * Puts back an event that could not be written; it comes first the next time.
 * The item is off the ready list, and its instance is locked.
 */
static inline void fast_put_back(struct dep_item *item, u32 revents)
{
	lockdep_assert_held(&item->inst->lock);
	item->must_poll = true;
	/* The call comes again: see pass_believes(). */
	item->revents |= revents;
	item->pass = 0;
	dep_item_list(item);
	list_move(&item->ready, &item->inst->ready);
}

/* As fast_write(), for one event; false if the memory is not there. */
static __always_inline bool fast_write_one(struct epoll_event __user *to,
					   u32 revents, u64 data)
{
	pagefault_disable();
	if (unlikely(!user_write_access_begin(to, sizeof(*to))))
		goto fault;
	unsafe_put_user((__force __poll_t)revents, &to->events, efault);
	unsafe_put_user(data, &to->data, efault);
	user_write_access_end();
	pagefault_enable();
	return true;

efault:
	user_write_access_end();
fault:
	pagefault_enable();
	return false;
}

/**
 * struct fast_one - an item that was taken off the list; it is in registers
 * @item: the item; the caller's table of files keeps it
 * @data: the item's
 * @revents: what the file answered
 * @last: nothing is to be done for it under L once its event was written
 * @sent: nothing was to be written, or it was written
 * @settled: there is nothing to be done for it under L, if @sent
 */
struct fast_one {
	struct dep_item *item;
	u64 data;
	u32 revents;
	bool last;
	bool sent;
	bool settled;
};

static __always_inline struct fast_one fast_one_take(struct dep_item *item)
{
	fast_take_item(item);
	return (struct fast_one) { .item = item };
}

static __always_inline void fast_one_poll(struct fast_one *one,
					  poll_table *table)
{
	const struct dep_item *item = one->item;

	one->revents = fast_poll_item(item, table);
	one->data = item->data;
	one->last = fast_is_settled(item);
}

static __always_inline void fast_one_send(struct fast_one *one,
					  struct epoll_event __user *to)
{
	one->sent = true;
	one->settled = true;
	if (!one->revents)
		return;
	one->sent = fast_write_one(to, one->revents, one->data);
	one->settled = unlikely(!one->sent) || one->last;
}

/* Puts it back if it was not sent; of two, call this for the last one first. */
static __always_inline void fast_one_return(const struct fast_one *one)
{
	if (unlikely(!one->sent))
		fast_put_back(one->item, one->revents);
}

static __always_inline void fast_one_settle(struct dep_instance *inst,
					    const struct fast_one *one)
{
	if (!one->settled)
		fast_settle(inst, one->item);
}

static __always_inline bool fast_one_counts(const struct fast_one *one)
{
	return likely(one->sent) && one->revents;
}

#endif /* DEVEPOLL_FAST_PATH_H */
