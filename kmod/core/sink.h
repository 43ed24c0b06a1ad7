/* SPDX-License-Identifier: GPL-2.0 */
/* Where the events of an instance go. */
#ifndef DEVEPOLL_SINK_H
#define DEVEPOLL_SINK_H

#include <linux/types.h>

struct dep_instance;
struct dep_item;

/**
 * struct dep_sink - where the events of an instance go
 * @needs_poll: events that keys claim though the file may not have them: it
 *	must be polled
 * @post: add events to the item's; L is held, interrupts are off, must not
 *	fail.  Keeps dep_instance.pending
 * @forget: drop what is pending for the item; L is held.  Keeps
 *	dep_instance.pending
 * @join: take a new item, which is charged and not hooked; M is held.  NULL if
 *	there is nothing to do
 * @listed: an item comes onto the ready list, but not by @post or a pass; L is
 *	held, interrupts are off, must not fail.  NULL if there is nothing to do
 */
struct dep_sink {
	u16 needs_poll;
	void (*post)(struct dep_instance *inst, struct dep_item *item,
		     u16 events);
	void (*forget)(struct dep_instance *inst, struct dep_item *item);
	int (*join)(struct dep_item *item);
	void (*listed)(struct dep_instance *inst);
};

#endif /* DEVEPOLL_SINK_H */
