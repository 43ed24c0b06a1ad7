/* SPDX-License-Identifier: GPL-2.0 */
/* The readers that may still have an event of a closed fd: see holds.c. */
#ifndef DEVEPOLL_HOLDS_H
#define DEVEPOLL_HOLDS_H

#include "core/instance.h"

int dep_reader_provide(struct dep_instance *inst);
void dep_reader_begins(struct dep_instance *inst);
void dep_reader_ends(struct dep_instance *inst, u32 nr);
void dep_reader_take(struct dep_item *item);
void dep_reader_post(struct dep_item *item);
bool dep_reader_holds(struct dep_item *item);
bool dep_reader_comes_back(struct dep_instance *inst);
void dep_reader_steps_back(struct dep_instance *inst);
void dep_reader_gives_back(struct dep_instance *inst, u32 set);
void dep_reader_switch(struct dep_instance *inst, u32 from, u32 to);

/**
 * dep_reader_back() - the caller wants events, and so has none in use
 * @inst: the instance, not locked
 *
 * Context: process; the caller goes on to a pass over the ready list, which
 * wakes others for what it leaves.
 */
static __always_inline void dep_reader_back(struct dep_instance *inst)
{
	if (unlikely(dep_instance_readers(inst)))
		dep_reader_comes_back(inst);
}

#endif /* DEVEPOLL_HOLDS_H */
