// SPDX-License-Identifier: GPL-2.0
/*
 * Polling the files that may be ready.
 *
 * In a set of 2001 these are the files whose wake-ups did not say what
 * happened, and their answers are posted.  In a set of the extended interface
 * these are all files that woke us, and all level-triggered ones that were
 * ready the last time.  A pass (pass.c) hands their answers out at once.  A set
 * of /dev/poll works in the same way, but has other results.
 */
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/holds.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/nest.h"
#include "core/open.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "files/waitqueue.h"
#include "set/pass.h"
#include "set/ready.h"
#include "set/results.h"

static void ready_post(struct dep_instance *inst, struct dep_item *item,
		       u16 events)
{
	lockdep_assert_held(&inst->lock);
	if (item->mode & DEP_MODE_TRUST) {
		/* Until it is handed out, other things may happen. */
		if (unlikely(events & DEP_NEEDS_POLL))
			item->must_poll = true;
		dep_item_list_trusted(inst, item, events);
		return;
	}
	if (item->mode & DEP_MODE_KEEP)
		item->revents |= events;
	dep_item_list(item);
}

static void ready_forget(struct dep_instance *inst, struct dep_item *item)
{
	item->revents = 0;
	WRITE_ONCE(item->pending, 0);
}

/*
 * Every item needs poll, unless the program trusts keys: see
 * dep_item_poll_mode().
 */
const struct dep_sink dep_ready_sink = {
	.needs_poll = U16_MAX,
	.post = ready_post,
	.forget = ready_forget,
};

/*
 * With M held, takes L and announces that items leave the list for a moment:
 * see dep_ready_may_ask().
 */
static void ready_begin(struct dep_instance *inst)
	__acquires(&inst->lock)
{
	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	WRITE_ONCE(inst->ask_seq, inst->ask_seq + 1);
	/* Pairs with smp_rmb() there. */
	smp_wmb();
}

/* Undoes ready_begin(). */
static void ready_end(struct dep_instance *inst)
	__releases(&inst->lock)
{
	/*
	 * For a waiter that looked at the list while items were off it, and for
	 * items that are left or level-triggered; unless the waiters that are
	 * coming have room for them.
	 */
	if (dep_instance_lacks_room(inst) && inst->nr_waiters)
		dep_instance_wake(inst);
	if (unlikely(dep_instance_has_ring(inst)))
		inst->sink->end_pass(inst);
	/* Pairs with the acquire there: the events are seen posted. */
	smp_store_release(&inst->ask_seq, inst->ask_seq + 1);
	spin_unlock_irq(&inst->lock);
}

/* Polls the file of an item that a reference on the file keeps. */
static u16 ask_file(const struct dep_item *item, unsigned int depth,
		    bool removes, bool waits)
{
	u16 events = item->events;
	poll_table table;

	if (DEP_HAS_NEST && unlikely(dep_instance_of(item->file)))
		return events & (__force u16)
			dep_nest_poll(item->file, depth + 1, removes,
				      waits);
	init_poll_funcptr(&table, NULL);
	/* The watch is queued on it already. */
	table._key = dep_item_key(item);
	return events & (__force u16)vfs_poll(item->file, &table);
}

/**
 * dep_ready_pass_on() - let the next waiter look, since nothing was taken
 * @inst: the instance
 *
 * Without this, a call that fails would lose a wake-up that was meant for a
 * waiter that takes the events.
 */
void dep_ready_pass_on(struct dep_instance *inst)
{
	if (!dep_instance_has_work(inst))
		return;
	spin_lock_irq(&inst->lock);
	if (inst->pending || dep_instance_lacks_room(inst))
		dep_instance_wake(inst);
	spin_unlock_irq(&inst->lock);
}

/*
 * Takes M.  Where fds report their close, it must be known when the caller has
 * dealt with what it takes.  Of an io_uring nobody knows that.
 */
static __always_inline int collect_begin(struct dep_instance *inst,
					 const struct dep_results *results)
{
	int err = mutex_lock_killable(&inst->mtx);

	if (err || likely(!dep_instance_readers(inst)) ||
	    results->layout == DEP_LAYOUT_RING)
		return err;
	err = results->by_ring || current->flags & (PF_IO_WORKER | PF_KTHREAD) ?
		      -EOPNOTSUPP : dep_reader_provide(inst);
	if (err)
		mutex_unlock(&inst->mtx);
	return err;
}

