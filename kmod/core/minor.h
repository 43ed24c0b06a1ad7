/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a node gets its minor.
 */
#ifndef DEVEPOLL_MINOR_H
#define DEVEPOLL_MINOR_H

#include <linux/init.h>

struct miscdevice;

int __init dep_minor_register(struct miscdevice *node);

#endif /* DEVEPOLL_MINOR_H */
