/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entries that a watch has in the wait queues of its file.
 */
#ifndef DEVEPOLL_WAITQUEUE_H
#define DEVEPOLL_WAITQUEUE_H

#include <linux/init.h>
#include <linux/poll.h>

struct dep_item;
struct dep_wait;
struct dep_watch;

void dep_wait_init(struct dep_wait *wait, struct dep_watch *watch);
void dep_waits_free(struct dep_watch *watch);

int dep_watch_queue(struct dep_watch *watch, u16 events, u16 *ready);
int dep_watch_arm(struct dep_item *item, u16 events, u16 *ready);
void dep_watch_disarm(struct dep_watch *watch);
bool dep_watch_is_arming(const poll_table *table);

int __init dep_waitqueue_init(void);
void dep_waitqueue_exit(void);

#endif /* DEVEPOLL_WAITQUEUE_H */
