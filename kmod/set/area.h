/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of the device to which the extended interface, or /dev/poll, can write
 * results.  Pages that the kernel holds for a user count against RLIMIT_MEMLOCK.
 */
#ifndef DEVEPOLL_AREA_H
#define DEVEPOLL_AREA_H

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include <linux/devepoll.h>

#include "core/instance.h"

struct vm_operations_struct;

/**
 * dep_charge_pages() - charge pages to a user
 * @user: who pays
 * @nr: how many pages
 *
 * The limit is the caller's.  As with mlock(2), CAP_IPC_LOCK lifts it.
 *
 * Return: 0, or -ENOMEM above the limit.
 */
static inline int dep_charge_pages(struct user_struct *user, unsigned long nr)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long before = atomic_long_read(&user->locked_vm);

	do {
		if (before + nr > limit && !capable(CAP_IPC_LOCK))
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &before,
					  before + nr));
	return 0;
}

/**
 * dep_uncharge_pages() - take back a charge
 * @user: who was charged
 * @nr: how many pages
 */
static inline void dep_uncharge_pages(struct user_struct *user,
				      unsigned long nr)
{
	atomic_long_sub(nr, &user->locked_vm);
}

int dep_area_fill(struct dep_area *area, u32 nr);
void dep_area_release(struct dep_area *area, u32 nr);
vm_fault_t dep_area_vm_fault(struct vm_fault *vmf);
void dep_area_give(struct dep_instance *inst, struct vm_area_struct *vma,
		   const struct vm_operations_struct *ops);
int dep_area_map(struct dep_instance *inst, struct vm_area_struct *vma);
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

#endif /* DEVEPOLL_AREA_H */
