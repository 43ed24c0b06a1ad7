// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of epoll_wait(2): it takes ordinary items off the ready list,
 * polls their files and writes the events.  A single item makes no call into
 * another file of the module, several make one (fast_many.c).  The fast path
 * stops at the first item that is not ordinary, and at memory that is not
 * there; a pass (pass.c) continues where it stopped.
 *
 * It does what a pass does, and nothing else: a module that is built with
 * DEVEPOLL_NO_FAST_PATH=1 leaves everything to the passes, and must pass the
 * same tests.
 */
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "core/waiter.h"
#include "core/worker.h"
#include "set/fast.h"
#include "set/fast_call.h"
#include "set/fast_item.h"
#include "set/fast_many.h"
#include "set/owner.h"
#include "set/ready.h"
#include "sinks/results.h"

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

/* As dep_fast_many(), but for one item, without what that does not need. */
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
			dep_fast_put_back(item, revents);
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

/*
 * Takes events.  @waiter is the caller, if it has slept.  M is taken as in
 * ready.c, which has the other halves of the barriers.
 */
static __always_inline u64 fast_collect(struct dep_instance *inst,
					struct epoll_event __user *to, u32 max,
					struct dep_waiter *waiter)
{
	const struct files_struct *files = current->files;
	struct dep_item *only;
	u64 collected;

	if (dep_fast_path_off || !files || mutex_lock_killable(&inst->mtx))
		return FAST_REST;
	spin_lock_irq(&inst->lock);
	WRITE_ONCE(inst->ask_seq, inst->ask_seq + 1);
	/* Pairs with smp_rmb() in dep_ready_may_ask(). */
	smp_wmb();
	if (waiter)
		dep_waiter_came(inst, waiter);
	only = fast_only(inst, files);
	if (likely(only))
		collected = fast_take_one(inst, to, only);
	else
		collected = dep_fast_many(inst, to, max, files);
	inst->stats.waits += (collected & FAST_NR) != 0;
	inst->stats.handed += collected & FAST_NR;
	/* Pairs with the acquire in dep_ready_may_ask(). */
	smp_store_release(&inst->ask_seq, inst->ask_seq + 1);
	mutex_unlock(&inst->mtx);
	return collected;
}

/* The dep_results.collect of a call that has slept. */
static int fast_collect_again(struct dep_instance *inst,
			      struct dep_results *results)
{
	u64 collected;

	collected = fast_collect(inst, results->user, results->max,
				 results->waiter);
	return fast_go_on(inst, results, collected);
}

/* The rest of a call: items that are not ordinary, or a sleep. */
static noinline int fast_wait_on(struct dep_instance *inst,
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

static noinline int fast_wait(struct dep_instance *inst,
			      struct epoll_event __user *to, u32 max,
			      int timeout_ms)
{
	u64 collected = fast_collect(inst, to, max, NULL);

	if (fast_ends(inst, collected, timeout_ms))
		return collected;
	return fast_wait_on(inst, to, max, timeout_ms, collected);
}

/**
 * dep_fast_wait() - epoll_wait(2)
 * @inst: the instance, of the extended interface
 * @to: where the events go; access_ok() for @max
 * @max: how many at most, at least 1
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Context: process; sleeps.
 * Return: as dep_waiting_collect().
 */
int dep_fast_wait(struct dep_instance *inst, struct epoll_event __user *to,
		  u32 max, int timeout_ms)
{
	if (dep_ready_may_ask(inst))
		return fast_wait(inst, to, max, timeout_ms);
	if (!timeout_ms)
		return 0;
	return fast_wait_on(inst, to, max, timeout_ms, 0);
}
