// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of items and watches, and how items are made and freed: one
 * allocation for a file that one set watches.  Read the banner of instance.h
 * first.
 */
#include <linux/slab.h>

#include "core/compat.h"
#include "core/host.h"
#include "core/nest.h"

/*
 * Three lines, of which a wake-up touches two, and a wait one.  21 hosts fill a
 * page, and each begins with a line.
 */
#define HOST_ALIGN 64

static_assert(offsetof(struct dep_item, link) == HOST_ALIGN);
static_assert(offsetof(struct dep_host, watch.wait.entry) == 2 * HOST_ALIGN ||
	      sizeof(spinlock_t) > 4);
static_assert(sizeof(struct dep_host) == 3 * HOST_ALIGN ||
	      sizeof(spinlock_t) > 4);

static struct kmem_cache *item_cache;
static struct kmem_cache *told_cache;
static struct kmem_cache *host_cache;
struct kmem_cache *dep_leaf_cache;
struct kmem_cache *dep_wait_cache;

/*
 * A cache with a constructor is exempt from init_on_alloc, which would clear
 * the memory at each add; but then the allocator's pointer stands behind each
 * object, where a host leaves no room in its page for it.  In either case
 * whoever allocates sets every field, so there is nothing to construct.
 */
static void lone_construct(void *memory)
{
}

/* How many hosts a set may have ahead: more as it grows. */
static u32 host_ahead(const struct dep_instance *inst)
{
	u32 nr = dep_instance_nr_items(inst);

	return clamp_t(u32, nr / DEP_HOSTS_AHEAD_PART, 1, DEP_HOSTS_AHEAD_MOST);
}

/*
 * Allocates as many hosts at once as the set will soon need if it grows as
 * before.  Returns one of them, or NULL; the others go to the free list.
 */
static struct dep_item *host_fill_free(struct dep_instance *inst)
{
	struct dep_host *hosts[DEP_HOSTS_AHEAD_MOST] __uninitialized;
	u32 i, nr = host_ahead(inst);

	/* If there is no memory for so many, there may be for one. */
	if (likely(nr < 2) ||
	    !kmem_cache_alloc_bulk(host_cache, GFP_KERNEL, nr,
				   (void **)hosts)) {
		hosts[0] = kmem_cache_alloc(host_cache, GFP_KERNEL);
		return hosts[0] ? &hosts[0]->item : NULL;
	}
	for (i = 1; i < nr; i++) {
		hosts[i]->item.next_free = inst->free_hosts;
		inst->free_hosts = &hosts[i]->item;
	}
	return &hosts[0]->item;
}

/* Takes all hosts that were given back. */
static struct dep_item *host_take_returned(struct dep_instance *inst)
{
	struct dep_item *first = inst->returned.first;

	lockdep_assert_held(&inst->lock);
	inst->returned = (struct dep_returned) {};
	return first;
}

/**
 * dep_host_refill() - fill the free list of a set, which is empty
 * @inst: the instance
 *
 * What was given back goes there; only an add takes from it.
 *
 * Context: process, dep_instance.mtx held.
 * Return: the item of a host that is not in the free list, or NULL.
 */
struct dep_item *dep_host_refill(struct dep_instance *inst)
{
	struct dep_item *item;

	if (!READ_ONCE(inst->returned.first))
		return host_fill_free(inst);
	spin_lock_irq(&inst->lock);
	item = host_take_returned(inst);
	spin_unlock_irq(&inst->lock);
	inst->free_hosts = item->next_free;
	return item;
}

/**
 * dep_host_new_lone() - allocate an item without a host
 * @told: it gets DEP_MODE_HELD
 *
 * Context: process; may sleep for memory.
 * Return: the item, of which little is set, or NULL.
 */
struct dep_item *dep_host_new_lone(bool told)
{
	struct dep_lone *lone = kmem_cache_alloc(told ? told_cache : item_cache,
						 GFP_KERNEL);

	if (!lone)
		return NULL;
	if (told) {
		container_of(lone, struct dep_told, lone)->first = U64_MAX;
		container_of(lone, struct dep_told, lone)->last = 0;
	}
	lone->watch = NULL;
	lone->peer = NULL;
	lone->extra = NULL;
	return &lone->item;
}

