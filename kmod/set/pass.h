/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One way along the list of asks.
 */
#ifndef DEVEPOLL_PASS_H
#define DEVEPOLL_PASS_H

#include <linux/types.h>

#include "core/instance.h"
#include "core/limits.h"

struct dep_results;

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
 * struct dep_pass - one way along the list of asks
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

/**
 * dep_pass_init() - begin one, which has no number and no results yet
 * @pass: the pass, not initialized
 * @inst: whose list
 * @depth: how many sets lie around this one in the call
 */
static inline void dep_pass_init(struct dep_pass *pass,
				 struct dep_instance *inst, unsigned int depth)
{
	pass->inst = inst;
	pass->results = NULL;
	pass->number = 0;
	pass->depth = depth;
	pass->found = 0;
	pass->over = false;
	pass->err = 0;
	pass->nr_last = 0;
}

void dep_pass_run(struct dep_pass *pass, u32 enough);

#endif /* DEVEPOLL_PASS_H */
