/* SPDX-License-Identifier: GPL-2.0 */
/* Wake-ups: from a wait queue of a watched file to the sets that watch it. */
#ifndef DEVEPOLL_WAKEUP_H
#define DEVEPOLL_WAKEUP_H

#include <linux/wait.h>

struct dep_item;
struct dep_watch;

int dep_watch_wake(wait_queue_entry_t *entry, unsigned int mode, int sync,
		   void *key);
int dep_watch_wake_further(wait_queue_entry_t *entry, unsigned int mode,
			   int sync, void *key);
void dep_watch_hand_over(struct dep_watch *watch);
void dep_watch_tell_one(struct dep_watch *watch, const struct dep_item *told,
			u16 events);
void dep_watch_tell_next(struct dep_item *told, u16 events);

#endif /* DEVEPOLL_WAKEUP_H */
