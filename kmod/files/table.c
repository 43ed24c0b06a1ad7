// SPDX-License-Identifier: GPL-2.0
/*
 * Watches: one object per watched file, found by the file's address, with the
 * items of all sets that watch it; how these leave it, how an item gets onto
 * the watch of its file, and a file its watch.  Read the banner of instance.h
 * first.
 */
#include <linux/mm.h>

#include "core/closing.h"
#include "core/trace.h"
#include "files/table.h"
#include "files/waitqueue.h"
#include "files/wakeup.h"

struct dep_bucket *dep_watch_table __read_mostly;
unsigned int dep_watch_table_bits __read_mostly;

/**
 * dep_watch_is_there() - the exact half of dep_watch_exists()
 * @file: the file
 *
 * Return: as dep_watch_exists().
 */
bool dep_watch_is_there(const struct file *file)
{
	struct dep_bucket *bucket = dep_watch_bucket(file);
	bool there;

	spin_lock(&bucket->lock);
	there = dep_bucket_find(bucket, file);
	spin_unlock(&bucket->lock);
	return there;
}

/**
 * dep_watch_detach() - take an item off its watch
 * @item: an unhooked item that the caller owns; it need not be attached
 *
 * The last item of a file takes its watch along.
 *
 * Context: process, no spin lock held.
 */
void dep_watch_detach(struct dep_item *item)
{
	struct dep_bucket *bucket = dep_watch_bucket(item->file);
	struct dep_watch *watch;
	bool last;

	spin_lock(&bucket->lock);
	watch = dep_item_watch(item);
	last = watch && !--watch->nr_items;
	if (last && watch->in_table) {
		dep_watch_disarm(watch);
		/* Off the file before out of the table: dep_watch_maybe(). */
		smp_mb();
		dep_bucket_remove(bucket, watch);
	}
	if (watch && !last) {
		spin_lock_irq(&watch->lock);
		dep_watch_leave(watch, item);
		watch->nr_exclusive -= dep_item_is_exclusive(item);
		/* It may have been the only one that got an event. */
		if (item->handover & DEP_CHOSEN_WOKEN)
			dep_watch_hand_over(watch);
		else if (item->handover)
			dep_watch_tell_one(watch, item, U16_MAX);
		spin_unlock_irq(&watch->lock);
		/*
		 * A wake function may use it as the only one it was once: see
		 * dep_watch_tell_sole().  Once the file is gone, so are its
		 * wait queues, and no wake function runs.
		 */
		if (watch->in_table) {
			dep_watch_flush(watch);
			dep_watch_tell_sole(watch);
		}
	}
	spin_unlock(&bucket->lock);

	if (last)
		dep_watch_end(watch);
}

/*
 * Unhooks or buries an item whose file is released.  True if it is off the
 * watch; otherwise somebody else has unhooked it, and the last of these frees
 * the watch.
 */
static bool item_file_gone(struct dep_watch *watch, struct dep_item *item,
			   struct list_head *gone)
{
	struct dep_instance *inst = item->inst;
	struct dep_leaf *leaf = NULL;
	bool mine;
	u32 mode;

	spin_lock_irq(&inst->lock);
	mode = item->mode;
	mine = item->hooked;
	if (mine) {
		inst->stats.closes++;
		trace_devepoll_close(item);
		dep_watch_leave(watch, item);
		/* Once L is released, whoever gets its last event may free it. */
		if (mode & (DEP_MODE_STAY | DEP_MODE_TELL_CLOSED))
			dep_host_share(watch);
		if (!(mode & DEP_MODE_STAY))
			dep_item_unhook(item);
		if (mode & DEP_MODE_STAY)
			dep_item_bury(item);
		else if (mode & DEP_MODE_TELL_CLOSED)
			leaf = dep_item_close(item);
		else
			list_add_tail(&item->link, gone);
	}
	spin_unlock_irq(&inst->lock);
	dep_fdmap_free_leaf(leaf);
	return mine;
}

/**
 * dep_watch_file_gone() - remove a file whose last reference is gone
 * @file: the file; its ->release has not been called yet
 *
 * Takes the file out of all interest lists and us off all its wait queues.
 *
 * Context: process, possibly not preemptible; does not sleep.
 */
