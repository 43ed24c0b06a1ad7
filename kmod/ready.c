// SPDX-License-Identifier: GPL-2.0
/*
 * Asking the files whose wake-ups did not say what happened.
 */
#include <linux/bottom_half.h>
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "ready.h"
#include "watch.h"

/*
 * Takes the first item off the asks and calls its file.  The item may go at
 * any moment, so nothing of it is kept but its number and its address; no item
 * can come while M is held, so the same address under the same number is the
 * same item.
 *
 * Called with the instance locked, and returns so.
 */
static void ask_first(struct dep_instance *inst, bool harvesting)
	__must_hold(&inst->lock)
{
	struct file *file;
	struct dep_item *item;
	poll_table table;
	u16 ready;
	int fd;

	item = list_first_entry(&inst->asks, struct dep_item, ask);
	/* Off the list first: a wake-up from now on puts it back. */
	list_del_init(&item->ask);
	fd = item->fd;
	file = item->file;
	init_poll_funcptr(&table, NULL);
	table._key = (__force __poll_t)item->events | EPOLLERR | EPOLLHUP;
	spin_unlock_irq(&inst->lock);

	file = dep_watch_get_file(file);
	if (!file) {
		spin_lock_irq(&inst->lock);
		return;
	}
	ready = (__force u16)vfs_poll(file, &table);

	spin_lock_irq(&inst->lock);
	if (dep_fdmap_find(&inst->interest, fd) == item)
		dep_item_post(item, ready, harvesting);
	spin_unlock_irq(&inst->lock);

	/*
	 * If the program has closed the file meanwhile, its release is ours,
	 * and must not wait until this thread, which may sleep first, returns
	 * to user space.  From a context that looks like an interrupt fput()
	 * leaves it to a worker.
	 */
	local_bh_disable();
	fput(file);
	local_bh_enable();

	cond_resched();
	spin_lock_irq(&inst->lock);
}

/**
 * dep_ready_ask() - call ->poll() of the files that may be ready, and post
 * @inst: the instance
 * @harvesting: the caller takes the events itself or wakes somebody who does
 *
 * Does not ask for ever, however often the files wake us meanwhile: what is
 * left stays for the next call.  Asks nothing when the caller is being killed.
 *
 * Context: process; sleeps on dep_instance.mtx and in ->poll().
 */
void dep_ready_ask(struct dep_instance *inst, bool harvesting)
{
	u32 left;

	might_sleep();
	if (mutex_lock_killable(&inst->mtx))
		return;
	spin_lock_irq(&inst->lock);
	WRITE_ONCE(inst->asking, true);
	/* Pairs with smp_rmb() in dep_ready_may_ask(). */
	smp_wmb();
	for (left = inst->nr_items; left && !list_empty(&inst->asks); left--) {
		ask_first(inst, harvesting);
		if (fatal_signal_pending(current))
			break;
	}
	/* Pairs with the acquire there: the events are seen posted. */
	smp_store_release(&inst->asking, false);
	spin_unlock_irq(&inst->lock);
	mutex_unlock(&inst->mtx);
}
