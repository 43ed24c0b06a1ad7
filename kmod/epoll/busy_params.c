// SPDX-License-Identifier: GPL-2.0
/*
 * EPIOCSPARAMS and EPIOCGPARAMS: the parameters of busy polling, with the
 * numbers, the struct and the errors of epoll's files since Linux 6.9.
 */
#include <linux/capability.h>
#include <linux/limits.h>
#include <linux/netdevice.h>
#include <linux/uaccess.h>

#include "core/compat.h"
#include "core/instance.h"
#include "epoll/handlers.h"

static_assert(sizeof(struct epoll_params) == 8);
static_assert(EPIOCSPARAMS == 0x40088A01);
static_assert(EPIOCGPARAMS == 0x80088A02);

static long busy_params_set(struct dep_instance *inst, const void __user *arg)
{
	struct dep_busy *busy = &inst->busy;
	struct epoll_params params;

	if (copy_from_user(&params, arg, sizeof(params)))
		return -EFAULT;
	if (params.__pad || params.busy_poll_usecs > S32_MAX ||
	    params.prefer_busy_poll > 1)
		return -EINVAL;
	if (params.busy_poll_budget > NAPI_POLL_WEIGHT &&
	    !capable(CAP_NET_ADMIN))
		return -EPERM;
	WRITE_ONCE(busy->budget, params.busy_poll_budget);
	WRITE_ONCE(busy->prefer, params.prefer_busy_poll);
	WRITE_ONCE(busy->usecs, params.busy_poll_usecs);
	return 0;
}

static long busy_params_get(const struct dep_instance *inst, void __user *arg)
{
	const struct dep_busy *busy = &inst->busy;
	const struct epoll_params params = {
		.busy_poll_usecs = READ_ONCE(busy->usecs),
		.busy_poll_budget = READ_ONCE(busy->budget),
		.prefer_busy_poll = READ_ONCE(busy->prefer),
	};

	return copy_to_user(arg, &params, sizeof(params)) ? -EFAULT : 0;
}

/**
 * dep_busy_params_ioctl() - EPIOCSPARAMS and EPIOCGPARAMS
 * @inst: the instance
 * @cmd: the request
 * @arg: the argument's address
 *
 * They do not decide which interface a set belongs to.
 *
 * Context: process; sleeps on user memory.
 * Return: 0;
 * -EFAULT: the argument can't be read or written;
 * -EINVAL: a member that has no meaning is not 0, or a value is out of range;
 * -ENOTTY: no such request, or the kernel has no busy polling;
 * -EPERM: more packets at once than NAPI_POLL_WEIGHT need CAP_NET_ADMIN.
 */
long dep_busy_params_ioctl(struct dep_instance *inst, unsigned int cmd,
			   unsigned long arg)
{
	if (!IS_ENABLED(CONFIG_NET_RX_BUSY_POLL))
		return -ENOTTY;
	switch (cmd) {
	case EPIOCSPARAMS:
		return busy_params_set(inst, (const void __user *)arg);
	case EPIOCGPARAMS:
		return busy_params_get(inst, (void __user *)arg);
	}
	return -ENOTTY;
}
