// SPDX-License-Identifier: GPL-2.0
/*
 * One pass over the ready list of a set of the extended interface.
 *
 * A pass takes items off the head of the list, a few at a time, polls their
 * files, hands out what is ready (results.c) and puts level-triggered items
 * back at the tail.  It marks each item that it takes with its number.  So it
 * ends when it meets an item that it has marked, and items that did not fit
 * come first the next time.  It takes without polling trusted, closed and stale
 * items, and numbers of /dev/poll that name no file.
 */
#include <linux/fdtable.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/holds.h"
#include "core/host.h"
#include "core/interface.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/nest.h"
#include "core/open.h"
#include "core/trace.h"
#include "files/wakeup.h"
#include "set/interest.h"
#include "set/owner.h"
#include "set/pass.h"
#include "set/results.h"

/* Has an event disabled it, which was in the ring? */
static __always_inline bool pass_is_spent(const struct dep_item *item)
{
	return unlikely(item->mode & DEP_MODE_RING) && !item->events;
}

/* Writes a trusted item's events to mapped memory, which can't fail. */
static __always_inline void pass_tell(struct dep_pass *pass,
				      struct dep_item *item, u32 revents)
{
	struct dep_results *results = pass->results;
	struct devepoll_event *to = results->kernel;

	to[results->nr++] = (struct devepoll_event) {
		.data = item->data,
		.events = revents,
		.fd = item->fd,
	};
	pass->found++;
	if (item->mode & DEP_MODE_ONESHOT)
		WRITE_ONCE(item->events, 0);
}

/*
 * An item goes back to the tail of the list, or to its head if this pass comes
 * again.  This and the next three are called with L held, with an item that is
 * off the ready list.
 */
static noinline void pass_put_back(struct dep_pass *pass, struct dep_item *item)
{
	struct dep_instance *inst = pass->inst;

	lockdep_assert_held(&inst->lock);
	dep_item_list(item);
	if (!pass->err)
		return;
	item->pass = 0;
	list_move(&item->ready, &inst->ready);
}

/*
 * Fills in the rest of an item whose file is not polled: @stale if the number
 * does not name the file any more.  On entry, @ask->revents are what the keys
 * told.  Returns false if there is no event, so that its place is free.
 */
static noinline bool pass_take_other(struct dep_pass *pass,
				     struct dep_item *item,
				     struct dep_ask *ask, bool stale)
{
	u16 before = item->revents;

	item->revents = 0;
	if (item->mode & DEP_MODE_STAY) {
		ask->kind = ASK_NVAL;
		ask->revents = (__force u16)EPOLLNVAL;
		return true;
	}
	if (item->mode & DEP_MODE_CLOSED) {
		/* It is on the list of who may have an event of it. */
		if (dep_instance_readers(pass->inst) &&
		    dep_reader_holds(item))
			return false;
		ask->kind = ASK_CLOSED;
		ask->revents = DEVEPOLL_CLOSED;
		return true;
	}
	if (stale) {
		trace_devepoll_close(item);
		pass->inst->stats.closes++;
		dep_item_unhook(item);
		ask->kind = ASK_STALE;
		/* It comes again when it is closed. */
		ask->revents = 0;
		return true;
	}
	/* The pass has it from the ring: do not lose it, even if it is over. */
	if (pass_is_spent(item))
		ask->revents = before;
	else if (!ask->revents)
		return false;
	item->chosen = 0;
	ask->kind = ASK_TOLD;
	if (ask->revents && pass->results && item->mode & DEP_MODE_ONESHOT)
		WRITE_ONCE(item->events, 0);
	return ask->revents;
}

/*
 * Decides about an item whose file was not polled: it has none, or the item may
 * have gone with it.
 */
static noinline void pass_settle_other(struct dep_pass *pass,
				       const struct dep_ask *ask)
{
	struct dep_item *item = ask->item;

	/* M is held, so nobody has removed it. */
	if (ask->kind == ASK_NVAL && ask->sent)
		dep_item_list(item);
	if (ask->kind == ASK_STALE || ask->sent)
		return;
	if (ask->kind == ASK_TOLD) {
		if (!dep_item_is_open(pass->inst, item, ask->fd))
			return;
		WRITE_ONCE(item->events, ask->events);
		item->revents |= ask->revents;
		item->chosen |= ask->chosen;
	}
	pass_put_back(pass, item);
}

