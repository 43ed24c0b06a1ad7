/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring: slot sets that the program maps, and a word by which it takes the
 * set that is being filled, and gives an empty one for it, without a call.
 */
#ifndef DEVEPOLL_RING_H
#define DEVEPOLL_RING_H

#include "core/instance.h"
#include "core/item.h"
#include "set/waiting.h"

struct dep_interface;
struct vm_area_struct;

extern struct dep_interface dep_ring_interface;
extern const struct dep_sink dep_ring_sink;

u32 dep_ring_look(struct dep_instance *inst);
bool dep_ring_is_full(const struct dep_instance *inst);
u32 dep_ring_filling(struct dep_instance *inst);

/* Its memory. */
int dep_ring_make(struct dep_instance *inst, u32 nr_sets, u32 room);
void dep_ring_free(struct dep_instance *inst);
int dep_ring_map_word(struct dep_instance *inst, struct vm_area_struct *vma);
int dep_ring_map_slots(struct dep_instance *inst, struct vm_area_struct *vma);

/* A pass over the ready list, and what waits in the ring. */
void dep_ring_end_call(struct dep_instance *inst);
void dep_ring_drop(struct dep_instance *inst, bool all);

/* Waiting for events that the program takes out of it. */
long dep_ring_wait(struct dep_instance *inst, unsigned long arg);

#endif /* DEVEPOLL_RING_H */
