/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owners of the items of a set, as a list.
 */
#ifndef DEVEPOLL_OWNERS_H
#define DEVEPOLL_OWNERS_H

#include <linux/list.h>

#include "core/instance.h"

/**
 * dep_owner_last() - who added the last item of a set
 * @inst: the instance
 *
 * The owner stays in its place, even without items, as long as M is held.
 *
 * Context: dep_instance.mtx held, or its instance locked.
 * Return: the owner; its process may have ended.
 */
static inline struct dep_owner *dep_owner_last(const struct dep_instance *inst)
{
	return list_first_entry(&inst->owners, struct dep_owner, entry);
}

/**
 * dep_owner_recount() - the owners of a set have changed
 * @inst: the instance, which is locked
 *
 * As a rule there is one, and a wait need not look for that of each item.
 */
static inline void dep_owner_recount(struct dep_instance *inst)
{
	inst->owner_files = list_is_singular(&inst->owners) ?
				    dep_owner_last(inst)->files : NULL;
}

void dep_owner_end(struct dep_instance *inst, struct dep_owner *owner);
void dep_owner_leave(struct dep_instance *inst, struct dep_owner *owner);
void dep_owner_free_spare(struct dep_instance *inst);

#endif /* DEVEPOLL_OWNERS_H */