/*
 * Frees an item that has left the set and that the pass owns; nothing is held
 * but M.
 */
static noinline void pass_drop(struct dep_pass *pass, struct dep_ask *ask)
{
	struct dep_item *item = ask->item;

	if (ask->kind == ASK_CLOSED) {
		if (ask->sent)
			dep_item_discard(item);
		return;
	}
	if (item->mode & DEP_MODE_TELL_CLOSED) {
		item->pass = 0;
		pass->over = false;
	}
	dep_item_drop(item, true);
}

/*
 * Does an earlier answer of the file, which was not handed out, still count?
 * For most files only within the call that polled it, which counted first or
 * met memory that was not there.  Later the file can be polled again.
 */
static noinline bool pass_believes(const struct dep_pass *pass,
				   const struct dep_item *item)
{
	const struct dep_results *results = pass->results;

	if (item->mode & (DEP_MODE_TRUST | DEP_MODE_KEEP))
		return true;
	return results && results->again &&
	       (!item->pass || item->pass == results->counted);
}

/* Fills in an item; false if its place is free for the next one. */
static __always_inline bool pass_take_item(struct dep_pass *pass,
					   struct dep_item *item,
					   struct dep_ask *ask,
					   const struct files_struct *files,
					   const struct fdtable *table,
					   bool keeps)
{
	u16 told = item->revents & item->events;
	u32 mode = item->mode;
	bool named, stale;

	named = table && dep_owner_names(item, table->fd, table->max_fds);
	stale = likely(!(mode & DEP_MODE_CLOSED)) &&
		unlikely(!named || item->owner->files != files) &&
		dep_owner_misses(item, named, pass->removes, pass->adopts);
	if (!stale &&
	    (mode & (DEP_MODE_TRUST | DEP_MODE_CLOSED | DEP_MODE_HELD)) ==
	    DEP_MODE_TRUST && !item->must_poll && pass->results &&
	    pass->results->kernel && !pass_is_spent(item)) {
		item->revents = 0;
		item->chosen = 0;
		if (told)
			pass_tell(pass, item, told);
		return false;
	}

	if (unlikely(told) && !pass_believes(pass, item))
		told = 0;
	ask->item = item;
	ask->data = item->data;
	ask->fd = item->fd;
	ask->kind = ASK_FILE;
	ask->sent = false;
	ask->events = item->events;
	ask->revents = told;
	ask->chosen = item->chosen;
	if (unlikely(mode & DEP_MODE_HELD) && !(mode & DEP_MODE_CLOSED) &&
	    pass->results)
		dep_reader_take(item);
	if (unlikely(stale || mode & DEP_MODE_CLOSED || pass_is_spent(item) ||
		     (mode & DEP_MODE_TRUST && !item->must_poll)))
		return pass_take_other(pass, item, ask, stale);
	item->revents = 0;
	item->must_poll = false;
	item->chosen = 0;
	pass->inst->stats.asks++;
	ask->named = named;
	ask->kept = keeps && named;
	/* If the last reference is gone, the item will soon be gone, too. */
	return ask->kept || dep_file_get(item->file);
}

/* Was a reference taken?  Then no other is before it is dropped. */
static __always_inline bool pass_has_file(const struct dep_ask *ask)
{
	return ask->kind == ASK_FILE && !ask->kept;
}

