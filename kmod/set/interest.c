// SPDX-License-Identifier: GPL-2.0
/*
 * The interest list: adding and removing items.  control.c has the changes that
 * programs request.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/sched.h>

#include "core/item.h"
#include "core/nest.h"
#include "core/trace.h"
#include "files/filekind.h"
#include "files/table.h"
#include "set/interest.h"
#include "set/owner.h"

/**
 * dep_item_drop() - take an unhooked item off its watch
 * @item: the item; it may be freed after this
 * @tell: it may get a last event
 *
 * Context: process, with a reference on the set's file; dep_instance.mtx need
 * not be held.
 */
void dep_item_drop(struct dep_item *item, bool tell)
{
	struct dep_instance *inst = item->inst;
	struct dep_leaf *leaf;

	dep_watch_detach(item);
	if (!tell || !(item->mode & DEP_MODE_TELL_CLOSED)) {
		dep_item_free(item);
		return;
	}
	spin_lock_irq(&inst->lock);
	leaf = dep_item_close(item);
	spin_unlock_irq(&inst->lock);
	dep_fdmap_free_leaf(leaf);
}

/* Makes an item, up to the point where it is hooked. */
static struct dep_item *interest_new_item(struct dep_instance *inst,
					  struct file *file,
					  const struct dep_change *ch)
{
	struct dep_instance *inner = dep_instance_of(file);
	struct dep_item *item;
	struct dep_nest *nest;
	int err;

	if (dep_file_is_epoll(file) || (inner && !inst->extended))
		return ERR_PTR(-ELOOP);
	/* It may shrink at this moment, but not grow. */
	if (READ_ONCE(inst->nr_items) >= inst->room)
		return ERR_PTR(-ENOSPC);
	item = dep_item_new(inst, file, ch->fd, ch->events);
	if (IS_ERR(item))
		return item;
	item->mode = ch->mode;
	if (dep_file_consumes(file))
		item->mode |= DEP_MODE_KEEP;
	item->data = ch->data;
	if (ch->mode & DEP_MODE_TRUST)
		item->needs_poll &= DEP_NEEDS_POLL;
	dep_owner_set(item);
	err = unlikely(inst->sink->join) ? inst->sink->join(item) : 0;
	if (err) {
		dep_item_discard(item);
		return ERR_PTR(err);
	}
	if (inner) {
		nest = dep_nest_link(inst, inner);
		if (IS_ERR(nest)) {
			dep_item_discard(item);
			return ERR_CAST(nest);
		}
		item->nest = nest;
		item->mode |= DEP_MODE_NEST;
	}
	return item;
}

/**
 * dep_interest_add() - add a file
 * @inst: the instance; it has no item of this number and file
 * @file: the file, on which the caller has a reference
 * @ch: the number, and the events asked for
 *
 * What is ready already is posted.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: as dep_interest_set() for an fd that is added.
 */
int dep_interest_add(struct dep_instance *inst, struct file *file,
		     const struct dep_change *ch)
{
	struct dep_item *item;
	u16 ready;
	int err;

	item = interest_new_item(inst, file, ch);
	if (IS_ERR(item))
		return PTR_ERR(item);
	err = dep_item_hook(item);
	if (err) {
		dep_item_discard(item);
		return err;
	}
	err = dep_watch_attach(item, &ready);

	/* The file is ours and M is held: the item is still hooked. */
	if (unlikely(err)) {
		spin_lock_irq(&inst->lock);
		dep_item_unhook(item);
		spin_unlock_irq(&inst->lock);
		dep_item_drop(item, false);
		return err;
	}
	inst->stats.adds++;
	trace_devepoll_add(item);
	/* Often there is nothing to post, and L is not needed again. */
	if (ready & ch->events) {
		spin_lock_irq(&inst->lock);
		dep_item_post(item, ready, false);
		spin_unlock_irq(&inst->lock);
	}
	return 0;
}

static __always_inline struct dep_item *
interest_unhook(struct dep_instance *inst, int fd)
{
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	spin_lock_irq(&inst->lock);
	item = dep_owner_claim(dep_fdmap_find(&inst->interest, fd));
	if (item) {
		trace_devepoll_remove(item);
		inst->stats.dels++;
		dep_item_unhook(item);
	}
	spin_unlock_irq(&inst->lock);
	return item;
}

/**
 * dep_interest_unhook() - remove an fd from the set, and free nothing yet
 * @inst: the instance
 * @fd: the number, as for dep_interest_remove()
 *
 * Context: process, dep_instance.mtx held.
 * Return: the item, for dep_item_drop(), which needs no M; NULL if it was not
 * in the set.
 */
struct dep_item *dep_interest_unhook(struct dep_instance *inst, int fd)
{
	return interest_unhook(inst, fd);
}

/**
 * dep_interest_remove() - remove an fd, by its number alone
 * @inst: the instance
 * @fd: the number, in the files of the caller
 *
 * No event of the fd is pending after this.  An item of another process that is
 * alive stays, unless the number names its file here too.
 *
 * Context: process, dep_instance.mtx held.
 * Return: true if it was in the set.
 */
bool dep_interest_remove(struct dep_instance *inst, int fd)
{
	struct dep_item *item = interest_unhook(inst, fd);

	if (item)
		dep_item_drop(item, false);
	return item;
}

/* With no item hooked, only closed ones are on the ready list. */
static void interest_clear_closed(struct dep_instance *inst)
{
	struct dep_item *item;

	do {
		spin_lock_irq(&inst->lock);
		item = list_first_entry_or_null(&inst->ready, struct dep_item,
						ready);
		if (item)
			dep_item_unlist(item);
		spin_unlock_irq(&inst->lock);
		if (item)
			dep_item_discard(item);
		cond_resched();
	} while (item);
}

/**
 * dep_interest_clear() - remove all fds
 * @inst: the instance
 *
 * This includes closed items whose last event has not been taken.
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_interest_clear(struct dep_instance *inst)
{
	struct dep_item *item;
	unsigned int fd = 0;

	lockdep_assert_held(&inst->mtx);
	do {
		spin_lock_irq(&inst->lock);
		item = dep_fdmap_next(&inst->interest, &fd);
		if (item)
			dep_item_unhook(item);
		spin_unlock_irq(&inst->lock);
		if (item)
			dep_item_drop(item, false);
		cond_resched();
	} while (item);
	interest_clear_closed(inst);
}

/**
 * dep_interest_sift() - change all items, or remove them
 * @inst: the instance
 * @keep: changes an item, with its instance locked, maybe more than once;
 *	returns false if the item is to be removed
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_interest_sift(struct dep_instance *inst,
		       bool (*keep)(struct dep_item *item))
{
	struct dep_item *first, *item;
	unsigned int fd = 0;

	lockdep_assert_held(&inst->mtx);
	do {
		spin_lock_irq(&inst->lock);
		first = dep_fdmap_next(&inst->interest, &fd);
		for (item = first; item && keep(item); item = item->peer)
			;
		if (item)
			dep_item_unhook(item);
		spin_unlock_irq(&inst->lock);
		/* The number may have other items. */
		if (item)
			dep_item_drop(item, false);
		else
			fd++;
		cond_resched();
	} while (first);
}
