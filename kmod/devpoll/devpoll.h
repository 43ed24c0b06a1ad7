/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The faces of /dev/poll: the Linux one and the Solaris one.
 */
#ifndef DEVEPOLL_DEVPOLL_H
#define DEVEPOLL_DEVPOLL_H

#include <linux/types.h>

#include "core/instance.h"

struct dep_change;
struct dep_item;

/**
 * enum dep_devpoll - what a set is to /dev/poll
 * @DEP_DEVPOLL_NOT: a set of /dev/epoll
 * @DEP_DEVPOLL_OPEN: a set whose face no request has decided yet
 * @DEP_DEVPOLL_LINUX: a set with the Linux face: a write replaces
 * @DEP_DEVPOLL_SOLARIS: a set with the Solaris face: a write adds
 */
enum dep_devpoll {
	DEP_DEVPOLL_NOT,
	DEP_DEVPOLL_OPEN,
	DEP_DEVPOLL_LINUX,
	DEP_DEVPOLL_SOLARIS,
};

void dep_devpoll_begin(struct dep_instance *inst);
bool dep_devpoll_is_of_other(const struct dep_instance *inst,
			     enum dep_devpoll face);
void dep_devpoll_settle(struct dep_instance *inst, enum dep_devpoll face);
int dep_devpoll_choose(struct dep_instance *inst, enum dep_devpoll face);
ssize_t dep_devpoll_write(struct dep_instance *inst, const char __user *buf,
			  size_t count);
long dep_devpoll_ioctl(struct dep_instance *inst, unsigned int cmd,
		       unsigned long arg, bool compat);
int dep_interest_bury(struct dep_instance *inst, const struct dep_change *ch);
void dep_interest_sift(struct dep_instance *inst,
		       bool (*keep)(struct dep_item *item));

#endif /* DEVEPOLL_DEVPOLL_H */
