// SPDX-License-Identifier: GPL-2.0
/*
 * Instances and their items: birth, charge, the way of an event into the sink,
 * unhooking.  Read the banner of instance.h first.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/percpu_counter.h>
#include <linux/sched.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/limits.h"
#include "core/nest.h"
#include "sinks/siginfo.h"

unsigned int dep_max_fds = DEP_MAX_FDS_DEFAULT;
unsigned long dep_max_user_watches;
const struct file_operations *dep_instance_fops;

static struct kmem_cache *item_cache;

int __init dep_item_cache_init(void)
{
	item_cache = kmem_cache_create("devepoll_item", sizeof(struct dep_item),
				       0, SLAB_ACCOUNT, NULL);
	return item_cache ? 0 : -ENOMEM;
}

void dep_item_cache_exit(void)
{
	kmem_cache_destroy(item_cache);
}

/**
 * dep_instance_new() - make an instance
 * @sink: where its events go
 * @cred: who pays; stays as long as the instance does
 *
 * Return: the instance, owned by the caller, or NULL without memory.
 */
struct dep_instance *dep_instance_new(const struct dep_sink *sink,
				      const struct cred *cred)
{
	struct dep_instance *inst;

	inst = kzalloc(sizeof(*inst), GFP_KERNEL_ACCOUNT);
	if (!inst)
		return NULL;

	spin_lock_init(&inst->lock);
	inst->sink = sink;
	INIT_LIST_HEAD(&inst->asks);
	INIT_LIST_HEAD(&inst->sure.waiters);
	INIT_LIST_HEAD(&inst->lazy.waiters);
	INIT_LIST_HEAD(&inst->woken);
	INIT_LIST_HEAD(&inst->inner);
	INIT_LIST_HEAD(&inst->outer);
	inst->pages.snapshot = 2;
	mutex_init(&inst->mtx);
	mutex_init(&inst->map_lock);
	init_waitqueue_head(&inst->poll_queue);
	INIT_LIST_HEAD(&inst->in_relay);
	INIT_LIST_HEAD(&inst->in_late);
	inst->user = cred->user;
	inst->person = dep_person_of(cred);
	inst->lane = hash_long((unsigned long)inst->person.ns +
			       __kuid_val(inst->person.uid),
			       ilog2(DEP_RELAY_LANES));
	return inst;
}

/**
 * dep_instance_free() - free an instance whose items and pages are gone
 * @inst: the instance; nobody else knows it any more
 */
void dep_instance_free(struct dep_instance *inst)
{
	might_sleep();
	WARN_ON_ONCE(inst->nr_items || inst->interest.charged);
	WARN_ON_ONCE(inst->nr_waiters || !list_empty(&inst->woken));
	WARN_ON_ONCE(inst->coming);
	WARN_ON_ONCE(!list_empty(&inst->asks));
	WARN_ON_ONCE(!list_empty(&inst->inner) || !list_empty(&inst->outer));

	dep_relay_leave(inst);
	dep_fdmap_destroy(&inst->interest);
	kfree(inst);
}

/**
 * dep_item_new() - make an item and charge it to the instance's user
 * @inst: the instance
 * @file: the file that @fd names; the caller has a reference
 * @fd: the number
 * @events: the events asked for
 *
 * Return: the item, owned by the caller and not hooked; or an ERR_PTR:
 * -ENOSPC: the user's limit of watches;
 * -ENOMEM: no memory.
 */
struct dep_item *dep_item_new(struct dep_instance *inst, struct file *file,
			      int fd, u16 events)
{
	struct percpu_counter *watches = &inst->user->epoll_watches;
	unsigned long most = READ_ONCE(dep_max_user_watches);
	struct dep_item *item;

	if (percpu_counter_compare(watches,
				   min_t(unsigned long, LONG_MAX, most)) >= 0)
		return ERR_PTR(-ENOSPC);
	item = kmem_cache_alloc(item_cache, GFP_KERNEL);
	if (!item)
		return ERR_PTR(-ENOMEM);
	percpu_counter_inc(watches);

	INIT_LIST_HEAD(&item->link);
	INIT_LIST_HEAD(&item->ask);
	item->inst = inst;
	item->watch = NULL;
	item->file = file;
	item->snapshot = 0;
	item->slot = 0;
	item->fd = fd;
	item->events = events;
	item->revents = 0;
	item->unsure = inst->sink->unsure;
	item->armed = events;
	item->hooked = false;
	item->doubt = false;
	item->pass = 0;
	item->mode = 0;
	item->data = 0;
	item->files = NULL;
	item->owner = 0;
	item->owner_born = 0;
	item->chosen = false;
	item->handover = false;
	item->nest = NULL;
	item->peer = NULL;
	item->siginfo = NULL;
	return item;
}

