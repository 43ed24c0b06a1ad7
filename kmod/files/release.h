/* SPDX-License-Identifier: GPL-2.0 */
/* The release hook, by which we learn that a watched file is closed. */
#ifndef DEVEPOLL_RELEASE_H
#define DEVEPOLL_RELEASE_H

#include <linux/init.h>

int __init dep_release_register(void);
void dep_release_unregister(void);

#endif /* DEVEPOLL_RELEASE_H */
