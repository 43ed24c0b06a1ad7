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
	if (inst->living.owner == owner)
		inst->living.owner = NULL;
	if (owner->allocated)
		kfree(owner);
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
