// SPDX-License-Identifier: GPL-2.0
/*
 * Wake-ups: from a wait queue of a watched file to the sets that watch it.
 */
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
	ask = key & ~EPOLL_URING_WAKE ? events & item->needs_poll :
					item->events;
	events &= ~item->needs_poll;
	if (!(events | ask))
		return;

	inst->stats.wakes++;
	trace_devepoll_event(item, (__force u32)key);
	if (unlikely(sleeps)) {
		idle = !dep_instance_has_work(inst);
		listed = inst->nr_ready;
	}
	if (ask) {
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
static __always_inline void watch_notify(struct dep_item *item, __poll_t key,
					 bool many)
{
	struct dep_instance *inst = item->inst;
	u16 events;

	spin_lock(&inst->lock);
	events = item->events & (__force u16)key;
	if (likely(events && !(events & item->needs_poll) &&
		   !inst->nr_waiters && !inst->polled)) {
		inst->stats.wakes++;
		trace_devepoll_event(item, (__force u32)key);
		inst->sink->post(inst, item, events);
	} else {
		watch_notify_more(item, key, many);
	}
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
	unsigned long flags;

	if (unlikely(events & POLLFREE))
		events = 0;

	spin_lock_irqsave(&watch->lock, flags);
	/* Hang-ups and what may be one are for all. */
	if (unlikely(watch->nr_exclusive) &&
	    events & (EPOLLIN | EPOLLOUT) && !(events & EPOLLHUP)) {
		watch_notify_exclusive(watch, events);
	} else {
		watch_notify_all(watch, events);
	}
	spin_unlock_irqrestore(&watch->lock, flags);

	if (unlikely(key_to_poll(key) & POLLFREE))
		wait_pollfree(wait);
	return 0;
}
