// SPDX-License-Identifier: GPL-2.0
/*
 * The entries that a watch has in the wait queues of its file: how ->poll()
 * puts them there, and how they leave.
 */
#include <linux/slab.h>

#include "core/item.h"
#include "core/limits.h"
#include "files/waitqueue.h"
#include "files/wakeup.h"
#include "files/watch.h"

/**
 * struct dep_arming - a call of ->poll() that queues us
 * @table: the argument of ->poll()
 * @watch: the watch
 * @err: why we are not in all of the file's wait queues
 */
struct dep_arming {
	poll_table table;
	struct dep_watch *watch;
	int err;
};

static struct kmem_cache *wait_cache;

/* Takes the entry off its wait queue; no wake function runs for it then. */
static void wait_disarm(struct dep_wait *wait)
{
	wait_queue_head_t *head;

	/* Pairs with the release in wait_pollfree(). */
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

	for (wait = &watch->wait; wait;
	     /* Pairs with the release in watch_spare_wait(). */
	     wait = smp_load_acquire(&wait->next)) {
		rcu_read_lock();
		/* Pairs with the release in wait_pollfree(). */
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
 * @watch: its watch
 */
void dep_wait_init(struct dep_wait *wait, struct dep_watch *watch)
{
	init_waitqueue_func_entry(&wait->entry, dep_watch_wake);
	INIT_LIST_HEAD(&wait->entry.entry);
	wait->head = NULL;
	wait->watch = watch;
	wait->next = NULL;
}

static bool watch_waits_on(struct dep_watch *watch, wait_queue_head_t *head)
{
	struct dep_wait *wait;

	for (wait = &watch->wait; wait; wait = wait->next) {
		if (READ_ONCE(wait->head) == head)
			return true;
	}
	return false;
}

/* A free entry: the first one, or one whose head POLLFREE took away. */
static struct dep_wait *watch_spare_wait(struct dep_watch *watch)
{
	struct dep_wait *wait, *tail;

	for (wait = &watch->wait; wait; wait = wait->next) {
		/* Pairs with the release in wait_pollfree(). */
		if (!smp_load_acquire(&wait->head))
			return wait;
		tail = wait;
	}
	if (watch->nr_waits >= DEP_HEADS_PER_FILE)
		return ERR_PTR(-ENOSPC);
	wait = kmem_cache_alloc(wait_cache, GFP_KERNEL);
	if (!wait)
		return ERR_PTR(-ENOMEM);
	dep_wait_init(wait, watch);
	/* Pairs with dep_watch_flush(), which does not hold A. */
	smp_store_release(&tail->next, wait);
	watch->nr_waits++;
	return wait;
}

/* Called by ->poll() for each wait queue of the file. */
static void queue_on(struct file *file, wait_queue_head_t *head,
		     poll_table *table)
{
	struct dep_arming *arming;
	struct dep_wait *wait;

	arming = container_of(table, struct dep_arming, table);
	/* Not held across ->poll(), which may wait for user space for ever. */
	mutex_lock(&arming->watch->arm);
	if (arming->err || watch_waits_on(arming->watch, head))
		goto out;
	wait = watch_spare_wait(arming->watch);
	if (IS_ERR(wait)) {
		arming->err = PTR_ERR(wait);
		goto out;
	}
	WRITE_ONCE(wait->head, head);
	spin_lock_irq(&head->lock);
	__add_wait_queue(head, &wait->entry);
	spin_unlock_irq(&head->lock);
out:
	mutex_unlock(&arming->watch->arm);
}

/* Called by ->poll() when the watch is in the queues already. */
static void queue_not(struct file *file, wait_queue_head_t *head,
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
	return table &&
	       (table->_qproc == queue_on || table->_qproc == queue_not);
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

	might_sleep();
	init_poll_funcptr(&arming.table, queue_on);
	arming.table._key = key;
	*ready = (__force u16)vfs_poll(watch->file, &arming.table);
	return arming.err;
}

/**
 * dep_watch_arm() - poll the file with the events that are wanted now
 * @item: an attached item; the caller holds a reference on its file
 * @ready: out: what ->poll() answered
 *
 * Some files queue a poller, or note that there is one, only for the events
 * asked for: a datagram socket wakes a sender that asked for EPOLLOUT.  The
 * file learns of a change of the mode alone, too, but nothing is queued for it.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0;
 * -ENOSPC: too many wait queues;
 * -ENOMEM: no memory.
 */
int dep_watch_arm(struct dep_item *item, u16 *ready)
{
	poll_table table;
	int err;

	lockdep_assert_held(&item->inst->mtx);
	/* The item keeps the watch. */
	if (item->events & ~item->armed) {
		err = dep_watch_queue(item->watch, dep_item_key(item), ready);
		if (!err)
			item->armed |= item->events;
		return err;
	}
	init_poll_funcptr(&table, queue_not);
	table._key = dep_item_key(item);
	*ready = (__force u16)vfs_poll(item->file, &table);
	return 0;
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
