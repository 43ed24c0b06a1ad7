/* SPDX-License-Identifier: GPL-2.0 */
/* One pass over the ready list. */
#ifndef DEVEPOLL_PASS_H
#define DEVEPOLL_PASS_H

#include <linux/types.h>

#include "core/instance.h"
#include "set/results.h"

/**
 * dep_pass_init() - initialize a pass that has no number and no results yet
 * @pass: the pass, not initialized
 * @inst: the instance whose list it is
 * @depth: how many sets are around this one in the call
 *
 * As it is, it changes nothing in the set but the ready list.
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
	pass->removes = false;
	pass->adopts = false;
	pass->waits = true;
	pass->err = 0;
}

void dep_pass_run(struct dep_pass *pass, u32 enough);

#endif /* DEVEPOLL_PASS_H */
