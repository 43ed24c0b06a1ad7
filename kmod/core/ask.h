/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files that are asked: what a pass has taken off the ready list, and hands to
 * the results.
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
 * struct dep_ask - one item that a pass has taken off the list
 * @item: the item
 * @data: the item's, when it was taken
 * @fd: the number
 * @kind: what it is about, enum ask_kind of pass.c
 * @sent: it was handed out
 * @chosen: the item's, when it was taken
 * @events: the item's, when it was taken
 * @revents: what is to be handed out
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
 * struct dep_pass - one way along the ready list
 * @inst: whose list
 * @results: where events go, or NULL if they are only counted
 * @number: number of the pass
 * @depth: how many sets lie around this one in the call
 * @found: how many items were ready
 * @over: nothing is left that this pass has not met
 * @err: -EFAULT if the results can't be written
 * @nr: length of @asks
 * @last: files whose last reference is ours, to be dropped with nothing held
 * @nr_last: how many
 * @asks: what was taken
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
