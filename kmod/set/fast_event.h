/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One item and its event on the fast path of epoll_wait(2), in registers: how
 * it is taken, polled, written and settled.  Read fast.c first.
 */
#ifndef DEVEPOLL_FAST_EVENT_H
#define DEVEPOLL_FAST_EVENT_H

#include <linux/poll.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "set/fast_item.h"
#include "set/last.h"

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
 * @item: the item
 * @file: its file, on which we have a reference until it was polled, unless
 *	@kept; NULL if that is gone
 * @data: the item's
 * @fd: the item's, unless @kept
 * @revents: what the file answered
 * @kept: dep_owner_table_keeps(); otherwise the item may go once its file was
 *	polled
 * @last: nothing is to be done for it under L once its event was written
 * @sent: nothing was to be written, or it was written
 * @settled: there is nothing to be done for it under L, if @sent
 */
struct fast_one {
	struct dep_item *item;
	struct file *file;
	u64 data;
	int fd;
	u32 revents;
	bool kept;
	bool last;
	bool sent;
	bool settled;
};

static __always_inline struct fast_one fast_one_take(struct dep_item *item,
						     bool kept)
{
	struct file *file = item->file;

	fast_take_item(item);
	/* If the last reference is gone, the item soon will be, too. */
	return (struct fast_one) {
		.item = item,
		.file = kept || likely(dep_file_get(file)) ? file : NULL,
		.kept = kept,
	};
}

/*
 * Between taking items and polling them; without @kept it completes the atomic
 * operation by which each got its reference.
 */
static __always_inline void fast_one_barrier(bool kept)
{
	/* Pairs with smp_mb() in dep_watch_wake(). */
	if (kept)
		smp_mb();
	else
		smp_mb__after_atomic();
}

/* Drops the reference on its file, and leaves the last one to fast_end(). */
static __always_inline void fast_one_put(struct dep_instance *inst,
					 struct fast_one *one)
{
	if (likely(dep_file_put_not_last(one->file)))
		return;
	/* The program has closed it. */
	one->revents = 0;
	dep_last_leave(inst, one->file);
}

static __always_inline void fast_one_poll(struct dep_instance *inst,
					  struct fast_one *one,
					  poll_table *table)
{
	const struct dep_item *item = one->item;

	if (unlikely(!one->file))
		return;
	one->revents = fast_poll_item(item, table);
	one->data = item->data;
	one->last = fast_is_settled(item);
	if (one->kept)
		return;
	one->fd = item->fd;
	fast_one_put(inst, one);
}

/* Is the item, which was polled, still there?  Its instance is locked. */
static __always_inline bool fast_one_exists(const struct dep_instance *inst,
					    const struct fast_one *one)
{
	return one->kept || dep_item_is_open(inst, one->item, one->fd);
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

/* Puts it back if it was not sent: the last one first. */
static __always_inline void fast_one_return(const struct dep_instance *inst,
					    const struct fast_one *one)
{
	if (unlikely(!one->sent) && fast_one_exists(inst, one))
		fast_put_back(one->item, one->revents);
}

static __always_inline void fast_one_settle(const struct dep_instance *inst,
					    const struct fast_one *one)
{
	if (!one->settled && fast_one_exists(inst, one))
		fast_settle(one->item);
}

static __always_inline bool fast_one_counts(const struct fast_one *one)
{
	return likely(one->sent) && one->revents;
}

#endif /* DEVEPOLL_FAST_EVENT_H */
