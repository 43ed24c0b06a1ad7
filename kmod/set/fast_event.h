/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One item and its event on the fast path of epoll_wait(2), in registers: how
 * it is taken, polled, written and settled.  The caller's table of files keeps
 * it.  Read fast.c first.
 */
#ifndef DEVEPOLL_FAST_EVENT_H
#define DEVEPOLL_FAST_EVENT_H

#include <linux/poll.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/item.h"
#include "set/fast_item.h"

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

/* Puts it back if it was not sent: the last one first. */
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

#endif /* DEVEPOLL_FAST_EVENT_H */
