/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of the device to which the extended interface, or /dev/poll, can write
 * results.  Pages that the kernel holds for a user count against RLIMIT_MEMLOCK.
 */
#ifndef DEVEPOLL_AREA_H
#define DEVEPOLL_AREA_H

#include <linux/mm.h>

#include <linux/devepoll.h>

#include "core/instance.h"

struct vm_operations_struct;

int dep_area_make(struct dep_area *area, struct user_struct *user, u32 nr,
		  u32 charged);
void dep_area_free(struct dep_area *area, struct user_struct *user, u32 kept);
vm_fault_t dep_area_fault(struct vm_fault *vmf, const struct dep_area *area,
			  u32 first, u32 nr);
void dep_area_vm_open(struct vm_area_struct *vma);
void dep_area_vm_close(struct vm_area_struct *vma);
vm_fault_t dep_area_vm_fault(struct vm_fault *vmf);
void dep_area_give(struct dep_instance *inst, struct vm_area_struct *vma,
		   const struct vm_operations_struct *ops);
int dep_area_map(struct dep_instance *inst, struct vm_area_struct *vma);

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
	/* Pairs with the release in dep_area_make(). */
	u64 size = (u64)smp_load_acquire(&inst->area.nr) << PAGE_SHIFT;
	u64 length = (u64)nr * sizeof(struct devepoll_event);

	if (offset % sizeof(struct devepoll_event) || offset > size ||
	    length > size - offset)
		return NULL;
	return inst->area.base + offset;
}

#endif /* DEVEPOLL_AREA_H */