/* Frees hosts that were given back, or allocated ahead. */
static noinline void host_free_all(struct dep_item *item)
{
	void *hosts[DEP_HOSTS_AHEAD_MOST] __uninitialized;
	size_t nr = 0;

	for (; item; item = item->next_free)
		hosts[nr++] = dep_host_of(item);
	if (nr == 1)
		kmem_cache_free(host_cache, hosts[0]);
	else if (nr)
		kmem_cache_free_bulk(host_cache, nr, hosts);
}

/* The rare half of dep_item_watch(). */
struct dep_watch *dep_item_watch_elsewhere(struct dep_item *item)
{
	if (item->watched == DEP_WATCHED_NOT)
		return NULL;
	return dep_item_hosted(item) ? dep_host_of(item)->watch.next :
			      dep_lone_of(item)->watch;
}

/**
 * dep_host_free_unused() - free what a set has allocated and not used
 * @inst: the instance
 *
 * Context: process, dep_instance.mtx held.
 */
void dep_host_free_unused(struct dep_instance *inst)
{
	struct dep_item *returned;

	lockdep_assert_held(&inst->mtx);
	host_free_all(inst->free_hosts);
	inst->free_hosts = NULL;
	if (!READ_ONCE(inst->returned.first))
		return;
	spin_lock_irq(&inst->lock);
	returned = host_take_returned(inst);
	spin_unlock_irq(&inst->lock);
	host_free_all(returned);
}

/* Does the host of an item, which has one, go with it? */
static bool host_goes(struct dep_item *item)
{
	struct dep_host *host = dep_host_of(item);

	return likely(!atomic_read(&host->watch.users)) ||
	       atomic_dec_and_test(&host->watch.users);
}

/* Frees all of an item but its host; true if that is to be freed, too. */
static __always_inline bool item_leave_host(struct dep_item *item)
{
	struct dep_extra *extra = dep_item_extra(item);

	if (item->mode & DEP_MODE_NEST)
		dep_nest_free(dep_lone_of(item)->nest);
	if (unlikely(item->cut))
		dep_fdmap_free_leaf(item->leaf);
	if (extra)
		extra->retire(extra);
	if (likely(dep_item_hosted(item)))
		return host_goes(item);
	kmem_cache_free(item->mode & DEP_MODE_HELD ? told_cache : item_cache,
			dep_lone_of(item));
	return false;
}

/**
 * dep_item_free() - free an item
 * @item: unhooked and on no watch; it was uncharged when it was unhooked
 *
 * Context: process, with no spin lock of the banner held.
 */
void dep_item_free(struct dep_item *item)
{
	if (item_leave_host(item))
		kmem_cache_free(host_cache, dep_host_of(item));
}

/**
 * dep_item_recycle() - free an item, or keep its host for the next add
 * @item: as for dep_item_free()
 *
 * Context: process, with a reference on the set's file.
 */
void dep_item_recycle(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	struct dep_item *surplus = NULL;

	if (unlikely(!item_leave_host(item)))
		return;
	/* KASAN is to see who uses what was removed, so none is kept there. */
	if (IS_ENABLED(CONFIG_KASAN)) {
		kmem_cache_free(host_cache, dep_host_of(item));
		return;
	}
	spin_lock_irq(&inst->lock);
	if (inst->returned.nr >= host_ahead(inst))
		surplus = host_take_returned(inst);
	item->next_free = inst->returned.first;
	WRITE_ONCE(inst->returned.first, item);
	inst->returned.nr++;
	spin_unlock_irq(&inst->lock);
	if (unlikely(surplus))
		host_free_all(surplus);
	if (unlikely(READ_ONCE(inst->has_spare_owners)))
		dep_owner_free_spare(inst);
}

/**
 * dep_item_free_several() - free items of a set that is cleared
 * @inst: the instance
 * @first: the first, linked by dep_item.next_free; as for dep_item_free(), and
 *	at most DEP_CLEAR_BATCH
 *
 * Context: process, with a reference on the set's file.
 */
void dep_item_free_several(struct dep_instance *inst, struct dep_item *first)
{
	struct dep_item *item, *next, *hosts = NULL;

	BUILD_BUG_ON(DEP_CLEAR_BATCH > DEP_HOSTS_AHEAD_MOST);
	for (item = first; item; item = next) {
		next = item->next_free;
		if (item_leave_host(item)) {
			item->next_free = hosts;
			hosts = item;
		}
	}
	host_free_all(hosts);
	if (unlikely(READ_ONCE(inst->has_spare_owners)))
		dep_owner_free_spare(inst);
}