static int collect_once(struct dep_instance *inst, struct dep_results *results)
{
	struct dep_pass pass __uninitialized;
	const bool first = !results->nr;
	int err;

	dep_pass_init(&pass, inst, 0);
	pass.adopts = !results->only_waits;
	pass.removes = !results->only_waits;
	err = collect_begin(inst, results);
	if (unlikely(err)) {
		/* It may have listed something by coming back. */
		dep_ready_pass_on(inst);
		return err;
	}
	if (first) {
		results->pass = dep_instance_next_pass(inst);
	} else if (results->pass != inst->pass) {
		/*
		 * Another pass came in between, so items that were sent no
		 * longer carry the number of this one: they would be sent once
		 * more.
		 */
		mutex_unlock(&inst->mtx);
		return 0;
	}
	ready_begin(inst);
	if (results->waiter)
		dep_waiter_back(inst, results->waiter);
	if (unlikely(dep_instance_has_ring(inst)))
		inst->sink->begin_pass(inst, results->layout == DEP_LAYOUT_RING);
	if (unlikely(dep_instance_readers(inst)) &&
	    results->layout != DEP_LAYOUT_RING)
		dep_reader_begins(inst);
	pass.number = results->pass;
	pass.results = results;
	dep_pass_run(&pass, results->max - results->nr);
	if (unlikely(dep_instance_readers(inst)))
		dep_reader_ends(inst, results->nr);
	inst->stats.waits += first && results->nr;
	inst->stats.handed += pass.found;
	ready_end(inst);
	dep_last_unlock(inst, !results->by_ring, results->nr);
	return pass.err;
}

/*
 * The memory for a result was not there: brings it in, with nothing held, and
 * continues where the pass stopped.  Memory that comes, but never for us, is a
 * shadow stack.
 */
static noinline int collect_with_faults(struct dep_instance *inst,
					struct dep_results *results)
{
	size_t size = dep_layout_size(results->layout);
	int err = -EFAULT;
	u32 tries = 0, nr;

	while (err == -EFAULT && tries++ < DEP_FAULTS_MOST) {
		nr = results->nr;
		if (fault_in_safe_writeable(results->user + nr * size, size))
			break;
		cond_resched();
		results->again = true;
		err = collect_once(inst, results);
		if (results->nr != nr)
			tries = 0;
	}
	return err;
}

/**
 * dep_ready_collect() - take events of a set of the extended interface
 * @inst: the instance
 * @results: where they go; filled up to its maximum
 *
 * Nothing is lost if the memory can't be written.
 *
 * Context: process; sleeps on dep_instance.mtx, in ->poll() and on user memory.
 * Return: how many events @results has;
 * -EFAULT: none, and the memory of the first can't be written;
 * -EINTR: none, and the caller is being killed;
 * -ENOMEM, -EOPNOTSUPP: fds report their close, and there is no memory for a
 * reader, or the caller is an io_uring.
 */
int dep_ready_collect(struct dep_instance *inst, struct dep_results *results)
{
	int err = collect_once(inst, results);

	if (unlikely(err == -EFAULT))
		err = collect_with_faults(inst, results);
	if (results->nr) {
		trace_devepoll_harvest(inst, results->nr);
		return results->nr;
	}
	return err;
}

/**
 * dep_ready_count() - count the ready items, and leave them on the list
 * @inst: the instance, of the extended interface
 * @results: where the events will go; learns in which pass they were counted
 * @enough: how far to count
 *
 * If there are fewer than @enough, nothing else is left on the ready list
 * except what has just arrived.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 * Return: how many items are ready, at most @enough or a few more.
 */
u32 dep_ready_count(struct dep_instance *inst, struct dep_results *results,
		    u32 enough)
{
	struct dep_pass pass __uninitialized;

	dep_pass_init(&pass, inst, 0);
	pass.adopts = !results->only_waits;
	pass.removes = !results->only_waits;
	if (mutex_lock_killable(&inst->mtx))
		return 0;
	ready_begin(inst);
	if (unlikely(dep_instance_has_ring(inst)))
		inst->sink->begin_pass(inst, false);
	pass.number = dep_instance_next_pass(inst);
	results->counted = pass.number;
	dep_pass_run(&pass, enough);
	ready_end(inst);
	dep_last_unlock(inst, !results->by_ring, false);
	return pass.found;
}

