// SPDX-License-Identifier: GPL-2.0
/*
 * The page sets: two arrays of struct pollfd that user space maps and reads.
 * Wake-ups fill one of them while the program reads the other.
 *
 * The kernel never reads the mapped pages.  What it has to know of a slot
 * stands in the item and in the index, which follows the two page sets in the
 * kernel's mapping and is not in the program's.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "classic/pages.h"
#include "core/compat.h"
#include "core/item.h"
#include "core/limits.h"
#include "set/area.h"

/* The two page sets, and the index: a pointer is as large as a slot. */
#define PAGES_PARTS	3
#define PAGES_MAPPED	2

static_assert(sizeof(struct dep_item *) == sizeof(struct pollfd));
static_assert(PAGE_SIZE == EP_PAGE_SIZE);

static void pages_post(struct dep_instance *inst, struct dep_item *item,
		       u16 events)
{
	struct dep_pages *pages = &inst->pages;
	const u64 snapshot = inst->snapshot;
	struct pollfd *slot = pages->set[snapshot & 1];

	lockdep_assert_held(&inst->lock);
	if (item->snapshot != snapshot) {
		u32 nr = inst->pending;

		if (WARN_ON_ONCE(nr >= inst->room))
			return;
		item->slot = nr;
		item->revents = events;
		WRITE_ONCE(item->pending, dep_events_settled(events));
		/* Pairs with smp_rmb() in the wake function. */
		smp_wmb();
		WRITE_ONCE(item->snapshot, snapshot);
		pages->index[nr] = item;
		slot[nr] = (struct pollfd) {
			.fd = item->fd,
			.events = item->events,
			.revents = events,
		};
		WRITE_ONCE(inst->pending, nr + 1);
		return;
	}
	item->revents |= events;
	WRITE_ONCE(item->pending, dep_events_settled(item->revents));
	WRITE_ONCE(slot[item->slot].revents, item->revents);
}

static void pages_forget(struct dep_instance *inst, struct dep_item *item)
{
	struct dep_pages *pages = &inst->pages;
	struct pollfd *slot = pages->set[inst->snapshot & 1];
	struct dep_item *last;

	lockdep_assert_held(&inst->lock);
	if (item->snapshot != inst->snapshot)
		return;
	WRITE_ONCE(item->snapshot, 0);
	WRITE_ONCE(inst->pending, inst->pending - 1);
	last = pages->index[inst->pending];
	if (last == item)
		return;
	/* The last slot moves into the hole. */
	pages->index[item->slot] = last;
	last->slot = item->slot;
	slot[last->slot] = (struct pollfd) {
		.fd = last->fd,
		.events = last->events,
		.revents = last->revents,
	};
}

static const struct dep_sink pages_sink = {
	.needs_poll = DEP_NEEDS_POLL,
	.post = pages_post,
	.forget = pages_forget,
};

/* Frees the pages of @pages beyond the first @kept of each part. */
static void pages_release(struct dep_pages *pages, u32 kept)
{
	u32 part, i;

	if (!pages->pages)
		return;
	vunmap(pages->base);
	for (part = 0; part < PAGES_PARTS; part++) {
		for (i = kept; i < pages->per_set; i++) {
			struct page *page;

			page = pages->pages[part * pages->per_set + i];
			if (page)
				put_page(page);
		}
	}
	kvfree(pages->pages);
}

/* Makes @fresh of @per_set pages a part; the first ones are those of @old. */
static int pages_grow(struct dep_pages *fresh, const struct dep_pages *old,
		      u32 per_set)
{
	u32 part, i, nr = PAGES_PARTS * per_set;

	fresh->per_set = per_set;
	fresh->base = NULL;
	fresh->pages = kvcalloc(nr, sizeof(*fresh->pages), GFP_KERNEL_ACCOUNT);
	if (!fresh->pages)
		return -ENOMEM;

	for (part = 0; part < PAGES_PARTS; part++) {
		struct page **to = fresh->pages + part * per_set;

		for (i = 0; i < old->per_set; i++)
			to[i] = old->pages[part * old->per_set + i];
		for (; i < per_set; i++) {
			if (fatal_signal_pending(current))
				goto err_release;
			to[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					   __GFP_NOWARN);
			if (!to[i])
				goto err_release;
			cond_resched();
		}
	}
	fresh->base = vmap(fresh->pages, nr, VM_MAP, PAGE_KERNEL);
	if (!fresh->base)
		goto err_release;
	fresh->set[0] = fresh->base;
	fresh->set[1] = fresh->base + per_set * PAGE_SIZE;
	fresh->index = fresh->base + PAGES_MAPPED * per_set * PAGE_SIZE;
	return 0;

err_release:
	pages_release(fresh, old->per_set);
	return -ENOMEM;
}

/* Installs the larger pages, unless the program has mapped the old ones. */
static int pages_swap(struct dep_instance *inst, struct dep_pages *fresh,
		      u32 room)
{
	mutex_lock(&inst->map_lock);
	if (atomic_read(&inst->mappings)) {
		mutex_unlock(&inst->map_lock);
		return -EBUSY;
	}
	spin_lock_irq(&inst->lock);
	swap(*fresh, inst->pages);
	inst->sink = &pages_sink;
	inst->room = room;
	spin_unlock_irq(&inst->lock);
	mutex_unlock(&inst->map_lock);
	return 0;
}

