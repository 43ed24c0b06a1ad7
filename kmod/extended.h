/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The extended face: changes with results, and waiting with more to say.
 */
#ifndef DEVEPOLL_EXTENDED_H
#define DEVEPOLL_EXTENDED_H

#include <linux/types.h>

struct dep_instance;

long dep_extended_ioctl(struct dep_instance *inst, unsigned int cmd,
			unsigned long arg);
int dep_extended_door(struct dep_instance *inst, unsigned int request,
		      u64 address, u64 length);

#endif /* DEVEPOLL_EXTENDED_H */
