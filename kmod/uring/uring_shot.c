// SPDX-License-Identifier: GPL-2.0
/*
 * Multishot waits of a ring: they continue after events, which go to buffers of
 * the ring.
 */
#include <linux/uaccess.h>

#include "core/instance.h"
#include "uring/compat.h"
#include "uring/uring.h"

/**
 * dep_uring_shoot() - take events into a buffer of the ring, and report it
 * @wait: the wait, multishot
 * @flags: IO_URING_F_*
 *
 * Context: the task of the ring; sleeps.
 * Return: 1 if there were events;
 * -EIOCBQUEUED: none, and the wait is queued again;
 * -ENOBUFS, -EMSGSIZE: there is no buffer, or it is too small; nothing is lost;
 * 0: some, but the ring's queue is full, so the last completion, which is never
 * lost, has to report them: dep_uring_wait.bytes and .cflags;
 * or another error of dep_uring_take().
 */
int dep_uring_shoot(struct dep_uring_wait *wait, unsigned int flags)
{
	struct dep_results *results = &wait->wait.results;
	/* The wait is not ours any more once it is queued: see below. */
	struct io_uring_cmd *cmd = wait->cmd;
	struct io_br_sel sel;
	size_t room = 0;
	int ret;

	sel = io_uring_cmd_buffer_select(cmd, wait->group, &room, flags);
	/* The two share a union: an address may look like an error. */
	if (sel.val < -MAX_ERRNO || sel.val == -EIOCBQUEUED)
		return -EFAULT;
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
	/*
	 * If the wait was queued, nobody completes the request meanwhile: the
	 * ring's lock is held here, and task work and cancellation take it.
	 */
	if (!io_uring_mshot_cmd_post_cqe(cmd, &sel, flags))
		return 1;
	if (ret <= 0)
		return ret;
	wait->bytes = sel.val;
	wait->cflags = cmd_to_io_kiocb(cmd)->cqe.flags;
	return 0;
}
