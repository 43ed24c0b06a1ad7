// SPDX-License-Identifier: GPL-2.0
/*
 * Watches: one object per watched file, found by the file's address, with the
 * entries in the file's wait queues and the items of all sets that watch it.
 * Read the banner of instance.h first.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "limits.h"
#include "trace.h"
#include "watch.h"

/**
 * struct dep_wait - our entry in one wait queue of a watched file
 * @entry: the entry; protected by the lock of the wait queue
 * @head: the wait queue; NULL before use and after POLLFREE
 * @watch: const: the watch
 * @next: A: the next entry of the watch
 */
struct dep_wait {
	wait_queue_entry_t entry;
	wait_queue_head_t *head;
	struct dep_watch *watch;
	struct dep_wait *next;
};

/**
 * struct dep_watch - the callback list of one watched file
 * @node: B: in the table; unhashed once the file is gone
 * @file: const: the key
 * @lock: lock number 5
 * @nr_items: B: length of @items
 * @nr_waits: A: length of the list behind @wait
 * @nr_exclusive: B+W: how many of @items are exclusive
 * @items: B+W, but a wake function turns it under W alone: the items of all
 *	instances
 * @arm: lock number 2: one at a time queues on the file
 * @wait: A: the first entry; most files need no other
 */
struct dep_watch {
	struct hlist_node node;
	struct file *file;
	/* W: the items, for a wake-up; nests L. */
	spinlock_t lock;
	u32 nr_items;
	u32 nr_waits;
	u32 nr_exclusive;
	struct list_head items;
	/* A: the wait queues; nests their heads. */
	struct mutex arm;
	struct dep_wait wait;
};

/**
 * struct dep_arming - a call of ->poll() that queues us
 * @table: what ->poll() is given
 * @watch: the watch
 * @err: why not all of its wait queues have us
 */
struct dep_arming {
	poll_table table;
	struct dep_watch *watch;
	int err;
};

struct dep_bucket *dep_watch_table __read_mostly;
unsigned int dep_watch_table_bits __read_mostly;

static struct kmem_cache *watch_cache;
static struct kmem_cache *wait_cache;

/* An exclusive item is one for ever. */
static bool item_is_exclusive(const struct dep_item *item)
{
	return item->mode & DEP_MODE_EXCLUSIVE;
}

static struct dep_bucket *bucket_of(const struct file *file)
{
	return &dep_watch_table[hash_ptr(file, dep_watch_table_bits)];
}

static struct dep_watch *bucket_find(struct dep_bucket *bucket,
				     const struct file *file)
{
	struct dep_watch *watch;

	lockdep_assert_held(&bucket->lock);
	hlist_for_each_entry(watch, &bucket->watches, node) {
		if (watch->file == file)
			return watch;
	}
	return NULL;
}

/*
 * The uncommon wake-up: somebody sleeps, or the file must be asked, since the
 * key says nothing or claims what it can't know.
 */
static noinline void watch_notify_slow(struct dep_item *item, __poll_t key)
{
	struct dep_instance *inst = item->inst;
	bool idle = !dep_instance_has_work(inst);
	u16 events, ask;

	lockdep_assert_held(&inst->lock);
	events = item->events & (__force u16)key;
	ask = key & ~EPOLL_URING_WAKE ? events & item->unsure : item->events;
	events &= ~item->unsure;
	if (!(events | ask))
		return;

	inst->stats.wakes++;
	trace_devepoll_event(item, (__force u32)key);
	if (ask) {
		item->doubt = true;
		dep_item_list(item);
	}
	if (events)
		inst->sink->post(inst, item, events);
	dep_instance_arrived(inst, idle);
	if (inst->polled)
		dep_instance_wake_pollers(inst, key);
}

/* An unhooked item wants no events, so nothing is done for it. */
static __always_inline void watch_notify(struct dep_item *item, __poll_t key)
{
	struct dep_instance *inst = item->inst;
	u16 events;

	spin_lock(&inst->lock);
	events = item->events & (__force u16)key;
	if (likely(events && !(events & item->unsure) &&
		   !inst->nr_waiters && !inst->polled)) {
		inst->stats.wakes++;
		trace_devepoll_event(item, (__force u32)key);
		inst->sink->post(inst, item, events);
	} else {
		watch_notify_slow(item, key);
	}
	spin_unlock(&inst->lock);
}

