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
bool dep_watch_notify_waiter(struct dep_item *item, __poll_t key,
			     unsigned int *left);
void dep_watch_hand_over(struct dep_watch *watch);

#endif /* DEVEPOLL_WAKEUP_H */
