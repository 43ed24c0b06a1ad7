/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a ring.
 */
#ifndef DEVEPOLL_RING_MEMORY_H
#define DEVEPOLL_RING_MEMORY_H

#include "core/instance.h"

struct vm_area_struct;

int dep_ring_make(struct dep_instance *inst, u32 nr_sets, u32 room);
void dep_ring_free(struct dep_instance *inst);
int dep_ring_map_word(struct dep_instance *inst, struct vm_area_struct *vma);
int dep_ring_map_slots(struct dep_instance *inst, struct vm_area_struct *vma);

#endif /* DEVEPOLL_RING_MEMORY_H */
