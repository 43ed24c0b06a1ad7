// SPDX-License-Identifier: GPL-2.0
/* Wake-ups: from a wait queue of a watched file to the sets that watch it. */
#include "core/compat.h"
#include "core/item.h"
#include "core/relay.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "files/wakeup.h"
#include "files/watch.h"

/*
 * The less common wake-up: a task sleeps on the set or polls it, or the file
 * must be polled, since the key says nothing or claims what it can't know.
 */
static __always_inline void watch_notify_more(struct dep_item *item,
					      __poll_t key, bool many)
{
	struct dep_instance *inst = item->inst;
	bool sleeps = inst->nr_waiters, idle;
	u16 events, ask;
	u32 listed;

	lockdep_assert_held(&inst->lock);
	events = item->events & (__force u16)key;
	if (likely(key & ~EPOLL_URING_WAKE)) {
		ask = events & item->needs_poll;
	} else {
		ask = item->events;
		/* All but this is known to the sink, by what it needs. */
		if (ask && inst->sink->listed)
			inst->sink->listed(inst);
	}
	events &= ~item->needs_poll;
	if (!(events | ask))
		return;

	inst->stats.wakes++;
	trace_devepoll_event(item, (__force u32)key);
	if (unlikely(sleeps)) {
		idle = !dep_instance_has_work(inst);
		listed = inst->nr_ready;
	}
	if (ask && item->needs_poll == U16_MAX) {
		dep_item_list_to_poll(item);
	} else if (ask) {
		item->must_poll = true;
		dep_item_list(item);
	}
	if (events)
		inst->sink->post(inst, item, events);
	if (unlikely(sleeps) && !many)
		dep_instance_arrived(inst, idle, listed);
	else if (unlikely(sleeps))
		dep_instance_owe(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, key);
}

/* An unhooked item wants no events, so nothing is done for it. */
static __always_inline void watch_notify_locked(struct dep_item *item,
						__poll_t key, bool many)
{
	struct dep_instance *inst = item->inst;
	u16 needs_poll = item->needs_poll;
	u16 events = item->events & (__force u16)key;

	lockdep_assert_held(&inst->lock);
	if (unlikely(!events || inst->nr_waiters || inst->polled))
		goto more;
	if (needs_poll != U16_MAX && events & needs_poll)
		goto more;
	inst->stats.wakes++;
	trace_devepoll_event(item, (__force u32)key);
	if (needs_poll == U16_MAX)
		dep_item_list_to_poll(item);
	else
		inst->sink->post(inst, item, events);
	return;

more:
	watch_notify_more(item, key, many);
}

static __always_inline void watch_notify(struct dep_item *item, __poll_t key,
					 bool many)
{
	struct dep_instance *inst = item->inst;

	spin_lock(&inst->lock);
	watch_notify_locked(item, key, many);
	spin_unlock(&inst->lock);
}

/* Are there so many items that the relay has to wake their sleeping waiters? */
static bool watch_has_many(const struct dep_watch *watch)
{
	/* Without B: it need not be exact. */
	return READ_ONCE(watch->nr_items) > DEP_WAKE_BATCH;
}

/*
 * Thousands of sets may watch a file.  To stay within what one event may cost,
 * this makes no call that can be spared.
 */
static __always_inline void watch_notify_all(struct dep_watch *watch,
					     __poll_t key)
{
	bool many = watch_has_many(watch);
	struct dep_item *item;

	lockdep_assert_held(&watch->lock);
	list_for_each_entry(item, &watch->items, link)
		watch_notify(item, key, many);
}

/* Wakes a task that sleeps for this item, if there is one. */
static bool watch_notify_waiter(struct dep_item *item, __poll_t key)
{
	struct dep_instance *inst = item->inst;
	bool woken;

	/* Not locked, to be fast: one that comes now may have come later. */
	if (!READ_ONCE(inst->nr_waiters))
		return false;
	spin_lock(&inst->lock);
	/* A waiter that wants several events may sleep on. */
	woken = dep_instance_has_sleeper(inst) &&
		(key & ~EPOLL_URING_WAKE ? item->events & (__force u16)key :
					   item->events);
	if (woken) {
		item->chosen = true;
		watch_notify_more(item, key, false);
	}
	spin_unlock(&inst->lock);
	return woken;
}

/*
 * The event goes to one exclusive item for which a task sleeps, and this item
 * moves behind the others.  If there is none, the first waiter to come must
 * find the event in any of them.
 */
