/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Passes, and the items that a pass takes off the ready list to poll their
 * files.  The results read them.
 */
#ifndef DEVEPOLL_ASK_H
#define DEVEPOLL_ASK_H

#include <linux/types.h>

#include "core/limits.h"

struct dep_instance;
struct dep_item;
struct dep_results;

/* How a pass handles an item. */
enum dep_ask_kind {
	/* its file is polled, and kept so long; so is the item */
	ASK_FILE,
	/* has no file to poll, and stays in the set */
	ASK_NVAL,
	/* trusted, and its keys said what happened; may go at any moment */
	ASK_TOLD,
	/* gets its last event; the pass owns it */
	ASK_CLOSED,
	/* its number names another file: unhooked, and owned by the pass */
	ASK_STALE,
};

/**
 * struct dep_ask - an item that a pass has taken off the ready list
 * @item: the item
 * @data: the item's, when it was taken
 * @fd: the number
 * @kind: enum dep_ask_kind
 * @named: the number names its file in the caller's table
 * @kept: its file is kept until the call returns; otherwise by a reference, which
 *	goes once it was polled, and the item may then go with the file
 * @sent: it was handed out
 * @chosen: the item's, when it was taken
 * @events: the item's, when it was taken
 * @revents: the events to hand out
 */
struct dep_ask {
	struct dep_item *item;
	u64 data;
	int fd;
	u8 kind;
	bool named;
	bool kept;
	bool sent;
	u16 events;
	u32 revents;
	u8 chosen;
};

/**
 * dep_ask_is_owned() - has the item left the set?
 * @ask: the item
 *
 * Return: true if it has; then the pass frees it.
 */
static inline bool dep_ask_is_owned(const struct dep_ask *ask)
{
	return ask->kind == ASK_CLOSED || ask->kind == ASK_STALE;
}

/**
 * struct dep_pass - one pass over the ready list
 * @inst: the instance whose list it is
 * @results: where events go, or NULL if they are only counted
 * @number: number of the pass
 * @depth: how many sets are around this one in the call
 * @found: how many items were ready
 * @over: the list has no item left that this pass has not met
 * @removes: items of the caller whose number names their file no more leave
 * @adopts: the caller takes the place of owners that are gone
 * @waits: the call is a wait: see dep_ready_poll()
 * @err: -EFAULT if the results can't be written; -ENOSPC if the ring is full
 * @nr: length of @asks
 * @asks: the items that were taken
 */
struct dep_pass {
	struct dep_instance *inst;
	struct dep_results *results;
	u32 number;
	unsigned int depth;
	u32 found;
	bool over;
	bool removes;
	bool adopts;
	bool waits;
	int err;
	u32 nr;
	struct dep_ask asks[DEP_ASK_BATCH];
};

#endif /* DEVEPOLL_ASK_H */
