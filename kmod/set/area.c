// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the device for results: an array that the program maps and reads.
 * The first mapping makes it, it lives as long as the instance, and the program
 * names places in it when it waits.  The kernel never reads it.  In /dev/poll the
 * program makes it and frees it: devpoll/slots.c.  A ring has such pages, too
 * (ring/ring_ioctl.c), and a set of 2001 (classic/pages.c).
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/compat.h"
#include "core/limits.h"
#include "set/area.h"

static void area_release(struct dep_area *area)
{
	vunmap(area->base);
	while (area->nr)
		put_page(area->pages[--area->nr]);
	kvfree(area->pages);
}

/* The limit is the caller's.  As with mlock(2), CAP_IPC_LOCK lifts it. */
static int area_charge(struct user_struct *user, unsigned long nr)
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
 * dep_area_make() - allocate pages, and map them for the kernel
 * @area: gets them; empty
 * @user: who pays
 * @nr: how many pages
 * @charged: how many @user pays for already, with pages that these replace
 *
 * Context: process; sleeps.
 * Return: 0, or
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it, or the caller
 * is being killed.
 */
int dep_area_make(struct dep_area *area, struct user_struct *user, u32 nr,
		  u32 charged)
{
	u32 more = nr - min(nr, charged);
	struct dep_area fresh = {};

	if (area_charge(user, more))
		return -ENOMEM;
	fresh.pages = kvcalloc(nr, sizeof(*fresh.pages), GFP_KERNEL_ACCOUNT);
	if (!fresh.pages)
		goto err_uncharge;
	for (; fresh.nr < nr; fresh.nr++) {
		struct page *page = NULL;

		if (!fatal_signal_pending(current))
			page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					  __GFP_NOWARN);
		if (!page)
			goto err_release;
		fresh.pages[fresh.nr] = page;
		cond_resched();
	}
	fresh.base = vmap(fresh.pages, nr, VM_MAP, PAGE_KERNEL);
	if (!fresh.base)
		goto err_release;
	area->pages = fresh.pages;
	area->base = fresh.base;
	/* Pairs with dep_area_find(): a reader of the length sees the rest. */
	smp_store_release(&area->nr, nr);
	return 0;

err_release:
	area_release(&fresh);
err_uncharge:
	atomic_long_sub(more, &user->locked_vm);
	return -ENOMEM;
}

/**
 * dep_area_free() - free pages, if there are any
 * @area: the pages, which nobody can reach any more
 * @user: who has paid for them
 * @kept: how many @user goes on paying for, with pages that replace these
 */
void dep_area_free(struct dep_area *area, struct user_struct *user, u32 kept)
{
	u32 less = area->nr - min(area->nr, kept);

	if (!area->nr)
		return;
	area_release(area);
	atomic_long_sub(less, &user->locked_vm);
}

/**
 * dep_area_fault() - answer a fault in a mapping of pages
 * @vmf: the fault
 * @area: the pages
 * @first: the first of those that are mapped
 * @nr: how many are
 *
 * Return: VM_FAULT_*.
 */
vm_fault_t dep_area_fault(struct vm_fault *vmf, const struct dep_area *area,
			  u32 first, u32 nr)
{
	/* Mappings begin at this offset or twice as far, or at 0. */
	pgoff_t at = vmf->pgoff & ((DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT) - 1);

	if (at >= nr)
		return VM_FAULT_SIGBUS;
	vmf->page = area->pages[first + at];
	get_page(vmf->page);
	return 0;
}

/**
 * dep_area_vm_open() - count a mapping
 * @vma: the mapping, of an instance
 */
void dep_area_vm_open(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_inc(&inst->mappings);
}

/**
 * dep_area_vm_close() - count a mapping no more
 * @vma: the mapping, of an instance
 */
void dep_area_vm_close(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_dec(&inst->mappings);
}

/**
 * dep_area_vm_fault() - the fault handler of all mappings of the memory
 * @vmf: the fault
 *
 * Return: VM_FAULT_*.
 */
vm_fault_t dep_area_vm_fault(struct vm_fault *vmf)
{
	const struct dep_instance *inst = vmf->vma->vm_private_data;

	return dep_area_fault(vmf, &inst->area, 0, inst->area.nr);
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
	unsigned long nr = vma_pages(vma);
	int err;

	/* A set of 2001 and a signal set have no use for it. */
	if (READ_ONCE(inst->classic) || READ_ONCE(inst->onesig))
		return -EBUSY;
	mutex_lock(&inst->map_lock);
	if (nr > DEP_AREA_PAGES_MOST)
		err = -EINVAL;
	else if (inst->area.nr)
		err = inst->area.nr == nr ? 0 : -EINVAL;
	else if (!(vma->vm_file->f_mode & FMODE_WRITE))
		err = -EACCES;
	else
		err = dep_area_make(&inst->area, inst->user, nr, 0);
	mutex_unlock(&inst->map_lock);
	if (!err)
		dep_area_give(inst, vma, &area_vm_ops);
	return err;
}
