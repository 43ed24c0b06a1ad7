// SPDX-License-Identifier: GPL-2.0
/*
 * Work that can't be done where it comes up: waking many who poll a set, asking
 * files where nobody waits for the answer, and releasing a file whose last
 * reference was ours.  A release may sleep for as long as a socket lingers, so
 * each is a work of its own.
 */
#include <linux/bottom_half.h>
#include <linux/file.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "limits.h"
#include "worker.h"

/**
 * struct worker_fput - a file to be released
 * @work: the work
 * @file: the file
 */
struct worker_fput {
	struct work_struct work;
	struct file *file;
};

struct workqueue_struct *dep_worker_wakes;

/* By user, with a lock for the list and the references in it. */
static LIST_HEAD(worker_asks);
static DEFINE_MUTEX(worker_asks_lock);

/* Its own, since releases may sleep. */
static struct workqueue_struct *worker_fputs;

static void fput_work(struct work_struct *work)
{
	struct worker_fput *put = container_of(work, struct worker_fput, work);

	__fput_sync(put->file);
	kfree(put);
}

/**
 * dep_worker_fput() - drop what may be the last reference on a file
 * @file: the file
 *
 * The release does not wait until the calling thread, which may sleep first,
 * returns to user space, as it would after fput().
 *
 * Context: process; may sleep for memory.
 */
void dep_worker_fput(struct file *file)
{
	struct worker_fput *put = kmalloc(sizeof(*put), GFP_KERNEL);

	if (put) {
		put->file = file;
		INIT_WORK(&put->work, fput_work);
		queue_work(worker_fputs, &put->work);
		return;
	}
	/* To a worker of all: fput() takes this for an interrupt. */
	local_bh_disable();
	fput(file);
	local_bh_enable();
}

/**
 * dep_asks_get() - find or make the queue of a user's signal sets
 * @user: the user; lives until dep_asks_put()
 *
 * ->poll() may sleep for as long as the file's owner likes, so each user has a
 * queue of his own to fill.
 *
 * Context: process; sleeps.
 * Return: the queue, or NULL without memory.
 */
struct dep_asks *dep_asks_get(struct user_struct *user)
{
	struct dep_asks *asks;

	mutex_lock(&worker_asks_lock);
	list_for_each_entry(asks, &worker_asks, link) {
		if (asks->user == user)
			goto found;
	}
	asks = kzalloc(sizeof(*asks), GFP_KERNEL_ACCOUNT);
	if (!asks)
		goto out;
	asks->user = user;
	asks->queue = alloc_workqueue("devepoll_ask", WQ_UNBOUND,
				      DEP_ASKS_MOST);
	if (!asks->queue) {
		kfree(asks);
		asks = NULL;
		goto out;
	}
	list_add(&asks->link, &worker_asks);
found:
	asks->refs++;
out:
	mutex_unlock(&worker_asks_lock);
	return asks;
}

/**
 * dep_asks_put() - let go of the queue of a user's signal sets
 * @asks: the queue; nothing of the caller is in it
 *
 * Context: process; sleeps.
 */
void dep_asks_put(struct dep_asks *asks)
{
	bool last;

	mutex_lock(&worker_asks_lock);
	last = !--asks->refs;
	if (last)
		list_del(&asks->link);
	mutex_unlock(&worker_asks_lock);
	if (!last)
		return;
	destroy_workqueue(asks->queue);
	kfree(asks);
}

/**
 * dep_worker_init() - make the queues
 *
 * Return: 0, or -ENOMEM.
 */
int __init dep_worker_init(void)
{
	dep_worker_wakes = alloc_workqueue("devepoll_wake",
					   WQ_UNBOUND | WQ_HIGHPRI, 0);
	worker_fputs = alloc_workqueue("devepoll_fput", WQ_UNBOUND, 0);
	if (!dep_worker_wakes || !worker_fputs) {
		dep_worker_exit();
		return -ENOMEM;
	}
	return 0;
}

/**
 * dep_worker_exit() - finish all work and destroy the queues
 */
void dep_worker_exit(void)
{
	if (dep_worker_wakes)
		destroy_workqueue(dep_worker_wakes);
	if (worker_fputs)
		destroy_workqueue(worker_fputs);
}
