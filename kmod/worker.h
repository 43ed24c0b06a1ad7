/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that can't be done where it comes up, and the queue for it.
 */
#ifndef DEVEPOLL_WORKER_H
#define DEVEPOLL_WORKER_H

#include <linux/workqueue.h>

struct file;

extern struct workqueue_struct *dep_worker_wakes;
extern struct workqueue_struct *dep_worker_asks;

void dep_worker_fput(struct file *file);

int __init dep_worker_init(void);
void dep_worker_exit(void);

#endif /* DEVEPOLL_WORKER_H */
