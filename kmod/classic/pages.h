/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two page sets that the program maps: the sink of the classic interface.
 */
#ifndef DEVEPOLL_PAGES_H
#define DEVEPOLL_PAGES_H

#include <linux/types.h>

struct dep_instance;
struct vm_area_struct;

int dep_pages_alloc(struct dep_instance *inst, u32 room);
int dep_pages_retire(struct dep_instance *inst);
void dep_pages_free(struct dep_instance *inst);
int dep_pages_map(struct dep_instance *inst, struct vm_area_struct *vma);

#endif /* DEVEPOLL_PAGES_H */
