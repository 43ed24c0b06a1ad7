/* SPDX-License-Identifier: GPL-2.0 */
/* Work that can't be done where it comes up, and the queues for it. */
#ifndef DEVEPOLL_WORKER_H
#define DEVEPOLL_WORKER_H

#include <linux/list.h>
#include <linux/workqueue.h>

#include "core/person.h"

struct file;

/**
 * struct dep_asks - the queue in which one person's signal sets poll their
 * files
 * @link: in the list of worker.c
 * @refs: how many signal sets the person has
 * @person: const: the person; valid while one of these sets lives
 * @queue: const: the queue
 */
struct dep_asks {
	struct list_head link;
	unsigned int refs;
	struct dep_person person;
	struct workqueue_struct *queue;
};

struct dep_asks *dep_asks_get(struct dep_person person);
void dep_asks_put(struct dep_asks *asks);

void dep_worker_fput(struct file *file);

int __init dep_worker_init(void);
void dep_worker_exit(void);

#endif /* DEVEPOLL_WORKER_H */
