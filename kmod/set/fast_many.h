/* SPDX-License-Identifier: GPL-2.0 */
/* The fast path of epoll_wait(2) for several items. */
#ifndef DEVEPOLL_FAST_MANY_H
#define DEVEPOLL_FAST_MANY_H

#include <linux/types.h>

#include "core/instance.h"

struct dep_item;
struct epoll_event;
struct files_struct;

u64 dep_fast_many(struct dep_instance *inst, struct epoll_event __user *to,
		  u32 max, const struct files_struct *files)
	__releases(&inst->lock);
void dep_fast_put_back(struct dep_item *item, u32 revents);

#endif /* DEVEPOLL_FAST_MANY_H */
