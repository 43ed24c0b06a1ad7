/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interest set: adding, changing, removing and finding fds.
 */
#ifndef DEVEPOLL_INTEREST_H
#define DEVEPOLL_INTEREST_H

#include "instance.h"

int dep_interest_set(struct dep_instance *inst, int fd, u16 events);
bool dep_interest_remove(struct dep_instance *inst, int fd);
bool dep_interest_query(struct dep_instance *inst, int fd, u16 *events);
void dep_interest_clear(struct dep_instance *inst);

#endif /* DEVEPOLL_INTEREST_H */