static __always_inline void watch_notify_all(struct dep_watch *watch,
					     __poll_t key)
{
	struct dep_item *item;

	lockdep_assert_held(&watch->lock);
	list_for_each_entry(item, &watch->items, link)
		watch_notify(item, key);
}

/* Wakes somebody who sleeps for this item, if there is anyone. */
static bool watch_notify_waiter(struct dep_item *item, __poll_t key)
{
	struct dep_instance *inst = item->inst;
	bool woken;

	spin_lock(&inst->lock);
	/* One that wants several events may sleep on. */
	woken = !list_empty(&inst->waiters) &&
		(key & ~EPOLL_URING_WAKE ? item->events & (__force u16)key :
					   item->events);
	if (woken) {
		item->chosen = true;
		watch_notify_slow(item, key);
	}
	spin_unlock(&inst->lock);
	return woken;
}

/*
 * One of the exclusive items is enough, if somebody sleeps for it; it goes
 * behind the others then.  If nobody does, the first to come shall find it.
 */
static noinline void watch_notify_exclusive(struct dep_watch *watch,
					    __poll_t key)
{
	struct dep_item *item, *chosen = NULL;

	lockdep_assert_held(&watch->lock);
	list_for_each_entry(item, &watch->items, link) {
		if (!item_is_exclusive(item))
			watch_notify(item, key);
		else if (!chosen && watch_notify_waiter(item, key))
			chosen = item;
	}
	if (chosen) {
		list_move_tail(&chosen->link, &watch->items);
		return;
	}
	list_for_each_entry(item, &watch->items, link) {
		if (item_is_exclusive(item))
			watch_notify(item, key);
	}
}

/* The owner of the head is about to free it: see the banner. */
static noinline void wait_pollfree(struct dep_wait *wait)
{
	list_del_init(&wait->entry.entry);
	/* Pairs with wait_disarm(), which may free us right after. */
	smp_store_release(&wait->head, NULL);
}

/* An exclusive item leaves with an event: the others like it shall ask. */
static noinline void watch_hand_over(struct dep_watch *watch)
{
	struct dep_item *item;

	lockdep_assert_held(&watch->lock);
	list_for_each_entry(item, &watch->items, link) {
		if (item_is_exclusive(item))
			watch_notify(item, 0);
	}
}

/*
 * The wake function.  Runs under the lock of the wait queue, in any context.
 */
static int dep_watch_wake(wait_queue_entry_t *entry, unsigned int mode,
			  int sync, void *key)
{
	struct dep_wait *wait = container_of(entry, struct dep_wait, entry);
	struct dep_watch *watch = wait->watch;
	__poll_t events = key_to_poll(key);
	unsigned long flags;

	if (unlikely(events & POLLFREE))
		events = 0;

	spin_lock_irqsave(&watch->lock, flags);
	/* Hang-ups and what may be one are for all. */
	if (unlikely(watch->nr_exclusive) &&
	    events & (EPOLLIN | EPOLLOUT) && !(events & EPOLLHUP)) {
		watch_notify_exclusive(watch, events);
	} else {
		watch_notify_all(watch, events);
	}
	spin_unlock_irqrestore(&watch->lock, flags);

	if (unlikely(key_to_poll(key) & POLLFREE))
		wait_pollfree(wait);
	return 0;
}

/* Takes the entry off its wait queue; no wake function runs for it then. */
static void wait_disarm(struct dep_wait *wait)
{
	wait_queue_head_t *head;

	/* RCU keeps a head alive that POLLFREE is taking away this moment. */
	rcu_read_lock();
	/* Pairs with the release in dep_watch_wake(). */
	head = smp_load_acquire(&wait->head);
	if (head)
		remove_wait_queue(head, &wait->entry);
	rcu_read_unlock();
}

/* B is held, which keeps the file's wait queues from going away. */
static void watch_disarm(struct dep_watch *watch)
{
	struct dep_wait *wait;

	for (wait = &watch->wait; wait; wait = wait->next)
		wait_disarm(wait);
}