/* Has the number so many items already that they must not get more? */
static noinline bool item_has_many_peers(const struct dep_item *first)
{
	u32 nr = 0;

	for (; first; first = first->peer)
		nr++;
	return nr >= DEP_ITEMS_PER_NUMBER;
}

/* Puts the item before the others of its number. */
static int item_insert(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	unsigned int fd = item->fd;
	struct dep_item **first;
	struct dep_leaf *leaf;

	lockdep_assert_held(&inst->lock);
	leaf = dep_fdmap_leaf(&inst->interest, fd);
	if (!leaf)
		return -EAGAIN;
	first = &leaf->items[fd % DEP_LEAF_SIZE];
	if (unlikely(*first) && item_has_many_peers(*first))
		return -ENOSPC;
	item->peer = *first;
	*first = item;
	leaf->used++;
	item->hooked = true;
	inst->nr_items++;
	return 0;
}

/**
 * dep_item_hook() - put a new item into the interest set
 * @item: the item; its number is not in the set with its file
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0;
 * -ENOSPC: too many items of this number;
 * or a negative errno of dep_fdmap_grow(); then the caller calls
 * dep_item_discard().
 */
int dep_item_hook(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	int err;

	lockdep_assert_held(&inst->mtx);
	do {
		spin_lock_irq(&inst->lock);
		err = item_insert(item);
		dep_fdmap_settle(&inst->interest, inst->nr_items, inst->user);
		spin_unlock_irq(&inst->lock);
		if (err != -EAGAIN)
			return err;
		err = dep_fdmap_grow(&inst->interest, item->fd, &inst->lock);
	} while (!err);
	return err;
}

/* Takes it off its number again. */
static void item_extract(struct dep_item *item)
{
	struct dep_fdmap *map = &item->inst->interest;
	unsigned int fd = item->fd;
	struct dep_item **at;

	at = &dep_fdmap_leaf(map, fd)->items[fd % DEP_LEAF_SIZE];
	while (unlikely(*at != item))
		at = &(*at)->peer;
	*at = item->peer;
	item->leaf = dep_fdmap_erase(map, fd);
}

/**
 * dep_item_free() - free an item
 * @item: unhooked and on no watch; its charge went when it was unhooked
 */
void dep_item_free(struct dep_item *item)
{
	dep_nest_free(item->nest);
	dep_fdmap_free_leaf(item->leaf);
	dep_siginfo_retire(item->siginfo);
	kmem_cache_free(item_cache, item);
}

/* How many watches it counts as. */
static s64 item_charge(const struct dep_item *item)
{
	return item->siginfo ? DEP_SIGNAL_CHARGE : 1;
}

/**
 * dep_item_discard() - free an item that is charged but not hooked
 * @item: new, or closed and off the list of asks
 */
void dep_item_discard(struct dep_item *item)
{
	percpu_counter_sub(&item->inst->user->epoll_watches,
			   item_charge(item));
	dep_item_free(item);
}

/**
 * dep_item_unhook() - take an item out of its interest set
 * @item: an item that can't be freed meanwhile; its instance is locked
 *
 * After this no event is posted for it and none is pending.  The user's charge
 * is given back here, while the instance is sure to be there.
 *
 * Return: true if the caller owns the item now, false if somebody else does.
 */
bool dep_item_unhook(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;

	lockdep_assert_held(&inst->lock);
	if (!item->hooked)
		return false;

	item->hooked = false;
	/* Until it is off its watch, wake-ups find nothing to post. */
	item->events = 0;
	item_extract(item);
	item->handover = item->chosen;
	dep_item_unlist(item);
	inst->sink->forget(inst, item);
	if (item->nest)
		dep_nest_cut(item->nest);
	inst->nr_items--;
	dep_fdmap_settle(&inst->interest, inst->nr_items, inst->user);
	percpu_counter_sub(&inst->user->epoll_watches, item_charge(item));
	return true;
}

/**
 * dep_item_close() - let an item wait for its last event to be taken
 * @item: unhooked and on no watch; its instance is locked
 *
 * The item belongs to the instance from now on.  It is charged again: a
 * program that does not look must not make the list grow for ever.
 */
