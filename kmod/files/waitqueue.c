// SPDX-License-Identifier: GPL-2.0
/*
 * The entries that a watch has in the wait queues of its file: how ->poll()
 * puts them there, and how they leave.
 */
#include <linux/slab.h>

#include "core/host.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/watch.h"
#include "files/bucket.h"
#include "files/waitqueue.h"
#include "files/wakeup.h"

/**
 * struct dep_arming - a call of ->poll() that queues us
 * @table: the argument of ->poll()
 * @watch: the watch
 * @bucket: its bucket, or NULL while nobody else can see the watch
 * @err: why we are not in all of the file's wait queues
 */
struct dep_arming {
	poll_table table;
	struct dep_watch *watch;
	struct dep_bucket *bucket;
	int err;
};

static struct kmem_cache *wait_cache;

/* Takes the entry off its wait queue; then no wake function runs for it. */
static void wait_disarm(struct dep_wait *wait)
{
	wait_queue_head_t *head;

	/* Pairs with the release in watch_wake_last(). */
	head = smp_load_acquire(&wait->head);
	if (head) {
		spin_lock_irq(&head->lock);
		__remove_wait_queue(head, &wait->entry);
		spin_unlock_irq(&head->lock);
	}
}

/**
 * dep_watch_disarm() - take all entries of a watch off their wait queues
 * @watch: the watch
 *
 * When it returns, no wake function of the watch is running, or will run.
 *
 * Context: process; dep_bucket.lock held, or nobody can find the watch and the
 * caller has a reference on the file, and rcu_read_lock(): so its wait queues
 * don't go away.
 */
void dep_watch_disarm(struct dep_watch *watch)
{
	struct dep_wait *wait;

	/*
	 * RCU keeps a head alive that POLLFREE is just taking away.  A spin
	 * lock, which switches preemption off, is enough.
	 */
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(),
			 "a wait-queue head may be freed");
	for (wait = &watch->wait; wait; wait = wait->next)
		wait_disarm(wait);
}

/**
 * dep_watch_flush() - wait for wake functions that are running
 * @watch: the watch
 *
 * A wake function that has found the watch's only item uses it without
 * dep_watch.lock.  When this returns, none has an item that was taken off the
 * list before.  An entry that is queued meanwhile does not matter: its item is
 * on the list already.
 *
 * Context: process; dep_bucket.lock held, and the watch is in the table, so
 * that its wait queues exist.
 */
void dep_watch_flush(struct dep_watch *watch)
{
	wait_queue_head_t *head;
	struct dep_wait *wait;

	for (wait = &watch->wait; wait; wait = wait->next) {
		rcu_read_lock();
		/* Pairs with the release in watch_wake_last(). */
		head = smp_load_acquire(&wait->head);
		if (head) {
			spin_lock_irq(&head->lock);
			spin_unlock_irq(&head->lock);
		}
		rcu_read_unlock();
	}
}

/**
 * dep_wait_init() - make an entry that is in no wait queue
 * @wait: the entry
 * @wake: its wake function
 * @private: the file, or the watch: see struct dep_wait
 */
void dep_wait_init(struct dep_wait *wait, wait_queue_func_t wake, void *private)
{
	init_waitqueue_func_entry(&wait->entry, wake);
	wait->entry.private = private;
	INIT_LIST_HEAD(&wait->entry.entry);
	wait->head = NULL;
	wait->next = NULL;
}

static __always_inline void wait_arm(struct dep_wait *wait,
				     wait_queue_head_t *head)
{
	spin_lock_irq(&head->lock);
	__add_wait_queue(head, &wait->entry);
	/* Not before it is there: pairs with the acquire in queue_on(). */
	smp_store_release(&wait->head, head);
	spin_unlock_irq(&head->lock);
}

/*
 * Puts the watch into a wait queue, unless it is there.  If all its entries are
 * in others, it takes @fresh; -EAGAIN if that is NULL.
 */
static int watch_wait_on(struct dep_watch *watch, wait_queue_head_t *head,
			 struct dep_wait **fresh)
{
	struct dep_wait *wait, *tail, *spare = NULL;
	wait_queue_head_t *other;
	u32 nr_waits = 0;

	for (wait = &watch->wait; wait; wait = wait->next, nr_waits++) {
		/* Pairs with the release in watch_wake_last(). */
		other = smp_load_acquire(&wait->head);
		if (other == head)
			return 0;
		if (!other && !spare)
			spare = wait;
		tail = wait;
	}
	if (!spare) {
		if (nr_waits >= DEP_HEADS_PER_FILE)
			return -ENOSPC;
		if (!*fresh)
			return -EAGAIN;
		swap(spare, *fresh);
		dep_wait_init(spare, dep_watch_wake_further, watch);
		tail->next = spare;
	}
	wait_arm(spare, head);
	return 0;
}

/* The same under B, if the watch is in the table. */
static int arming_wait_on(struct dep_arming *arming, wait_queue_head_t *head,
			  struct dep_wait **fresh)
{
	int err;