static void watch_free(struct dep_watch *watch)
{
	struct dep_wait *wait, *next;

	for (wait = watch->wait.next; wait; wait = next) {
		next = wait->next;
		kmem_cache_free(wait_cache, wait);
	}
	kmem_cache_free(watch_cache, watch);
}

static void wait_init(struct dep_wait *wait, struct dep_watch *watch)
{
	init_waitqueue_func_entry(&wait->entry, dep_watch_wake);
	INIT_LIST_HEAD(&wait->entry.entry);
	wait->head = NULL;
	wait->watch = watch;
	wait->next = NULL;
}

static struct dep_watch *watch_new(struct file *file)
{
	struct dep_watch *watch;

	watch = kmem_cache_alloc(watch_cache, GFP_KERNEL);
	if (!watch)
		return NULL;
	INIT_HLIST_NODE(&watch->node);
	watch->file = file;
	spin_lock_init(&watch->lock);
	watch->nr_items = 0;
	watch->nr_waits = 1;
	watch->nr_exclusive = 0;
	INIT_LIST_HEAD(&watch->items);
	mutex_init(&watch->arm);
	wait_init(&watch->wait, watch);
	return watch;
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

/* An entry to use: the first if it is free, or one that POLLFREE emptied. */
static struct dep_wait *watch_spare_wait(struct dep_watch *watch)
{
	struct dep_wait *wait, *tail;

	for (wait = &watch->wait; wait; wait = wait->next) {
		/* Pairs with the release in dep_watch_wake(). */
		if (!smp_load_acquire(&wait->head))
			return wait;
		tail = wait;
	}
	if (watch->nr_waits >= DEP_HEADS_PER_FILE)
		return ERR_PTR(-ENOSPC);
	wait = kmem_cache_alloc(wait_cache, GFP_KERNEL);
	if (!wait)
		return ERR_PTR(-ENOMEM);
	wait_init(wait, watch);
	tail->next = wait;
	watch->nr_waits++;
	return wait;
}

/* What ->poll() calls for each wait queue of the file. */
static void watch_queue(struct file *file, wait_queue_head_t *head,
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
	add_wait_queue(head, &wait->entry);
out:
	mutex_unlock(&arming->watch->arm);
}

/* What it calls when the watch is in the queues already. */
static void watch_queue_not(struct file *file, wait_queue_head_t *head,
			    poll_table *table)
{
}

/**
 * dep_watch_is_arming() - is this ->poll() called to queue a watch?
 * @table: what ->poll() was given, or NULL
 *
 * Return: true if so; then dep_instance.mtx of the set that adds is held.
 */
bool dep_watch_is_arming(const poll_table *table)
{
	return table && (table->_qproc == watch_queue ||
			 table->_qproc == watch_queue_not);
}

/*
 * Waits on the file's wait queues and asks what is ready.  The queues may
 * differ by the events and by the calling process (signalfd), so ->poll() is
 * called for each item; queues that the watch waits on already stay.
 */
static int watch_arm(struct dep_watch *watch, u16 events, u16 *ready)
{
	struct dep_arming arming = { .watch = watch };

	might_sleep();
	init_poll_funcptr(&arming.table, watch_queue);
	arming.table._key = (__force __poll_t)events | EPOLLERR | EPOLLHUP;
	*ready = (__force u16)vfs_poll(watch->file, &arming.table);
	return arming.err;
}

/* Puts the item on the watch that its file has; -ENOENT if it has none. */
static int watch_join(struct dep_item *item)
{
	struct dep_bucket *bucket = bucket_of(item->file);
	struct dep_watch *watch;
	int err = 0;

	if (!dep_watch_maybe(item->file))
		return -ENOENT;
	spin_lock(&bucket->lock);
	watch = bucket_find(bucket, item->file);
	if (!watch) {
		err = -ENOENT;
	} else if (watch->nr_items >= DEP_ITEMS_PER_FILE) {
		err = -ENOSPC;
	} else {
		watch->nr_items++;
		item->watch = watch;
		spin_lock_irq(&watch->lock);
		list_add_tail(&item->link, &watch->items);
		watch->nr_exclusive += item_is_exclusive(item);
		spin_unlock_irq(&watch->lock);
	}
	spin_unlock(&bucket->lock);
	return err;
}

/* Undoes watch_new_armed(). */
static void watch_drop(struct dep_watch *watch, struct dep_item *item)
{
	/* Nobody can find it, and the caller's reference keeps the file. */
	watch_disarm(watch);
	list_del_init(&item->link);
	watch_free(watch);
}

/* Makes a watch for the item alone and arms it, before anyone can find it. */
static struct dep_watch *watch_new_armed(struct dep_item *item, u16 *ready)
{
	struct dep_watch *watch;
	int err;

