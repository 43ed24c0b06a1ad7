/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interest set: adding and removing fds.
 */
#ifndef DEVEPOLL_INTEREST_H
#define DEVEPOLL_INTEREST_H

#include "core/instance.h"

/**
 * struct dep_change - one change of a set of the extended interface
 * @op: DEVEPOLL_ADD, DEVEPOLL_MOD or DEVEPOLL_DEL
 * @fd: the number
 * @events: the poll events asked for
 * @mode: DEP_MODE_*
 * @data: what comes back with each event
 * @odd: there were bits that nobody knows; only EPOLLEXCLUSIVE minds
 */
struct dep_change {
	u16 op;
	int fd;
	u16 events;
	u32 mode;
	u64 data;
	bool odd;
};

void dep_item_drop(struct dep_item *item, bool tell);
int dep_interest_add(struct dep_instance *inst, struct file *file,
		     const struct dep_change *ch);
bool dep_interest_remove(struct dep_instance *inst, int fd);
void dep_interest_clear(struct dep_instance *inst);
void dep_interest_sift(struct dep_instance *inst,
		       bool (*keep)(struct dep_item *item));

#endif /* DEVEPOLL_INTEREST_H */
