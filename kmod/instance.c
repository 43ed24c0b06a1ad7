// SPDX-License-Identifier: GPL-2.0
/*
 * Instances and their items: birth, charge, the way of an event into the sink,
 * unhooking.  Read the banner of instance.h first.
 */
#include <linux/percpu_counter.h>
#include <linux/sched.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "compat.h"
#include "instance.h"
#include "limits.h"
#include "nest.h"
#include "siginfo.h"
#include "worker.h"

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

static void instance_wake_queue(struct dep_instance *inst, __poll_t wake)
{
	/*
	 * io_uring and AIO take a key for the answer, so name it only if there
	 * is an event, and not if a file has to be asked first.
	 */
	if (READ_ONCE(inst->pending) || wake)
		wake_up_poll(&inst->poll_queue, EPOLLIN | EPOLLRDNORM | wake);
	else
		wake_up(&inst->poll_queue);
}

static void instance_poll_worker(struct work_struct *work)
{
	struct dep_instance *inst;
	__poll_t wake;

	inst = container_of(work, struct dep_instance, poll_worker);
	wake = (__force __poll_t)atomic_xchg(&inst->worker_wake, 0);
	instance_wake_queue(inst, wake);
}

/* Few enough to be woken in an interrupt, be they on the queue or sets. */
static bool instance_has_few_pollers(struct dep_instance *inst)
{
	wait_queue_head_t *queue = &inst->poll_queue;
	wait_queue_entry_t *entry;
	unsigned long flags;
	u32 nr = 0;

	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry(entry, &queue->head, entry) {
		if (++nr > DEP_POLLERS_AT_ONCE)
			break;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return max(nr, READ_ONCE(inst->nr_outer)) <= DEP_POLLERS_AT_ONCE;
}

/* Wakes who polls the device, outside of any lock of the file that woke us. */
static void instance_poll_work(struct irq_work *work)
{
	struct dep_instance *inst;
	unsigned long flags;
	unsigned int left;
	__poll_t wake;
	bool polled;

	inst = container_of(work, struct dep_instance, poll_work);
	spin_lock_irqsave(&inst->lock, flags);
	wake = inst->poll_wake;
	inst->poll_wake = 0;
	for (left = DEP_WAKE_BATCH; left && !list_empty(&inst->woken); left--) {
		struct dep_waiter *waiter;

		waiter = list_first_entry(&inst->woken, struct dep_waiter,
					  link);
		/* Off the list: nobody else has it now. */
		list_del_init(&waiter->link);
		spin_unlock_irqrestore(&inst->lock, flags);
		waiter->wake(waiter);
		spin_lock_irqsave(&inst->lock, flags);
	}
	if (!list_empty(&inst->woken))
		dep_instance_run(inst);
	polled = inst->polled;
	/* Who comes later sets polled again, after it has queued itself. */
	inst->polled = waitqueue_active(&inst->poll_queue);
	spin_unlock_irqrestore(&inst->lock, flags);

	if (polled && instance_has_few_pollers(inst)) {
		instance_wake_queue(inst, wake);
	} else if (polled) {
		atomic_or((__force int)wake, &inst->worker_wake);
		queue_work(dep_worker_wakes, &inst->poll_worker);
	}
	/* The last touch: pairs with dep_instance_sync(). */
	atomic_dec_return_release(&inst->poll_works);
}

/**
 * dep_instance_new() - make an instance
 * @sink: where its events go
 * @user: who pays; stays as long as the instance does
 *
 * Return: the instance, owned by the caller, or NULL without memory.
 */
struct dep_instance *dep_instance_new(const struct dep_sink *sink,
				      struct user_struct *user)
{
	struct dep_instance *inst;

	inst = kzalloc(sizeof(*inst), GFP_KERNEL_ACCOUNT);
	if (!inst)
		return NULL;

	spin_lock_init(&inst->lock);
	inst->sink = sink;
	INIT_LIST_HEAD(&inst->asks);
	INIT_LIST_HEAD(&inst->waiters);
	inst->hungry = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&inst->woken);
	INIT_LIST_HEAD(&inst->inner);
	INIT_LIST_HEAD(&inst->outer);
	inst->pages.snapshot = 2;
	mutex_init(&inst->mtx);
	mutex_init(&inst->map_lock);
	init_waitqueue_head(&inst->poll_queue);
	init_irq_work(&inst->poll_work, instance_poll_work);
	INIT_WORK(&inst->poll_worker, instance_poll_worker);
	inst->user = user;
	return inst;
}

/**
 * dep_instance_sync() - wait until nothing of poll_work runs
 * @inst: the instance
 *
 * Context: process; sleeps.
 */
void dep_instance_sync(struct dep_instance *inst)
{
	might_sleep();
	while (atomic_read_acquire(&inst->poll_works)) {
		cpu_relax();
		cond_resched();
	}
}

/**
 * dep_instance_free() - free an instance whose items and pages are gone
 * @inst: the instance; nobody else knows it any more
 */
