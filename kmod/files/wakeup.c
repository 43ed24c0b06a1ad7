// SPDX-License-Identifier: GPL-2.0
/* Wake-ups: from a wait queue of a watched file to the sets that watch it. */
#include "core/compat.h"
#include "core/host.h"
#include "core/realtime.h"
#include "core/relay.h"
#include "core/ring_word.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "files/bucket.h"
#include "files/wakeup.h"

/* What is known of an item whose file wakes us. */
enum watch_item {
	WATCH_ANY,
	/* the only one of its file, in a set without a ring */
	WATCH_ONE,
	/* the only one of its file, in a set with a ring */
	WATCH_RING,
};

/*
 * Are these events of an item in its slot of the ring?  If the program takes
 * them after we looked at the word, it looks at the file later still; if it
 * took them before, the word or the number of the set tells.
 */
static __always_inline bool item_is_in_ring(const struct dep_item *item,
					    const struct dep_instance *inst)
{
	const struct dep_ring *ring = dep_instance_ring(inst);

	if (READ_ONCE(ring->expected) != (u64)atomic64_read(ring->word))
		return false;
	/* Pairs with smp_wmb() in dep_ring_switch(). */
	smp_rmb();
	return READ_ONCE(item->snapshot) == READ_ONCE(ring->gen);
}

/*
 * The early return, before a lock is taken: see the banner of instance.h,
 * "Handshakes with the outside".  Is there nothing to do for the only item of a
 * file, since it asks for no event of the key, or all that it asks for are
 * pending already and nobody is to be told?  A trace shows everything.
 */
static __always_inline bool
watch_may_return(const struct dep_item *item, const struct dep_instance *inst,
		 __poll_t key, enum watch_item kind)
{
	const u16 events = READ_ONCE(item->events) & (__force u16)key;

	if (!events)
		return (__force u16)key;
	if (kind == WATCH_RING) {
		if (!item_is_in_ring(item, inst))
			return false;
	} else if (READ_ONCE(item->snapshot) !=
		   READ_ONCE(inst->snapshot)) {
		return false;
	}
	/*
	 * Pairs with smp_wmb() where a sink writes the two, and so does the
	 * acquire, for what our thread looks at next: dep_item_list_trusted().
	 */
	smp_rmb();
	if (events & ~smp_load_acquire(&item->pending))
		return false;
	return !READ_ONCE(inst->nr_waiters) && !READ_ONCE(inst->polled) &&
	       !trace_devepoll_event_enabled();
}

/*
 * The less common wake-up: a task sleeps on the set or polls it, or the file
 * must be polled, since the key says nothing or claims what it can't know.
 */
static noinline void watch_notify_more(struct dep_item *item,
				       struct dep_instance *inst, __poll_t key,
				       bool many)
{
	bool sleeps = inst->nr_waiters, idle;
	u16 events, ask, needs_poll;
	u32 listed;

	lockdep_assert_held(&inst->lock);
	if (sleeps)
		dep_instance_claim_waiters(inst);
	needs_poll = dep_item_needs_poll(inst, item);
	events = item->events & (__force u16)key;
	if (likely(key & ~EPOLL_URING_WAKE)) {
		ask = events & needs_poll;
	} else {
		ask = item->events;
		/*
		 * The sink learns of everything else, by the events that it
		 * needs polled.
		 */
		if (ask && inst->sink->listed)
			inst->sink->listed(inst);
	}
	if (!(events | ask))
		return;

	inst->wakes++;
	trace_devepoll_event(item, (__force u32)key);
	if (unlikely(sleeps)) {
		idle = !dep_instance_has_work(inst);
		listed = inst->nr_ready;
	}
	/* Whoever polls the file learns what the key says besides, too. */
	if (!ask) {
		inst->sink->post(inst, item, events);
	} else if (needs_poll == U16_MAX) {
		dep_item_list_to_poll(inst, item);
	} else {
		item->must_poll = true;
		dep_item_list_in(inst, item);
	}
	if (unlikely(sleeps) && !many)
		dep_instance_arrived(inst, idle, listed);
	else if (unlikely(sleeps))
		dep_instance_owe(inst, idle, listed);
	if (inst->polled)
		dep_instance_wake_pollers(inst, key);
}

/* As dep_item_is_listed_as_told(). */
static __always_inline bool watch_lists(const struct dep_item *item,
					enum watch_item kind)
{
	if (kind == WATCH_RING)
		return false;
	if (kind == WATCH_ONE)
		return item->mode & DEP_MODE_TRUST;
	return dep_item_is_listed_as_told(item);
}

/* Every event of a loop comes here. */
static __always_inline void watch_post(struct dep_item *item,
				       struct dep_instance *inst, u16 events,
				       enum watch_item kind)
{
	inst->wakes++;
	/* What ready_post() does. */
	if (watch_lists(item, kind))
		dep_item_list_trusted(inst, item, events);
	else if (kind != WATCH_RING || !dep_ring_post_first(inst, item, events))
		inst->sink->post(inst, item, events);
}

