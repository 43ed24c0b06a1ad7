// SPDX-License-Identifier: GPL-2.0
/*
 * The requests of the extended interface as io_uring commands: cmd_op is the
 * request, and the first 8 bytes of the command are the argument's address.
 */
#include <linux/fs.h>

#include <linux/devepoll.h>

#include "compat.h"
#include "extended.h"
#include "instance.h"
#include "uring.h"

static int uring_ctl(struct dep_instance *inst, struct io_uring_cmd *cmd,
		     unsigned int flags)
{
	/* Another thread may hold it for long: let a worker wait for it. */
	if (flags & IO_URING_F_NONBLOCK && mutex_is_locked(&inst->mtx))
		return -EAGAIN;
	return dep_extended_ioctl(inst, cmd->cmd_op, dep_uring_arg(cmd));
}

/*
 * Kernels that can't cancel a command lose one whose result is above 0, if a
 * worker has it, unless it is completed like one that was queued.
 */
static int uring_result(struct io_uring_cmd *cmd, int ret, unsigned int flags)
{
	if (ret <= 0 || DEP_URING_CAN_CANCEL)
		return ret;
	dep_uring_done(cmd, ret, flags);
	return -EIOCBQUEUED;
}

/**
 * dep_uring_cmd() - a command of a ring on the node
 * @cmd: the command
 * @flags: IO_URING_F_*
 *
 * Context: the task of the ring, or a worker of it; sleeps.
 * Return: what the request returns;
 * -EIOCBQUEUED: a wait, which will be completed;
 * -EOPNOTSUPP: not a request of the extended interface, or a wait that would
 * have to wait, on a kernel that can't cancel commands;
 * -EAGAIN: a worker should do it.
 */
int dep_uring_cmd(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct dep_instance *inst = cmd->file->private_data;

	if (flags & IO_URING_F_CANCEL)
		return dep_uring_cancel(cmd, flags);
	if (_IOC_TYPE(cmd->cmd_op) != EP_IOC_MAGIC)
		return -EOPNOTSUPP;
	switch (_IOC_NR(cmd->cmd_op)) {
	case _IOC_NR(DEVEPOLL_CTL):
		return uring_result(cmd, uring_ctl(inst, cmd, flags), flags);
	case _IOC_NR(DEVEPOLL_WAIT):
		return uring_result(cmd, dep_uring_wait(inst, cmd, flags),
				    flags);
	}
	return -EOPNOTSUPP;
}
