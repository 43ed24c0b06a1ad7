// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for the results of a set of /dev/poll: the program makes it and frees
 * it, and its mappings are counted.  And items that are in the set although
 * their number is not open, and how they leave when a set gets the Linux face.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include <linux/devepoll.h>

#include "core/host.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/trace.h"
#include "devpoll/devpoll.h"
#include "set/area.h"
#include "set/interest.h"
#include "set/owner.h"

static void slots_vm_open(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_inc(&inst->mappings);
}

static void slots_vm_close(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_dec(&inst->mappings);
}

static const struct vm_operations_struct slots_vm_ops = {
	.fault = dep_area_vm_fault,
	.open = slots_vm_open,
	.close = slots_vm_close,
};

/* Replaces the memory by @fresh, whose surplus over it is charged already. */
static void slots_replace(struct dep_instance *inst, struct dep_area fresh)
{
	struct dep_area old = inst->area;

	lockdep_assert_held(&inst->map_lock);
	inst->area = fresh;
	if (old.nr)
		dep_area_release(&old, old.nr);
	if (old.nr > fresh.nr)
		dep_uncharge_pages(inst->user, old.nr - fresh.nr);
}

/**
 * dep_slots_alloc() - make the memory of a set of /dev/poll
 * @inst: the instance
 * @slots: for how many results
 *
 * It replaces the memory that an earlier call made.
 *
 * Context: process.
 * Return: 0;
 * -EPERM: the memory is mapped, or a call writes to it;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it.
 */
int dep_slots_alloc(struct dep_instance *inst, u32 slots)
{
	struct dep_area fresh = { .nr = PFN_UP(slots * sizeof(struct pollfd)),
				  .slots = slots };
	u32 more;
	int err;

	mutex_lock(&inst->map_lock);
	err = -EPERM;
	if (dep_slots_are_used(inst))
		goto out;
	more = fresh.nr - min(fresh.nr, inst->area.nr);
	err = dep_charge_pages(inst->user, more);
	if (err)
		goto out;
	err = dep_area_fill(&fresh, fresh.nr);
	if (err)
		dep_uncharge_pages(inst->user, more);
	else
		slots_replace(inst, fresh);
out:
	mutex_unlock(&inst->map_lock);
	return err;
}

/**
 * dep_slots_retire() - free the memory of a set of /dev/poll
 * @inst: the instance
 *
 * Context: process.
 * Return: 0;
 * -EINVAL: there is none;
 * -EBUSY: the memory is mapped, or a call writes to it.
 */
int dep_slots_retire(struct dep_instance *inst)
{
	int err = 0;

	mutex_lock(&inst->map_lock);
	if (!inst->area.nr)
		err = -EINVAL;
	else if (dep_slots_are_used(inst))
		err = -EBUSY;
	else
		slots_replace(inst, (struct dep_area) {});
	mutex_unlock(&inst->map_lock);
	return err;
}

/**
 * dep_slots_map() - map the memory of a set of /dev/poll
 * @inst: the instance; it outlives the mapping, which holds its file
 * @vma: the area that mmap(2) has set up so far
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0;
 * -EINVAL: there is no memory, or the mapping does not cover all of it.
 */
int dep_slots_map(struct dep_instance *inst, struct vm_area_struct *vma)
{
	int err = -EINVAL;

	mutex_lock(&inst->map_lock);
	if (inst->area.nr && !vma->vm_pgoff &&
	    vma_pages(vma) == inst->area.nr) {
		dep_area_give(inst, vma, &slots_vm_ops);
		atomic_inc(&inst->mappings);
		err = 0;
	}
	mutex_unlock(&inst->map_lock);
	return err;
}

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
