/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests of the ring.
 */
#ifndef DEVEPOLL_RING_IOCTL_H
#define DEVEPOLL_RING_IOCTL_H

#include "core/instance.h"

struct dep_face;

extern struct dep_face dep_ring_face;

long dep_ring_wait(struct dep_instance *inst, unsigned long arg);

#endif /* DEVEPOLL_RING_IOCTL_H */
