// SPDX-License-Identifier: GPL-2.0
/*
 * The owners of the items of a set.  Each has an item, but for the first of the
 * list, which is the last that added one: so there is at most one more than the
 * set has items.  Which process is an owner, and when another one takes its
 * place, is in set/owner.c.
 */
#include <linux/lockdep.h>
#include <linux/slab.h>

#include "core/owners.h"

/**
 * dep_owner_end() - forget an owner that has no items
 * @inst: the instance, which is locked
 * @owner: one of its owners
 */
void dep_owner_end(struct dep_instance *inst, struct dep_owner *owner)
{
	lockdep_assert_held(&inst->lock);
	list_del_init(&owner->entry);
	dep_owner_recount(inst);
	if (inst->living.owner == owner)
		inst->living.owner = NULL;
	/* Under L nothing is freed: an allocator may print, and so wake. */
	if (owner->allocated) {
		list_add(&owner->entry, &inst->spare_owners);
		WRITE_ONCE(inst->has_spare_owners, true);
	}
}

/**
 * dep_owner_leave() - an owner has an item less
 * @inst: the instance, which is locked
 * @owner: one of its owners; unless it is the first, it goes with its last item
 */
void dep_owner_leave(struct dep_instance *inst, struct dep_owner *owner)
{
	lockdep_assert_held(&inst->lock);
	owner->nr_items--;
	if (unlikely(!owner->nr_items) && owner != dep_owner_last(inst))
		dep_owner_end(inst, owner);
}

/**
 * dep_owner_free_spare() - free owners that are not needed as room
 * @inst: the instance; nothing is held but perhaps dep_instance.mtx
 */
void dep_owner_free_spare(struct dep_instance *inst)
{
	struct dep_owner *owner, *next;
	LIST_HEAD(spare);

	spin_lock_irq(&inst->lock);
	list_splice_init(&inst->spare_owners, &spare);
	/* One stays: who holds M may count on it. */
	if (!list_empty(&spare))
		list_move(spare.next, &inst->spare_owners);
	WRITE_ONCE(inst->has_spare_owners, false);
	spin_unlock_irq(&inst->lock);
	list_for_each_entry_safe(owner, next, &spare, entry)
		kfree(owner);
}
