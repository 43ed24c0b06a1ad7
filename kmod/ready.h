/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items that must be asked, and the asking.
 */
#ifndef DEVEPOLL_READY_H
#define DEVEPOLL_READY_H

#include "instance.h"

void dep_ready_ask(struct dep_instance *inst, bool harvesting);

#endif /* DEVEPOLL_READY_H */