void dep_watch_file_gone(struct file *file)
{
	struct dep_bucket *bucket = dep_watch_bucket(file);
	struct dep_item *item, *next;
	struct dep_watch *watch;
	LIST_HEAD(gone);
	bool last = false;
	u32 nr;

	spin_lock(&bucket->lock);
	watch = dep_bucket_find(bucket, file);
	if (!watch) {
		spin_unlock(&bucket->lock);
		return;
	}
	/* From here on only B guards the list: no wake function runs. */
	dep_watch_disarm(watch);
	dep_bucket_remove(bucket, watch);
	/* B keeps the items on the watch, and so their instances alive. */
	item = watch->first;
	for (nr = watch->nr_items; nr; nr--) {
		next = list_next_entry(item, link);
		if (item_file_gone(watch, item, &gone))
			last = !--watch->nr_items;
		item = next;
	}
	spin_unlock(&bucket->lock);

	/* It may lie in one of the items. */
	if (last)
		dep_watch_end(watch);
	list_for_each_entry_safe(item, next, &gone, link)
		dep_item_free(item);
}

/**
 * dep_watch_init() - make the table
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_watch_init(void)
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
		dep_watch_table[i].watches = NULL;
		dep_watch_table[i].joined = 0;
		spin_lock_init(&dep_watch_table[i].lock);
	}
	return 0;
}

/**
 * dep_watch_exit() - free the table; no watch is left
 */
void dep_watch_exit(void)
{
	kvfree(dep_watch_table);
}

/* Makes the watch for an item, where the item has room for it. */
static __always_inline struct dep_watch *watch_new(struct dep_item *item)
{
	struct dep_watch *watch;

	if (likely(dep_item_hosted(item)))
		watch = &dep_host_of(item)->watch;
	else
		watch = dep_host_new_watch();
	if (unlikely(!watch))
		return NULL;
	watch->in_table = false;
	spin_lock_init(&watch->lock);
	dep_wait_init(&watch->wait, dep_watch_wake, item->file);
	return watch;
}

/* The rest of watch_has_room(). */
static noinline bool watch_leaves_room(struct dep_watch *watch,
				       const struct dep_item *item)
{
	u32 own = 0;
	struct dep_item *other;

	lockdep_assert_held(&watch->lock);
	/*
	 * B keeps their sets.  A wake-up already walks this many items and does
	 * more for each.
	 */
	dep_watch_for_each(watch, other)
		own += other->inst->person == item->inst->person;
	return dep_person_may_take(own, watch->nr_items, DEP_ITEMS_PER_FILE);
}

/* Do the others on the watch leave room for one more of the item's person? */
static __always_inline bool watch_has_room(struct dep_watch *watch,
					   const struct dep_item *item,
					   bool exempt)
{
	lockdep_assert_held(&watch->lock);
	if (exempt)
		return watch->nr_items < DEP_ITEMS_PER_FILE;
	/* There would be room even if all of them were this person's. */
	return likely(dep_person_may_take(watch->nr_items, watch->nr_items,
					  DEP_ITEMS_PER_FILE)) ||
	       watch_leaves_room(watch, item);
}

/*
 * Puts the item on the file's watch, which it returns.  NULL if it has none,
 * -ENOSPC if there are too many items.
 */
static __always_inline struct dep_watch *
watch_join(struct dep_bucket *bucket, struct dep_item *item, bool exempt)
{
	struct dep_watch *watch;

	spin_lock(&bucket->lock);
	watch = dep_bucket_find(bucket, item->file);
	if (unlikely(!watch))
		goto unlock;
	spin_lock_irq(&watch->lock);
	if (unlikely(!watch_has_room(watch, item, exempt))) {
		spin_unlock_irq(&watch->lock);
		watch = ERR_PTR(-ENOSPC);
		goto unlock;
	}
	dep_host_share(watch);
	WRITE_ONCE(watch->nr_items, watch->nr_items + 1);
	dep_item_set_watch(item, watch);
	/* From here on, no wake function takes the first for the only one. */
	WRITE_ONCE(watch->sole, NULL);
	/* Behind the others. */
	list_add_tail(&item->link, &watch->first->link);
	watch->nr_exclusive += dep_item_is_exclusive(item);
	spin_unlock_irq(&watch->lock);
	WRITE_ONCE(bucket->joined, dep_bucket_mark(item->file));
unlock:
	spin_unlock(&bucket->lock);
	return watch;
}

