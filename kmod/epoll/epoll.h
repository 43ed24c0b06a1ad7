/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of epoll.
 */
#ifndef DEVEPOLL_EPOLL_H
#define DEVEPOLL_EPOLL_H

#include <linux/types.h>

#include <linux/devepoll.h>

struct dep_instance;
struct devepoll_event;
struct file;

int dep_epoll_ctl_event(struct dep_instance *inst, unsigned int request,
			const struct devepoll_event *event);
int dep_epoll_wait(struct file *file, u64 address, u64 length);
int dep_epoll_ctl(struct file *file, unsigned int request, u64 address,
		  u64 length);

#endif /* DEVEPOLL_EPOLL_H */
