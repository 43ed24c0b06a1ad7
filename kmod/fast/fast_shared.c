// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of epoll_wait(2) where threads share the table of files.  Each
 * item is taken, polled and written before the next one.  For our reference
 * keeps open a file that another thread closes, and a ->poll() that sleeps must
 * delay the release of no file but its own.  Read fast.c first.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/thread_info.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/instance.h"
#include "core/item.h"
#include "fast/fast.h"
#include "fast/fast_path.h"
#include "set/owner.h"
#include "set/results.h"

/* Flags of a thread that should yield, or that may have been killed. */
#define SHARED_STOPS	(_TIF_NEED_RESCHED | _TIF_SIGPENDING)

/* Lets others run.  Returns false if the task is being killed. */
static noinline bool shared_breathe(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	spin_unlock_irq(&inst->lock);
	cond_resched();
	spin_lock_irq(&inst->lock);
	return !fatal_signal_pending(current);
}

/* Is nothing left to be done under L, neither for an item nor for others? */
static __always_inline bool shared_is_over(const struct dep_instance *inst,
					   const struct dep_item *item)
{
	return !dep_instance_nr_ready(inst) && fast_is_settled(item) &&
	       !READ_ONCE(inst->nr_waiters);
}

/* The last one of a call; returns how many there were with it. */
static __always_inline u32 shared_end(struct dep_instance *inst,
				      struct file *file, u32 nr)
{
	if (likely(dep_file_put_not_last(file)))
		return nr + 1;
	/* The program has closed it, and wants no event. */
	dep_last_keep(inst, file);
	return nr;
}

/* What a call returns that took @nr events; unlocks the instance. */
static __always_inline u64 shared_leave(struct dep_instance *inst, u32 number,
					u32 flags, u32 nr)
	__releases(&inst->lock)
{
	/* If nothing came back to the list, the pass wakes for the rest. */
	if (nr || flags != FAST_REST)
		fast_wake(inst);
	spin_unlock_irq(&inst->lock);
	return likely(!flags) ? nr : fast_leave(number, flags, nr);
}

/*
 * Takes items until there is no room, no ready one that this call has not met,
 * or none that is ordinary.  Called with the instance locked, and unlocks it.
 */
static __always_inline u64 shared_run(struct dep_instance *inst,
				      struct epoll_event __user *first,
				      u32 max)
	__releases(&inst->lock)
{
	const u32 number = dep_instance_next_pass(inst);
	const struct files_struct *files = current->files;
	struct epoll_event __user *to = first, *const end = first + max;
	struct list_head *const ready = &inst->ready;
	poll_table table __uninitialized;
	u32 flags = 0;

	table._qproc = NULL;
	while (ready->next != ready) {
		struct dep_item *item;
		struct file *file;
		u32 revents;

		item = list_entry(ready->next, struct dep_item, ready);
		if (item->pass == number)
			break;
		if (unlikely(!fast_is_ordinary(item,
					       dep_owner_table_of(inst, files)))) {
			flags = FAST_REST;
			break;
		}
		file = item->file;
		item->pass = number;
		fast_take_first_item(inst, item);
		/* This keeps the item, too; if it fails, the item soon ends. */
		if (unlikely(!dep_file_get(file)))
			continue;
		spin_unlock_irq(&inst->lock);
		/* Pairs with smp_mb() in dep_watch_wake(). */
		smp_mb__after_atomic();
		revents = fast_poll_item(item, &table);
		if (!revents) {
			spin_lock_irq(&inst->lock);
		} else if (likely(fast_write_one(to, revents, item->data))) {
			if (shared_is_over(inst, item))
				return shared_end(inst, file, to - first);
			to++;
			spin_lock_irq(&inst->lock);
			if (!fast_is_settled(item))
				fast_settle(inst, item);
		} else {
			flags = FAST_REST | FAST_FAULT;
			spin_lock_irq(&inst->lock);
			fast_put_back(item, revents);
		}
		if (unlikely(!dep_file_put_not_last(file))) {
			/* As in shared_end(). */
			dep_last_keep(inst, file);
			to -= revents && !flags;
			flags |= FAST_REST;
		}
		if (unlikely(flags) || to == end)
			break;
		if (unlikely(read_thread_flags() & SHARED_STOPS) &&
		    !shared_breathe(inst))
			break;
	}
	return shared_leave(inst, number, flags, to - first);
}

static __always_inline u64 shared_collect(struct dep_instance *inst,
					  struct epoll_event __user *to,
					  u32 max, struct dep_waiter *waiter)
{
	u64 collected;

	if (!fast_begin(inst, current->files, waiter))
		return FAST_REST;
	if (unlikely(dep_instance_has_ring(inst))) {
		/* A pass begins with what waits there. */
		spin_unlock_irq(&inst->lock);
		collected = FAST_REST;
	} else {
		collected = shared_run(inst, to, max);
	}
	fast_end(inst, collected);
	return collected;
}

/**
 * dep_fast_collect_shared() - the dep_results.collect of a call that has slept
 * @inst: the instance
 * @results: where the events go
 *
 * Context: process; sleeps.
 * Return: as dep_ready_collect().
 */
int dep_fast_collect_shared(struct dep_instance *inst,
			    struct dep_results *results)
{
	u64 collected;

	collected = shared_collect(inst, results->user, results->max,
				   results->waiter);
	return fast_go_on(inst, results, collected);
}

/**
 * dep_fast_wait_shared() - a wait whose caller shares its table of files
 * @inst: the instance
 * @to: where the events go
 * @max: how many at most
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
int dep_fast_wait_shared(struct dep_instance *inst,
			 struct epoll_event __user *to, u32 max, int timeout_ms)
{
	u64 collected = shared_collect(inst, to, max, NULL);

	if (fast_ends(inst, collected, timeout_ms))
		return collected;
	return dep_fast_go_on(inst, to, max, timeout_ms, collected);
}
