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
 *
 * The others exist in a sink whose events the program takes without a call:
 * dep_instance_has_ring().  L is held, and interrupts are off.
 *
 * @begin_pass: a pass over the ready list begins; it puts its events to the sink
 *	if @putting, or else takes what waits there
 * @end_pass: it ends
 * @put: add an event of a pass; false if there is no room for it
 * @put_closed: the event that was put just now is the item's last one
 * @is_full: is there no room for a further event, so that the program has
 *	something to take?
 * @withdraw: take back the events of an item, and return them
 */
struct dep_sink {
	u16 needs_poll;
	void (*post)(struct dep_instance *inst, struct dep_item *item,
		     u16 events);
	void (*forget)(struct dep_instance *inst, struct dep_item *item);
	int (*join)(struct dep_item *item);
	void (*listed)(struct dep_instance *inst);
	void (*begin_pass)(struct dep_instance *inst, bool putting);
	void (*end_pass)(struct dep_instance *inst);
	bool (*put)(struct dep_item *item, u32 events);
	void (*put_closed)(struct dep_item *item);
	bool (*is_full)(struct dep_instance *inst);
	u16 (*withdraw)(struct dep_item *item);
};

#endif /* DEVEPOLL_SINK_H */
