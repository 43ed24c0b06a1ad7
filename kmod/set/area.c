// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the device for results: an array that the program maps and reads.
 * The first mapping makes it, it lives as long as the instance, and the program
 * names places in it when it waits.  The kernel never reads it.  In /dev/poll the
 * program makes it and frees it: devpoll/slots.c.  A ring has such pages, too:
 * ring/ring_memory.c.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "core/limits.h"
#include "set/area.h"

/**
 * dep_area_release() - free pages
 * @area: where they stand
 * @nr: how many places there are, some of which may be empty
 */
void dep_area_release(struct dep_area *area, u32 nr)
{
	u32 i;

	vunmap(area->base);
	for (i = 0; i < nr; i++) {
		if (area->pages[i])
			put_page(area->pages[i]);
	}
	kvfree(area->pages);
}

/**
 * dep_area_fill() - allocate pages, and map them for the kernel
 * @area: gets them
 * @nr: how many
 *
 * Context: process; sleeps.
 * Return: 0, or
 * -ENOMEM: no memory, or the cgroup forbids it.
 */
int dep_area_fill(struct dep_area *area, u32 nr)
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
	dep_area_release(area, nr);
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
	err = dep_area_fill(area, nr);
	if (err) {
		dep_uncharge_pages(inst->user, nr);
		return err;
	}
	/* Pairs with dep_area_find(): a reader of the length sees the rest. */
	smp_store_release(&area->nr, nr);
	return 0;
}

/**
 * dep_area_vm_fault() - the fault handler of all mappings of the memory
 * @vmf: the fault
 *
 * Return: VM_FAULT_*.
 */
vm_fault_t dep_area_vm_fault(struct vm_fault *vmf)
{
	struct dep_instance *inst = vmf->vma->vm_private_data;
	/* The memory begins at this offset, or, in /dev/poll, at 0. */
	pgoff_t nr = vmf->pgoff & ((DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT) - 1);

	if (nr >= inst->area.nr)
		return VM_FAULT_SIGBUS;
	vmf->page = inst->area.pages[nr];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct area_vm_ops = {
	.fault = dep_area_vm_fault,
};

/**
 * dep_area_give() - let a program read the memory
 * @inst: the instance
 * @vma: the area that mmap(2) has set up so far
 * @ops: its operations
 *
 * Programs may ask for PROT_WRITE; they only read.
 */
void dep_area_give(struct dep_instance *inst, struct vm_area_struct *vma,
		   const struct vm_operations_struct *ops)
{
	vm_flags_mod(vma, VM_DONTEXPAND,
		     VM_WRITE | VM_MAYWRITE | VM_EXEC | VM_MAYEXEC);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	vma->vm_private_data = inst;
	vma->vm_ops = ops;
}

/**
 * dep_area_map() - map the memory read-only for the program
 * @inst: the instance; it outlives the mapping, which holds its file
 * @vma: the area that mmap(2) has set up so far, at DEVEPOLL_MAP_EVENTS
 *
 * The first mapping allocates the memory.
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0;
 * -EINVAL: too large, or not the size of the first mapping;
 * -EACCES: the first mapping, of an open that can't change the set;
 * -EBUSY: a set of the 2001 interface, or a signal set;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it.
 */
int dep_area_map(struct dep_instance *inst, struct vm_area_struct *vma)
{
	int err;

	/* A set of 2001 and a signal set have no use for it. */
	if (READ_ONCE(inst->classic) || READ_ONCE(inst->onesig))
		return -EBUSY;
	mutex_lock(&inst->map_lock);
	if (vma_pages(vma) > DEP_AREA_PAGES_MOST)
		err = -EINVAL;
	else if (!inst->area.nr && !(vma->vm_file->f_mode & FMODE_WRITE))
		err = -EACCES;
	else
		err = area_make(inst, vma_pages(vma));
	mutex_unlock(&inst->map_lock);
	if (!err)
		dep_area_give(inst, vma, &area_vm_ops);
	return err;
}

/**
 * dep_area_free() - free the memory, if there is any
 * @inst: the instance; it is not mapped, and nobody else can reach it any more
 */
void dep_area_free(struct dep_instance *inst)
{
	u32 nr = inst->area.nr;

	if (!nr)
		return;
	dep_area_release(&inst->area, nr);
	dep_uncharge_pages(inst->user, nr);
}
