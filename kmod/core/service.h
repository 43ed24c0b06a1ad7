/* SPDX-License-Identifier: GPL-2.0 */
/* The service of the relays: an interrupt and a worker of each processor. */
#ifndef DEVEPOLL_SERVICE_H
#define DEVEPOLL_SERVICE_H

#include <linux/init.h>

int __init dep_service_init(void);
void dep_service_exit(void);

#endif /* DEVEPOLL_SERVICE_H */