/**
 * dep_pages_alloc() - make room for more fds
 * @inst: the instance
 * @room: how many fds there shall be room for
 *
 * Events that are pending stay in their slots.
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0, also if there is that much room already;
 * -EBUSY: the pages are mapped;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it.
 */
int dep_pages_alloc(struct dep_instance *inst, u32 room)
{
	struct dep_pages *pages = &inst->pages, fresh = {};
	u32 per_set = EP_FDS_PAGES(room), old = pages->per_set;
	u32 more = PAGES_PARTS * (per_set - old);
	int err;

	lockdep_assert_held(&inst->mtx);
	if (atomic_read(&inst->mappings))
		return -EBUSY;
	if (room <= inst->room)
		return 0;

	err = dep_charge_pages(inst->user, more);
	if (err)
		return err;
	err = pages_grow(&fresh, pages, per_set);
	if (err)
		goto err_uncharge;
	err = pages_swap(inst, &fresh, room);
	if (err) {
		pages_release(&fresh, old);
		goto err_uncharge;
	}
	/* The old mapping goes; its pages live on in the new one. */
	pages_release(&fresh, fresh.per_set);
	return 0;

err_uncharge:
	dep_uncharge_pages(inst->user, more);
	return err;
}

/**
 * dep_pages_retire() - announce that the pages will be freed
 * @inst: the instance
 *
 * From now on they can't be mapped.
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0;
 * -EINVAL: there are none;
 * -EBUSY: they are mapped.
 */
int dep_pages_retire(struct dep_instance *inst)
{
	int err = 0;

	lockdep_assert_held(&inst->mtx);
	mutex_lock(&inst->map_lock);
	if (!inst->pages.per_set)
		err = -EINVAL;
	else if (atomic_read(&inst->mappings))
		err = -EBUSY;
	else
		inst->freeing = true;
	mutex_unlock(&inst->map_lock);
	return err;
}

/**
 * dep_pages_free() - free the pages, if there are any
 * @inst: the instance; it has no items, and can't be mapped
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_pages_free(struct dep_instance *inst)
{
	struct dep_pages old;

	lockdep_assert_held(&inst->mtx);
	WARN_ON_ONCE(inst->nr_items);
	mutex_lock(&inst->map_lock);
	spin_lock_irq(&inst->lock);
	old = inst->pages;
	/* After the next EP_ALLOC the first page set is filled first. */
	inst->pages = (struct dep_pages) {};
	WRITE_ONCE(inst->snapshot, (inst->snapshot + 2) & ~1ULL);
	inst->room = 0;
	spin_unlock_irq(&inst->lock);
	inst->freeing = false;
	mutex_unlock(&inst->map_lock);

	pages_release(&old, 0);
	dep_uncharge_pages(inst->user, PAGES_PARTS * old.per_set);
}

static void pages_vm_open(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_inc(&inst->mappings);
}

static void pages_vm_close(struct vm_area_struct *vma)
{
	struct dep_instance *inst = vma->vm_private_data;

	atomic_dec(&inst->mappings);
}

/* The array of pages does not change while a mapping exists. */
static vm_fault_t pages_vm_fault(struct vm_fault *vmf)
{
	struct dep_instance *inst = vmf->vma->vm_private_data;
	struct dep_pages *pages = &inst->pages;

	if (vmf->pgoff >= PAGES_MAPPED * pages->per_set)
		return VM_FAULT_SIGBUS;
	vmf->page = pages->pages[vmf->pgoff];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct pages_vm_ops = {
	.fault = pages_vm_fault,
	.open = pages_vm_open,
	.close = pages_vm_close,
};

/**
 * dep_pages_map() - map both page sets read-only for the program
 * @inst: the instance; it outlives the mapping, which holds its file
 * @vma: the area that mmap(2) has set up so far
 *
 * Programs ask for PROT_WRITE and MAP_PRIVATE but only read.  A store must
 * fail: it would detach its page from later events.
 *
 * Context: process, mmap_lock held for writing.
 * Return: 0;
 * -EINVAL: there are no pages, or the mapping does not cover all of them;
 * -EBUSY: a set of the extended interface, or a signal set.
 */
int dep_pages_map(struct dep_instance *inst, struct vm_area_struct *vma)
{
	struct dep_pages *pages = &inst->pages;
	int err = READ_ONCE(inst->settled) || READ_ONCE(inst->onesig) ?
		  -EBUSY : -EINVAL;

	mutex_lock(&inst->map_lock);
	if (!pages->per_set || inst->freeing || vma->vm_pgoff ||
	    vma_pages(vma) != PAGES_MAPPED * pages->per_set)
		goto out;

	vm_flags_mod(vma, VM_DONTEXPAND,
		     VM_WRITE | VM_MAYWRITE | VM_EXEC | VM_MAYEXEC);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	vma->vm_private_data = inst;
	vma->vm_ops = &pages_vm_ops;
	atomic_inc(&inst->mappings);
	err = 0;
out:
	mutex_unlock(&inst->map_lock);
	return err;
}
