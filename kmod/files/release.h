/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The release hook: how we learn that a watched file closes.
 */
#ifndef DEVEPOLL_RELEASE_H
#define DEVEPOLL_RELEASE_H

#include <linux/init.h>

int __init dep_release_register(void);
void dep_release_unregister(void);

#endif /* DEVEPOLL_RELEASE_H */
