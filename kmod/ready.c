// SPDX-License-Identifier: GPL-2.0
/*
 * Asking the files that may be ready.
 *
 * In a set of 2001 these are the files whose wake-ups did not say what
 * happened; what they answer is posted.  In a set of the extended interface
 * they are all that woke us, and all that were ready the last time and are
 * watched for their level: what they answer is handed out at once.
 *
 * Passes
 * ======
 *
 * One call takes items off the head of the list, a few at a time, asks their
 * files and puts back at the tail what is watched for its level.  Its pass has
 * a number, which each item that it takes is given; so it ends where it meets
 * itself, and what did not fit comes first the next time.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "compat.h"
#include "limits.h"
#include "ready.h"
#include "results.h"
#include "trace.h"
#include "watch.h"
#include "worker.h"

/**
 * struct dep_ask - one item that is being asked
 * @item: the item, kept by the reference on its file
 * @file: its file, with a reference
 * @data: the item's, when it was taken
 * @events: the item's, when it was taken
 * @revents: what the file answered, of @events
 * @sent: it was handed out
 */
struct dep_ask {
	struct dep_item *item;
	struct file *file;
	u64 data;
	u16 events;
	u16 revents;
	bool sent;
};

/**
 * struct dep_pass - one way along the list of asks
 * @inst: whose list
 * @results: where events go, or NULL if they are only counted
 * @number: number of the pass
 * @depth: how many sets lie around this one in the call
 * @found: how many items were ready
 * @over: nothing is left that this pass has not met, or a write has failed
 * @err: -EFAULT if a write has failed
 * @nr: length of @asks
 * @asks: what is being asked
 * @ghosts: items that were unhooked because their number names another file
 */
struct dep_pass {
	struct dep_instance *inst;
	struct dep_results *results;
	u32 number;
	unsigned int depth;
	u32 found;
	bool over;
	int err;
	u32 nr;
	struct dep_ask asks[DEP_ASK_BATCH];
	struct list_head ghosts;
};

static void ready_post(struct dep_instance *inst, struct dep_item *item,
		       u16 events)
{
	lockdep_assert_held(&inst->lock);
	if (item->mode & DEP_MODE_TRUST)
		item->revents |= events;
	dep_item_list(item);
}

static void ready_forget(struct dep_instance *inst, struct dep_item *item)
{
	item->revents = 0;
}

/* All is asked, unless the program trusts the keys: see interest.c. */
const struct dep_sink dep_ready_sink = {
	.unsure = U16_MAX,
	.post = ready_post,
	.forget = ready_forget,
};

/* Takes M, and announces that items leave the list for a moment. */
static int ready_begin(struct dep_instance *inst, unsigned int depth)
{
	might_sleep();
	if (mutex_lock_killable_nested(&inst->mtx, depth))
		return -EINTR;
	WRITE_ONCE(inst->ask_seq, inst->ask_seq + 1);
	/* Pairs with smp_rmb() in dep_ready_may_ask(). */
	smp_wmb();
	return 0;
}

static void ready_end(struct dep_instance *inst)
{
	/*
	 * For whoever looked at the list while items were off it, and for what
	 * is left, or is watched for its level.
	 */
	spin_lock_irq(&inst->lock);
	if (!list_empty(&inst->asks))
		dep_instance_wake(inst);
	spin_unlock_irq(&inst->lock);
	/* Pairs with the acquire there: the events are seen posted. */
	smp_store_release(&inst->ask_seq, inst->ask_seq + 1);
	mutex_unlock(&inst->mtx);
}

/* If the program has closed the file meanwhile, its release is ours. */
static void put_file(struct file *file)
{
	if (unlikely(!dep_file_put_not_last(file)))
		dep_worker_fput(file);
}

/* What a file has of these events; its watch is queued on it already. */
static u16 ask_file(struct file *file, u16 events, unsigned int depth)
{
	struct dep_instance *inner = dep_instance_of(file);
	poll_table table;

	if (unlikely(inner))
		return events & (__force u16)dep_ready_poll(inner, depth + 1);
	init_poll_funcptr(&table, NULL);
	table._key = (__force __poll_t)events | EPOLLERR | EPOLLHUP;
	return events & (__force u16)vfs_poll(file, &table);
}

/* Is the process gone in which the number was added? */
static bool item_owner_is_gone(const struct dep_item *item)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(item->owner, &init_pid_ns), PIDTYPE_TGID);
	gone = !task || task->start_boottime != item->owner_born;
	rcu_read_unlock();
	return gone;
}

