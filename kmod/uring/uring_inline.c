// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands, on kernels that can't cancel them: done at
 * once, or refused.
 */
#include <linux/devepoll.h>

#include "epoll/bind.h"
#include "epoll/extended.h"
#include "set/waiting.h"
#include "uring/compat.h"
#include "uring/uring.h"

/**
 * dep_uring_wait() - DEVEPOLL_WAIT as a command that never sleeps
 * @inst: the instance
 * @cmd: the command
 * @flags: IO_URING_F_*
 *
 * Context: the task of the ring, or a worker of it; sleeps.
 * Return: what the request returns;
 * -EOPNOTSUPP: it would have to wait, and could not be cancelled.
 */
int dep_uring_wait(struct dep_instance *inst, struct io_uring_cmd *cmd,
		   unsigned int flags)
{
	struct dep_wait_call wait;
	int ret;

	ret = dep_extended_prepare(cmd->file, cmd->cmd_op, dep_uring_arg(cmd),
				   &wait);
	if (ret)
		return ret;
	if (wait.masked)
		return -EINVAL;
	/* A wait that has to be refused must not have changed anything. */
	if (wait.waiting.timeout &&
	    (wait.args.nr_changes || dep_bind_is_fresh(inst)))
		return -EOPNOTSUPP;
	ret = dep_extended_change(inst, &wait, false);
	/* Even if it would find nothing now: see collect_begin(). */
	if (!ret && dep_instance_readers(inst))
		ret = dep_extended_refuse(inst);
	if (ret)
		return ret;
	wait.results.by_ring = true;
	ret = dep_collect_rest(&wait.results, inst);
	if (!ret && wait.waiting.timeout)
		return -EOPNOTSUPP;
	return ret;
}