/**
 * dep_item_has_many_peers() - has a number as many items as it may have?
 * @first: the first one; its instance is locked
 *
 * Return: true if so.
 */
bool dep_item_has_many_peers(const struct dep_item *first)
{
	u32 nr = 0;

	for (; first; first = dep_item_peer(first))
		nr++;
	return nr >= DEP_ITEMS_PER_NUMBER;
}

/**
 * dep_item_hook() - put a new item into the interest list
 * @item: the item, which has an owner; unless @alone, the list has no other
 *	with its number and its file
 * @alone: only if the list has no item of its number; so if @item has a host
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0;
 * -EEXIST: not @alone;
 * -ENOSPC: too many items of this number;
 * or a negative errno of dep_fdmap_grow().  After an error, the caller calls
 * dep_item_discard().
 */
int dep_item_hook(struct dep_item *item, bool alone)
{
	struct dep_instance *inst = item->inst;
	int err;

	lockdep_assert_held(&inst->mtx);
	do {
		spin_lock_irq(&inst->lock);
		err = dep_item_insert(item, alone);
		spin_unlock_irq(&inst->lock);
		if (err != -EAGAIN)
			return err;
		err = dep_fdmap_grow(&inst->interest, item->fd, &inst->lock);
	} while (!err);
	return err;
}

/**
 * dep_item_discard() - free an item that is charged but not hooked
 * @item: new, or closed and off the ready list
 *
 * Context: as dep_item_free().
 */
void dep_item_discard(struct dep_item *item)
{
	percpu_counter_sub(&item->inst->user->epoll_watches,
			   dep_item_charge(item));
	dep_item_free(item);
}

/**
 * dep_host_new_watch() - allocate a watch for an item that has no room for one
 *
 * Its file had a watch a moment ago, or the item would have room.
 *
 * Context: process; may sleep for memory.
 * Return: the watch, of which only dep_watch.users is set, or NULL.
 */
struct dep_watch *dep_host_new_watch(void)
{
	struct dep_host *host = kmem_cache_alloc(host_cache, GFP_KERNEL);

	if (!host)
		return NULL;
	atomic_set(&host->watch.users, 1);
	return &host->watch;
}

/**
 * dep_host_end_watch() - free a watch, unless its memory has an item
 * @watch: the watch, which nobody can find any more
 *
 * If it was never shared, its item is still to be freed.
 */
void dep_host_end_watch(struct dep_watch *watch)
{
	if (unlikely(atomic_read(&watch->users)) &&
	    atomic_dec_and_test(&watch->users))
		kmem_cache_free(host_cache,
				container_of(watch, struct dep_host, watch));
}

/**
 * dep_host_cache_init() - make the caches
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_host_cache_init(void)
{
	item_cache = kmem_cache_create("devepoll_item", sizeof(struct dep_lone),
				       0, SLAB_ACCOUNT, lone_construct);
	host_cache = kmem_cache_create("devepoll_host", sizeof(struct dep_host),
				       HOST_ALIGN, SLAB_ACCOUNT, NULL);
	told_cache = kmem_cache_create("devepoll_told", sizeof(struct dep_told),
				       0, SLAB_ACCOUNT, lone_construct);
	dep_leaf_cache = kmem_cache_create("devepoll_leaf",
					   sizeof(struct dep_leaf), 0,
					   SLAB_ACCOUNT, NULL);
	dep_wait_cache = kmem_cache_create("devepoll_wait",
					   sizeof(struct dep_further_wait), 0,
					   SLAB_ACCOUNT, NULL);
	if (item_cache && host_cache && told_cache && dep_leaf_cache &&
	    dep_wait_cache)
		return 0;
	dep_host_cache_exit();
	return -ENOMEM;
}

/**
 * dep_host_cache_exit() - free the caches; no set and no watch is left
 */
void dep_host_cache_exit(void)
{
	kmem_cache_destroy(host_cache);
	kmem_cache_destroy(item_cache);
	kmem_cache_destroy(told_cache);
	kmem_cache_destroy(dep_leaf_cache);
	kmem_cache_destroy(dep_wait_cache);
}
