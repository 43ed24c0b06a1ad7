/* SPDX-License-Identifier: GPL-2.0 */
/* The fast path of epoll_wait(2) where threads share the table of files. */
#ifndef DEVEPOLL_FAST_SHARED_H
#define DEVEPOLL_FAST_SHARED_H

#include <linux/types.h>

struct dep_instance;
struct epoll_event;

int dep_fast_sleep_shared(struct dep_instance *inst,
			  struct epoll_event __user *to, u32 max,
			  int timeout_ms, u64 collected);
int dep_fast_wait_shared(struct dep_instance *inst,
			 struct epoll_event __user *to, u32 max,
			 int timeout_ms);

#endif /* DEVEPOLL_FAST_SHARED_H */