/* An unhooked item wants no events, so nothing is done for it. */
static __always_inline void watch_notify_locked(struct dep_item *item,
						struct dep_instance *inst,
						__poll_t key, bool many,
						enum watch_item kind)
{
	/* The sink of a ring sorts the events itself. */
	bool sorted = kind == WATCH_RING;
	u16 events = item->events & (__force u16)key;

	lockdep_assert_held(&inst->lock);
	if (unlikely(!events || inst->nr_waiters || inst->polled ||
		     trace_devepoll_event_enabled())) {
		watch_notify_more(item, inst, key, many);
	} else if (!sorted && item->mode & DEP_MODE_POLL) {
		inst->wakes++;
		dep_item_list_to_poll(inst, item);
	} else if (!sorted && unlikely(events & DEP_NEEDS_POLL)) {
		/* Where such keys are trusted, too, it does what follows. */
		watch_notify_more(item, inst, key, many);
	} else {
		watch_post(item, inst, events, kind);
	}
}

static __always_inline void watch_notify(struct dep_item *item, __poll_t key,
					 bool many)
{
	struct dep_instance *inst = item->inst;

	spin_lock(&inst->lock);
	watch_notify_locked(item, inst, key, many, WATCH_ANY);
	spin_unlock(&inst->lock);
}

/* Are there so many items that the relay has to wake their sleeping waiters? */
static bool watch_has_many(const struct dep_watch *watch)
{
	/*
	 * Without B: it need not be exact.  dep_watch_detach() counts down by
	 * one plain instruction, therefore data_race().
	 */
	return data_race(READ_ONCE(watch->nr_items)) > DEP_WAKE_BATCH;
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
	dep_watch_for_each(watch, item)
		watch_notify(item, key, many);
}

/*
 * Wakes a task that sleeps for an exclusive item, whose watch is locked.  @key
 * is what has happened, or 0, and @left how many sets and waiters may still be
 * looked at; it is counted down.  Returns false if there is none.
 */
static bool watch_notify_waiter(struct dep_item *item, __poll_t key,
				unsigned int *left)
{
	struct dep_instance *inst = item->inst;
	bool woken;

	/* Not locked, to be fast: one that comes now may have come later. */
	if (!READ_ONCE(inst->nr_waiters))
		return false;
	--*left;
	spin_lock(&inst->lock);
	/* A waiter that wants several events may sleep on. */
	woken = dep_instance_has_sleeper(inst, left) &&
		(key & ~EPOLL_URING_WAKE ? item->events & (__force u16)key :
					   item->events);
	if (woken) {
		item->chosen |= DEP_CHOSEN_WOKEN;
		watch_notify_more(item, inst, key, false);
	}
	spin_unlock(&inst->lock);
	return woken;
}

/*
 * The event goes to one exclusive item for which a task sleeps, and this item
 * moves behind the others.  If there is none, the first waiter to come must
 * find the event in any of them.  Thousands of sets may have waiters that want
 * several events, or commands that do not come: after DEP_CHOICE_LOOKS of them,
 * the event goes to all items, too.
 */
static noinline void watch_notify_exclusive(struct dep_watch *watch,
					    __poll_t key)
{
	struct dep_item *item, *rest, *chosen = NULL;
	unsigned int left = DEP_CHOICE_LOOKS;
	bool many = watch_has_many(watch), told = true;

	lockdep_assert_held(&watch->lock);
	dep_watch_for_each(watch, item) {
		if (!dep_item_is_exclusive(item)) {
			watch_notify(item, key, many);
		} else if (!chosen) {
			if (!left)
				break;
			if (watch_notify_waiter(item, key, &left))
				chosen = item;
		}
	}
	if (chosen) {
		dep_watch_rotate(watch, chosen);
		return;
	}
	rest = item;
	dep_watch_for_each(watch, item) {
		/* Those before the rest were told, if not exclusive. */
		if (item == rest)
			told = false;
		if (!told || dep_item_is_exclusive(item))
			watch_notify(item, key, many);
	}
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
	dep_watch_for_each(watch, item) {
		if (dep_item_is_exclusive(item))
			watch_notify(item, 0, watch_has_many(watch));
	}
}

/**
 * dep_watch_tell_one() - tell a set of events that another one may leave alone
 * @watch: the watch, locked
 * @told: the item that got the events, or has just left the watch with them
 * @events: the events
 *
 * It is one for which a task sleeps.  Hang-ups and errors went to all when they
 * came, and for an edge-triggered item an edge is over.
 */
void dep_watch_tell_one(struct dep_watch *watch, const struct dep_item *told,
			u16 events)
{
	unsigned int left = DEP_CHOICE_LOOKS, looks = DEP_CHOICE_LOOKS;
	struct dep_item *item;

	lockdep_assert_held(&watch->lock);
	events &= (__force u16)(EPOLLIN | EPOLLOUT);
	dep_watch_for_each(watch, item) {
		if (!looks-- || !left)
			return;
		/* Events without L: what is asked for meanwhile is polled. */
		if (!dep_item_is_exclusive(item) || item->inst == told->inst ||
		    item->mode & DEP_MODE_EDGE ||
		    !(data_race(READ_ONCE(item->events)) & events))
			continue;
		if (watch_notify_waiter(item, 0, &left)) {
			dep_watch_rotate(watch, item);
			return;
		}
	}
}

