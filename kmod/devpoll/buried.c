// SPDX-License-Identifier: GPL-2.0
/*
 * Items of /dev/poll that are in the set although their number is not open, and
 * how they leave when a set gets the Linux face.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/sched.h>

#include "core/item.h"
#include "core/newitem.h"
#include "core/pending.h"
#include "core/trace.h"
#include "devpoll/devpoll.h"
#include "set/interest.h"
#include "set/lookup.h"
#include "set/owner.h"

/* Adds an item that has no file from the start. */
static int interest_add_buried(struct dep_instance *inst,
			       const struct dep_change *ch)
{
	struct dep_item *item;
	int err;

	/* It may shrink at this moment, but not grow. */
	if (dep_instance_nr_items(inst) >= inst->room)
		return -ENOSPC;
	item = dep_item_new(inst, NULL, ch->fd, ch->events, false, false);
	if (IS_ERR(item))
		return PTR_ERR(item);
	item->mode = ch->mode | dep_item_poll_mode(inst, ch->mode);
	item->data = ch->data;
	err = dep_owner_set(item);
	if (!err)
		err = dep_item_hook(item, false);
	if (err) {
		dep_item_discard(item);
		return err;
	}
	spin_lock_irq(&inst->lock);
	inst->stats.adds++;
	trace_devepoll_add(item);
	dep_item_bury(item);
	spin_unlock_irq(&inst->lock);
	return 0;
}

/**
 * dep_interest_bury() - put a number that is not open into the set
 * @inst: the instance, of /dev/poll
 * @ch: the number, and the events asked for; with DEP_MODE_STAY
 *
 * It is reported as not open until it is removed, or written when it is open.
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0, or
 * -ENOSPC: no room in the set, or a limit of the user;
 * -ENOMEM: no memory.
 */
int dep_interest_bury(struct dep_instance *inst, const struct dep_change *ch)
{
	struct dep_item *item;

	lockdep_assert_held(&inst->mtx);
	item = dep_interest_resolve_among(inst, NULL, ch->fd);
	if (!item)
		return interest_add_buried(inst, ch);
	spin_lock_irq(&inst->lock);
	item->data = ch->data;
	inst->stats.mods++;
	spin_unlock_irq(&inst->lock);
	return 0;
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
		for (item = first; item && keep(item);
		     item = dep_item_peer(item))
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
