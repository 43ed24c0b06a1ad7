/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fast paths of waits: the common case, in one function each.
 */
#ifndef DEVEPOLL_FAST_H
#define DEVEPOLL_FAST_H

#include <linux/types.h>

struct dep_instance;
struct dep_results;
struct devepoll_event;
struct epoll_event;

int dep_fast_wait(struct dep_instance *inst, struct epoll_event __user *to,
		  u32 max, int timeout_ms);
int dep_fast_take(struct dep_instance *inst, struct devepoll_event *to,
		  u32 max, int timeout_ms);

int dep_fast_go_on(struct dep_instance *inst, struct epoll_event __user *to,
		   u32 max, int timeout_ms, u64 collected);

/* For threads that share the table of files. */
int dep_fast_collect_shared(struct dep_instance *inst,
			    struct dep_results *results);
int dep_fast_wait_shared(struct dep_instance *inst,
			 struct epoll_event __user *to, u32 max,
			 int timeout_ms);

#endif /* DEVEPOLL_FAST_H */
