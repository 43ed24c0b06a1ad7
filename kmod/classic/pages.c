// SPDX-License-Identifier: GPL-2.0
/*
 * The page sets: two arrays of struct pollfd that user space maps and reads.
 * Wake-ups fill one of them while the program reads the other.
 *
 * The kernel never reads the mapped pages.  What it has to know of a slot
 * stands in the item and in the index, which follows the two page sets in the
 * kernel's mapping and is not in the program's.
 *
 * A page set consists of pages of EP_PAGE_SIZE, as in 2001.  The kernel's pages
 * may be larger; then one of them may belong to both page sets.
 *
 * Growing
 * =======
 *
 * Where each page set begins with a page of the kernel, larger page sets consist
 * of the pages that are there and of new ones.  Otherwise, set 1 begins at
 * another place of a page than before, so all slots move to new pages.  They
 * move a page of EP_PAGE_SIZE at a time, each under L, so that interrupts are
 * never off for long.  Meanwhile another sink writes what it writes to both
 * places, also under L.  So what has moved stays equal, whatever is posted,
 * forgotten or taken between two pages; and when all has moved, the two are
 * equal.  Nobody can map either of them before the new ones are installed, since
 * P is held.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "classic/pages.h"
#include "core/compat.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/limits.h"
#include "set/area.h"

/* The index takes as much as a page set: a pointer is as large as a slot. */
static_assert(sizeof(struct dep_item *) == sizeof(struct pollfd));
static_assert(PAGE_SIZE % EP_PAGE_SIZE == 0);

/* Does each page set begin with a page of the kernel, however many it has? */
#define PAGES_APART	(EP_PAGE_SIZE % PAGE_SIZE == 0)

/* How many of the kernel's pages do page sets of @per_set pages take? */
static u32 pages_mapped(u32 per_set)
{
	return PFN_UP(2 * per_set * EP_PAGE_SIZE);
}

/* And the index, which shares no page with them? */
static u32 pages_index(u32 per_set)
{
	return PFN_UP(per_set * EP_PAGE_SIZE);
}

static u32 pages_all(u32 per_set)
{
	return pages_mapped(per_set) + pages_index(per_set);
}

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
		/* Read without L as a hint: see dep_item_list_trusted(). */
		WRITE_ONCE(inst->pending, nr + 1);
		WRITE_ONCE(item->pending, dep_events_settled(events));
		/* Pairs with smp_rmb() in watch_may_return(). */
		smp_wmb();
		WRITE_ONCE(item->snapshot, snapshot);
		pages->index[nr] = item;
		slot[nr] = (struct pollfd) {
			.fd = item->fd,
			.events = item->events,
			.revents = events,
		};
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

/**
 * struct pages_move - slots that move; on the stack of the call that grows
 * @sink: the sink of the instance meanwhile; all who use it hold L or M
 * @to: L: where they move to
 */
struct pages_move {
	struct dep_sink sink;
	const struct dep_pages *to;
};

/* Copies @nr slots of a page set, from slot @first on. */
static void pages_copy(const struct dep_instance *inst,
		       const struct dep_pages *to, u32 set, u32 first, u32 nr)
{
	lockdep_assert_held(&inst->lock);
	memcpy(to->set[set] + first, inst->pages.set[set] + first,
	       nr * sizeof(*to->set[set]));
}

/* Copies the slot of @item, whether or not it holds something. */
static void pages_copy_slot(const struct dep_instance *inst,
			    const struct dep_item *item)
{
	const struct pages_move *move =
		container_of(inst->sink, struct pages_move, sink);

	pages_copy(inst, move->to, inst->snapshot & 1, item->slot, 1);
}

static void pages_post_moving(struct dep_instance *inst, struct dep_item *item,
			      u16 events)
{
	pages_post(inst, item, events);
	pages_copy_slot(inst, item);
}

static void pages_forget_moving(struct dep_instance *inst,
				struct dep_item *item)
{
	pages_forget(inst, item);
	/* The last slot may have moved there. */
	pages_copy_slot(inst, item);
}

