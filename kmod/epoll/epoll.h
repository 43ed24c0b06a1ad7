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

/**
 * dep_epoll_is_ctl() - is this epoll_ctl(2), as a request of the fadvise entry?
 * @request: the request
 *
 * Return: true for DEVEPOLL_EPOLL_CTL() of the three operations.
 */
static inline bool dep_epoll_is_ctl(unsigned int request)
{
	return request >= DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD) &&
	       request <= DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD);
}

#endif /* DEVEPOLL_EPOLL_H */
