/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ordinary items, and what the fast path of epoll_wait(2) does with each.
 */
#ifndef DEVEPOLL_FAST_ITEM_H
#define DEVEPOLL_FAST_ITEM_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/types.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "set/owner.h"

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

/* Off the list: a wake-up from now on puts it back. */
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
	/* vfs_poll(), of a file that has a ->poll(): see interest_check(). */
	return item->events & (__force u32)file->f_op->poll(file, table);
}

/*
 * Is an item whose event was written done with?  So is an edge that is not
 * one-shot: since these are the two upper bits, one comparison finds out.
 */
static __always_inline bool fast_is_settled(const struct dep_item *item)
{
	BUILD_BUG_ON(DEP_MODE_EDGE != BIT(31) || DEP_MODE_ONESHOT != BIT(30));
	return (s32)item->mode < (s32)(DEP_MODE_EDGE | DEP_MODE_ONESHOT);
}

/*
 * Settles one that is not: disables it, or puts it back on the list.  It is in
 * the set, and its instance is locked.
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

#endif /* DEVEPOLL_FAST_ITEM_H */