static bool item_is_own(const struct dep_item *item)
{
	return item->owner == task_tgid_nr(current) &&
	       item->owner_born == current->group_leader->start_boottime;
}

/*
 * Does the number not name the file any more?  That is for the process to tell
 * in which it was added.  If that is gone, another one that knows the file by
 * this number, as after fork(2), takes its place.  Whoever else was given the
 * set can't tell.
 */
static bool item_is_ghost(struct dep_item *item)
{
	const struct files_struct *files = current->files;
	const struct file *file;

	if (unlikely(!files))
		return false;
	rcu_read_lock();
	file = files_lookup_fd_raw(current->files, item->fd);
	rcu_read_unlock();
	if (unlikely(file != item->file))
		return item->files == files && item_is_own(item);
	/* The table of a process may change when it executes a program. */
	if (unlikely(item->files != files) &&
	    (item_is_own(item) ? thread_group_empty(current) :
				 item_owner_is_gone(item)))
		dep_item_own(item);
	return false;
}

/* An item stays, to be found again by others. */
static void pass_keep(struct dep_pass *pass, struct dep_item *item)
{
	struct dep_instance *inst = pass->inst;

	if (!pass->err) {
		list_move_tail(&item->ask, &inst->asks);
		return;
	}
	/* This pass may come here again. */
	item->pass = 0;
	list_move(&item->ask, &inst->asks);
}

/* Hands an event out, if that is wanted.  True if it is done with. */
static bool pass_hand_out(struct dep_pass *pass, u64 data, u32 events, int fd)
{
	pass->found++;
	if (!pass->results)
		return false;
	pass->err = dep_results_put(pass->results, data, events, fd);
	if (pass->err)
		pass->over = true;
	return !pass->err;
}

/* The last event of an item: frees it when it is handed out. */
static void pass_take_closed(struct dep_pass *pass, struct dep_item *item)
{
	if (!pass_hand_out(pass, item->data, DEVEPOLL_CLOSED, item->fd)) {
		pass_keep(pass, item);
		return;
	}
	dep_item_unlist(item);
	list_add(&item->ask, &pass->ghosts);
}

/* An item whose keys are trusted, and did say what happened. */
static void pass_take_told(struct dep_pass *pass, struct dep_item *item)
{
	u16 events = item->revents & item->events;

	if (events && !pass_hand_out(pass, item->data, events, item->fd)) {
		pass_keep(pass, item);
		return;
	}
	dep_item_unlist(item);
	item->revents = 0;
	if (events && item->mode & DEP_MODE_ONESHOT)
		item->events = 0;
}

static void pass_take_ghost(struct dep_pass *pass, struct dep_item *item)
{
	struct dep_instance *inst = pass->inst;

	trace_devepoll_close(item);
	inst->stats.closes++;
	dep_item_unhook(item);
	list_add(&item->ask, &pass->ghosts);
	if (pass->results && item->mode & DEP_MODE_TELL_CLOSED &&
	    pass_hand_out(pass, item->data, DEVEPOLL_CLOSED, item->fd))
		item->mode &= ~DEP_MODE_TELL_CLOSED;
}

static void pass_take_ask(struct dep_pass *pass, struct dep_item *item)
{
	struct dep_ask *ask = &pass->asks[pass->nr];

	/* Off the list first: a wake-up from now on puts it back. */
	dep_item_unlist(item);
	/* The last reference is gone: so will the item be, in a moment. */
	if (!dep_file_get(item->file))
		return;
	ask->item = item;
	ask->file = item->file;
	ask->data = item->data;
	ask->events = item->events;
	ask->revents = item->revents & item->events;
	ask->sent = false;
	item->revents = 0;
	item->doubt = false;
	pass->nr++;
}

/* Takes the next items off the list, @room of them at most. */
static void pass_take(struct dep_pass *pass, u32 room)
{
	struct dep_instance *inst = pass->inst;
	struct dep_item *item;
	u32 looked = 0;

	pass->nr = 0;
	spin_lock_irq(&inst->lock);
	while (pass->nr < min_t(u32, room, DEP_ASK_BATCH) && !pass->over &&
	       looked++ < DEP_LOOK_BATCH) {
		item = list_first_entry_or_null(&inst->asks, struct dep_item,
						ask);
		if (!item || item->pass == pass->number) {
			pass->over = true;
			break;
		}
		item->pass = pass->number;
		if (unlikely(item->mode & DEP_MODE_CLOSED))
			pass_take_closed(pass, item);
		else if (inst->extended && unlikely(item_is_ghost(item)))
			pass_take_ghost(pass, item);
		else if (item->mode & DEP_MODE_TRUST && !item->doubt)
			pass_take_told(pass, item);
		else
			pass_take_ask(pass, item);
		if (pass->results &&
		    pass->results->nr + pass->nr >= pass->results->max)
			break;
	}
	inst->stats.asks += pass->nr;
	spin_unlock_irq(&inst->lock);
}