/* The same for someone who may be exempt from what persons leave to others. */
static noinline struct dep_watch *watch_join_full(struct dep_bucket *bucket,
						  struct dep_item *item)
{
	if (!dep_person_is_exempt())
		return ERR_PTR(-ENOSPC);
	return watch_join(bucket, item, true);
}

/* Undoes watch_new() and what queued it. */
static noinline void watch_drop(struct dep_watch *watch)
{
	/* Nobody can find it, and the caller's reference keeps the file. */
	rcu_read_lock();
	dep_watch_disarm(watch);
	rcu_read_unlock();
	dep_watch_end(watch);
}

/* Returns false if the file got another watch meanwhile. */
static __always_inline bool watch_publish(struct dep_bucket *bucket,
					  struct dep_watch *watch,
					  struct dep_item *item)
{
	bool alone;

	spin_lock(&bucket->lock);
	alone = !dep_bucket_find(bucket, item->file);
	if (likely(alone)) {
		dep_item_set_watch(item, watch);
		watch->next = bucket->watches;
		WRITE_ONCE(watch->in_table, true);
		WRITE_ONCE(bucket->watches, watch);
	}
	spin_unlock(&bucket->lock);
	return alone;
}

/*
 * Makes a watch for the item alone and arms it before anyone can find it.
 * Returns what ->poll() answered, or an error; *@published: it has a watch now.
 */
static __always_inline int watch_attach_new(struct dep_bucket *bucket,
					    struct dep_item *item,
					    bool *published)
{
	struct dep_watch *watch;
	int answer;

	*published = false;
	/* The caller's reference keeps the hook from looking for it now. */
	dep_release_mark(item->file);
	watch = watch_new(item);
	if (unlikely(!watch))
		return -ENOMEM;
	watch->nr_items = 1;
	watch->nr_exclusive = dep_item_is_exclusive(item);
	/* An item that is on no watch is a ring by itself. */
	watch->first = item;
	watch->sole = NULL;
	dep_watch_tell_sole(watch);
	answer = dep_watch_queue(item, watch, false);
	if (likely(answer >= 0))
		*published = watch_publish(bucket, watch, item);
	if (unlikely(!*published))
		watch_drop(watch);
	return answer;
}

/**
 * dep_watch_attach() - put an item on the watch of its file
 * @item: a hooked item; the caller holds a reference on its file
 *
 * Events are posted for the item from now on.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: what ->poll() of the file answered;
 * -ENOSPC: too many items on this file, of this person or in total, or too many
 * wait queues;
 * -ENOMEM: no memory.
 */
int dep_watch_attach(struct dep_item *item)
{
	struct dep_bucket *bucket = dep_watch_bucket(item->file);
	struct dep_watch *watch;
	int answer, before = 0;
	bool published;

	lockdep_assert_held(&item->inst->mtx);
	for (;;) {
		watch = NULL;
		if (READ_ONCE(bucket->watches))
			watch = watch_join(bucket, item, false);
		if (unlikely(watch == ERR_PTR(-ENOSPC)))
			watch = watch_join_full(bucket, item);
		if (watch)
			break;
		answer = watch_attach_new(bucket, item, &published);
		if (unlikely(answer < 0))
			return answer;
		/* Polled again, a file may not repeat what it reported. */
		before |= answer;
		if (likely(published))
			return before;
	}
	if (IS_ERR(watch))
		return PTR_ERR(watch);
	/* On the list before the poll: pairs with dep_watch_wake(). */
	smp_mb();
	/* The item keeps the watch. */
	answer = dep_watch_queue(item, watch, true);
	return unlikely(answer < 0) ? answer : answer | before;
}
