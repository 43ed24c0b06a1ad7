/* SPDX-License-Identifier: GPL-2.0 */
/* Events of exclusive items that the set which got them may leave alone. */
#ifndef DEVEPOLL_EXCLUSIVE_H
#define DEVEPOLL_EXCLUSIVE_H

#include <linux/types.h>

struct dep_item;
struct dep_watch;

void dep_watch_tell_one(struct dep_watch *watch, const struct dep_item *told,
			u16 events);
void dep_watch_tell_next(struct dep_item *told, u16 events);

#endif /* DEVEPOLL_EXCLUSIVE_H */