/* Takes the next items off the list, up to @room of them. */
static void pass_take(struct dep_pass *pass, u32 room)
{
	const struct files_struct *files = current->files;
	struct dep_instance *inst = pass->inst;
	struct list_head *ready = &inst->ready, *next = ready->next;
	const struct fdtable *table;
	bool keeps, full = false;
	struct dep_item *item;
	u32 looked = 0, nr = 0;

	lockdep_assert_held(&inst->lock);
	keeps = files && dep_owner_table_keeps(files);
	table = files ? rcu_dereference_raw(files->fdt) : NULL;
	/* No item gives more than one event. */
	room = min_t(u32, room, DEP_LOOK_BATCH);
	while (!full && nr < DEP_ASK_BATCH && looked < room) {
		item = list_entry(next, struct dep_item, ready);
		if (next == ready || item->pass == pass->number)
			break;
		looked++;
		/* Off the list: a wake-up from now on puts it back. */
		next = next->next;
		INIT_LIST_HEAD(&item->ready);
		WRITE_ONCE(item->pending, 0);
		if (pass_take_item(pass, item, &pass->asks[nr], files, table,
				   keeps))
			full = pass_has_file(&pass->asks[nr++]);
		item->pass = pass->number;
	}
	/* Removes them all at once. */
	WRITE_ONCE(ready->next, next);
	next->prev = ready;
	inst->nr_ready -= looked;
	pass->nr = nr;
	pass->over = next == ready ||
		     list_entry(next, struct dep_item, ready)->pass ==
		     pass->number;
	/*
	 * Before the files are polled, or events are handed out as they are:
	 * pairs with smp_mb() in dep_watch_wake().
	 */
	smp_mb();
}

/*
 * Drops the reference on a file that was polled.  If the program has closed it,
 * there is no event.  A release may linger: the caller does that for itself.
 */
static void pass_put_file(struct dep_pass *pass, struct dep_ask *ask,
			  struct file *file)
{
	if (likely(dep_file_put_not_last(file)))
		return;
	ask->revents = 0;
	if (likely(ask->named))
		dep_last_leave(pass->inst, file);
	else
		dep_fput_by_worker(file);
}

/*
 * Does the caller find what it has taken once more?  Another thread may only be
 * the next that the set has woken, a poll takes nothing, and an io_uring waits
 * again before its program has seen the event.
 */
static noinline bool pass_took_before(const struct dep_pass *pass,
				      const struct dep_ask *ask)
{
	return ask->revents && pass->results && !pass->results->by_ring &&
	       dep_lone_of(ask->item)->taker == task_pid_nr(current);
}

/* Polls the files, with no spin lock held. */
static void pass_ask(struct dep_pass *pass)
{
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	bool told = false;
	poll_table table;

	init_poll_funcptr(&table, NULL);
	/* What is polled now may take long. */
	dep_last_hurry(pass->inst);
	for (ask = pass->asks; ask < end; ask++) {
		struct file *file;

		if (ask->kind != ASK_FILE)
			continue;
		file = ask->item->file;
		/* dep_item_key(), for a set that is not of 2001. */
		table._key = (__force __poll_t)
			(ask->events | (ask->item->mode & ~DEP_MODE_OWN));
		if (DEP_HAS_NEST && unlikely(dep_instance_of(file)))
			ask->revents |= ask->events & (__force u16)
				dep_nest_poll(file, pass->depth + 1,
					      pass->removes, pass->waits);
		else
			ask->revents |= ask->events &
				(__force u16)vfs_poll(file, &table);
		/* M and the file, which can't be closed now, keep the item. */
		if (unlikely(ask->chosen & DEP_CHOSEN_TAKEN) && !told &&
		    pass_took_before(pass, ask)) {
			told = true;
			dep_watch_tell_next(ask->item, ask->revents);
		}
		if (!ask->kept)
			pass_put_file(pass, ask, file);
	}
}

static void pass_count(struct dep_pass *pass)
{
	struct dep_ask *ask, *end = pass->asks + pass->nr;

	for (ask = pass->asks; ask < end; ask++)
		pass->found += ask->revents != 0;
}

/* Is an item that was taken still in the set?  It may have been freed. */
static __always_inline bool pass_finds(const struct dep_pass *pass,
				       const struct dep_ask *ask)
{
	return (ask->kind == ASK_FILE && ask->kept) ||
	       dep_item_is_open(pass->inst, ask->item, ask->fd);
}