	watch = watch_new(item->file);
	if (!watch)
		return ERR_PTR(-ENOMEM);
	watch->nr_items = 1;
	watch->nr_exclusive = item_is_exclusive(item);
	list_add(&item->link, &watch->items);
	err = watch_arm(watch, item->events, ready);
	if (err) {
		watch_drop(watch, item);
		return ERR_PTR(err);
	}
	return watch;
}

/* Returns false if the file has got another watch meanwhile. */
static bool watch_publish(struct dep_watch *watch, struct dep_item *item)
{
	struct dep_bucket *bucket = bucket_of(watch->file);
	bool alone;

	spin_lock(&bucket->lock);
	alone = !bucket_find(bucket, watch->file);
	if (alone) {
		item->watch = watch;
		hlist_add_head(&watch->node, &bucket->watches);
	}
	spin_unlock(&bucket->lock);
	return alone;
}

/**
 * dep_watch_attach() - put an item on the watch of its file
 * @item: a hooked item; the caller holds a reference on its file
 * @ready: out: what ->poll() of the file answered
 *
 * Events are posted for the item from now on.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0;
 * -ENOSPC: too many items on this file, or too many wait queues;
 * -ENOMEM: no memory.
 */
int dep_watch_attach(struct dep_item *item, u16 *ready)
{
	struct dep_watch *watch;
	int err;

	lockdep_assert_held(&item->inst->mtx);
	for (;;) {
		err = watch_join(item);
		if (err != -ENOENT)
			break;
		watch = watch_new_armed(item, ready);
		if (IS_ERR(watch))
			return PTR_ERR(watch);
		if (watch_publish(watch, item))
			return 0;
		watch_drop(watch, item);
	}
	return err ? err : watch_arm(item->watch, item->events, ready);
}

/**
 * dep_watch_arm() - tell the file what is wanted now, and ask it
 * @item: an attached item; the caller holds a reference on its file
 * @events: the events
 * @ready: out: what ->poll() answered
 *
 * Some files queue, or note who waits, only for the events asked for: a
 * datagram socket wakes a sender that asked for EPOLLOUT.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0;
 * -ENOSPC: too many wait queues;
 * -ENOMEM: no memory.
 */
int dep_watch_arm(struct dep_item *item, u16 events, u16 *ready)
{
	poll_table table;
	int err;

	lockdep_assert_held(&item->inst->mtx);
	/* The item keeps the watch. */
	if (events & ~item->armed) {
		err = watch_arm(item->watch, events, ready);
		if (!err)
			item->armed |= events;
		return err;
	}
	init_poll_funcptr(&table, watch_queue_not);
	table._key = (__force __poll_t)events | EPOLLERR | EPOLLHUP;
	*ready = (__force u16)vfs_poll(item->file, &table);
	return 0;
}

/**
 * dep_watch_detach() - take an item off its watch
 * @item: an unhooked item that the caller owns; not attached is fine too
 *
 * With the last item of a file goes its watch.
 *
 * Context: process, no spin lock held.
 */
void dep_watch_detach(struct dep_item *item)
{
	struct dep_bucket *bucket = bucket_of(item->file);
	struct dep_watch *watch;
	bool last;

	spin_lock(&bucket->lock);
	watch = item->watch;
	last = watch && !--watch->nr_items;
	if (last && !hlist_unhashed(&watch->node)) {
		watch_disarm(watch);
		/* Off the file before out of the table: dep_watch_maybe(). */
		smp_mb();
		hlist_del_init(&watch->node);
	}
	if (watch && !last) {
		spin_lock_irq(&watch->lock);
		list_del_init(&item->link);
		watch->nr_exclusive -= item_is_exclusive(item);
		/* It may have been the only one that was told. */
		if (item->handover)
			watch_hand_over(watch);
		spin_unlock_irq(&watch->lock);
	}
	spin_unlock(&bucket->lock);

	if (last)
		watch_free(watch);
}

/*
 * Unhooks or buries an item whose file goes.  True if it is off the watch;
 * otherwise somebody else has unhooked it, and the last of these frees the
 * watch.
 */
static bool item_file_gone(struct dep_item *item, struct list_head *gone)
{
	struct dep_instance *inst = item->inst;
	bool mine;

	spin_lock_irq(&inst->lock);
	if (item->hooked && item->mode & DEP_MODE_STAY) {
		inst->stats.closes++;
		trace_devepoll_close(item);
		list_del_init(&item->link);
		dep_item_bury(item);
		spin_unlock_irq(&inst->lock);
		return true;
	}
	mine = dep_item_unhook(item);
	if (mine) {
		inst->stats.closes++;
		trace_devepoll_close(item);
		list_del_init(&item->link);
		/* Once it is closed a harvester may free it. */
		if (item->mode & DEP_MODE_TELL_CLOSED)
			dep_item_close(item);
		else
			list_add_tail(&item->link, gone);
	}
	spin_unlock_irq(&inst->lock);
	return mine;
}

/**
 * dep_watch_file_gone() - the last reference on a file goes
 * @file: the file; its ->release has not been called yet
 *
 * Takes the file out of all interest sets and off all its wait queues.
 *
 * Context: process, possibly not preemptible; does not sleep.
 */
void dep_watch_file_gone(struct file *file)
{
	struct dep_bucket *bucket = bucket_of(file);
	struct dep_item *item, *next;
	struct dep_watch *watch;
	LIST_HEAD(gone);
	bool last = false;

	spin_lock(&bucket->lock);
	watch = bucket_find(bucket, file);
	if (!watch) {
		spin_unlock(&bucket->lock);
		return;
	}
	/* From here on only B guards the list: no wake function runs. */
	watch_disarm(watch);
	hlist_del_init(&watch->node);
	/* B keeps the items on the watch, and so their instances alive. */
	list_for_each_entry_safe(item, next, &watch->items, link) {
		if (item_file_gone(item, &gone))
			last = !--watch->nr_items;
	}
	spin_unlock(&bucket->lock);

	list_for_each_entry_safe(item, next, &gone, link)
		dep_item_free(item);
	if (last)
		watch_free(watch);
}

/**
 * dep_watch_cost() - memory of a file that is watched once
 *
 * Return: bytes.
 */
size_t dep_watch_cost(void)
{
	return sizeof(struct dep_item) + sizeof(struct dep_watch);
}

static int __init table_init(void)
{
	unsigned int i;

	dep_watch_table_bits = clamp_t(unsigned int,
				       ilog2(totalram_pages() /
					     DEP_PAGES_PER_BUCKET + 1),
				       DEP_BUCKET_BITS_LEAST,
				       DEP_BUCKET_BITS_MOST);
	dep_watch_table = kvmalloc_array(1UL << dep_watch_table_bits,
					 sizeof(*dep_watch_table), GFP_KERNEL);
	if (!dep_watch_table)
		return -ENOMEM;
	for (i = 0; i < 1U << dep_watch_table_bits; i++) {
		INIT_HLIST_HEAD(&dep_watch_table[i].watches);
		spin_lock_init(&dep_watch_table[i].lock);
	}
	return 0;
}

/**
 * dep_watch_init() - make the table and the caches
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_watch_init(void)
{
	watch_cache = kmem_cache_create("devepoll_watch",
					sizeof(struct dep_watch), 0,
					SLAB_ACCOUNT, NULL);
	wait_cache = kmem_cache_create("devepoll_wait", sizeof(struct dep_wait),
				       0, SLAB_ACCOUNT, NULL);
	if (!watch_cache || !wait_cache || table_init()) {
		dep_watch_exit();
		return -ENOMEM;
	}
	return 0;
}

/**
 * dep_watch_exit() - free the table and the caches; no watch is left
 */
void dep_watch_exit(void)
{
	kvfree(dep_watch_table);
	dep_watch_table = NULL;
	kmem_cache_destroy(wait_cache);
	kmem_cache_destroy(watch_cache);
}
