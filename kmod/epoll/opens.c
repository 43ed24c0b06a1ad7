// SPDX-License-Identifier: GPL-2.0
/*
 * Opens that a set gives: a further open of the set, DEVEPOLL_REOPEN, and a new
 * set by the node of an old one, DEVEPOLL_NEW.  A further open for reading may
 * not change the set: it takes events, and all else stays as it is.  So its waits
 * do not use the fast paths, which serve opens that may do everything, and have
 * no check for this.
 */
#include <linux/anon_inodes.h>
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mount.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/limits.h"
#include "core/open.h"
#include "epoll/bind.h"
#include "epoll/changes.h"
#include "epoll/epoll.h"
#include "epoll/opens.h"
#include "epoll/request.h"
#include "set/area.h"
#include "set/results.h"
#include "set/waiting.h"

/* Makes the less common requests of the fadvise entry, for any open. */
static int (*opens_fadvise_other)(struct file *file, loff_t offset,
				  loff_t length, int request) __ro_after_init;

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
	/* For reopen_release(). */
	get_file(inst->file);
	fd_install(fd, reopened);
	return fd;

err_opens:
	atomic_dec(&inst->opens);
	return fd;
}

/**
 * dep_opens_ioctl() - a request for a further open
 * @file: an open of a set
 * @cmd: the request
 * @arg: its argument
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h for each request; -ENOTTY: no such request.
 */
long dep_opens_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case DEVEPOLL_REOPEN:
		return reopen_set(file, arg);
	case DEVEPOLL_NEW:
		return new_open(file, arg);
	}
	return -ENOTTY;
}

/* The ->release of a further open; the last one releases the first. */
static int reopen_release(struct inode *inode, struct file *file)
{
	struct dep_instance *inst = file->private_data;

	atomic_dec(&inst->opens);
	fput(inst->file);
	return 0;
}

static int reader_collect(struct file *file, struct dep_results *results,
			  int timeout_ms)
{
	struct dep_instance *inst = file->private_data;
	int err;

	err = dep_bind_for_reading(file, results);
	if (!err)
		err = dep_bind_for_wait(inst);
	return err ?: dep_collect_ms(results, inst, timeout_ms);
}

/* As dep_epoll_wait(). */
static int reader_wait(struct file *file, u64 address, u64 length)
{
	struct dep_results results = {
		.user = u64_to_user_ptr(address),
		.layout = DEP_LAYOUT_EPOLL,
		.max = length >> 32,
	};

	if (!results.max ||
	    results.max > INT_MAX / sizeof(struct epoll_event))
		return -EINVAL;
	if (!access_ok(results.user,
		       results.max * sizeof(struct epoll_event)))
		return -EFAULT;
	return reader_collect(file, &results, (int)length);
}

/* As dep_take_events(). */
static int reader_take(struct file *file, u64 offset, u64 length)
{
	struct dep_results results = {
		.layout = DEP_LAYOUT_EVENT,
		.max = length >> 32,
	};

	if (!results.max || results.max > DEVEPOLL_MAX_EVENTS)
		return -EINVAL;
	results.kernel = dep_area_find(file->private_data, offset,
				       results.max);
	if (!results.kernel)
		return -EINVAL;
	return reader_collect(file, &results, (int)length);
}

/*
 * The fadvise entry.  The short ways of other opens have no check for what this
 * one may do: it has its own for some requests, and the long way for all others.
 */
static int reader_fadvise(struct file *file, loff_t offset, loff_t length,
			  int request)
{
	if (dep_access_by_fadvise()) {
		if (request == DEVEPOLL_EPOLL_WAIT)
			return reader_wait(file, offset, length);
		if (request == DEVEPOLL_TAKE)
			return reader_take(file, offset, length);
		if (dep_request_is_op(request, DEVEPOLL_EPOLL_CTL(0)))
			return dep_epoll_ctl(file, request, offset, length);
		if (dep_request_is_op(request, DEVEPOLL_CHANGE(0)))
			return dep_changes_make_one(file, request, offset,
						    length);
	}
	return opens_fadvise_other(file, offset, length, request);
}

static int reader_mmap(struct file *file, struct vm_area_struct *vma)
{
	return dep_instance_rights(file) & DEP_MAY_MAP ?
		       dep_instance_fops[DEP_FILE_EPOLL].mmap(file, vma) : -EACCES;
}

/**
 * dep_opens_init() - make the file operations of further opens
 * @fops: those of all kinds of opens, DEP_FILE_*, where that of the first one of
 *	a set is complete
 * @fadvise_other: makes the less common requests of the fadvise entry
 */
void __init dep_opens_init(struct file_operations *fops,
			   int (*fadvise_other)(struct file *file,
						loff_t offset, loff_t length,
						int request))
{
	int kind;

	opens_fadvise_other = fadvise_other;
	for (kind = DEP_FILE_REOPENED; kind < DEP_FILE_KINDS; kind++) {
		fops[kind] = fops[DEP_FILE_EPOLL];
		fops[kind].open = NULL;
		fops[kind].release = reopen_release;
		if (kind < DEP_FILE_READER)
			continue;
		fops[kind].mmap = reader_mmap;
		fops[kind].fadvise = reader_fadvise;
	}
}
