/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two page sets that the program maps: the sink of the classic interface.
 */
#ifndef DEVEPOLL_PAGES_H
#define DEVEPOLL_PAGES_H

#include "core/instance.h"
#include "core/item.h"

struct vm_area_struct;

extern const struct dep_sink dep_pages_sink;

int dep_pages_alloc(struct dep_instance *inst, u32 room);
int dep_pages_retire(struct dep_instance *inst);
void dep_pages_free(struct dep_instance *inst);
int dep_pages_map(struct dep_instance *inst, struct vm_area_struct *vma);
u32 dep_pages_take(struct dep_instance *inst, u64 turn, unsigned long offset);

/**
 * dep_pages_offset() - find the page set that gets the events which wait
 * @inst: the instance; the answer got without its lock is for dep_pages_take()
 *
 * Return: the offset of the page set being filled, in bytes.
 */
static inline unsigned long dep_pages_offset(const struct dep_instance *inst)
{
	const struct dep_pages *pages = &inst->pages;

	return READ_ONCE(pages->snapshot) & 1 ?
	       READ_ONCE(pages->per_set) * PAGE_SIZE : 0;
}

#endif /* DEVEPOLL_PAGES_H */
