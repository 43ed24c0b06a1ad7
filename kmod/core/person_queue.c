// SPDX-License-Identifier: GPL-2.0
/*
 * The workqueues in which signal sets poll their files, for which no task
 * waits: one for each person.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/limits.h"
#include "core/person_queue.h"

/* The lock guards the list and the references. */
static LIST_HEAD(person_queues);
static unsigned int person_nr_queues;
static DEFINE_MUTEX(person_queues_lock);

static void queue_free(struct dep_person_queue *queue)
{
	if (queue->works)
		destroy_workqueue(queue->works);
	kfree(queue);
}

static struct dep_person_queue *queue_new(struct dep_person person)
{
	struct dep_person_queue *queue;

	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue)
		return NULL;
	queue->person = person;
	queue->works = alloc_workqueue("devepoll_ask", WQ_UNBOUND,
				       DEP_PERSON_WORKS);
	if (queue->works)
		return queue;
	queue_free(queue);
	return NULL;
}

/* Takes a reference on the person's queue; adds @own if there is none yet. */
static struct dep_person_queue *queue_find(struct dep_person person,
					   struct dep_person_queue *own)
{
	struct dep_person_queue *queue, *found = NULL;

	mutex_lock(&person_queues_lock);
	list_for_each_entry(queue, &person_queues, link) {
		if (dep_person_is(queue->person, person))
			found = queue;
	}
	if (!found && own) {
		if (person_nr_queues < DEP_PERSON_QUEUES ||
		    dep_person_is_exempt()) {
			person_nr_queues++;
			list_add(&own->link, &person_queues);
			found = own;
		} else {
			found = ERR_PTR(-ENOSPC);
		}
	}
	if (!IS_ERR_OR_NULL(found))
		found->refs++;
	mutex_unlock(&person_queues_lock);
	return found;
}

/**
 * dep_person_queue_get() - find or make the workqueue of a person
 * @person: the person; valid until dep_person_queue_put()
 *
 * ->poll() may sleep for as long as the file's owner likes, so each person can
 * only fill a queue of their own.
 *
 * Context: process; sleeps.
 * Return: the queue, or an ERR_PTR:
 * -ENOSPC: too many persons have one, and the caller is not root;
 * -ENOMEM: no memory.
 */
struct dep_person_queue *dep_person_queue_get(struct dep_person person)
{
	struct dep_person_queue *queue = queue_find(person, NULL), *own;

	if (queue)
		return queue;
	/* Not under the lock: others need it to close their sets. */
	own = queue_new(person);
	if (!own)
		return ERR_PTR(-ENOMEM);
	queue = queue_find(person, own);
	if (queue != own)
		queue_free(own);
	return queue;
}

/**
 * dep_person_queue_put() - drop a reference on the workqueue of a person
 * @queue: the queue; nothing of the caller is queued there any more
 *
 * Context: process; sleeps.
 */
void dep_person_queue_put(struct dep_person_queue *queue)
{
	bool last;

	mutex_lock(&person_queues_lock);
	last = !--queue->refs;
	if (last) {
		list_del(&queue->link);
		person_nr_queues--;
	}
	mutex_unlock(&person_queues_lock);
	if (last)
		queue_free(queue);
}