void dep_item_close(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u32 listed = inst->nr_asks;

	lockdep_assert_held(&inst->lock);
	/* It may wait for long, and is not charged for these. */
	dep_fdmap_free_leaf(item->leaf);
	item->leaf = NULL;
	percpu_counter_add(&inst->user->epoll_watches, item_charge(item));
	item->mode |= DEP_MODE_CLOSED;
	item->watch = NULL;
	dep_item_list(item);
	/* One file may close in thousands of sets. */
	dep_instance_owe(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
}

/**
 * dep_item_bury() - let an item stay in its set without its file
 * @item: hooked and on no watch; its instance is locked
 *
 * The number is reported as one that is not open until it is removed.
 */
void dep_item_bury(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u32 listed = inst->nr_asks;

	lockdep_assert_held(&inst->lock);
	if (item->nest)
		dep_nest_cut(item->nest);
	item->mode |= DEP_MODE_CLOSED;
	item->watch = NULL;
	item->file = NULL;
	dep_item_list(item);
	/* One file may close in thousands of sets. */
	dep_instance_owe(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
}

static bool waiter_is_less(struct rb_node *node, const struct rb_node *than)
{
	const struct dep_waiter *a = rb_entry(node, struct dep_waiter, node);
	const struct dep_waiter *b = rb_entry(than, struct dep_waiter, node);

	return a->min < b->min || (a->min == b->min && a->ticket < b->ticket);
}

static struct dep_crowd *waiter_crowd(struct dep_instance *inst,
				      const struct dep_waiter *waiter)
{
	return waiter->comes ? &inst->lazy : &inst->sure;
}

/**
 * dep_waiter_queue() - put a harvester behind the others
 * @inst: the instance, locked
 * @waiter: the harvester, on no list
 */
void dep_waiter_queue(struct dep_instance *inst, struct dep_waiter *waiter)
{
	struct dep_crowd *crowd = waiter_crowd(inst, waiter);

	lockdep_assert_held(&inst->lock);
	dep_waiter_came(inst, waiter);
	waiter->queued = true;
	waiter->ticket = inst->ticket++;
	inst->nr_waiters++;
	/* It may be left asleep for one who was woken and does not come. */
	if (inst->awaited && !inst->late)
		dep_relay_watch(inst);
	if (waiter->min <= 1)
		list_add_tail(&waiter->link, &crowd->waiters);
	else
		rb_add_cached(&waiter->node, &crowd->hungry, waiter_is_less);
}

/**
 * dep_waiter_unqueue() - take a harvester off whatever list it is on
 * @inst: the instance, locked
 * @waiter: the harvester
 *
 * Return: true if it was on one, and so nobody else is about to wake it.
 */
bool dep_waiter_unqueue(struct dep_instance *inst, struct dep_waiter *waiter)
{
	lockdep_assert_held(&inst->lock);
	if (!waiter->queued && list_empty(&waiter->link))
		return false;
	if (waiter->queued && waiter->min > 1)
		rb_erase_cached(&waiter->node,
				&waiter_crowd(inst, waiter)->hungry);
	else
		list_del_init(&waiter->link);
	inst->nr_waiters -= waiter->queued;
	waiter->queued = false;
	return true;
}

/**
 * dep_waiter_kick() - wake one harvester, if it is queued
 * @inst: the instance, locked
 * @waiter: the harvester
 */
void dep_waiter_kick(struct dep_instance *inst, struct dep_waiter *waiter)
{
	if (!waiter->queued)
		return;
	dep_waiter_unqueue(inst, waiter);
	waiter->kicked = true;
	waiter->looks = inst->looks;
	inst->awaited++;
	inst->coming += waiter->room;
	/* If it gets no processor, one of the others shall come instead. */
	if (inst->nr_waiters && !inst->late)
		dep_relay_watch(inst);
	if (waiter->task) {
		/* It can't leave its stack frame: it takes the lock first. */
		wake_up_process(waiter->task);
		return;
	}
	list_add_tail(&waiter->link, &inst->woken);
	dep_instance_relay(inst);
}

static struct dep_waiter *crowd_most_modest(struct dep_crowd *crowd)
{
	struct rb_node *node = rb_first_cached(&crowd->hungry);

	return node ? rb_entry(node, struct dep_waiter, node) : NULL;
}

/*
 * Who has waited longest.  Of those that want several events only the most
 * modest is looked at, and passed over as long as there can't be so many.
 */
static struct dep_waiter *crowd_first(struct dep_crowd *crowd, u32 nr_asks)
{
	struct dep_waiter *waiter = list_first_entry_or_null(&crowd->waiters,
							     struct dep_waiter,
							     link);
	struct dep_waiter *hungry = crowd_most_modest(crowd);

	if (hungry && hungry->min <= nr_asks &&
	    (!waiter || hungry->ticket < waiter->ticket))
		return hungry;
	return waiter;
}

/* Of the first commands of rings that may not come for long, one that comes. */
static struct dep_waiter *instance_comer(struct dep_instance *inst)
{
	unsigned int left = DEP_LOOK_BATCH;
	struct dep_waiter *waiter;

	list_for_each_entry(waiter, &inst->lazy.waiters, link) {
		if (waiter->comes(waiter))
			return waiter;
		if (!--left)
			break;
	}
	return NULL;
}

/**
 * dep_instance_has_sleeper() - does anyone sleep who would come for one event?
 * @inst: the instance, locked
 *
 * Return: false also if there is one that wants several events.
 */
bool dep_instance_has_sleeper(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	return !list_empty(&inst->sure.waiters) || instance_comer(inst);
}

/**
 * dep_instance_wake() - wake the harvester that has waited longest
 * @inst: the instance, locked
 *
 * If it is one that may not come for long, another is woken besides.
 */
void dep_instance_wake(struct dep_instance *inst)
{
	struct dep_waiter *sure, *lazy, *comer;

	lockdep_assert_held(&inst->lock);
	sure = crowd_first(&inst->sure, inst->nr_asks);
	lazy = crowd_first(&inst->lazy, inst->nr_asks);
	if (unlikely(lazy)) {
		comer = lazy->comes(lazy) ? lazy : instance_comer(inst);
		if (comer == lazy)
			lazy = NULL;
		if (comer && (!sure || comer->ticket < sure->ticket))
			sure = comer;
	}
	if (sure)
		dep_waiter_kick(inst, sure);
	if (lazy)
		dep_waiter_kick(inst, lazy);
}

/* Wakes all, as far as @left allows; what is left of that. */
static unsigned int crowd_wake(struct dep_instance *inst,
			       struct dep_crowd *crowd, unsigned int left)
{
	while (left && !list_empty(&crowd->waiters)) {
		dep_waiter_kick(inst, list_first_entry(&crowd->waiters,
						       struct dep_waiter,
						       link));
		left--;
	}
	while (left && crowd_most_modest(crowd)) {
		dep_waiter_kick(inst, crowd_most_modest(crowd));
		left--;
	}
	return left;
}

/**
 * dep_instance_wake_some() - let sleeping harvesters look again
 * @inst: the instance, locked
 *
 * Return: true if there may be more of them.
 */
bool dep_instance_wake_some(struct dep_instance *inst)
{
	unsigned int left = DEP_WAKE_BATCH;

	lockdep_assert_held(&inst->lock);
	left = crowd_wake(inst, &inst->sure, left);
	left = crowd_wake(inst, &inst->lazy, left);
	return !left;
}

/* Does anyone who wants several events sleep, though there may be so many? */
static bool instance_has_enough(struct dep_instance *inst)
{
	const struct dep_waiter *sure = crowd_most_modest(&inst->sure);
	const struct dep_waiter *lazy = crowd_most_modest(&inst->lazy);

	return (sure && sure->min <= inst->nr_asks) ||
	       (lazy && lazy->min <= inst->nr_asks);
}

/*
 * Whoever was woken for the first event takes the later ones too, as far as he
 * has room.  For what he has not the next is woken as long as he has not begun;
 * from then on it is he who wakes the next, when he has taken his.
 */
static bool instance_needs_another(struct dep_instance *inst, u32 listed)
{
	if (!dep_instance_lacks_room(inst))
		return false;
	return (inst->nr_asks > listed && inst->coming) ||
	       instance_has_enough(inst);
}

/**
 * dep_instance_arrived() - there is something new for a harvester
 * @inst: the instance, locked
 * @idle: there was nothing before
 * @listed: dep_instance.nr_asks before
 */
void dep_instance_arrived(struct dep_instance *inst, bool idle, u32 listed)
{
	lockdep_assert_held(&inst->lock);
	if (inst->nr_waiters && (idle || instance_needs_another(inst, listed)))
		dep_instance_wake(inst);
}

/**
 * dep_instance_owe() - the same, but the relay wakes him
 * @inst: the instance, locked
 * @idle: there was nothing before
 * @listed: dep_instance.nr_asks before
 */
void dep_instance_owe(struct dep_instance *inst, bool idle, u32 listed)
{
	lockdep_assert_held(&inst->lock);
	if (!inst->nr_waiters ||
	    (!idle && !instance_needs_another(inst, listed)))
		return;
	inst->owed = true;
	dep_instance_relay(inst);
}

/**
 * dep_item_post() - post what ->poll() answered
 * @item: a hooked item; its instance is locked
 * @events: the answer, all bits
 * @harvesting: the caller takes the events itself or wakes somebody who does
 */
void dep_item_post(struct dep_item *item, u16 events, bool harvesting)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u32 listed = inst->nr_asks;

	lockdep_assert_held(&inst->lock);
	events &= item->events;
	if (!events)
		return;
	inst->sink->post(inst, item, events);
	if (!harvesting)
		dep_instance_arrived(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
}
