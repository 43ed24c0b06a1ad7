/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests of the ring.
 */
#ifndef DEVEPOLL_RING_IOCTL_H
#define DEVEPOLL_RING_IOCTL_H

#include "core/instance.h"

struct file;

long dep_ring_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
long dep_ring_wait(struct dep_instance *inst, unsigned long arg);

#endif /* DEVEPOLL_RING_IOCTL_H */
