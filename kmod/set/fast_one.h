/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fast path of epoll_wait(2) for a single item.  Read fast.c first.
 */
#ifndef DEVEPOLL_FAST_ONE_H
#define DEVEPOLL_FAST_ONE_H

#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "core/worker.h"
#include "set/fast_call.h"
#include "set/fast_item.h"
#include "set/owner.h"

/* The only item on the list, if it is an ordinary one. */
static __always_inline struct dep_item *
fast_only(const struct dep_instance *inst, const struct files_struct *files)
{
	const struct list_head *first = inst->ready.next;
	struct dep_item *item = list_entry(first, struct dep_item, ready);

	/* The list may be empty. */
	if (first == &inst->ready || first->next != &inst->ready)
		return NULL;
	return fast_is_ordinary(item, dep_owner_table_of(files)) ? item : NULL;
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

/* As fast_run(), but for one item, without what that does not need. */
static __always_inline u64 fast_take_one(struct dep_instance *inst,
					 struct epoll_event __user *to,
					 struct dep_item *item)
	__releases(&inst->lock)
{
	poll_table table DEP_UNINITIALIZED;
	bool got = fast_take_item(item), sent = true;
	struct file *file = item->file;
	u32 revents;

	table._qproc = NULL;
	INIT_LIST_HEAD(&inst->ready);
	inst->nr_ready--;
	inst->stats.asks++;
	spin_unlock_irq(&inst->lock);
	if (unlikely(!got))
		return 0;
	/* Pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	revents = fast_poll_item(item, &table);
	if (likely(revents))
		sent = fast_write_one(to, revents, item->data);
	if (!sent || (revents && !(item->mode & DEP_MODE_EDGE)) ||
	    READ_ONCE(inst->nr_waiters)) {
		spin_lock_irq(&inst->lock);
		if (unlikely(!sent))
			fast_put_back(item, revents);
		else if (revents && !(item->mode & DEP_MODE_EDGE))
			dep_item_list(item);
		fast_wake(inst);
		spin_unlock_irq(&inst->lock);
	}
	if (unlikely(!dep_file_put_not_last(file)))
		dep_worker_fput(file);
	if (unlikely(!sent))
		return FAST_REST | FAST_FAULT;
	return revents != 0;
}

/* As fast_collect_many(), if one item is ready; leaves others to a pass. */
static __always_inline u64 fast_collect_one(struct dep_instance *inst,
					    struct epoll_event __user *to,
					    struct dep_waiter *waiter)
{
	const struct files_struct *files = current->files;
	struct dep_item *only;
	u64 collected;

	if (!fast_begin(inst, files, waiter))
		return FAST_REST;
	only = fast_only(inst, files);
	if (likely(only)) {
		collected = fast_take_one(inst, to, only);
	} else {
		spin_unlock_irq(&inst->lock);
		collected = FAST_REST;
	}
	fast_end(inst, collected & FAST_NR);
	return collected;
}

#endif /* DEVEPOLL_FAST_ONE_H */
