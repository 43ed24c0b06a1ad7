// SPDX-License-Identifier: GPL-2.0
/*
 * The owners of the items of a set.  Each has an item, but for the first of the
 * list, which is the last that added one: so there is at most one more than the
 * set has items.  Which process is an owner, and when another one takes its
 * place, is in set/owner.c.
 */
#include <linux/lockdep.h>

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
	/* Under L nothing is freed: an allocator may print, and so wake. */
	if (owner->allocated)
		list_add(&owner->entry, &inst->spare_owners);
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
 * dep_owner_surplus() - take out an owner that is not needed as room
 * @inst: the instance, which is locked
 *
 * Return: memory to free without the lock, or NULL.
 */
struct dep_owner *dep_owner_surplus(struct dep_instance *inst)
{
	struct dep_owner *owner;

	lockdep_assert_held(&inst->lock);
	if (likely(list_empty(&inst->spare_owners)) ||
	    list_is_singular(&inst->spare_owners))
		return NULL;
	owner = list_first_entry(&inst->spare_owners, struct dep_owner, entry);
	list_del(&owner->entry);
	return owner;
}