/* Asks what was taken, with no spin lock held. */
static void pass_ask(struct dep_pass *pass)
{
	struct dep_ask *ask;

	for (ask = pass->asks; ask < pass->asks + pass->nr; ask++) {
		ask->revents |= ask_file(ask->file, ask->events, pass->depth);
		if (ask->revents && !pass->err)
			ask->sent = pass_hand_out(pass, ask->data, ask->revents,
						  ask->item->fd);
	}
}

/* What becomes of an item that was ready. */
static void pass_settle_item(struct dep_pass *pass, const struct dep_ask *ask)
{
	struct dep_item *item = ask->item;

	if (!ask->sent) {
		item->doubt = true;
		dep_item_list(item);
		pass_keep(pass, item);
	} else if (item->mode & DEP_MODE_ONESHOT) {
		item->events = 0;
		item->revents = 0;
		dep_item_unlist(item);
	} else if (!(item->mode & DEP_MODE_EDGE)) {
		dep_item_list(item);
	}
}

/* M is held and the files are ours: the items are all there. */
static void pass_settle(struct dep_pass *pass)
{
	struct dep_instance *inst = pass->inst;
	u32 i;

	spin_lock_irq(&inst->lock);
	/* After an error backwards, since they go to the head of the list. */
	for (i = 0; i < pass->nr; i++) {
		u32 nr = pass->err ? pass->nr - 1 - i : i;

		if (pass->asks[nr].revents)
			pass_settle_item(pass, &pass->asks[nr]);
	}
	spin_unlock_irq(&inst->lock);
	for (i = 0; i < pass->nr; i++)
		put_file(pass->asks[i].file);
}

static void pass_drop(struct dep_pass *pass)
{
	struct dep_instance *inst = pass->inst;
	struct dep_item *item, *next;

	list_for_each_entry_safe(item, next, &pass->ghosts, ask) {
		list_del_init(&item->ask);
		if (item->mode & DEP_MODE_CLOSED) {
			dep_item_discard(item);
			continue;
		}
		dep_watch_detach(item);
		if (item->mode & DEP_MODE_TELL_CLOSED) {
			item->pass = 0;
			spin_lock_irq(&inst->lock);
			dep_item_close(item);
			spin_unlock_irq(&inst->lock);
		} else {
			dep_item_free(item);
		}
	}
}

/*
 * Goes along the list until @enough items were found ready.  M is held.  Asks
 * nothing more when the caller is being killed.
 */
static void pass_run(struct dep_pass *pass, u32 enough)
{
	lockdep_assert_held(&pass->inst->mtx);
	while (!pass->over && pass->found < enough &&
	       !fatal_signal_pending(current)) {
		pass_take(pass, enough - pass->found);
		if (pass->nr) {
			pass_ask(pass);
			pass_settle(pass);
		}
		if (unlikely(!list_empty(&pass->ghosts)))
			pass_drop(pass);
		cond_resched();
	}
}

static void pass_init(struct dep_pass *pass, struct dep_instance *inst,
		      unsigned int depth)
{
	pass->inst = inst;
	pass->results = NULL;
	pass->number = 0;
	pass->depth = depth;
	pass->found = 0;
	pass->over = false;
	pass->err = 0;
	INIT_LIST_HEAD(&pass->ghosts);
}

static u32 pass_number(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->mtx);
	if (!++inst->pass)
		inst->pass = 1;
	return inst->pass;
}

