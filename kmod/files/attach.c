// SPDX-License-Identifier: GPL-2.0
/*
 * How an item gets onto the watch of its file, or its file a watch.  Read the
 * banner of instance.h first.
 */
#include <linux/err.h>

#include "core/compat.h"
#include "core/host.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/watch.h"
#include "files/members.h"
#include "files/table.h"
#include "files/waitqueue.h"
#include "files/wakeup.h"

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
	u32 own = 0, most = DEP_ITEMS_PER_FILE;
	struct dep_item *other;

	lockdep_assert_held(&watch->lock);
	/*
	 * B keeps their sets.  A wake-up already walks this many items and does
	 * more for each.
	 */
	dep_watch_for_each(watch, other)
		own += other->inst->person == item->inst->person;
	return dep_person_may_take(own, watch->nr_items, most);
}

/* Do the others on the watch leave room for one more of the item's person? */
static __always_inline bool watch_has_room(struct dep_watch *watch,
					   const struct dep_item *item,
					   bool exempt)
{
	u32 most = DEP_ITEMS_PER_FILE;

	lockdep_assert_held(&watch->lock);
	if (exempt)
		return watch->nr_items < most;
	/* There would be room even if all of them were this person's. */
	return likely(dep_person_may_take(watch->nr_items, watch->nr_items,
					  most)) ||
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
	dep_watch_enter(watch, item);
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
