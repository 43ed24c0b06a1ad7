/* SPDX-License-Identifier: GPL-2.0 */
/* The workqueues in which signal sets poll their files. */
#ifndef DEVEPOLL_PERSON_QUEUE_H
#define DEVEPOLL_PERSON_QUEUE_H

#include <linux/list.h>
#include <linux/workqueue.h>

#include "core/person.h"

/**
 * struct dep_person_queue - the workqueue of one person's signal sets
 * @link: in the list of person_queue.c
 * @refs: how many signal sets the person has
 * @person: const: the person; valid while one of these sets lives
 * @works: const: the workqueue
 */
struct dep_person_queue {
	struct list_head link;
	unsigned int refs;
	struct dep_person person;
	struct workqueue_struct *works;
};

struct dep_person_queue *dep_person_queue_get(struct dep_person person);
void dep_person_queue_put(struct dep_person_queue *queue);

#endif /* DEVEPOLL_PERSON_QUEUE_H */
