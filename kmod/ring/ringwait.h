/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for events that the program takes out of its ring.
 */
#ifndef DEVEPOLL_RINGWAIT_H
#define DEVEPOLL_RINGWAIT_H

#include "core/instance.h"
#include "set/waiting.h"

int dep_wait_for_ring(struct dep_waiting *waiting, struct dep_instance *inst);

#endif /* DEVEPOLL_RINGWAIT_H */
