/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring: slot sets that the program maps, and a word by which it takes the
 * set that is being filled, and gives an empty one for it, without a call.
 */
#ifndef DEVEPOLL_RING_H
#define DEVEPOLL_RING_H

#include "core/instance.h"
#include "core/item.h"

extern const struct dep_sink dep_ring_sink;

u32 dep_ring_look(struct dep_instance *inst);
bool dep_ring_is_full(const struct dep_instance *inst);
bool dep_ring_put(struct dep_item *item, u32 events);
u32 dep_ring_filling(struct dep_instance *inst);

#endif /* DEVEPOLL_RING_H */
