/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The nodes /dev/epoll and /dev/poll.
 */
#ifndef DEVEPOLL_DEVICE_H
#define DEVEPOLL_DEVICE_H

#include <linux/init.h>
#include <linux/types.h>

int __init dep_device_register(umode_t mode);
void dep_device_unregister(void);

#endif /* DEVEPOLL_DEVICE_H */
