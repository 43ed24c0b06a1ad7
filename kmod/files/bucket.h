/* SPDX-License-Identifier: GPL-2.0 */
/* The buckets of the table of watches. */
#ifndef DEVEPOLL_BUCKET_H
#define DEVEPOLL_BUCKET_H

#include <linux/hash.h>
#include <linux/spinlock.h>

#include "core/watch.h"

struct file;

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

#endif /* DEVEPOLL_BUCKET_H */