/* Decides about an item whose file was polled. */
static __always_inline void pass_settle_answer(struct dep_pass *pass,
					       const struct dep_ask *ask)
{
	struct dep_item *item = ask->item;

	if (!ask->revents || !pass_finds(pass, ask))
		return;
	if (unlikely(!ask->sent)) {
		item->must_poll = true;
		item->chosen |= ask->chosen;
		/* Polling may have consumed it: pass_believes(). */
		item->revents |= ask->revents;
		pass_put_back(pass, item);
	} else if (item->mode & DEP_MODE_ONESHOT) {
		dep_item_disable(item);
	} else if (!(item->mode & DEP_MODE_EDGE)) {
		dep_item_list(item);
		if (unlikely(dep_item_is_exclusive(item))) {
			item->chosen |= DEP_CHOSEN_TAKEN;
			dep_lone_of(item)->taker = task_pid_nr(current);
		}
	}
}

/* Posts what is ready to the ring; items without a slot stay on the list. */
static noinline void pass_post(struct dep_pass *pass)
{
	struct dep_ask *ask, *end = pass->asks + pass->nr;
	const struct dep_sink *sink = pass->inst->sink;

	lockdep_assert_held(&pass->inst->lock);
	for (ask = pass->asks; ask < end; ask++) {
		if (!ask->revents)
			continue;
		/*
		 * Is this the event of a file that is still open?  Whoever
		 * closes the file from now on waits for L and takes the event
		 * back, and what the program takes after its close(2) is no
		 * event of the file.
		 */
		if ((ask->kind == ASK_FILE || ask->kind == ASK_TOLD) &&
		    !pass_finds(pass, ask))
			continue;
		if (!sink->put(ask->item, ask->revents)) {
			/* It comes first the next time, and then the rest. */
			pass->err = -ENOSPC;
			continue;
		}
		/* Counted when the program is seen to have taken it. */
		ask->sent = true;
		if (ask->kind == ASK_CLOSED) {
			sink->put_closed(ask->item);
			/* The pass does not free it. */
			ask->kind = ASK_TOLD;
		}
	}
	/* What is left on the list, which may be long, need not be polled. */
	if (sink->is_full(pass->inst))
		pass->over = true;
}

/* Returns true if items have left the set. */
static bool pass_settle(struct dep_pass *pass)
{
	bool drop = false;
	u32 i;

	for (i = 0; i < pass->nr; i++) {
		/* After an error they go to the head of the list. */
		u32 nr = unlikely(pass->err) ? pass->nr - 1 - i : i;
		struct dep_ask *ask = &pass->asks[nr];

		if (likely(ask->kind == ASK_FILE)) {
			pass_settle_answer(pass, ask);
			continue;
		}
		if (ask->kind != ASK_TOLD || !ask->sent)
			pass_settle_other(pass, ask);
		drop |= dep_ask_is_owned(ask);
	}
	return drop;
}

/* Frees items that have left the set. */
static noinline void pass_clean(struct dep_pass *pass)
	__must_hold(&pass->inst->lock)
{
	u32 i;

	spin_unlock_irq(&pass->inst->lock);
	for (i = 0; i < pass->nr; i++) {
		if (dep_ask_is_owned(&pass->asks[i]))
			pass_drop(pass, &pass->asks[i]);
	}
	spin_lock_irq(&pass->inst->lock);
}

/**
 * dep_pass_run() - walk along the list until enough items were found ready
 * @pass: the pass; its instance has ready_begin() behind it
 * @enough: how many more are wanted
 *
 * Polls nothing more when the caller is being killed.
 *
 * Context: process, dep_instance.mtx held, and dep_instance.lock, which it
 * drops in between; sleeps in ->poll().
 */
void dep_pass_run(struct dep_pass *pass, u32 enough)
	__must_hold(&pass->inst->lock)
{
	struct dep_instance *inst = pass->inst;

	lockdep_assert_held(&inst->mtx);
	while (!pass->over && !pass->err && pass->found < enough &&
	       !fatal_signal_pending(current)) {
		pass_take(pass, enough - pass->found);
		if (!pass->nr && pass->over)
			break;
		spin_unlock_irq(&inst->lock);
		dep_owner_provide(inst);
		pass_ask(pass);
		if (pass->results)
			dep_results_send(pass);
		else
			pass_count(pass);
		if (!pass->over)
			cond_resched();
		spin_lock_irq(&inst->lock);
		if (DEP_HAS_RING && pass->results &&
		    unlikely(pass->results->layout == DEP_LAYOUT_RING))
			pass_post(pass);
		if (pass_settle(pass))
			pass_clean(pass);
	}
}