static noinline void watch_notify_exclusive(struct dep_watch *watch,
					    __poll_t key)
{
	struct dep_item *item, *chosen = NULL;
	bool many = watch_has_many(watch);

	lockdep_assert_held(&watch->lock);
	list_for_each_entry(item, &watch->items, link) {
		if (!dep_item_is_exclusive(item))
			watch_notify(item, key, many);
		else if (!chosen && watch_notify_waiter(item, key))
			chosen = item;
	}
	if (chosen) {
		list_move_tail(&chosen->link, &watch->items);
		return;
	}
	list_for_each_entry(item, &watch->items, link) {
		if (dep_item_is_exclusive(item))
			watch_notify(item, key, many);
	}
}

/* The owner of the head is about to free it: see the banner. */
static noinline void wait_pollfree(struct dep_wait *wait)
{
	list_del_init(&wait->entry.entry);
	/* Pairs with wait_disarm(), whose caller may free us right after. */
	smp_store_release(&wait->head, NULL);
}

/**
 * dep_watch_hand_over() - an exclusive item leaves with an event
 * @watch: its watch; the other exclusive items get the event instead
 *
 * Context: dep_watch.lock held.
 */
void dep_watch_hand_over(struct dep_watch *watch)
{
	struct dep_item *item;

	lockdep_assert_held(&watch->lock);
	list_for_each_entry(item, &watch->items, link) {
		if (dep_item_is_exclusive(item))
			watch_notify(item, 0, watch_has_many(watch));
	}
}

/*
 * Are all events of the key pending already, with nobody to be told?  Without
 * L: see the banner, Handshakes with the outside.  A trace shows everything.
 */
static __always_inline bool item_has_it(const struct dep_item *item,
					__poll_t key)
{
	const struct dep_instance *inst = item->inst;

	if (!(__force u16)key || READ_ONCE(item->snapshot) !=
				 READ_ONCE(inst->pages.snapshot))
		return false;
	/* Pairs with smp_wmb() where a sink writes the two. */
	smp_rmb();
	if (READ_ONCE(item->events) & (__force u16)key &
	    ~READ_ONCE(item->pending))
		return false;
	return !READ_ONCE(inst->nr_waiters) && !READ_ONCE(inst->polled) &&
	       !trace_devepoll_event_enabled();
}

/*
 * The only item of a watch, if it is not exclusive; otherwise NULL.  Without W:
 * an item that joins is on the list before it polls the file, and one that
 * leaves is not freed before this wake function has returned
 * (dep_watch_flush()).  Lists that are rotated have an exclusive item.
 */
static __always_inline struct dep_item *
watch_only(const struct dep_watch *watch)
{
	const struct list_head *first = READ_ONCE(watch->items.next);

	if (unlikely(first != READ_ONCE(watch->items.prev) ||
		     READ_ONCE(watch->nr_exclusive)))
		return NULL;
	/* Never empty while an entry is in a wait queue. */
	return list_entry(first, struct dep_item, link);
}

/* One item, which is not exclusive: nothing to walk. */
static noinline void watch_wake_one(struct dep_item *item, __poll_t key)
{
	struct dep_instance *inst = item->inst;
	unsigned long flags;

	spin_lock_irqsave(&inst->lock, flags);
	watch_notify_locked(item, key, false);
	spin_unlock_irqrestore(&inst->lock, flags);
}

static noinline void watch_wake_all(struct dep_watch *watch, __poll_t key)
{
	unsigned long flags;

	spin_lock_irqsave(&watch->lock, flags);
	/* All items get hang-ups, and wake-ups that may be hang-ups. */
	if (unlikely(watch->nr_exclusive) &&
	    key & (EPOLLIN | EPOLLOUT) && !(key & EPOLLHUP)) {
		watch_notify_exclusive(watch, key);
	} else {
		watch_notify_all(watch, key);
	}
	spin_unlock_irqrestore(&watch->lock, flags);
}

/**
 * dep_watch_wake() - the wake function
 * @entry: that of a struct dep_wait
 * @mode: not used
 * @sync: not used
 * @key: the events, 0 if the waker does not say, or POLLFREE
 *
 * Context: any, the lock of the wait queue held, interrupts off.
 * Return: 0: it does not count as woken.
 */
int dep_watch_wake(wait_queue_entry_t *entry, unsigned int mode, int sync,
		   void *key)
{
	struct dep_wait *wait = container_of(entry, struct dep_wait, entry);
	struct dep_watch *watch = wait->watch;
	__poll_t events = key_to_poll(key);
	struct dep_item *only;

	if (unlikely(events & POLLFREE)) {
		watch_wake_all(watch, 0);
		wait_pollfree(wait);
		return 0;
	}
	/*
	 * Whoever clears what was pending after we looked, and then polls the
	 * file or returns to the program, sees what has happened to the file:
	 * pairs with smp_mb() there.
	 */
	smp_mb();
	only = watch_only(watch);
	if (unlikely(!only || dep_fast_path_off))
		watch_wake_all(watch, events);
	else if (!item_has_it(only, events))
		watch_wake_one(only, events);
	return 0;
}
