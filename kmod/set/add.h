/* SPDX-License-Identifier: GPL-2.0 */
/* Adding a file to the interest list, and the checks of epoll_ctl(2). */
#ifndef DEVEPOLL_ADD_H
#define DEVEPOLL_ADD_H

#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/types.h>

#include "core/events.h"
#include "core/instance.h"
#include "core/open.h"
#include "files/filekind.h"

int dep_interest_add(struct dep_instance *inst, struct file *file, int fd,
		     u16 events, u32 mode, u64 data);
int dep_interest_add_fd(struct dep_instance *inst, int fd, u16 events, u32 mode,
			u64 data);
int dep_interest_add_locking(struct dep_instance *inst, int fd, u16 events,
			     u32 mode, u64 data);

/**
 * dep_check_file() - can a set have this file?
 * @inst: the instance
 * @file: the file, on which the caller has a reference
 *
 * Return: 0;
 * -EPERM: it can't be polled, or is a set that can't be waited on, or an open
 * of one that may not be in another;
 * -EINVAL: it is the set itself.
 */
static __always_inline int dep_check_file(const struct dep_instance *inst,
					  struct file *file)
{
	const struct dep_instance *inner = dep_instance_of(file);

	/* To /dev/poll, as to poll(2), these are always ready. */
	if (unlikely(!file_can_poll(file)) && !inst->devpoll)
		return -EPERM;
	if (likely(!inner))
		return 0;
	/* A set that can't be waited on can't be waited on through another. */
	if (!(file->f_mode & FMODE_READ) ||
	    !(dep_instance_rights(file) & DEP_MAY_NEST))
		return -EPERM;
	return inner == inst ? -EINVAL : 0;
}

/**
 * dep_check_trust() - which of the modes that are asked for does a file get?
 * @file: the file, on which the caller has a reference
 * @mode: what the program asks for
 *
 * Return: @mode, without %DEP_MODE_TRUST if the file has to be polled.
 */
static __always_inline u32 dep_check_trust(struct file *file, u32 mode)
{
	if (mode & DEP_MODE_TRUST && !dep_file_names_truly(file))
		mode &= ~DEP_MODE_TRUST;
	return mode;
}

#endif /* DEVEPOLL_ADD_H */
