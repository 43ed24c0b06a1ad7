/* SPDX-License-Identifier: GPL-2.0 */
/* The entries that a watch has in the wait queues of its file. */
#ifndef DEVEPOLL_WAITQUEUE_H
#define DEVEPOLL_WAITQUEUE_H

#include "core/compat.h"
#include "core/host.h"

/**
 * dep_item_key() - the key with which an item's file is polled
 * @item: the item; dep_instance.mtx of its set is held, or nobody else can
 *	reach it
 *
 * It is the same as in-tree epoll's and includes the mode: since 7.3, a pipe
 * wakes for each write only a poller that it knows to be edge-triggered.  In
 * sets of 2001 and signal sets all items are, whatever was asked for.
 *
 * Return: the events and modes.
 */
static inline __poll_t dep_item_key(const struct dep_item *item)
{
	u32 mode = item->inst->extended ? item->mode & ~DEP_MODE_OWN :
					  DEP_MODE_EDGE;

	return (__force __poll_t)(item->events | mode | DEP_EVENTS_ALWAYS);
}

/**
 * dep_wait_init() - make an entry that is in no wait queue
 * @wait: the entry
 * @wake: its wake function
 * @private: the file, or the watch: see struct dep_wait
 */
static inline void dep_wait_init(struct dep_wait *wait, wait_queue_func_t wake,
				 void *private)
{
	init_waitqueue_func_entry(&wait->entry, wake);
	wait->entry.private = private;
	INIT_LIST_HEAD(&wait->entry.entry);
	wait->head = NULL;
	wait->next = NULL;
}

void dep_waits_free(struct dep_watch *watch);

/**
 * dep_watch_end() - free a watch
 * @watch: disarmed, in no table and without items
 */
static inline void dep_watch_end(struct dep_watch *watch)
{
	if (unlikely(watch->wait.next))
		dep_waits_free(watch);
	dep_host_end_watch(watch);
}

void dep_watch_queue_on(struct file *file, wait_queue_head_t *head,
			struct poll_table_struct *table);
int dep_watch_arm_more(struct dep_item *item, u16 *ready);
void dep_watch_disarm(struct dep_watch *watch);
void dep_watch_flush(struct dep_watch *watch);
bool dep_watch_is_arming(const poll_table *table);

/**
 * dep_watch_must_arm() - does a change need dep_watch_arm_more()?
 * @item: an attached item; dep_instance.mtx is held
 *
 * Some files queue a poller, or note that there is one, only for the events
 * asked for: a datagram socket wakes a sender that asked for EPOLLOUT.  The
 * file learns of a change of the mode alone, too, but nothing is queued for it.
 *
 * Return: false if dep_watch_ask() is enough.
 */
static __always_inline bool dep_watch_must_arm(struct dep_item *item)
{
	lockdep_assert_held(&item->inst->mtx);
	return item->events & ~*dep_item_armed(item) ||
	       item->mode & DEP_MODE_NEST;
}

/**
 * dep_watch_ask() - poll the file with the events that are wanted now
 * @item: an attached item, not of a set, whose file was polled with all its
 *	events before
 * @file: its file, on which the caller has a reference
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: what ->poll() answered.
 */
static __always_inline u16 dep_watch_ask(struct dep_item *item,
					 struct file *file)
{
	struct dep_instance *inst = item->inst;

	lockdep_assert_held(&inst->mtx);
	/* Only to check: who takes the mutex has just yielded if need be. */
	might_sleep_if(IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP));
	inst->arming.table._key = dep_item_key(item);
	return (__force u16)vfs_poll(file, &inst->arming.table);
}

/**
 * dep_watch_queue() - wait on the file's wait queues, and poll the file
 * @item: the item for which it is polled; the caller has a reference on its
 *	file
 * @watch: its watch
 * @shared: the watch is in the table, where the caller's item keeps it
 *
 * The queues may depend on the events and on the calling process (signalfd), so
 * ->poll() is called for each item; the watch stays in queues in which it is
 * already.  The file may remember the key, so each item is polled with its own.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: what ->poll() answered, or
 * -ENOSPC: too many wait queues;
 * -ENOMEM: no memory.
 */
static __always_inline int dep_watch_queue(struct dep_item *item,
					   struct dep_watch *watch, bool shared)
{
	struct dep_arming *arming = &item->inst->arming;
	u16 answer;

	lockdep_assert_held(&item->inst->mtx);
	/* Only to check, as in dep_watch_ask(). */
	might_sleep_if(IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP));
	arming->watch = watch;
	arming->shared = shared;
	arming->err = 0;
	arming->table._qproc = dep_watch_queue_on;
	arming->table._key = dep_item_key(item);
	answer = (__force u16)vfs_poll(item->file, &arming->table);
	/* Other calls queue nothing. */
	arming->table._qproc = NULL;
	if (likely(!arming->err))
		return answer;
	/* The file may not repeat it. */
	arming->answer = answer;
	return arming->err;
}

/**
 * dep_watch_arm() - poll the file with the events that are wanted now
 * @item: an attached item; the caller holds a reference on its file
 * @ready: out: what ->poll() answered, also if this fails
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0;
 * -ENOSPC: too many wait queues;
 * -ENOMEM: no memory.
 */
static inline int dep_watch_arm(struct dep_item *item, u16 *ready)
{
	if (unlikely(dep_watch_must_arm(item)))
		return dep_watch_arm_more(item, ready);
	*ready = dep_watch_ask(item, item->file);
	return 0;
}

#endif /* DEVEPOLL_WAITQUEUE_H */