static void pages_release(struct dep_pages *pages)
{
	u32 i;

	if (!pages->pages)
		return;
	vunmap(pages->base);
	for (i = 0; i < pages_all(pages->per_set); i++) {
		if (pages->pages[i])
			put_page(pages->pages[i]);
	}
	kvfree(pages->pages);
}

/*
 * The page of @old that will be page @i when a page set has @per_set pages.
 * The index keeps its pages; page sets do where each begins with its own page.
 */
static struct page *pages_stay(const struct dep_pages *old, u32 per_set, u32 i)
{
	u32 mapped = pages_mapped(per_set);

	if (i >= mapped) {
		i -= mapped;
		if (i >= pages_index(old->per_set))
			return NULL;
		return old->pages[pages_mapped(old->per_set) + i];
	}
	if (!PAGES_APART || i % per_set >= old->per_set)
		return NULL;
	return old->pages[i / per_set * old->per_set + i % per_set];
}

/* Makes page sets of @per_set pages, with those pages of @old that stay. */
static int pages_grow(struct dep_pages *fresh, const struct dep_pages *old,
		      u32 per_set)
{
	u32 i, nr = pages_all(per_set);
	struct page **to;

	fresh->per_set = per_set;
	fresh->base = NULL;
	to = kvcalloc(nr, sizeof(*to), GFP_KERNEL_ACCOUNT);
	fresh->pages = to;
	if (!to)
		return -ENOMEM;

	for (i = 0; i < nr; i++) {
		to[i] = pages_stay(old, per_set, i);
		if (to[i]) {
			get_page(to[i]);
			continue;
		}
		if (fatal_signal_pending(current))
			goto err_release;
		to[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO |
				   __GFP_NOWARN);
		if (!to[i])
			goto err_release;
		cond_resched();
	}
	fresh->base = vmap(to, nr, VM_MAP, PAGE_KERNEL);
	if (!fresh->base)
		goto err_release;
	fresh->set[0] = fresh->base;
	fresh->set[1] = fresh->base + per_set * EP_PAGE_SIZE;
	fresh->index = fresh->base + pages_mapped(per_set) * PAGE_SIZE;
	return 0;

err_release:
	pages_release(fresh);
	return -ENOMEM;
}

/* Moves all slots to new pages: see "Growing". */
static void pages_move(struct dep_instance *inst, struct pages_move *move)
{
	u32 i;

	lockdep_assert_held(&inst->mtx);
	lockdep_assert_held(&inst->map_lock);
	spin_lock_irq(&inst->lock);
	inst->sink = &move->sink;
	spin_unlock_irq(&inst->lock);

	for (i = 0; i < 2 * inst->pages.per_set; i++) {
		spin_lock_irq(&inst->lock);
		pages_copy(inst, move->to, i % 2, i / 2 * POLLFD_X_PAGE,
			   POLLFD_X_PAGE);
		spin_unlock_irq(&inst->lock);
		cond_resched();
	}
}

/* Installs the larger pages, unless the program has mapped the old ones. */
static int pages_swap(struct dep_instance *inst, struct dep_pages *fresh,
		      u32 room)
{
	struct pages_move move = {
		.sink = {
			.needs_poll = DEP_NEEDS_POLL,
			.post = pages_post_moving,
			.forget = pages_forget_moving,
		},
		.to = fresh,
	};

	mutex_lock(&inst->map_lock);
	if (atomic_read(&inst->mappings)) {
		mutex_unlock(&inst->map_lock);
		return -EBUSY;
	}
	if (!PAGES_APART && inst->pages.per_set)
		pages_move(inst, &move);
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
	u32 per_set = EP_FDS_PAGES(room);
	u32 more = pages_all(per_set) - pages_all(pages->per_set);
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
		pages_release(&fresh);
		goto err_uncharge;
	}
	/* The old mapping goes; what stayed of it lives on in the new one. */
	pages_release(&fresh);
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

	pages_release(&old);
	dep_uncharge_pages(inst->user, pages_all(old.per_set));
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

	if (vmf->pgoff >= pages_mapped(pages->per_set))
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
	    vma_pages(vma) != pages_mapped(pages->per_set))
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