	if (likely(!arming->bucket))
		return watch_wait_on(arming->watch, head, fresh);
	spin_lock(&arming->bucket->lock);
	err = watch_wait_on(arming->watch, head, fresh);
	spin_unlock(&arming->bucket->lock);
	return err;
}

/* Its second wait queue, or one that depends on who polls it, as a rule. */
static noinline int arming_wait_on_more(struct dep_arming *arming,
					wait_queue_head_t *head)
{
	struct dep_wait *fresh;
	int err;

	fresh = kmem_cache_alloc(wait_cache, GFP_KERNEL);
	if (!fresh)
		return -ENOMEM;
	err = arming_wait_on(arming, head, &fresh);
	if (fresh)
		kmem_cache_free(wait_cache, fresh);
	return err;
}

/* Called by ->poll() for each wait queue of the file. */
static void queue_on(struct file *file, wait_queue_head_t *head,
		     poll_table *table)
{
	wait_queue_head_t *known;
	struct dep_wait *none = NULL, *first;
	struct dep_arming *arming;
	int err;

	arming = container_of(table, struct dep_arming, table);
	if (arming->err)
		return;
	first = &arming->watch->wait;
	/* Without B: see the banner.  Pairs with the release in wait_arm(). */
	known = smp_load_acquire(&first->head);
	if (known == head)
		return;
	/* In no wait queue yet, and unknown to everybody else? */
	if (likely(!known && !arming->bucket && !first->next)) {
		wait_arm(first, head);
		return;
	}
	err = arming_wait_on(arming, head, &none);
	if (err == -EAGAIN)
		err = arming_wait_on_more(arming, head);
	arming->err = err;
}

/* A set has to know who polls it, even if it is queued on already. */
static void watch_queue_not(struct file *file, wait_queue_head_t *head,
			    poll_table *table)
{
}

/**
 * dep_watch_is_arming() - is this ->poll() called to queue a watch?
 * @table: the argument of ->poll(), or NULL
 *
 * Return: true if it is; then dep_instance.mtx of the set that adds is held.
 */
bool dep_watch_is_arming(const poll_table *table)
{
	return table && (table->_qproc == queue_on ||
			 table->_qproc == watch_queue_not);
}

/**
 * dep_watch_queue() - wait on the file's wait queues, and poll the file
 * @watch: the watch; the caller holds a reference on its file
 * @key: dep_item_key() of the item for which it is polled
 * @ready: out: what ->poll() answered
 *
 * The queues may depend on the events and on the calling process (signalfd), so
 * ->poll() is called for each item; the watch stays in queues in which it is
 * already.  The file may remember the key, so each item is polled with its own.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0;
 * -ENOSPC: too many wait queues;
 * -ENOMEM: no memory.
 */
int dep_watch_queue(struct dep_watch *watch, __poll_t key, u16 *ready)
{
	struct dep_arming arming = { .watch = watch };
	struct file *file = dep_watch_file(watch);

	/* Only to check, as in dep_watch_arm(). */
	might_sleep_if(IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP));
	/* Once it is in the table, the caller's item keeps it there. */
	if (READ_ONCE(watch->in_table))
		arming.bucket = dep_watch_bucket(file);
	init_poll_funcptr(&arming.table, queue_on);
	arming.table._key = key;
	*ready = (__force u16)vfs_poll(file, &arming.table);
	return arming.err;
}

/**
 * dep_watch_arm_more() - the rare half of dep_watch_arm()
 * @item: an attached item that asks for events with which its file was not
 *	polled yet, so that the watch is queued for them; or whose file is a set
 * @ready: out: what ->poll() answered
 *
 * Context: as dep_watch_arm().
 * Return: as dep_watch_arm().
 */
int dep_watch_arm_more(struct dep_item *item, u16 *ready)
{
	poll_table table DEP_UNINITIALIZED;
	int err;

	if (!(item->events & ~*dep_item_armed(item))) {
		init_poll_funcptr(&table, watch_queue_not);
		table._key = dep_item_key(item);
		*ready = (__force u16)vfs_poll(item->file, &table);
		return 0;
	}
	/* The item keeps the watch. */
	err = dep_watch_queue(dep_item_watch(item), dep_item_key(item), ready);
	if (!err)
		*dep_item_armed(item) |= item->events;
	return err;
}

/**
 * dep_waits_free() - free the entries of a watch beyond its first
 * @watch: a disarmed watch
 */
void dep_waits_free(struct dep_watch *watch)
{
	struct dep_wait *wait, *next;

	for (wait = watch->wait.next; wait; wait = next) {
		next = wait->next;
		kmem_cache_free(wait_cache, wait);
	}
}

/**
 * dep_waitqueue_init() - make the cache of entries
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_waitqueue_init(void)
{
	wait_cache = kmem_cache_create("devepoll_wait", sizeof(struct dep_wait),
				       0, SLAB_ACCOUNT, NULL);
	return wait_cache ? 0 : -ENOMEM;
}

/**
 * dep_waitqueue_exit() - free the cache; no entry is left
 */
void dep_waitqueue_exit(void)
{
	kmem_cache_destroy(wait_cache);
}
