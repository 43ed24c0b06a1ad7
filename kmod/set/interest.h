/* SPDX-License-Identifier: GPL-2.0 */
/* The interest list: adding and removing fds. */
#ifndef DEVEPOLL_INTEREST_H
#define DEVEPOLL_INTEREST_H

#include "core/instance.h"

/**
 * struct dep_change - one change of a set of the extended interface
 * @op: DEVEPOLL_ADD, DEVEPOLL_MOD or DEVEPOLL_DEL
 * @fd: the number
 * @events: the poll events asked for
 * @mode: DEP_MODE_*
 * @data: the user data
 */
struct dep_change {
	u16 op;
	int fd;
	u16 events;
	u32 mode;
	u64 data;
};

void dep_item_drop(struct dep_item *item, bool tell);
struct dep_item *dep_interest_unhook(struct dep_instance *inst, int fd);
bool dep_interest_remove(struct dep_instance *inst, int fd);
void dep_interest_clear(struct dep_instance *inst);

#endif /* DEVEPOLL_INTEREST_H */
