// SPDX-License-Identifier: GPL-2.0
/*
 * The short way of epoll_wait(2): it takes ordinary items off the ready list,
 * polls their files and writes the events, without a call into another file of
 * the module.  It stops at the first item that is not ordinary, and at memory
 * that is not there; a pass (pass.c) continues where it stopped.
 *
 * It does what a pass does, and nothing else: a module that is built with
 * DEVEPOLL_NO_FAST_PATH=1 leaves everything to the passes, and must pass the
 * same tests.
 */
#include <linux/fdtable.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "core/worker.h"
#include "set/fast.h"
#include "set/ready.h"
#include "set/waiting.h"
#include "sinks/results.h"

/*
 * What fast_collect() returns: how many events; that there may be more for a
 * pass; that memory was not there; and, above, the number of the pass.
 */
#define FAST_NR		((1U << 30) - 1)
#define FAST_FAULT	BIT(30)
#define FAST_REST	BIT(31)
#define FAST_PASS	32

/* An item with one of these modes is not ordinary. */
#define FAST_ODD (DEP_MODE_TRUST | DEP_MODE_CLOSED | DEP_MODE_STAY | \
		  DEP_MODE_KEEP | DEP_MODE_NEST | DEP_MODE_RING | \
		  DEP_MODE_ONESHOT | DEP_MODE_EXCLUSIVE)

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

/**
 * struct fast_table - the caller's table of files, while L is held
 * @files: the table
 * @fds: its files
 * @max: length of @fds
 */
struct fast_table {
	const struct files_struct *files;
	struct file __rcu **fds;
	u32 max;
};

static __always_inline struct fast_table
fast_table_of(const struct files_struct *files)
{
	/* RCU keeps it: interrupts are off. */
	const struct fdtable *table = rcu_dereference_raw(files->fdt);

	return (struct fast_table) {
		.files = files,
		.fds = table->fd,
		.max = table->max_fds,
	};
}

/* As dep_owner_names(): the caller's item, whose number names its file. */
static __always_inline bool fast_is_ordinary(const struct dep_item *item,
					     struct fast_table table)
{
	u32 fd = array_index_nospec(item->fd, table.max);

	if (unlikely(item->mode & FAST_ODD))
		return false;
	if (unlikely(rcu_access_pointer(table.fds[fd]) != item->file))
		return false;
	/* The index is 0 if the number is beyond the table. */
	return likely(item->files == table.files && item->fd == fd);
}

/* Off the list: a wake-up from now on puts it back. */
static __always_inline bool fast_take_item(struct dep_item *item)
{
	item->ready.next = &item->ready;
	item->revents = 0;
	item->pending = 0;
	/* If the last reference is gone, the item soon will be, too. */
	return dep_file_get(item->file);
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
	struct fast_table table = fast_table_of(files);
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
		if (unlikely(ask == most || gone == DEP_LOOK_BATCH)) {
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
		if (likely(fast_take_item(item)))
			ask++;
		else
			gone++;
	}
	/* Removes them all at once. */
	ready->next = next;
	next->prev = ready;
	taken = ask - fast->batch->asks + gone;
	inst->nr_ready -= taken;
	inst->stats.asks += taken;
	fast->end = ask;
}

/* Puts back an event that could not be written, so that it comes first. */
static void fast_put_back(struct dep_item *item, u32 revents)
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
			fast_put_back(ask->item, ask->revents);
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

/* Wakes another waiter for what is left. */
static __always_inline void fast_wake(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	if (inst->nr_waiters && dep_instance_lacks_room(inst))
		dep_instance_wake(inst);
}

/* Batch after batch; called with the instance locked, and unlocks it. */
static __always_inline void fast_run(struct fast_wait *fast,
				     const struct files_struct *files)
	__releases(&fast->inst->lock)
{
	poll_table table DEP_UNINITIALIZED;
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
	fast_wake(inst);
	spin_unlock_irq(&inst->lock);
}

/* Takes all ready items, or as many as there is room for. */
static noinline u64 fast_take_many(struct dep_instance *inst,
				   struct epoll_event __user *to, u32 max,
				   const struct files_struct *files)
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

/* The only item on the list, if it is an ordinary one. */
static __always_inline struct dep_item *
fast_only(const struct dep_instance *inst, const struct files_struct *files)
{
	const struct list_head *first = inst->ready.next;
	struct dep_item *item = list_entry(first, struct dep_item, ready);

	/* The list may be empty. */
	if (first == &inst->ready || first->next != &inst->ready)
		return NULL;
	return fast_is_ordinary(item, fast_table_of(files)) ? item : NULL;
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

/* As fast_take_many(), but for one item, without what that does not need. */
static __always_inline u64 fast_take_one(struct dep_instance *inst,
					 struct epoll_event __user *to,
					 struct dep_item *item)
	__releases(&inst->lock)
{
	bool got = fast_take_item(item), sent = true;
	poll_table table DEP_UNINITIALIZED;
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
		collected = fast_take_many(inst, to, max, files);
	inst->stats.waits += (collected & FAST_NR) != 0;
	inst->stats.handed += collected & FAST_NR;
	/* Pairs with the acquire in dep_ready_may_ask(). */
	smp_store_release(&inst->ask_seq, inst->ask_seq + 1);
	mutex_unlock(&inst->mtx);
	return collected;
}

/* Prepares a pass that continues where the short way has stopped. */
static void fast_resume(struct dep_results *results, u64 collected)
{
	if (!(collected & FAST_REST))
		return;
	results->nr = collected & FAST_NR;
	results->pass = collected >> FAST_PASS;
	results->again = collected & FAST_FAULT;
}

/* The dep_results.collect of a call that has slept. */
static int fast_collect_again(struct dep_instance *inst,
			      struct dep_results *results)
{
	u64 collected;

	collected = fast_collect(inst, results->user, results->max,
				 results->waiter);
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
static noinline int fast_wait_on(struct dep_instance *inst,
				 struct epoll_event __user *to, u32 max,
				 int timeout_ms, u64 collected)
{
	struct dep_waiting waiting = {
		.timeout = timeout_ms < 0 ? -1 : timeout_ms * NSEC_PER_MSEC,
	};
	struct dep_results results = {
		.user = to,
		.layout = DEP_LAYOUT_EPOLL,
		.max = max,
		.collect = fast_collect_again,
	};

	fast_resume(&results, collected);
	if (results.nr)
		return dep_ready_collect(inst, &results);
	return dep_waiting_collect(&waiting, inst, &results);
}

static noinline int fast_wait(struct dep_instance *inst,
			      struct epoll_event __user *to, u32 max,
			      int timeout_ms)
{
	u64 collected = fast_collect(inst, to, max, NULL);
	/* Negative if FAST_REST is set. */
	int nr = collected;

	if (likely(nr > 0)) {
		trace_devepoll_harvest(inst, nr);
		return nr;
	}
	if (!nr && !timeout_ms)
		return 0;
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
