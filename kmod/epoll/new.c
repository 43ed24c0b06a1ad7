// SPDX-License-Identifier: GPL-2.0
/*
 * Another set from an open of the node, for a process that can't reach the
 * node by its path any more.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>

#include <linux/devepoll.h>

#include "core/nest.h"
#include "epoll/handlers.h"

static_assert(DEVEPOLL_NEW == 0x4004501F);

/* Was it made by open(2) of the node?  Its path is that of the node, then. */
static bool is_of_node(const struct file *file)
{
	const uintptr_t kind = dep_instance_kind(file);

	return kind == DEP_FILE_EPOLL || kind == DEP_FILE_AS_EPOLL;
}

static int new_check(const struct file *file, unsigned long flags)
{
	if (flags & ~(unsigned long)(O_ACCMODE | O_CLOEXEC | O_EXCL) ||
	    (flags & O_ACCMODE) == O_ACCMODE)
		return -EINVAL;
	return is_of_node(file) ? 0 : -EPERM;
}

/*
 * dentry_open() asks the security modules, but leaves to its caller what
 * open(2) checks before: the mount, the mode, and the control group of devices.
 */
static int new_permission(struct file *file, fmode_t mode)
{
	const struct vfsmount *mnt = file->f_path.mnt;
	int mask = MAY_OPEN;

	if (mnt->mnt_flags & MNT_NODEV || mnt->mnt_sb->s_iflags & SB_I_NODEV)
		return -EACCES;
	if (mode & FMODE_READ)
		mask |= MAY_READ;
	if (mode & FMODE_WRITE)
		mask |= MAY_WRITE;
	return file_permission(file, mask);
}

/**
 * dep_new() - DEVEPOLL_NEW
 * @file: an open of /dev/epoll
 * @flags: O_RDONLY, O_WRONLY or O_RDWR, with or without O_CLOEXEC and O_EXCL
 *
 * Opens the node once more.  Whoever holds @file may have got it from somebody
 * with more rights, so the caller must be allowed what open(2) would ask for;
 * @file stands in for the search of the path alone, whatever it may do itself.
 *
 * Context: process; sleeps.
 * Return: the new fd, or an error: see linux/devepoll.h.
 */
long dep_new(struct file *file, unsigned long flags)
{
	struct file *opened;
	int fd, err;

	err = new_check(file, flags);
	if (!err)
		err = new_permission(file, OPEN_FMODE(flags));
	if (err)
		return err;
	fd = get_unused_fd_flags(flags & O_CLOEXEC);
	if (fd < 0)
		return fd;
	opened = dentry_open(&file->f_path, flags & (O_ACCMODE | O_EXCL),
			     current_cred());
	if (IS_ERR(opened)) {
		put_unused_fd(fd);
		return PTR_ERR(opened);
	}
	fd_install(fd, opened);
	return fd;
}
