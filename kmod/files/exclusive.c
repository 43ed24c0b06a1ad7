// SPDX-License-Identifier: GPL-2.0
/* Events of exclusive items that the set which got them may leave alone. */
#include "core/host.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/watch.h"
#include "files/exclusive.h"
#include "files/members.h"
#include "files/wakeup.h"

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
		if (dep_watch_notify_waiter(item, 0, &left)) {
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
 * If others are being told of this file at this moment, it does nothing: a task
 * that waits again and again must not hold up a wake-up.
 *
 * Context: process, dep_instance.mtx of the item held.
 */
void dep_watch_tell_next(struct dep_item *told, u16 events)
{
	struct dep_watch *watch = dep_item_watch(told);

	/* A hint: one that joins polls the file. */
	if (data_race(READ_ONCE(watch->nr_exclusive)) < 2 ||
	    !spin_trylock_irq(&watch->lock))
		return;
	dep_watch_tell_one(watch, told, events);
	spin_unlock_irq(&watch->lock);
}
