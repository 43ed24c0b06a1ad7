// SPDX-License-Identifier: GPL-2.0
/*
 * Releasing a file whose last reference was ours: by the waiter, where that may
 * sleep, or by a worker.  A release may sleep for as long as a socket lingers,
 * so each one is a work of its own; and the last reference on a file that was
 * closed while it was polled stays in the instance until its mutex is released.
 */
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/compat.h"
#include "core/fput.h"

/**
 * struct fput_file - a file to be released
 * @work: the work
 * @file: the file
 * @person: who has opened it, and for whom it counts until it was released
 */
struct fput_file {
	struct work_struct work;
	struct file *file;
	struct dep_person *person;
};

/* A queue apart, since releases may sleep; and how many files are there. */
static struct workqueue_struct *fput_queue;
static atomic_t fput_pending;

/* Counts one more file; false if that is too many. */
static bool fput_charge(struct dep_person *person)
{
	int most = DEP_FPUT_TOTAL;
	int used = atomic_inc_return(&fput_pending);
	int own = atomic_inc_return(&person->releases);

	if (dep_person_is_root(person))
		return own <= most / DEP_ROOT_PART && used <= most;
	return own <= DEP_FPUT_MOST && used <= most - most / DEP_ROOT_PART;
}

static void fput_uncharge(struct dep_person *person)
{
	atomic_dec(&person->releases);
	atomic_dec(&fput_pending);
	dep_person_put(person);
}

static void fput_work(struct work_struct *work)
{
	struct fput_file *put = container_of(work, struct fput_file, work);

	__fput_sync(put->file);
	fput_uncharge(put->person);
	kfree(put);
}

/**
 * dep_fput_by_worker() - drop what may be the last reference on a file
 * @file: the file
 *
 * A worker does the release, so it doesn't have to wait, as it would after
 * fput(), until the calling thread returns to user space; the thread may sleep
 * before that.  If too many releases for the same person are pending, fput() is
 * used after all: nobody must occupy all workers.  The opener of the file pays,
 * and so has a reason to let its release end.  Called in a worker of a signal
 * set, that fput() leaves the release to the kernel's delayed work.
 *
 * Context: process; may sleep for memory.
 */
void dep_fput_by_worker(struct file *file)
{
	struct dep_person *person = dep_person_get(file->f_cred);
	struct fput_file *put = NULL;

	if (person && fput_charge(person))
		put = kmalloc(sizeof(*put), GFP_KERNEL);
	if (!put) {
		if (person)
			fput_uncharge(person);
		fput(file);
		return;
	}
	put->file = file;
	put->person = person;
	INIT_WORK(&put->work, fput_work);
	queue_work(fput_queue, &put->work);
}

/**
 * dep_fput_by_caller() - drop what may be the last reference on a file
 * @file: the file
 * @ends: the caller is about to return to user space
 *
 * Another thread closes the file at this moment, or has just closed it.  So it
 * is released at once where the kernel allows that; by fput() if that happens
 * soon enough; or by a worker, since the caller may sleep before it returns.
 *
 * Context: process, with nothing held; sleeps as long as the release does.
 */
void dep_fput_by_caller(struct file *file, bool ends)
{
	/* They work for others, too. */
	if (current->flags & (PF_KTHREAD | PF_IO_WORKER) ||
	    !(DEP_FPUT_AT_ONCE || ends))
		dep_fput_by_worker(file);
	else if (DEP_FPUT_AT_ONCE)
		__fput_sync(file);
	else
		fput(file);
}

/**
 * dep_fput_init() - make the queue for releases
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_fput_init(void)
{
	/* Enough for all works at once, so that none waits for another. */
	fput_queue = alloc_workqueue("devepoll_fput", WQ_UNBOUND,
				     DEP_FPUT_TOTAL);
	return fput_queue ? 0 : -ENOMEM;
}

/**
 * dep_fput_exit() - finish all releases and destroy the queue
 */
void dep_fput_exit(void)
{
	destroy_workqueue(fput_queue);
}

/**
 * dep_last_leave() - leave the last reference on a file to whoever drops M
 * @inst: the instance; dep_instance.mtx is held
 * @file: the file, which the program has closed; or NULL
 *
 * A worker releases what was left before.
 *
 * Context: process; may sleep for memory.
 */
void dep_last_leave(struct dep_instance *inst, struct file *file)
{
	lockdep_assert_held(&inst->mtx);
	if (inst->last)
		dep_fput_by_worker(inst->last);
	inst->last = file;
}

/**
 * dep_last_unlock() - drop dep_instance.mtx, and release what was left
 * @inst: the instance
 * @free: the caller holds nothing else; otherwise a worker releases it
 * @ends: the caller is about to return to user space
 */
void dep_last_unlock(struct dep_instance *inst, bool free, bool ends)
{
	struct file *last = dep_last_take(inst);

	mutex_unlock(&inst->mtx);
	if (likely(!last))
		return;
	if (free)
		dep_fput_by_caller(last, ends);
	else
		dep_fput_by_worker(last);
}