static int collect_once(struct dep_instance *inst, struct dep_results *results)
{
	struct dep_pass pass;

	pass_init(&pass, inst, 0);
	if (ready_begin(inst, 0))
		return -EINTR;
	if (!results->pass)
		results->pass = pass_number(inst);
	pass.number = results->pass;
	pass.results = results;
	pass_run(&pass, results->max - results->nr);

	spin_lock_irq(&inst->lock);
	if (results->nr) {
		inst->stats.harvests++;
		inst->stats.events += results->nr;
	}
	spin_unlock_irq(&inst->lock);
	ready_end(inst);
	return pass.err;
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
 * -EINTR: none, and the caller is being killed.
 */
int dep_ready_collect(struct dep_instance *inst, struct dep_results *results)
{
	size_t size = dep_results_size(results);
	int err;

	for (;;) {
		err = collect_once(inst, results);
		if (err != -EFAULT)
			break;
		/* With nothing held; the pass goes on where it stopped. */
		if (fault_in_safe_writeable(results->user + results->nr * size,
					    size))
			break;
		cond_resched();
	}
	if (results->nr) {
		trace_devepoll_harvest(inst, results->nr);
		return results->nr;
	}
	return err;
}

/**
 * dep_ready_count() - count what is ready, and leave it there
 * @inst: the instance, of the extended interface
 * @enough: how far to count
 *
 * If there is less than @enough, nothing else is left on the list of asks but
 * what comes this moment.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 * Return: how many items are ready, at most @enough or a little more.
 */
u32 dep_ready_count(struct dep_instance *inst, u32 enough)
{
	struct dep_pass pass;

	pass_init(&pass, inst, 0);
	if (ready_begin(inst, 0))
		return 0;
	pass.number = pass_number(inst);
	pass_run(&pass, enough);
	ready_end(inst);
	return pass.found;
}

static bool ready_any(struct dep_instance *inst, unsigned int depth)
{
	struct dep_pass pass;

	pass_init(&pass, inst, depth);
	if (ready_begin(inst, depth))
		return false;
	pass.number = pass_number(inst);
	pass_run(&pass, 1);
	ready_end(inst);
	return pass.found;
}

/*
 * Takes the first item off the asks of a set of 2001, calls its file and posts
 * the answer.  Called with the instance locked, and returns so.
 */
static void ask_first(struct dep_instance *inst, bool harvesting,
		      unsigned int depth)
	__must_hold(&inst->lock)
{
	struct dep_item *item;
	struct file *file;
	u16 events, ready;

	item = list_first_entry(&inst->asks, struct dep_item, ask);
	/* Off the list first: a wake-up from now on puts it back. */
	dep_item_unlist(item);
	file = item->file;
	events = item->events;
	if (!dep_file_get(file))
		return;
	inst->stats.asks++;
	spin_unlock_irq(&inst->lock);

	ready = ask_file(file, events, depth);

	spin_lock_irq(&inst->lock);
	dep_item_post(item, ready, harvesting);
	spin_unlock_irq(&inst->lock);

	put_file(file);
	cond_resched();
	spin_lock_irq(&inst->lock);
}

static void ask_all(struct dep_instance *inst, bool harvesting,
		    unsigned int depth)
{
	u32 left;

	if (ready_begin(inst, depth))
		return;
	spin_lock_irq(&inst->lock);
	/* It may have become one of the extended interface just now. */
	left = inst->extended ? 0 : inst->nr_items;
	for (; left && !list_empty(&inst->asks); left--) {
		ask_first(inst, harvesting, depth);
		if (fatal_signal_pending(current))
			break;
	}
	spin_unlock_irq(&inst->lock);
	ready_end(inst);
}

/**
 * dep_ready_ask() - call ->poll() of the files that may be ready, and post
 * @inst: the instance, of 2001
 * @harvesting: the caller takes the events itself or wakes somebody who does
 *
 * Does not ask for ever, however often the files wake us meanwhile: what is
 * left stays for the next call.  Asks nothing when the caller is being killed.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 */
void dep_ready_ask(struct dep_instance *inst, bool harvesting)
{
	ask_all(inst, harvesting, 0);
}

/**
 * dep_ready_poll() - tell whether there is an event
 * @inst: the instance, of either interface
 * @depth: how many sets lie around this one in the call
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 * Return: EPOLLIN | EPOLLRDNORM, or 0.
 */
__poll_t dep_ready_poll(struct dep_instance *inst, unsigned int depth)
{
	bool ready = READ_ONCE(inst->pending);

	if (!ready && dep_ready_may_ask(inst)) {
		if (inst->extended) {
			ready = ready_any(inst, depth);
		} else {
			ask_all(inst, false, depth);
			ready = READ_ONCE(inst->pending);
		}
	}
	return ready ? EPOLLIN | EPOLLRDNORM : 0;
}
