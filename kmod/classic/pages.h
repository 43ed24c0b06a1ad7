/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two page sets that the program maps: the sink of the classic interface.
 */
#ifndef DEVEPOLL_PAGES_H
#define DEVEPOLL_PAGES_H

#include "classic/turn.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/trace.h"
#include "core/waiter.h"

struct vm_area_struct;

int dep_pages_alloc(struct dep_instance *inst, u32 room);
int dep_pages_retire(struct dep_instance *inst);
void dep_pages_free(struct dep_instance *inst);
int dep_pages_map(struct dep_instance *inst, struct vm_area_struct *vma);

/**
 * dep_pages_offset() - find the page set that gets the events which wait
 * @inst: the instance; the answer got without its lock is for dep_pages_take()
 *
 * Return: the offset of the page set being filled, in bytes.
 */
static inline unsigned long dep_pages_offset(const struct dep_instance *inst)
{
	const struct dep_pages *pages = &inst->pages;

	return READ_ONCE(inst->snapshot) & 1 ?
	       READ_ONCE(pages->per_set) * EP_PAGE_SIZE : 0;
}

/**
 * dep_pages_take() - hand the page set being filled to the program
 * @inst: the instance
 * @turn: the turn in which the calling wait began
 * @offset: what dep_pages_offset() returned and the program was told
 *
 * Return: the number of slots; 0 if there are none that this call may take, or
 * if they are at another offset by now.
 */
static __always_inline u32
dep_pages_take(struct dep_instance *inst, u64 turn, unsigned long offset)
{
	u32 nr = 0;

	spin_lock_irq(&inst->lock);
	if (dep_turn_may_take(inst, turn) &&
	    dep_pages_offset(inst) == offset) {
		nr = inst->pending;
		if (nr) {
			WRITE_ONCE(inst->pending, 0);
			WRITE_ONCE(inst->snapshot, inst->snapshot + 1);
			inst->stats.takes++;
			inst->stats.taken += nr;
			trace_devepoll_harvest(inst, nr);
			dep_turn_end(inst);
			/* A waiter woken for both took just these. */
			if (!list_empty(&inst->ready))
				dep_instance_wake(inst);
		}
	}
	spin_unlock_irq(&inst->lock);
	/* From here on the program reads newer data: see dep_watch_wake(). */
	smp_mb();
	return nr;
}

#endif /* DEVEPOLL_PAGES_H */
