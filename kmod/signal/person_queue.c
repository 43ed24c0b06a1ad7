// SPDX-License-Identifier: GPL-2.0
/*
 * The workqueues in which signal sets poll their files, for which no task
 * waits: one for each person.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "core/limits.h"
#include "core/person.h"
#include "signal/person_queue.h"

/* How many persons have a queue; the lock guards theirs, too. */
static unsigned int person_nr_queues;
static DEFINE_MUTEX(person_queues_lock);

/*
 * Takes a reference on the person's queue, which is *@own from now on if there
 * is none yet; -EAGAIN if that is NULL.
 */
static int queue_join(struct dep_person *person, struct workqueue_struct **own)
{
	int err = 0;

	mutex_lock(&person_queues_lock);
	if (!person->works && !*own) {
		err = -EAGAIN;
	} else if (!person->works && person_nr_queues >= DEP_PERSON_QUEUES &&
		   !dep_person_is_exempt()) {
		err = -ENOSPC;
	} else {
		if (!person->works) {
			person_nr_queues++;
			swap(person->works, *own);
		}
		person->nr_signal_sets++;
	}
	mutex_unlock(&person_queues_lock);
	return err;
}

/**
 * dep_person_queue_get() - find or make the workqueue of a person
 * @person: the person, who keeps it until dep_person_queue_put()
 *
 * ->poll() may sleep for as long as the file's owner likes, so each person can
 * only fill a queue of their own.
 *
 * Context: process; sleeps.
 * Return: 0;
 * -ENOSPC: too many persons have one, and the caller is not root;
 * -ENOMEM: no memory.
 */
int dep_person_queue_get(struct dep_person *person)
{
	struct workqueue_struct *own = NULL;
	int err = queue_join(person, &own);

	if (err != -EAGAIN)
		return err;
	/* Not under the lock: others need it to close their sets. */
	own = alloc_workqueue("devepoll_ask", WQ_UNBOUND, DEP_PERSON_WORKS);
	if (!own)
		return -ENOMEM;
	err = queue_join(person, &own);
	if (own)
		destroy_workqueue(own);
	return err;
}

/**
 * dep_person_queue_put() - drop a reference on the workqueue of a person
 * @person: the person; nothing of the caller is queued there any more
 *
 * Context: process; sleeps.
 */
void dep_person_queue_put(struct dep_person *person)
{
	struct workqueue_struct *works = NULL;

	mutex_lock(&person_queues_lock);
	if (!--person->nr_signal_sets) {
		swap(person->works, works);
		person_nr_queues--;
	}
	mutex_unlock(&person_queues_lock);
	if (works)
		destroy_workqueue(works);
}