static bool ready_any(struct dep_instance *inst, unsigned int depth,
		      bool removes, bool waits)
{
	struct dep_pass pass __uninitialized;

	dep_pass_init(&pass, inst, depth);
	pass.removes = removes;
	pass.waits = waits;
	if (mutex_lock_killable_nested(&inst->mtx, depth))
		return false;
	/* Its first use may have failed after all: then there is nothing. */
	if (likely(inst->extended)) {
		ready_begin(inst);
		pass.number = dep_instance_next_pass(inst);
		/* A call that held M before may have emptied the list there. */
		if (dep_instance_has_events(inst))
			pass.found = 1;
		else
			dep_pass_run(&pass, 1);
		ready_end(inst);
	}
	dep_last_unlock(inst, false, false);
	return pass.found;
}

/*
 * Takes the first item off the ready list of a set of 2001, polls its file and
 * posts the answer.  Called, and returns, with the instance locked.
 */
static void ask_first(struct dep_instance *inst, bool taking,
		      unsigned int depth, bool removes, bool waits)
	__must_hold(&inst->lock)
{
	struct dep_item *item;
	struct file *file;
	u16 ready;

	item = list_first_entry(&inst->ready, struct dep_item, ready);
	/* Off the list first: a wake-up from now on puts it back. */
	dep_item_unlist(item);
	file = item->file;
	if (!dep_file_get(file))
		return;
	inst->stats.asks++;
	spin_unlock_irq(&inst->lock);

	dep_last_hurry(inst);
	ready = ask_file(item, depth, removes, waits);

	spin_lock_irq(&inst->lock);
	dep_item_post(item, ready, taking);
	spin_unlock_irq(&inst->lock);

	if (unlikely(!dep_file_put_not_last(file)))
		dep_last_leave(inst, file);
	cond_resched();
	spin_lock_irq(&inst->lock);
}

static void ask_all(struct dep_instance *inst, bool taking,
		    unsigned int depth, bool removes, bool waits)
{
	u32 left;

	if (mutex_lock_killable_nested(&inst->mtx, depth))
		return;
	ready_begin(inst);
	/* The extended interface may have taken the set just now. */
	left = inst->extended ? 0 : inst->nr_items;
	for (; left && !list_empty(&inst->ready); left--) {
		ask_first(inst, taking, depth, removes, waits);
		if (fatal_signal_pending(current))
			break;
	}
	ready_end(inst);
	dep_last_unlock(inst, taking, false);
}

/**
 * dep_ready_ask() - poll the files that may be ready, and post their answers
 * @inst: the instance, of 2001
 * @taking: the caller takes the events, or wakes a task that does
 *
 * Does not go on for ever, however often the files wake us meanwhile: the rest
 * is left to the next call.  Polls nothing when the caller is being killed.
 * Whoever is asked here, no item leaves a set inside.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 */
void dep_ready_ask(struct dep_instance *inst, bool taking)
{
	ask_all(inst, taking, 0, false, true);
}

/**
 * dep_ready_poll() - is there an event?
 * @file: an open of the set, which is of either interface
 * @depth: how many sets are around this one in the call
 * @removes: the opens of all of these may change them
 * @waits: the caller has no event of the set in use any more
 *
 * The caller becomes the owner of no item.  Its own that are stale leave if it
 * got here by opens for writing alone.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 * Return: EPOLLIN | EPOLLRDNORM, or 0.
 */
__poll_t dep_ready_poll(const struct file *file, unsigned int depth,
			bool removes, bool waits)
{
	struct dep_instance *inst = file->private_data;
	bool asks, ready;

	removes = removes && file->f_mode & FMODE_WRITE;
	/* In a signal set, events become signals at once. */
	if (READ_ONCE(inst->onesig))
		return 0;
	if (unlikely(dep_instance_readers(inst)) && waits)
		dep_reader_steps_back(inst);
	/* In this order: see dep_ready_may_ask(). */
	asks = dep_ready_may_ask(inst);
	ready = dep_instance_has_events(inst);
	if (!ready && asks) {
		if (READ_ONCE(inst->extended)) {
			ready = ready_any(inst, depth, removes, waits);
		} else {
			ask_all(inst, false, depth, removes, waits);
			ready = dep_instance_has_events(inst);
		}
	}
	return ready ? EPOLLIN | EPOLLRDNORM : 0;
}
