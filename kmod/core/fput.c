// SPDX-License-Identifier: GPL-2.0
/*
 * Releasing a file whose last reference was ours: by the waiter, where that may
 * sleep, or by a worker.  A release may sleep for as long as a socket lingers,
 * so each one is a work of its own.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/limits.h"

/**
 * struct fput_file - a file to be released
 * @work: the work
 * @file: the file
 * @pending: counts the file until it has been released
 */
struct fput_file {
	struct work_struct work;
	struct file *file;
	atomic_t *pending;
};

/* A queue apart, since releases may sleep; how many do, by hash of the uid. */
static struct workqueue_struct *fput_queue;
static atomic_t fput_counts[DEP_FPUT_USERS];

static void fput_work(struct work_struct *work)
{
	struct fput_file *put = container_of(work, struct fput_file, work);

	__fput_sync(put->file);
	atomic_dec(put->pending);
	kfree(put);
}

/* The opener of the file pays, and so has a reason to let its release end. */
static atomic_t *fput_pending(const struct file *file)
{
	return &fput_counts[__kuid_val(file->f_cred->uid) % DEP_FPUT_USERS];
}

/**
 * dep_fput_by_worker() - drop what may be the last reference on a file
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
void dep_fput_by_worker(struct file *file)
{
	atomic_t *pending = fput_pending(file);
	struct fput_file *put = NULL;

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
	if (current->flags & (PF_KTHREAD | PF_IO_WORKER))
		dep_fput_by_worker(file);
	else if (DEP_FPUT_AT_ONCE)
		__fput_sync(file);
	else if (ends)
		fput(file);
	else
		dep_fput_by_worker(file);
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
				     DEP_FPUT_USERS * DEP_FPUT_MOST);
	return fput_queue ? 0 : -ENOMEM;
}

/**
 * dep_fput_exit() - finish all releases and destroy the queue
 */
void dep_fput_exit(void)
{
	destroy_workqueue(fput_queue);
}
