// SPDX-License-Identifier: GPL-2.0
/*
 * Items: how they are taken out of the interest list, which host.h puts them
 * into, and how the answer of a file gets into the sink; and their owners.  Read
 * the banner of instance.h first.
 *
 * Each owner has an item, but for the first of the list, which is the last that
 * added one: so there is at most one more than the set has items.  Which
 * process is an owner, and when another one takes its place, is in set/owner.c.
 */
#include <linux/percpu_counter.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "core/item.h"
#include "core/nest.h"
#include "core/relay.h"
#include "core/waiter.h"

/**
 * dep_owner_end() - forget an owner that has no items
 * @inst: the instance, which is locked
 * @owner: one of its owners
 */
void dep_owner_end(struct dep_instance *inst, struct dep_owner *owner)
{
	lockdep_assert_held(&inst->lock);
	list_del_init(&owner->entry);
	dep_owner_recount(inst);
	if (inst->living.owner == owner)
		inst->living.owner = NULL;
	/* Under L nothing is freed: an allocator may print, and so wake. */
	if (owner->allocated) {
		list_add(&owner->entry, &inst->spare_owners);
		WRITE_ONCE(inst->has_spare_owners, true);
	}
}

/**
 * dep_owner_leave() - an owner has an item less
 * @inst: the instance, which is locked
 * @owner: one of its owners; unless it is the first, it goes with its last item
 */
void dep_owner_leave(struct dep_instance *inst, struct dep_owner *owner)
{
	lockdep_assert_held(&inst->lock);
	owner->nr_items--;
	if (unlikely(!owner->nr_items) && owner != dep_owner_last(inst))
		dep_owner_end(inst, owner);
}

/**
 * dep_owner_free_spare() - free owners that are not needed as room
 * @inst: the instance; nothing is held but perhaps dep_instance.mtx
 */
void dep_owner_free_spare(struct dep_instance *inst)
{
	struct dep_owner *owner, *next;
	LIST_HEAD(spare);

	spin_lock_irq(&inst->lock);
	list_splice_init(&inst->spare_owners, &spare);
	/* One stays: who holds M may count on it. */
	if (!list_empty(&spare))
		list_move(spare.next, &inst->spare_owners);
	WRITE_ONCE(inst->has_spare_owners, false);
	spin_unlock_irq(&inst->lock);
	list_for_each_entry_safe(owner, next, &spare, entry)
		kfree(owner);
}

/**
 * dep_item_unhook_from() - take an item out of its interest list
 * @item: an item that can't be freed meanwhile; its instance is locked
 * @leaf: dep_fdmap_leaf() of its number
 *
 * After this no event is posted for the item and none is pending.  The user is
 * uncharged here, where the instance is sure to exist.
 *
 * Return: true if the caller owns the item now, false if somebody else does.
 */
bool dep_item_unhook_from(struct dep_item *item, struct dep_leaf *leaf)
{
	struct dep_instance *inst = item->inst;
	struct dep_fdmap *map = &inst->interest;
	struct dep_item **first, **at;

	lockdep_assert_held(&inst->lock);
	if (!item->hooked)
		return false;

	item->hooked = false;
	/* Until it is off its watch, wake-ups find nothing to post. */
	WRITE_ONCE(item->events, 0);
	dep_owner_leave(inst, item->owner);
	first = dep_fdmap_place(map, leaf, item->fd);
	for (at = first; unlikely(*at != item); at = &dep_lone_of(*at)->peer)
		;
	*at = dep_item_peer(item);
	leaf = dep_fdmap_erase(map, leaf, item->fd, first);
	if (unlikely(leaf)) {
		item->leaf = leaf;
		item->cut = true;
	}
	item->handover = item->chosen;
	dep_item_unlist(item);
	inst->sink->forget(inst, item);
	if (item->mode & DEP_MODE_NEST)
		dep_nest_cut(dep_lone_of(item)->nest);
	inst->nr_items--;
	dep_fdmap_settle(map, inst->nr_items, inst->user);
	percpu_counter_sub(&inst->user->epoll_watches, dep_item_charge(item));
	return true;
}

/**
 * dep_item_list_closed() - put an item on the ready list, whose file is closed
 * @item: the item; its instance is locked
 */
void dep_item_list_closed(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u32 listed = inst->nr_ready;

	dep_item_list_told(item);
	/* The relay wakes: one file may close in thousands of sets. */
	dep_instance_owe(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
}

/**
 * dep_item_bury() - keep an item in its set without its file
 * @item: hooked and on no watch; its instance is locked
 *
 * The number is reported as one that is not open until it is removed.
 */
void dep_item_bury(struct dep_item *item)
{
	if (item->mode & DEP_MODE_NEST)
		dep_nest_cut(dep_lone_of(item)->nest);
	WRITE_ONCE(item->mode, item->mode | DEP_MODE_CLOSED);
	item->watched = DEP_WATCHED_NOT;
	item->file = NULL;
	dep_item_list_closed(item);
}

/**
 * dep_item_is_open() - is an item still in the set, on the watch of its file?
 * @inst: the instance, locked
 * @item: the item; it may have been freed, and is not dereferenced then
 * @fd: its number
 *
 * With dep_instance.mtx held since the item was seen in the set, no other one
 * can have come to its place in memory.
 *
 * Return: true if so.
 */
bool dep_item_is_open(const struct dep_instance *inst,
		      const struct dep_item *item, unsigned int fd)
{
	const struct dep_item *other = dep_fdmap_find(&inst->interest, fd);

	lockdep_assert_held(&inst->mtx);
	lockdep_assert_held(&inst->lock);
	while (other && other != item)
		other = dep_item_peer(other);
	/* One that is buried has no file. */
	return other && other->file;
}

/**
 * dep_item_post() - post what ->poll() answered
 * @item: a hooked item; its instance is locked
 * @events: the answer, all bits
 * @taking: the caller takes the events, or wakes a task that does
 */
void dep_item_post(struct dep_item *item, u16 events, bool taking)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u32 listed = inst->nr_ready;

	lockdep_assert_held(&inst->lock);
	events &= item->events;
	if (!events)
		return;
	inst->sink->post(inst, item, events);
	if (!taking)
		dep_instance_arrived(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
}
