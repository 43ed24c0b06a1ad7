/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The buckets of the table of watches; and the items on a watch: a ring, of
 * which the watch knows one, the first, and whether there is another.
 */
#ifndef DEVEPOLL_BUCKET_H
#define DEVEPOLL_BUCKET_H

#include <linux/hash.h>

#include "core/item.h"
#include "core/watch.h"

/**
 * struct dep_bucket - one bucket of the table of watches
 * @watches: B: the first watch, or NULL; also read without the lock
 * @lock: lock number 3
 * @joined: B, also read without it as a hint: dep_bucket_mark() of the file
 *	whose watch was joined last, or 0; no watch has left the bucket since
 */
struct dep_bucket {
	struct dep_watch *watches;
	/* B: the bucket; nests wait-queue heads, W and L. */
	spinlock_t lock;
	u32 joined;
};

extern struct dep_bucket *dep_watch_table;
extern unsigned int dep_watch_table_bits;

/**
 * dep_watch_bucket() - the bucket of a file
 * @file: the file, to be taken as an address
 *
 * Return: the bucket, whether or not the file is watched.
 */
static inline struct dep_bucket *dep_watch_bucket(const struct file *file)
{
	return &dep_watch_table[hash_ptr(file, dep_watch_table_bits)];
}

/**
 * dep_bucket_mark() - what tells the files of a bucket apart, nearly always
 * @file: the file
 *
 * Return: the mark, which is not 0.
 */
static inline u32 dep_bucket_mark(const struct file *file)
{
	return (u32)(uintptr_t)file | 1;
}

/**
 * dep_bucket_find() - find the watch of a file
 * @bucket: its bucket, locked
 * @file: the file
 *
 * Return: the watch, or NULL.
 */
static inline struct dep_watch *dep_bucket_find(struct dep_bucket *bucket,
						const struct file *file)
{
	struct dep_watch *watch;

	lockdep_assert_held(&bucket->lock);
	for (watch = bucket->watches; watch; watch = watch->next) {
		if (dep_watch_file(watch) == file)
			break;
	}
	return watch;
}

/**
 * dep_bucket_remove() - take a watch out of the table
 * @bucket: its bucket, locked
 * @watch: the watch
 */
static inline void dep_bucket_remove(struct dep_bucket *bucket,
				     struct dep_watch *watch)
{
	struct dep_watch **at = &bucket->watches;

	lockdep_assert_held(&bucket->lock);
	while (*at != watch)
		at = &(*at)->next;
	WRITE_ONCE(*at, watch->next);
	WRITE_ONCE(watch->in_table, false);
	WRITE_ONCE(bucket->joined, 0);
}

/**
 * dep_watch_maybe() - may this file be watched?
 * @file: a file that is being released, or on which the caller has a reference
 *
 * Pairs with the barrier in the tear-down of a watch: whoever sees no watch
 * also sees that no wait queue of the file has an entry of ours.  To a file
 * that is being released, no watch can be added any more, since adding takes a
 * reference on the file.
 *
 * Return: false if it is not watched.
 */
static inline bool dep_watch_maybe(const struct file *file)
{
	/* Pairs with smp_mb() in dep_watch_detach(). */
	return smp_load_acquire(&dep_watch_bucket(file)->watches);
}

/**
 * dep_watch_next() - the item after another one
 * @watch: the watch; dep_watch.lock or dep_bucket.lock is held
 * @item: an item on it
 *
 * Return: the next item, or NULL after the last.
 */
static inline struct dep_item *dep_watch_next(const struct dep_watch *watch,
					      struct dep_item *item)
{
	struct dep_item *next = list_next_entry(item, link);

	return next == watch->first ? NULL : next;
}

/* All items on a watch; none may come or leave meanwhile. */
#define dep_watch_for_each(watch, item) \
	for ((item) = (watch)->first; (item); \
	     (item) = dep_watch_next(watch, item))

/**
 * dep_watch_leave() - take an item off a watch
 * @watch: the watch; dep_watch.lock is held, or no wake function runs
 * @item: the item
 */
static inline void dep_watch_leave(struct dep_watch *watch,
				   struct dep_item *item)
{
	if (watch->first == item)
		WRITE_ONCE(watch->first, dep_watch_next(watch, item));
	__list_del_entry(&item->link);
}

/**
 * dep_watch_rotate() - put an item on a watch behind the others
 * @watch: the watch; dep_watch.lock is held
 * @item: the item
 */
static inline void dep_watch_rotate(struct dep_watch *watch,
				    struct dep_item *item)
{
	lockdep_assert_held(&watch->lock);
	if (watch->first == item)
		WRITE_ONCE(watch->first, list_next_entry(item, link));
	else
		list_move_tail(&item->link, &watch->first->link);
}

/**
 * dep_watch_tell_sole() - let wake functions take the only item without W
 * @watch: the watch, with an item
 *
 * A wake function reads dep_watch.first, and then dep_watch.sole; both must be
 * of the same item.  So whoever puts a second item on the watch clears the
 * latter before, and this is not called before each wake function has returned
 * that may have read what was there until then: see dep_watch_flush().
 *
 * Context: dep_bucket.lock held, or nobody can find the watch.
 */
static inline void dep_watch_tell_sole(struct dep_watch *watch)
{
	struct dep_item *item = watch->first;

	if (watch->nr_items == 1 && !dep_item_is_exclusive(item))
		/* What the item is, before it can be found. */
		smp_store_release(&watch->sole, item->inst);
}

#endif /* DEVEPOLL_BUCKET_H */
