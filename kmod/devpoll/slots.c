// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for the results of a set of /dev/poll: the program makes it and frees
 * it, and its mappings are counted.
 */
#include <linux/mm.h>

#include <linux/devepoll.h>

#include "core/charge.h"
#include "devpoll/slots.h"
#include "set/area.h"

static void slots_vm_open(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_inc(&inst->mappings);
}

static void slots_vm_close(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_dec(&inst->mappings);
}

static const struct vm_operations_struct slots_vm_ops = {
	.fault = dep_area_vm_fault,
	.open = slots_vm_open,
	.close = slots_vm_close,
};

/* Replaces the memory by @fresh, whose surplus over it is charged already. */
static void slots_replace(struct dep_instance *inst, struct dep_area fresh)
{
	struct dep_area old = inst->area;

	lockdep_assert_held(&inst->map_lock);
	inst->area = fresh;
	if (old.nr)
		dep_area_release(&old, old.nr);
	if (old.nr > fresh.nr)
		dep_uncharge_pages(inst->user, old.nr - fresh.nr);
}

/**
 * dep_slots_alloc() - make the memory of a set of /dev/poll
 * @inst: the instance
 * @slots: for how many results
 *
 * It replaces the memory that an earlier call made.
 *
 * Context: process.
 * Return: 0;
 * -EPERM: the memory is mapped, or a call writes to it;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it.
 */
int dep_slots_alloc(struct dep_instance *inst, u32 slots)
{
	struct dep_area fresh = { .nr = EP_FDS_PAGES(slots), .slots = slots };
	u32 more;
	int err;

	mutex_lock(&inst->map_lock);
	err = -EPERM;
	if (dep_slots_are_used(inst))
		goto out;
	more = fresh.nr - min(fresh.nr, inst->area.nr);
	err = dep_charge_pages(inst->user, more);
	if (err)
		goto out;
	err = dep_area_fill(&fresh, fresh.nr);
	if (err)
		dep_uncharge_pages(inst->user, more);
	else
		slots_replace(inst, fresh);
out:
	mutex_unlock(&inst->map_lock);
	return err;
}

/**
 * dep_slots_retire() - free the memory of a set of /dev/poll
 * @inst: the instance
 *
 * Context: process.
 * Return: 0;
 * -EINVAL: there is none;
 * -EBUSY: the memory is mapped, or a call writes to it.
 */
int dep_slots_retire(struct dep_instance *inst)
{
	int err = 0;

	mutex_lock(&inst->map_lock);
	if (!inst->area.nr)
		err = -EINVAL;
	else if (dep_slots_are_used(inst))
		err = -EBUSY;
	else
		slots_replace(inst, (struct dep_area) {});
	mutex_unlock(&inst->map_lock);
	return err;
}

/**
 * dep_slots_map() - map the memory of a set of /dev/poll
 * @inst: the instance; it outlives the mapping, which holds its file
 * @vma: the area that mmap(2) has set up so far
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0;
 * -EINVAL: there is no memory, or the mapping does not cover all of it.
 */
int dep_slots_map(struct dep_instance *inst, struct vm_area_struct *vma)
{
	int err = -EINVAL;

	mutex_lock(&inst->map_lock);
	if (inst->area.nr && !vma->vm_pgoff &&
	    vma_pages(vma) == inst->area.nr) {
		dep_area_give(inst, vma, &slots_vm_ops);
		atomic_inc(&inst->mappings);
		err = 0;
	}
	mutex_unlock(&inst->map_lock);
	return err;
}
