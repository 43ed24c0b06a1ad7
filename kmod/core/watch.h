/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A watch: the callbacks of all sets that watch one file.
 */
#ifndef DEVEPOLL_WATCH_H
#define DEVEPOLL_WATCH_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

/**
 * struct dep_wait - our entry in one wait queue of a watched file
 * @next: B: the next entry of the watch
 * @head: the wait queue, set under B and its lock once @entry is there; NULL
 *	before use and after POLLFREE; read without a lock, with acquire
 * @entry: the entry; protected by the lock of the wait queue.  Its ->private
 *	is const: in the first of a watch the file, and else the watch
 */
struct dep_wait {
	struct dep_wait *next;
	wait_queue_head_t *head;
	wait_queue_entry_t entry;
};

/**
 * struct dep_further_wait - an entry of a watch beyond its first
 * @wait: the entry
 * @person: B: for whom it counts among the entries of the file
 */
struct dep_further_wait {
	struct dep_wait wait;
	struct dep_person *person;
};

extern struct kmem_cache *dep_wait_cache;

/**
 * struct dep_watch - the callback list of one watched file
 *
 * Until it is in the table nobody else can see it, and B is not needed.
 *
 * The file, which is the key, is in @wait: see dep_watch_file().  The entry
 * there and what follows are all that a wake-up touches of a watch with one item,
 * and a step of a search in the table: in a host, that is a line.
 *
 * @lock: lock number 5
 * @users: who is in the memory of the watch: see dep_host_share()
 * @nr_items: B: how many items it has; read without it as a hint
 * @armed: M of the item in the host: see dep_item_armed()
 * @nr_exclusive: B+W: how many of its items are exclusive
 * @in_table: B: true until the file is gone
 * @wait: B: the first entry; most files need no other
 * @first: B+W, but a wake function rotates it under W alone: the first of the
 *	items of all instances, which form a ring by dep_item.link.  Read
 *	without W by the wake function, before @sole
 * @sole: B, read without it by the wake function: the instance of @first, if
 *	that is the only item and is not exclusive; or NULL.  See
 *	dep_watch_tell_sole()
 * @next: B: in the table: the next of its bucket
 */
struct dep_watch {
	/* W: the items, for a wake-up; nests L. */
	spinlock_t lock;
	atomic_t users;
	u16 nr_items;
	u16 nr_exclusive;
	u16 armed;
	bool in_table;
	struct dep_wait wait;
	struct dep_item *first;
	struct dep_instance *sole;
	struct dep_watch *next;
};

/**
 * dep_watch_file() - the file of a watch
 * @watch: the watch
 *
 * Return: the file, which may be gone: a key.
 */
static inline struct file *dep_watch_file(const struct dep_watch *watch)
{
	return watch->wait.entry.private;
}

#endif /* DEVEPOLL_WATCH_H */
