// SPDX-License-Identifier: GPL-2.0
/*
 * Waits of a ring that go on after events, into buffers of the ring.
 */
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "instance.h"
#include "uring.h"

/* Events are gone with a buffer that could not be told of: ask all again. */
static void uring_ask_all(struct dep_instance *inst)
{
	struct dep_item *item;
	unsigned int fd = 0;

	do {
		spin_lock_irq(&inst->lock);
		item = dep_fdmap_next(&inst->interest, &fd);
		if (item) {
			item->doubt = true;
			dep_item_list(item);
		}
		spin_unlock_irq(&inst->lock);
		fd++;
		cond_resched();
	} while (item);
}

/**
 * dep_uring_shoot() - take events into a buffer of the ring, and tell it
 * @wait: the wait, multishot
 * @flags: IO_URING_F_*
 *
 * Context: the task of the ring; sleeps.
 * Return: 1 if there were some;
 * -EIOCBQUEUED: none, and the wait is queued again;
 * -ENOBUFS, -EMSGSIZE: there is no buffer, or too small a one; nothing is lost;
 * -EOVERFLOW: the ring could not be told: all files will be asked again;
 * or another error of dep_uring_take().
 */
int dep_uring_shoot(struct dep_uring_wait *wait, unsigned int flags)
{
	struct dep_results *results = &wait->wait.results;
	struct io_br_sel sel;
	size_t room = 0;
	int ret;

	sel = io_uring_cmd_buffer_select(wait->cmd, wait->group, &room, flags);
	if (sel.val < 0)
		return sel.val;
	if (!sel.addr)
		return -ENOBUFS;
	results->user = sel.addr;
	results->nr = 0;
	results->max = min_t(size_t, room / sizeof(struct devepoll_event),
			     wait->max);
	if (!results->max)
		ret = -EMSGSIZE;
	else if (!access_ok(sel.addr, room))
		ret = -EFAULT;
	else
		ret = dep_uring_take(wait);
	sel.val = ret > 0 ? ret * sizeof(struct devepoll_event) : 0;
	if (!io_uring_mshot_cmd_post_cqe(wait->cmd, &sel, flags))
		return 1;
	if (ret <= 0)
		return ret;
	uring_ask_all(wait->inst);
	return -EOVERFLOW;
}
