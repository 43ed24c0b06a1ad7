// SPDX-License-Identifier: GPL-2.0
/*
 * Which requests an open may make, and the requests that neither change the
 * interest list nor wait: they query, and make further opens and sets.
 *
 * An open for writing can change the set, one for reading can wait and query
 * it.  As with read(2) and write(2), a request through an open of the other
 * mode fails with EBADF.
 */
#include <linux/anon_inodes.h>
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/limits.h"
#include "core/nest.h"
#include "epoll/request.h"

bool dep_access_fadvise = true;

/* Requests whose argument may have another size in another version. */
static fmode_t request_mode_sized(unsigned int cmd)
{
	switch (cmd & ~IOCSIZE_MASK) {
	case DEVEPOLL_CTL & ~IOCSIZE_MASK:
		return FMODE_WRITE;
	case DEVEPOLL_WAIT & ~IOCSIZE_MASK:
		return FMODE_READ;
	}
	return 0;
}

/* Those of other interfaces. */
static fmode_t request_mode_other(unsigned int cmd)
{
	struct dep_interface *iface;
	fmode_t mode = 0;

	dep_interface_for_each(iface) {
		if (iface->mode)
			mode |= iface->mode(cmd);
	}
	return mode;
}

/* The mode that a request needs; 0 if there is no such request. */
static fmode_t request_mode(unsigned int cmd)
{
	switch (cmd) {
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_DEL):
	case DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD):
	case DEVEPOLL_CHANGE(DEVEPOLL_ADD):
	case DEVEPOLL_CHANGE(DEVEPOLL_DEL):
	case DEVEPOLL_CHANGE(DEVEPOLL_MOD):
		return FMODE_WRITE;
	case DEVEPOLL_EPOLL_WAIT:
	case DEVEPOLL_STEP_BACK:
		return FMODE_READ;
	}
	return request_mode_sized(cmd) ?: request_mode_other(cmd);
}

/**
 * dep_access_allows_part() - dep_access_allows() for an open with one mode only
 * @file: the open
 * @cmd: the request
 *
 * Return: as dep_access_allows().
 */
bool dep_access_allows_part(const struct file *file, unsigned int cmd)
{
	return dep_access_has(file, request_mode(cmd));
}

static_assert(sizeof(struct devepoll_features) == 40);
static_assert(offsetof(struct devepoll_features, features) == 8);
static_assert(DEVEPOLL_FEATURES == 0x80285014);

static u64 features_now(void)
{
	u64 bits = DEVEPOLL_FEATURE_REOPEN | DEVEPOLL_FEATURE_TAKE |
		   DEVEPOLL_FEATURE_CHANGE | DEVEPOLL_FEATURE_NEW;
	struct dep_interface *iface;

	dep_interface_for_each(iface)
		bits |= iface->features;
	if (dep_access_by_fadvise())
		bits |= DEVEPOLL_FEATURE_FADVISE;
	return bits;
}

/*
 * DEVEPOLL_FEATURES, so that a program can query instead of try.  The size of
 * the request is the room that the program has.
 */
static long features_ioctl(unsigned int cmd, unsigned long arg)
{
	const struct devepoll_features features = {
		.abi = DEVEPOLL_ABI,
		.max_fds = dep_max_fds,
		.features = features_now(),
		.max_fd = DEP_MAX_FD,
		.max_changes = DEVEPOLL_MAX_CHANGES,
		.max_events = DEVEPOLL_MAX_EVENTS,
		.max_map_pages = DEP_AREA_PAGES_MOST,
		.max_nested = DEP_NEST_MOST,
		.max_per_file = DEP_ITEMS_PER_FILE,
	};
	void __user *to = (void __user *)arg;
	size_t size = _IOC_SIZE(cmd);

	if (!dep_request_is(cmd, DEVEPOLL_FEATURES) || !size)
		return -ENOTTY;
	return copy_struct_to_user(to, size, &features, sizeof(features), NULL);
}

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

/*
 * DEVEPOLL_NEW opens the node once more, for a process that can't reach it by
 * its path any more.  Whoever holds @file may have got it from somebody with
 * more rights, so the caller must be allowed what open(2) would ask for; @file
 * stands in for the search of the path alone, whatever it may do itself.
 */
static long new_open(struct file *file, unsigned long flags)
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

/*
 * DEVEPOLL_REOPEN: a further open of the set, which holds a reference on the
 * first; the release of that one ends the set.  The caller has an open, so the
 * first one exists; opening the node, or the fd in /proc, would make another
 * set.
 */
static long reopen_set(struct file *file, unsigned long flags)
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
 * dep_request_ioctl() - a request that neither changes the list nor waits
 * @file: an open of a set
 * @cmd: the request, which this open may make
 * @arg: its argument
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h for each request; -ENOTTY: no such request.
 */
long dep_request_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case DEVEPOLL_REOPEN:
		return reopen_set(file, arg);
	case DEVEPOLL_NEW:
		return new_open(file, arg);
	}
	return features_ioctl(cmd, arg);
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