/**
 * dep_watch_tell_next() - an exclusive item has an event that nobody deals with
 * @told: the item, which is on a watch and stays there
 * @events: what its file has answered
 *
 * The task that has taken the level-triggered event waits again without having
 * dealt with it.  So the next set for which a task sleeps gets it, too.
 *
 * If the watch is locked at this moment, by a wake-up of the file or by a change
 * of who watches it, this does nothing: a task that waits again and again must
 * not hold up a wake-up.
 *
 * Context: process, dep_instance.mtx of the item held.
 */
void dep_watch_tell_next(struct dep_item *told, u16 events)
{
	struct dep_watch *watch = dep_item_watch(told);

	lockdep_assert_held(&told->inst->mtx);
	/* A hint: one that joins polls the file. */
	if (data_race(READ_ONCE(watch->nr_exclusive)) < 2 ||
	    !spin_trylock_irq(&watch->lock))
		return;
	dep_watch_tell_one(watch, told, events);
	spin_unlock_irq(&watch->lock);
}

static noinline int watch_wake_all(struct dep_watch *watch, __poll_t key)
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
	return 0;
}

/* One item, which is not exclusive: nothing to walk.  Interrupts are off. */
static __always_inline int watch_wake_locked(struct dep_item *item,
					     struct dep_instance *inst,
					     __poll_t key, enum watch_item kind)
{
	spin_lock(&inst->lock);
	watch_notify_locked(item, inst, key, false, kind);
	spin_unlock(&inst->lock);
	return 0;
}

static noinline int watch_wake_one(struct dep_item *item,
				   struct dep_instance *inst, __poll_t key)
{
	return watch_wake_locked(item, inst, key, WATCH_ONE);
}

static noinline int watch_wake_ring(struct dep_item *item,
				    struct dep_instance *inst, __poll_t key)
{
	return watch_wake_locked(item, inst, key, WATCH_RING);
}

/* The owner of the head is about to free it: see the banner. */
static noinline int watch_wake_last(struct dep_watch *watch,
				    wait_queue_entry_t *entry)
{
	struct dep_wait *wait = container_of(entry, struct dep_wait, entry);

	watch_wake_all(watch, 0);
	list_del_init(&entry->entry);
	/* Pairs with wait_lock_head(), whose caller may free us right after. */
	smp_store_release(&wait->head, NULL);
	return 0;
}

static __always_inline int watch_wake(struct dep_watch *watch,
				      wait_queue_entry_t *entry, void *key)
{
	__poll_t events = key_to_poll(key);
	struct dep_instance *inst;
	struct dep_item *only;

	if (unlikely(events & POLLFREE))
		return watch_wake_last(watch, entry);
	/*
	 * Whoever clears what was pending after we looked, and then polls the
	 * file or returns to the program, sees what has happened to the file:
	 * pairs with smp_mb() there.
	 */
	smp_mb();
	/*
	 * Without W: an item that joins is told of before it polls the file,
	 * and one that leaves is not freed before we have returned.  In this
	 * order: see dep_watch_tell_sole().
	 */
	only = smp_load_acquire(&watch->first);
	inst = READ_ONCE(watch->sole);
	if (unlikely(!inst || !DEP_HAS_FAST))
		return watch_wake_all(watch, events);
	/* An item joins a ring before it is on a watch, and never leaves it. */
	if (READ_ONCE(only->mode) & DEP_MODE_RING) {
		if (watch_may_return(only, inst, events, WATCH_RING))
			return 0;
		if (likely(DEP_LOCKS_SLEEP || irqs_disabled()))
			return watch_wake_ring(only, inst, events);
	} else {
		if (watch_may_return(only, inst, events, WATCH_ONE))
			return 0;
		if (likely(DEP_LOCKS_SLEEP || irqs_disabled()))
			return watch_wake_one(only, inst, events);
	}
	return watch_wake_all(watch, events);
}

/**
 * dep_watch_wake() - the wake function
 * @entry: that of the first struct dep_wait of a watch
 * @mode: not used
 * @sync: not used
 * @key: the events, 0 if the waker does not say, or POLLFREE
 *
 * Context: any, the lock of the wait queue held.  Interrupts are off, except
 * with a few drivers (cros_ec_chardev), which wake us with them on.
 * Return: 0: it does not count as woken.
 */
int dep_watch_wake(wait_queue_entry_t *entry, unsigned int mode, int sync,
		   void *key)
{
	return watch_wake(container_of(entry, struct dep_watch, wait.entry),
			  entry, key);
}

/**
 * dep_watch_wake_further() - the wake function of the other entries
 * @entry: that of a struct dep_wait which is not the first of its watch
 * @mode: not used
 * @sync: not used
 * @key: as for dep_watch_wake()
 *
 * Context: as dep_watch_wake().
 * Return: 0.
 */
int dep_watch_wake_further(wait_queue_entry_t *entry, unsigned int mode,
			   int sync, void *key)
{
	return watch_wake(entry->private, entry, key);
}