void dep_instance_free(struct dep_instance *inst)
{
	might_sleep();
	WARN_ON_ONCE(inst->nr_items);
	WARN_ON_ONCE(inst->nr_waiters || !list_empty(&inst->woken));
	WARN_ON_ONCE(inst->coming);
	WARN_ON_ONCE(!list_empty(&inst->asks));
	WARN_ON_ONCE(!list_empty(&inst->inner) || !list_empty(&inst->outer));

	dep_instance_sync(inst);
	/* After what queues it. */
	cancel_work_sync(&inst->poll_worker);
	dep_fdmap_destroy(&inst->interest, inst->user);
	kfree_rcu(inst, rcu);
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
	item->leaf = NULL;
	item->siginfo = NULL;
	return item;
}

/**
 * dep_item_hook() - put a new item into the interest set
 * @item: the item; its number is not in the set
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0, or a negative errno of dep_fdmap_grow(); then the caller calls
 * dep_item_discard().
 */
int dep_item_hook(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	int err;

	lockdep_assert_held(&inst->mtx);
	do {
		spin_lock_irq(&inst->lock);
		item->hooked = dep_fdmap_insert(&inst->interest, item->fd,
						item);
		inst->nr_items += item->hooked;
		spin_unlock_irq(&inst->lock);
		if (item->hooked)
			return 0;
		err = dep_fdmap_grow(&inst->interest, item->fd, &inst->lock,
				     inst->user);
	} while (!err);
	return err;
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
	item->leaf = dep_fdmap_erase(&inst->interest, item->fd);
	item->handover = item->chosen;
	dep_item_unlist(item);
	inst->sink->forget(inst, item);
	if (item->nest)
		dep_nest_cut(item->nest);
	inst->nr_items--;
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
	percpu_counter_add(&inst->user->epoll_watches, item_charge(item));
	item->mode |= DEP_MODE_CLOSED;
	item->watch = NULL;
	dep_item_list(item);
	dep_instance_arrived(inst, idle, listed);
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
	dep_instance_arrived(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, 0);
}

static bool waiter_is_less(struct rb_node *node, const struct rb_node *than)
{
	const struct dep_waiter *a = rb_entry(node, struct dep_waiter, node);
	const struct dep_waiter *b = rb_entry(than, struct dep_waiter, node);

	return a->min < b->min || (a->min == b->min && a->ticket < b->ticket);
}

/**
 * dep_waiter_queue() - put a harvester behind the others
 * @inst: the instance, locked
 * @waiter: the harvester, on no list
 */
void dep_waiter_queue(struct dep_instance *inst, struct dep_waiter *waiter)
{
	lockdep_assert_held(&inst->lock);
	waiter->queued = true;
	waiter->ticket = inst->ticket++;
	inst->nr_waiters++;
	if (waiter->min <= 1)
		list_add_tail(&waiter->link, &inst->waiters);
	else
		rb_add_cached(&waiter->node, &inst->hungry, waiter_is_less);
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
		rb_erase_cached(&waiter->node, &inst->hungry);
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
	if (waiter->task) {
		waiter->coming = waiter->room;
		inst->coming += waiter->room;
		/* It can't leave its stack frame: it takes the lock first. */
		wake_up_process(waiter->task);
		return;
	}
	list_add_tail(&waiter->link, &inst->woken);
	dep_instance_run(inst);
}

static struct dep_waiter *instance_most_modest(struct dep_instance *inst)
{
	struct rb_node *node = rb_first_cached(&inst->hungry);

	return node ? rb_entry(node, struct dep_waiter, node) : NULL;
}

/**
 * dep_instance_wake() - wake the harvester that has waited longest
 * @inst: the instance, locked
 *
 * Of those that want several events only the most modest is looked at, and
 * passed over as long as there can't be so many.
 */
void dep_instance_wake(struct dep_instance *inst)
{
	struct dep_waiter *waiter, *hungry;

	lockdep_assert_held(&inst->lock);
	waiter = list_first_entry_or_null(&inst->waiters, struct dep_waiter,
					  link);
	hungry = instance_most_modest(inst);
	if (hungry && hungry->min <= inst->nr_asks &&
	    (!waiter || hungry->ticket < waiter->ticket))
		waiter = hungry;
	if (waiter)
		dep_waiter_kick(inst, waiter);
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
	while (left && !list_empty(&inst->waiters)) {
		dep_waiter_kick(inst, list_first_entry(&inst->waiters,
						       struct dep_waiter,
						       link));
		left--;
	}
	while (left && instance_most_modest(inst)) {
		dep_waiter_kick(inst, instance_most_modest(inst));
		left--;
	}
	return !left;
}

/**
 * dep_instance_arrived() - there is something new for a harvester
 * @inst: the instance, locked
 * @idle: there was nothing before
 * @listed: dep_instance.nr_asks before
 *
 * Whoever was woken for the first event takes the later ones too, as far as he
 * has room.  For what he has not the next is woken as long as he has not begun;
 * from then on it is he who wakes the next, when he has taken his.
 */
void dep_instance_arrived(struct dep_instance *inst, bool idle, u32 listed)
{
	struct dep_waiter *hungry;
	bool more;

	lockdep_assert_held(&inst->lock);
	if (!inst->nr_waiters)
		return;
	more = inst->nr_asks > listed && inst->coming &&
	       dep_instance_lacks_room(inst);
	hungry = instance_most_modest(inst);
	if (idle || more || (hungry && hungry->min <= inst->nr_asks &&
			     dep_instance_lacks_room(inst)))
		dep_instance_wake(inst);
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
