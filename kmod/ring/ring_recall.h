/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pass over the ready list, and what waits in the ring.
 */
#ifndef DEVEPOLL_RING_RECALL_H
#define DEVEPOLL_RING_RECALL_H

#include "core/instance.h"
#include "core/item.h"

void dep_ring_begin_pass(struct dep_instance *inst, bool posting);
void dep_ring_end_pass(struct dep_instance *inst);
void dep_ring_end_call(struct dep_instance *inst);
void dep_ring_put_closed(struct dep_item *item);
void dep_ring_drop(struct dep_instance *inst);

#endif /* DEVEPOLL_RING_RECALL_H */
