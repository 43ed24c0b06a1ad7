/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items of /dev/poll whose number is not open.
 */
#ifndef DEVEPOLL_BURIED_H
#define DEVEPOLL_BURIED_H

#include "core/instance.h"

struct dep_change;
struct dep_item;

int dep_interest_bury(struct dep_instance *inst, const struct dep_change *ch);
void dep_interest_sift(struct dep_instance *inst,
		       bool (*keep)(struct dep_item *item));

#endif /* DEVEPOLL_BURIED_H */
