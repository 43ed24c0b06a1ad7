/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A watch: the callbacks of all sets that watch one file.
 */
#ifndef DEVEPOLL_WATCH_H
#define DEVEPOLL_WATCH_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

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
 * @nr_exclusive: B+W, read without W by the wake function: how many of @items
 *	are exclusive
 * @items: B+W, but a wake function rotates it under W alone: the items of all
 *	instances
 * @arm: lock number 2: only one task at a time queues us on the file
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

#endif /* DEVEPOLL_WATCH_H */
