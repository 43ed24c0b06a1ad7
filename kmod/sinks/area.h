/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of the device to which the extended interface, or /dev/poll, can write
 * results.
 */
#ifndef DEVEPOLL_AREA_H
#define DEVEPOLL_AREA_H

#include <linux/devepoll.h>

#include "core/instance.h"
#include "sinks/results.h"

struct vm_area_struct;

int dep_area_map(struct dep_instance *inst, struct vm_area_struct *vma);
int dep_area_alloc(struct dep_instance *inst, u32 slots);
int dep_area_retire(struct dep_instance *inst);
int dep_area_map_slots(struct dep_instance *inst, struct vm_area_struct *vma);
void dep_area_free(struct dep_instance *inst);

/**
 * dep_area_find() - find a place for results
 * @inst: the instance
 * @offset: where it begins, in bytes
 * @nr: for how many events
 *
 * Return: the place, which is valid as long as the instance lives, or NULL if
 * it is not within the mapping or not aligned.
 */
static inline struct devepoll_event *dep_area_find(struct dep_instance *inst,
						   u64 offset, u32 nr)
{
	/* Pairs with the release in area_make(). */
	u64 size = (u64)smp_load_acquire(&inst->area.nr) << PAGE_SHIFT;
	u64 length = (u64)nr * sizeof(struct devepoll_event);

	if (offset % sizeof(struct devepoll_event) || offset > size ||
	    length > size - offset)
		return NULL;
	return inst->area.base + offset;
}

/**
 * dep_area_pin() - let a call of /dev/poll write to the memory
 * @inst: the instance
 * @results: the results of the call; told where they go and how many fit
 *
 * The call counts as a mapping until dep_area_unpin(), so the memory stays.
 *
 * Return: false if the memory is not mapped.
 */
static inline bool dep_area_pin(struct dep_instance *inst,
				struct dep_results *results)
{
	if (!atomic_inc_not_zero(&inst->mappings))
		return false;
	results->kernel = inst->area.base;
	results->max = min(results->max, inst->area.slots);
	return true;
}

/**
 * dep_area_is_used() - is the memory mapped, or does a call write to it?
 * @inst: the instance; dep_instance.map_lock is held
 *
 * Return: true if either is so.
 */
static inline bool dep_area_is_used(struct dep_instance *inst)
{
	return atomic_read_acquire(&inst->mappings);
}

/**
 * dep_area_unpin() - end what dep_area_pin() began
 * @inst: the instance
 */
static inline void dep_area_unpin(struct dep_instance *inst)
{
	/* Pairs with dep_area_is_used(). */
	(void)atomic_dec_return_release(&inst->mappings);
}

#endif /* DEVEPOLL_AREA_H */
