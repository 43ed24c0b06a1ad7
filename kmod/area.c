// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the device for results of the extended interface: an array that
 * the program maps and reads, and names places in when it waits.  It comes
 * with the first mapping and stays as long as the instance.  Nothing is read
 * back from it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "area.h"
#include "charge.h"
#include "compat.h"
#include "limits.h"

static void area_release(struct dep_area *area, u32 nr)
{
	u32 i;

	vunmap(area->base);
	for (i = 0; i < nr; i++) {
		if (area->pages[i])
			put_page(area->pages[i]);
	}
	kvfree(area->pages);
}

static int area_fill(struct dep_area *area, u32 nr)
{
	u32 i;

	area->base = NULL;
	area->pages = kvcalloc(nr, sizeof(*area->pages), GFP_KERNEL_ACCOUNT);
	if (!area->pages)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		area->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					    __GFP_NOWARN);
		if (!area->pages[i])
			goto err_release;
	}
	area->base = vmap(area->pages, nr, VM_MAP, PAGE_KERNEL);
	if (area->base)
		return 0;

err_release:
	area_release(area, nr);
	return -ENOMEM;
}

static int area_make(struct dep_instance *inst, u32 nr)
{
	struct dep_area *area = &inst->area;
	int err;

	lockdep_assert_held(&inst->map_lock);
	if (area->nr)
		return area->nr == nr ? 0 : -EINVAL;
	if (nr > DEP_AREA_PAGES_MOST)
		return -EINVAL;
	err = dep_charge_pages(inst->user, nr);
	if (err)
		return err;
	err = area_fill(area, nr);
	if (err) {
		dep_uncharge_pages(inst->user, nr);
		return err;
	}
	/* Pairs with dep_area_find(): whoever sees the length sees the rest. */
	smp_store_release(&area->nr, nr);
	return 0;
}

static vm_fault_t area_vm_fault(struct vm_fault *vmf)
{
	struct dep_instance *inst = vmf->vma->vm_private_data;
	pgoff_t nr = vmf->pgoff - (DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT);

	if (nr >= inst->area.nr)
		return VM_FAULT_SIGBUS;
	vmf->page = inst->area.pages[nr];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct area_vm_ops = {
	.fault = area_vm_fault,
};

/**
 * dep_area_map() - map the memory for the program, to read
 * @inst: the instance; it lives as long as the mapping, which has its file
 * @vma: what mmap(2) has made so far, at DEVEPOLL_MAP_EVENTS
 *
 * The first mapping makes the memory.
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0;
 * -EINVAL: too large, or another size than before;
 * -EBUSY: a set of the 2001 interface;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it.
 */
int dep_area_map(struct dep_instance *inst, struct vm_area_struct *vma)
{
	int err;

	/* A set of 2001 has no use for it. */
	if (READ_ONCE(inst->classic))
		return -EBUSY;
	mutex_lock(&inst->map_lock);
	err = vma_pages(vma) > DEP_AREA_PAGES_MOST ? -EINVAL :
	      area_make(inst, vma_pages(vma));
	mutex_unlock(&inst->map_lock);
	if (err)
		return err;

	vm_flags_mod(vma, VM_DONTEXPAND,
		     VM_WRITE | VM_MAYWRITE | VM_EXEC | VM_MAYEXEC);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	vma->vm_private_data = inst;
	vma->vm_ops = &area_vm_ops;
	return 0;
}

/**
 * dep_area_free() - free the memory, if there is any
 * @inst: the instance; it is not mapped, and nobody else knows it any more
 */
void dep_area_free(struct dep_instance *inst)
{
	u32 nr = inst->area.nr;

	if (!nr)
		return;
	area_release(&inst->area, nr);
	dep_uncharge_pages(inst->user, nr);
}
