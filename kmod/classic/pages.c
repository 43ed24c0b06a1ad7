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
 * All slots move to new pages.  They move a page of EP_PAGE_SIZE of each page
 * set at a time, each under L, so that interrupts are never off for long.
 * Meanwhile another sink writes what it writes to both places, also under L.
 * So what has moved stays equal, whatever is posted, forgotten or taken between
 * two pages; and when all has moved, the two are equal.  Nobody can map either
 * of them before the new ones are installed, since P is held.
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

/* The index takes as much as a page set: a pointer is as large as a slot. */
static_assert(sizeof(struct dep_item *) == sizeof(struct pollfd));
static_assert(PAGE_SIZE % EP_PAGE_SIZE == 0);

/* How many of the kernel's pages do page sets of @slots slots take? */
static u32 pages_mapped(u32 slots)
{
	return PFN_UP(2 * slots * sizeof(struct pollfd));
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

/* Copies @nr slots of both page sets, and their index, from slot @first on. */
static void pages_copy(const struct dep_instance *inst,
		       const struct dep_pages *to, u32 first, u32 nr)
{
	const struct dep_pages *from = &inst->pages;
	const size_t size = nr * sizeof(struct pollfd);

	lockdep_assert_held(&inst->lock);
	memcpy(to->set[0] + first, from->set[0] + first, size);
	memcpy(to->set[1] + first, from->set[1] + first, size);
	/* A pointer is as large as a slot. */
	memcpy(to->index + first, from->index + first, size);
}

/* Copies the slot of @item, whether or not it holds something. */
static void pages_copy_slot(const struct dep_instance *inst,
			    const struct dep_item *item)
{
	const struct pages_move *move =
		container_of(inst->sink, struct pages_move, sink);

	pages_copy(inst, move->to, item->slot, 1);
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

/* Moves all slots to new pages: see "Growing". */
static void pages_move(struct dep_instance *inst, struct pages_move *move)
{
	u32 i;

	lockdep_assert_held(&inst->mtx);
	lockdep_assert_held(&inst->map_lock);
	spin_lock_irq(&inst->lock);
	inst->sink = &move->sink;
	spin_unlock_irq(&inst->lock);

	for (i = 0; i < inst->pages.area.slots; i += POLLFD_X_PAGE) {
		spin_lock_irq(&inst->lock);
		pages_copy(inst, move->to, i, POLLFD_X_PAGE);
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
	const u32 slots = EP_FDS_PAGES(room) * POLLFD_X_PAGE;
	struct dep_area *area = &inst->pages.area;
	struct dep_pages fresh = {};
	u32 index;
	int err;

	lockdep_assert_held(&inst->mtx);
	if (atomic_read(&inst->mappings))
		return -EBUSY;
	if (room <= inst->room)
		return 0;

	/* It shares no page with them. */
	index = pages_mapped(slots);
	err = dep_area_make(&fresh.area, inst->user,
			    index + PFN_UP(slots * sizeof(*fresh.index)),
			    area->nr);
	if (err)
		return err;
	fresh.area.slots = slots;
	fresh.set[0] = fresh.area.base;
	fresh.set[1] = fresh.set[0] + slots;
	fresh.index = fresh.area.base + index * PAGE_SIZE;
	err = pages_swap(inst, &fresh, room);
	/* What is not in use: the old pages, or the new ones if that failed. */
	dep_area_free(&fresh.area, inst->user, area->nr);
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
	if (!inst->pages.area.nr)
		err = -EINVAL;
	else if (atomic_read(&inst->mappings))
		err = -EBUSY;
	else
		WRITE_ONCE(inst->pages.area.slots, 0);
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
	mutex_unlock(&inst->map_lock);

	dep_area_free(&old.area, inst->user, 0);
}

/* The pages do not change while a mapping exists. */
static vm_fault_t pages_vm_fault(struct vm_fault *vmf)
{
	const struct dep_instance *inst = vmf->vma->vm_private_data;
	const struct dep_area *area = &inst->pages.area;

	return dep_area_fault(vmf, area, 0, pages_mapped(area->slots));
}

static const struct vm_operations_struct pages_vm_ops = {
	.fault = pages_vm_fault,
	.open = dep_area_vm_open,
	.close = dep_area_vm_close,
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
	const struct dep_area *area = &inst->pages.area;
	int err = READ_ONCE(inst->settled) || READ_ONCE(inst->onesig) ?
		  -EBUSY : -EINVAL;

	mutex_lock(&inst->map_lock);
	if (!area->slots || vma->vm_pgoff ||
	    vma_pages(vma) != pages_mapped(area->slots))
		goto out;
	dep_area_give(inst, vma, &pages_vm_ops);
	atomic_inc(&inst->mappings);
	err = 0;
out:
	mutex_unlock(&inst->map_lock);
	return err;
}
