/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watches: from a file to the callbacks of all sets that watch it.
 */
#ifndef DEVEPOLL_WATCH_H
#define DEVEPOLL_WATCH_H

#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "core/instance.h"
#include "core/item.h"

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
 * @nr_items: B: length of @items; read without it as a hint
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

/* An exclusive item is one for ever. */
static inline bool dep_item_is_exclusive(const struct dep_item *item)
{
	return item->mode & DEP_MODE_EXCLUSIVE;
}

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

size_t dep_watch_cost(void);

int __init dep_watch_init(void);
void dep_watch_exit(void);

#endif /* DEVEPOLL_WATCH_H */
