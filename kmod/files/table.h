/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of watches: from a file to the callbacks of all sets that watch it.
 */
#ifndef DEVEPOLL_TABLE_H
#define DEVEPOLL_TABLE_H

#include <linux/hash.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct dep_item;
struct file;

/**
 * struct dep_bucket - one bucket of the table of watches
 * @watches: B: the watches; the first pointer is also read without the lock
 * @lock: lock number 3
 */
struct dep_bucket {
	struct hlist_head watches;
	/* B: the bucket; nests wait-queue heads, W and L. */
	spinlock_t lock;
};

extern struct dep_bucket *dep_watch_table;
extern unsigned int dep_watch_table_bits;

/**
 * dep_watch_maybe() - may this file be watched?
 * @file: a file that is being released
 *
 * Pairs with the barrier in the tear-down of a watch: who sees no watch also
 * sees that no wait queue of the file has an entry of ours.  No watch can
 * come: adding takes a reference on the file.
 *
 * Return: false if it is not watched.
 */
static inline bool dep_watch_maybe(const struct file *file)
{
	unsigned int nr = hash_ptr(file, dep_watch_table_bits);

	/* Pairs with smp_mb() in dep_watch_detach(). */
	return smp_load_acquire(&dep_watch_table[nr].watches.first);
}

void dep_watch_file_gone(struct file *file);
int dep_watch_attach(struct dep_item *item, u16 *ready);
void dep_watch_detach(struct dep_item *item);

int __init dep_watch_init(void);
void dep_watch_exit(void);

#endif /* DEVEPOLL_TABLE_H */
