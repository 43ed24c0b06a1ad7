/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a set is to /dev/poll, its memory for results, and its items whose
 * number is not open.
 */
#ifndef DEVEPOLL_DEVPOLL_H
#define DEVEPOLL_DEVPOLL_H

#include <linux/types.h>

#include "core/instance.h"
#include "set/results.h"

struct dep_change;
struct dep_item;
struct vm_area_struct;

/**
 * enum dep_devpoll - what a set is to /dev/poll
 * @DEP_DEVPOLL_NOT: a set of /dev/epoll
 * @DEP_DEVPOLL_OPEN: a set whose face no request has decided yet
 * @DEP_DEVPOLL_LINUX: a set with the Linux face: a write replaces
 * @DEP_DEVPOLL_SOLARIS: a set with the Solaris face: a write adds
 */
enum dep_devpoll {
	DEP_DEVPOLL_NOT,
	DEP_DEVPOLL_OPEN,
	DEP_DEVPOLL_LINUX,
	DEP_DEVPOLL_SOLARIS,
};

int dep_interest_bury(struct dep_instance *inst, const struct dep_change *ch);
void dep_interest_sift(struct dep_instance *inst,
		       bool (*keep)(struct dep_item *item));

int dep_slots_alloc(struct dep_instance *inst, u32 slots);
int dep_slots_retire(struct dep_instance *inst);
int dep_slots_map(struct dep_instance *inst, struct vm_area_struct *vma);

/**
 * dep_slots_pin() - let a call of /dev/poll write to the memory
 * @inst: the instance
 * @results: the results of the call; told where they go and how many fit
 *
 * The call counts as a mapping until dep_slots_unpin(), so the memory stays.
 *
 * Return: false if the memory is not mapped.
 */
static inline bool dep_slots_pin(struct dep_instance *inst,
				 struct dep_results *results)
{
	if (!atomic_inc_not_zero(&inst->mappings))
		return false;
	results->kernel = inst->area.base;
	results->max = min(results->max, inst->area.slots);
	return true;
}

/**
 * dep_slots_are_used() - is the memory mapped, or does a call write to it?
 * @inst: the instance; dep_instance.map_lock is held
 *
 * Return: true if either is so.
 */
static inline bool dep_slots_are_used(struct dep_instance *inst)
{
	return atomic_read_acquire(&inst->mappings);
}

/**
 * dep_slots_unpin() - end what dep_slots_pin() began
 * @inst: the instance
 */
static inline void dep_slots_unpin(struct dep_instance *inst)
{
	/* Pairs with dep_slots_are_used(). */
	(void)atomic_dec_return_release(&inst->mappings);
}

#endif /* DEVEPOLL_DEVPOLL_H */
