/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short way of a wait: what is common, in one function.
 */
#ifndef DEVEPOLL_FAST_H
#define DEVEPOLL_FAST_H

#include <linux/types.h>

struct dep_instance;
struct epoll_event;

int dep_fast_wait(struct dep_instance *inst, struct epoll_event __user *to,
		  u32 max, int timeout_ms);

#endif /* DEVEPOLL_FAST_H */
