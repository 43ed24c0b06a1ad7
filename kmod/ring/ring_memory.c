// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a ring: making, freeing and mapping it.
 * Read the banner of ring.c first.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/limits.h"
#include "ring/ring.h"
#include "set/area.h"

/* The word, the slots, and the index, which the program does not map. */
static int ring_fill(struct dep_ring *ring)
{
	int err = dep_area_fill(&ring->area, ring->area.nr);

	if (err)
		return err;
	ring->word = ring->area.base;
	ring->slots = ring->area.base + PAGE_SIZE;
	ring->items = ring->slots + ring->slot_pages * PAGE_SIZE;
	ring->set = ring->slots;
	return 0;
}

/**
 * dep_ring_make() - give a set a ring, for ever
 * @inst: the instance, of the extended interface, with no ring and no item
 * @nr_sets: how many slot sets, at least 2
 * @room: how many slots each has, at least 1
 *
 * Context: process, dep_instance.mtx held; sleeps.
 * Return: 0;
 * -EINVAL: it would be too large;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it.
 */
int dep_ring_make(struct dep_instance *inst, u32 nr_sets, u32 room)
{
	const u32 most = DEP_AREA_PAGES_MOST * PAGE_SIZE;
	u64 stride = DEVEPOLL_RING_STRIDE(room);
	struct dep_ring *ring;
	int err;

	lockdep_assert_held(&inst->mtx);
	if (nr_sets > most || stride > most / nr_sets)
		return -EINVAL;
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return -ENOMEM;
	ring->nr_sets = nr_sets;
	ring->plain_sets = dep_instance_readers(inst) ? 0 : nr_sets;
	ring->room = room;
	ring->stride = stride;
	/*
	 * So that no item counts as pending: the snapshot of an item that is
	 * added is 0, and closed items, which may be there, have an older one.
	 */
	ring->gen = inst->snapshot + 1;
	INIT_LIST_HEAD(&ring->told);
	ring->slot_pages = PFN_UP(nr_sets * ring->stride);
	ring->area.nr = 1 + ring->slot_pages +
			PFN_UP(room * sizeof(*ring->items));
	err = dep_charge_pages(inst->user, ring->area.nr);
	if (err)
		goto err_free;
	err = ring_fill(ring);
	if (err)
		goto err_uncharge;

	spin_lock_irq(&inst->lock);
	/* Pairs with dep_instance_ring(). */
	smp_store_release(&inst->ring, ring);
	inst->sink = &dep_ring_sink;
	/* There may be last events of closed files. */
	dep_ring_end_call(inst);
	spin_unlock_irq(&inst->lock);
	return 0;

err_uncharge:
	dep_uncharge_pages(inst->user, ring->area.nr);
err_free:
	kfree(ring);
	return err;
}

/**
 * dep_ring_free() - free the ring, if there is one
 * @inst: the instance; it is not mapped, has no items, nobody else can reach it
 *	any more, and it is in no relay
 *
 * Context: process.
 */
void dep_ring_free(struct dep_instance *inst)
{
	struct dep_ring *ring = inst->ring;

	if (!ring)
		return;
	dep_ring_drop(inst, true);
	dep_uncharge_pages(inst->user, ring->area.nr);
	dep_area_release(&ring->area, ring->area.nr);
	kfree(ring);
}

static vm_fault_t ring_fault(struct vm_fault *vmf, u32 first, u32 nr)
{
	struct dep_instance *inst = vmf->vma->vm_private_data;
	pgoff_t offset = vmf->pgoff & ((DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT) - 1);

	if (!inst || offset >= nr)
		return VM_FAULT_SIGBUS;
	vmf->page = inst->ring->area.pages[first + offset];
	get_page(vmf->page);
	return 0;
}

static vm_fault_t ring_word_fault(struct vm_fault *vmf)
{
	return ring_fault(vmf, 0, 1);
}

static vm_fault_t ring_slots_fault(struct vm_fault *vmf)
{
	const struct dep_instance *inst = vmf->vma->vm_private_data;

	return ring_fault(vmf, 1, inst ? inst->ring->slot_pages : 0);
}

/*
 * Only a fork and an mremap(2) come here, since an area is never split.  On 6.1
 * madvise(MADV_DOFORK) takes VM_DONTCOPY away; then the child gets an area, but
 * no page: none is copied, since none is anonymous.
 */
static void ring_area_open(struct vm_area_struct *vma)
{
	if (vma->vm_mm != current->mm)
		vma->vm_private_data = NULL;
}

static int ring_area_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct ring_word_vm_ops = {
	.open = ring_area_open,
	.may_split = ring_area_may_split,
	.fault = ring_word_fault,
};

static const struct vm_operations_struct ring_slots_vm_ops = {
	.open = ring_area_open,
	.may_split = ring_area_may_split,
	.fault = ring_slots_fault,
};

/**
 * dep_ring_map_word() - map the word for the program, to read and write
 * @inst: the instance; it outlives the mapping, which holds its file
 * @vma: the area that mmap(2) has set up so far, at DEVEPOLL_MAP_RING
 *
 * A child of fork(2) does not inherit the mapping, and can't use it if the
 * parent undoes this by madvise(2): its threads would give away the sets that
 * those of its parent own.
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0;
 * -EINVAL: no ring; not one page; or MAP_PRIVATE, in which the kernel would see
 * nothing that the program writes;
 * -EACCES: an open that can't change the set.
 */
int dep_ring_map_word(struct dep_instance *inst, struct vm_area_struct *vma)
{
	if (!dep_instance_ring(inst) || vma_pages(vma) != 1)
		return -EINVAL;
	/* For such an open the kernel makes a mapping that is not shared. */
	if (!(vma->vm_file->f_mode & FMODE_WRITE))
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTCOPY, VM_EXEC | VM_MAYEXEC);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	vma->vm_private_data = inst;
	vma->vm_ops = &ring_word_vm_ops;
	return 0;
}

/**
 * dep_ring_map_slots() - map the slot sets read-only for the program
 * @inst: the instance; it outlives the mapping, which holds its file
 * @vma: the area that mmap(2) has set up so far, at DEVEPOLL_MAP_RING_SLOTS
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0;
 * -EINVAL: there is no ring, or the mapping does not cover all of its slots.
 */
int dep_ring_map_slots(struct dep_instance *inst, struct vm_area_struct *vma)
{
	const struct dep_ring *ring = dep_instance_ring(inst);

	if (!ring || vma_pages(vma) != ring->slot_pages)
		return -EINVAL;
	dep_area_give(inst, vma, &ring_slots_vm_ops);
	vm_flags_mod(vma, VM_DONTCOPY, 0);
	return 0;
}
