/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The classic face: the interface of 2001.
 */
#ifndef DEVEPOLL_CLASSIC_H
#define DEVEPOLL_CLASSIC_H

#include <linux/types.h>

struct dep_instance;

ssize_t dep_classic_write(struct dep_instance *inst, const char __user *buf,
			  size_t count);
long dep_classic_poll(struct dep_instance *inst, unsigned long arg);
long dep_classic_ioctl(struct dep_instance *inst, unsigned int cmd,
		       unsigned long arg);

#endif /* DEVEPOLL_CLASSIC_H */
