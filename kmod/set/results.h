/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a call of the extended interface, or of /dev/poll, writes its events; and
 * the passes that find them, with the items that a pass takes off the ready list
 * to poll their files.
 */
#ifndef DEVEPOLL_RESULTS_H
#define DEVEPOLL_RESULTS_H

#include <linux/poll.h>
#include <linux/types.h>

/* This header needs the others. */
#include <linux/eventpoll.h>

#include <linux/devepoll.h>

#include "core/limits.h"

struct dep_instance;
struct dep_item;
struct dep_results;
struct dep_waiter;

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


/**
 * enum dep_layout - the form in which an event is written
 * @DEP_LAYOUT_EVENT: struct devepoll_event
 * @DEP_LAYOUT_EPOLL: struct epoll_event; never in mapped pages
 * @DEP_LAYOUT_POLLFD: struct pollfd, whose events are the item's data
 * @DEP_LAYOUT_RING: slots of the ring, one by one under L; no array
 */
enum dep_layout {
	DEP_LAYOUT_EVENT,
	DEP_LAYOUT_EPOLL,
	DEP_LAYOUT_POLLFD,
	DEP_LAYOUT_RING,
};

/**
 * struct dep_results - the events of one call
 * @kernel: the array in mapped pages, or NULL
 * @user: otherwise the array in user memory; access_ok() holds
 * @layout: the form of its elements
 * @max: length of the array
 * @nr: how many events are written
 * @pass: the pass over the ready list that this call makes; 0 before
 * @again: the call has polled files already, and their answers count
 * @only_waits: the open by which it waits may not change the set
 * @counted: the pass in which it counted what is ready, or 0
 * @by_ring: an io_uring command, whose caller may hold a lock of the ring
 * @waiter: the caller, once it has found nothing and may sleep; otherwise NULL
 * @collect: takes events instead of dep_ready_collect(), unless @again; or NULL
 */
struct dep_results {
	void *kernel;
	void __user *user;
	enum dep_layout layout;
	u32 max;
	u32 nr;
	u32 pass;
	bool again;
	bool only_waits;
	u32 counted;
	bool by_ring;
	struct dep_waiter *waiter;
	int (*collect)(struct dep_instance *inst, struct dep_results *results);
};

/**
 * dep_layout_size() - the size of one event
 * @layout: the form in which it is written
 *
 * Return: bytes.
 */
static inline size_t dep_layout_size(enum dep_layout layout)
{
	switch (layout) {
	case DEP_LAYOUT_EPOLL:
		return sizeof(struct epoll_event);
	case DEP_LAYOUT_POLLFD:
		return sizeof(struct pollfd);
	default:
		return sizeof(struct devepoll_event);
	}
}

void dep_results_send(struct dep_pass *pass);

#endif /* DEVEPOLL_RESULTS_H */
