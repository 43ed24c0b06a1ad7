/* SPDX-License-Identifier: GPL-2.0 */
/* The changes of an interest list that programs request. */
#ifndef DEVEPOLL_CONTROL_H
#define DEVEPOLL_CONTROL_H

#include "core/instance.h"
#include "core/item.h"

void dep_interest_must_poll(struct dep_item *item);
int dep_interest_modify(struct dep_instance *inst, int fd, u16 events, u32 mode,
			u64 data);
int dep_interest_change(struct dep_instance *inst, u16 op, int fd, u16 events,
			u32 mode, u64 data);

#endif /* DEVEPOLL_CONTROL_H */
