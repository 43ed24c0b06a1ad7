// SPDX-License-Identifier: GPL-2.0
/*
 * Watches: one object per watched file, found by the file's address, with the
 * items of all sets that watch it; how these leave it.  Read the banner of
 * instance.h first.
 */
#include <linux/mm.h>

#include "core/closing.h"
#include "core/host.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/trace.h"
#include "core/watch.h"
#include "files/exclusive.h"
#include "files/members.h"
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

	spin_lock_irq(&inst->lock);
	if (item->hooked && item->mode & DEP_MODE_STAY) {
		/* Once L is released, the program may free it. */
		dep_host_share(watch);
		inst->stats.closes++;
		trace_devepoll_close(item);
		dep_watch_leave(watch, item);
		dep_item_bury(item);
		spin_unlock_irq(&inst->lock);
		return true;
	}
	mine = dep_item_unhook(item);
	if (mine) {
		inst->stats.closes++;
		trace_devepoll_close(item);
		dep_watch_leave(watch, item);
		if (item->mode & DEP_MODE_TELL_CLOSED) {
			/* Once it is closed, a waiter may free it. */
			dep_host_share(watch);
			leaf = dep_item_close(item);
		} else {
			list_add_tail(&item->link, gone);
		}
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
		dep_watch_table[i].watches = NULL;
		dep_watch_table[i].joined = 0;
		spin_lock_init(&dep_watch_table[i].lock);
	}
	return 0;
}

/**
 * dep_watch_init() - make the table and the cache
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_watch_init(void)
{
	if (dep_waitqueue_init() || table_init()) {
		dep_watch_exit();
		return -ENOMEM;
	}
	return 0;
}

/**
 * dep_watch_exit() - free the table and the cache; no watch is left
 */
void dep_watch_exit(void)
{
	kvfree(dep_watch_table);
	dep_watch_table = NULL;
	dep_waitqueue_exit();
}
