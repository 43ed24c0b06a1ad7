// SPDX-License-Identifier: GPL-2.0
/*
 * Work that can't be done where it comes up: polling files for which no task
 * waits, and releasing a file whose last reference was ours.  A release may
 * sleep for as long as a socket lingers, so each one is a work of its own.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/limits.h"
#include "core/worker.h"

/**
 * struct worker_fput - a file to be released
 * @work: the work
 * @file: the file
 * @pending: counts the file until it has been released
 */
struct worker_fput {
	struct work_struct work;
	struct file *file;
	atomic_t *pending;
};

/* One entry for each person.  The lock guards the list and the references. */
static LIST_HEAD(worker_asks);
static unsigned int worker_nr_asks;
static DEFINE_MUTEX(worker_asks_lock);

/* A queue apart, since releases may sleep; how many do, by hash of the uid. */
static struct workqueue_struct *worker_fputs;
static atomic_t worker_pending[DEP_FPUT_USERS];

static void fput_work(struct work_struct *work)
{
	struct worker_fput *put = container_of(work, struct worker_fput, work);

	__fput_sync(put->file);
	atomic_dec(put->pending);
	kfree(put);
}

/* The opener of the file pays, and so has a reason to let its release end. */
static atomic_t *fput_pending(const struct file *file)
{
	return &worker_pending[__kuid_val(file->f_cred->uid) % DEP_FPUT_USERS];
}

/**
 * dep_worker_fput() - drop what may be the last reference on a file
 * @file: the file
 *
 * A worker does the release, so it doesn't have to wait, as it would after
 * fput(), until the calling thread returns to user space; the thread may sleep
 * before that.  If too many releases for the same user are pending, fput() is
 * used after all: one user must not occupy all workers.  Called in a worker of
 * a signal set, that fput() leaves the release to the kernel's delayed work.
 *
 * Context: process; may sleep for memory.
 */
void dep_worker_fput(struct file *file)
{
	atomic_t *pending = fput_pending(file);
	struct worker_fput *put = NULL;

	if (atomic_inc_return(pending) <= DEP_FPUT_MOST)
		put = kmalloc(sizeof(*put), GFP_KERNEL);
	if (!put) {
		atomic_dec(pending);
		fput(file);
		return;
	}
	put->file = file;
	put->pending = pending;
	INIT_WORK(&put->work, fput_work);
	queue_work(worker_fputs, &put->work);
}

static void asks_free(struct dep_asks *asks)
{
	if (asks->queue)
		destroy_workqueue(asks->queue);
	kfree(asks);
}

static struct dep_asks *asks_new(struct dep_person person)
{
	struct dep_asks *asks = kzalloc(sizeof(*asks), GFP_KERNEL_ACCOUNT);

	if (!asks)
		return NULL;
	asks->person = person;
	asks->queue = alloc_workqueue("devepoll_ask", WQ_UNBOUND,
				      DEP_ASKS_MOST);
	if (asks->queue)
		return asks;
	asks_free(asks);
	return NULL;
}

/* Takes a reference on the person's queue; adds @own if there is none yet. */
static struct dep_asks *asks_find(struct dep_person person,
				  struct dep_asks *own)
{
	struct dep_asks *asks, *found = NULL;

	mutex_lock(&worker_asks_lock);
	list_for_each_entry(asks, &worker_asks, link) {
		if (dep_person_is(asks->person, person))
			found = asks;
	}
	if (!found && own) {
		if (worker_nr_asks < DEP_ASKS_PERSONS ||
		    dep_person_is_exempt()) {
			worker_nr_asks++;
			list_add(&own->link, &worker_asks);
			found = own;
		} else {
			found = ERR_PTR(-ENOSPC);
		}
	}
	if (!IS_ERR_OR_NULL(found))
		found->refs++;
	mutex_unlock(&worker_asks_lock);
	return found;
}

/**
 * dep_asks_get() - find or make the queue of a person's signal sets
 * @person: the person; valid until dep_asks_put()
 *
 * ->poll() may sleep for as long as the file's owner likes, so each person can
 * only fill a queue of their own.
 *
 * Context: process; sleeps.
 * Return: the queue, or an ERR_PTR:
 * -ENOSPC: too many persons have one, and the caller is not root;
 * -ENOMEM: no memory.
 */
struct dep_asks *dep_asks_get(struct dep_person person)
{
	struct dep_asks *asks = asks_find(person, NULL), *own;

	if (asks)
		return asks;
	/* Not under the lock: others need it to close their sets. */
	own = asks_new(person);
	if (!own)
		return ERR_PTR(-ENOMEM);
	asks = asks_find(person, own);
	if (asks != own)
		asks_free(own);
	return asks;
}

/**
 * dep_asks_put() - drop a reference on the queue of a person's signal sets
 * @asks: the queue; nothing of the caller is queued there any more
 *
 * Context: process; sleeps.
 */
void dep_asks_put(struct dep_asks *asks)
{
	bool last;

	mutex_lock(&worker_asks_lock);
	last = !--asks->refs;
	if (last) {
		list_del(&asks->link);
		worker_nr_asks--;
	}
	mutex_unlock(&worker_asks_lock);
	if (last)
		asks_free(asks);
}

/**
 * dep_worker_init() - make the queue for releases
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_worker_init(void)
{
	/* Enough for all works at once, so that none waits for another. */
	worker_fputs = alloc_workqueue("devepoll_fput", WQ_UNBOUND,
				       DEP_FPUT_USERS * DEP_FPUT_MOST);
	return worker_fputs ? 0 : -ENOMEM;
}

/**
 * dep_worker_exit() - finish all releases and destroy the queue
 */
void dep_worker_exit(void)
{
	destroy_workqueue(worker_fputs);
}
