// SPDX-License-Identifier: GPL-2.0
/*
 * Further opens of a set.  Each holds a reference on the first, whose release
 * ends the set.
 */
#include <linux/anon_inodes.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/limits.h"
#include "core/nest.h"
#include "epoll/handlers.h"

#define REOPEN_RIGHTS	(DEVEPOLL_REOPEN_NEST | DEVEPOLL_REOPEN_MAP | \
			 DEVEPOLL_REOPEN_OPEN)
#define REOPEN_SHIFT	28

static_assert(DEVEPOLL_REOPEN_NEST == DEP_MAY_NEST << REOPEN_SHIFT);
static_assert(DEVEPOLL_REOPEN_MAP == DEP_MAY_MAP << REOPEN_SHIFT);
static_assert(DEVEPOLL_REOPEN_OPEN == DEP_MAY_REOPEN << REOPEN_SHIFT);

/* May an open make one with these flags?  Rights are given, never won. */
static int reopen_check(const struct file *file, unsigned long flags)
{
	const fmode_t all = FMODE_READ | FMODE_WRITE;
	u32 own = dep_instance_rights(file);
	u32 rights = (flags & REOPEN_RIGHTS) >> REOPEN_SHIFT;

	if (flags & ~(unsigned long)(O_ACCMODE | O_CLOEXEC | REOPEN_RIGHTS) ||
	    (flags & O_ACCMODE) == O_ACCMODE)
		return -EINVAL;
	/* Who may change the set, or never waits, needs none of them. */
	if (rights && (flags & O_ACCMODE) != O_RDONLY)
		return -EINVAL;
	if (OPEN_FMODE(flags) & all & ~file->f_mode)
		return -EBADF;
	return own & DEP_MAY_REOPEN && !(rights & ~own) ? 0 : -EPERM;
}

static const struct file_operations *reopen_operations(unsigned long flags)
{
	if ((flags & O_ACCMODE) != O_RDONLY)
		return &dep_instance_fops[DEP_FILE_REOPENED];
	return &dep_instance_fops[DEP_FILE_READER +
				  ((flags & REOPEN_RIGHTS) >> REOPEN_SHIFT)];
}

/**
 * dep_reopen() - DEVEPOLL_REOPEN
 * @file: an open of the set
 * @flags: O_RDONLY, O_WRONLY or O_RDWR, with or without O_CLOEXEC, and rights
 *
 * The caller has an open, so the first one exists; opening the node, or the fd
 * in /proc, would make another set.
 *
 * Context: process; sleeps.
 * Return: the new fd, or an error: see linux/devepoll.h.
 */
long dep_reopen(struct file *file, unsigned long flags)
{
	struct dep_instance *inst = file->private_data;
	struct file *reopened;
	int fd, err;

	err = reopen_check(file, flags);
	if (err)
		return err;
	if (!atomic_add_unless(&inst->opens, 1, DEP_OPENS_MOST))
		return -ENOSPC;
	fd = get_unused_fd_flags(flags & O_CLOEXEC);
	if (fd < 0)
		goto err_opens;
	reopened = anon_inode_getfile("[devepoll]", reopen_operations(flags),
				      inst, flags & O_ACCMODE);
	if (IS_ERR(reopened)) {
		put_unused_fd(fd);
		fd = PTR_ERR(reopened);
		goto err_opens;
	}
	stream_open(file_inode(reopened), reopened);
	/* For dep_reopen_release(). */
	get_file(inst->file);
	fd_install(fd, reopened);
	return fd;

err_opens:
	atomic_dec(&inst->opens);
	return fd;
}

/**
 * dep_reopen_release() - the ->release of a further open
 * @inode: its inode
 * @file: the open; the last one releases the first
 *
 * Return: 0.
 */
int dep_reopen_release(struct inode *inode, struct file *file)
{
	struct dep_instance *inst = file->private_data;

	atomic_dec(&inst->opens);
	fput(inst->file);
	return 0;
}
