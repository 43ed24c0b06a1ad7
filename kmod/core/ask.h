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
struct file;

/**
 * struct dep_ask - an item that a pass has taken off the ready list
 * @item: the item
 * @data: the item's, when it was taken
 * @fd: the number
 * @kind: how to handle it: enum ask_kind of pass_other.h
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
	bool sent;
	u16 events;
	u32 revents;
	bool chosen;
};

/**
 * struct dep_pass - one pass over the ready list
 * @inst: the instance whose list it is
 * @results: where events go, or NULL if they are only counted
 * @number: number of the pass
 * @depth: how many sets are around this one in the call
 * @found: how many items were ready
 * @over: the list has no item left that this pass has not met
 * @err: -EFAULT if the results can't be written; -ENOSPC if the ring is full
 * @nr: length of @asks
 * @last: files whose last reference is ours, to be dropped with nothing held
 * @nr_last: how many these are
 * @asks: the items that were taken
 */
struct dep_pass {
	struct dep_instance *inst;
	struct dep_results *results;
	u32 number;
	unsigned int depth;
	u32 found;
	bool over;
	int err;
	u32 nr;
	u32 nr_last;
	struct file *last[DEP_ASK_BATCH];
	struct dep_ask asks[DEP_ASK_BATCH];
};

#endif /* DEVEPOLL_ASK_H */
