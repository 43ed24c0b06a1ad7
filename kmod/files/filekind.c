// SPDX-License-Identifier: GPL-2.0
/*
 * What has to be known about the kind of a file before it is watched.
 *
 * A module can't reach the file_operations of these files, but it can see their
 * file systems and their names.
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/string.h>

#include "files/filekind.h"

static unsigned long file_magic(const struct file *file)
{
	return file_inode(file)->i_sb->s_magic;
}

/* @name is a constant: nearly all names have another length. */
static __always_inline bool file_is_named(const struct file *file,
					  const char *name)
{
	const struct qstr *own = &file->f_path.dentry->d_name;

	return own->len == strlen(name) && !memcmp(own->name, name, own->len);
}

/**
 * dep_file_is_epoll() - is this a set of in-tree epoll?
 * @file: a file that the caller has a reference on
 *
 * Sets in sets can form a cycle, and a cycle hangs the machine.  We can't see
 * what an in-tree epoll file watches.
 *
 * Return: true if it is.
 */
bool dep_file_is_epoll(const struct file *file)
{
	return file_magic(file) == ANON_INODE_FS_MAGIC &&
	       file_is_named(file, "[eventpoll]");
}

/**
 * dep_file_is_fuse() - does a program answer ->poll() of this file?
 * @file: a file that the caller has a reference on
 *
 * The program of a FUSE file or a CUSE device may never answer.  A worker can't
 * be killed, so it must not wait for that.
 *
 * Return: true if so.
 */
bool dep_file_is_fuse(const struct file *file)
{
	const struct module *owner = file->f_op->owner;

	return file_magic(file) == FUSE_SUPER_MAGIC ||
	       (owner && !strcmp(owner->name, "cuse"));
}

/**
 * dep_file_consumes() - does ->poll() of this file consume what it reports?
 * @file: a file that the caller has a reference on
 *
 * A second ->poll() of such a file does not repeat the answer of the first.
 * These are the files of procfs that report changes (mounts, swaps, sysctls
 * with a ->poll(), the list of input devices), PSI triggers, there and in a
 * cgroup, and the buffer of a perf event.  /proc/kmsg is not one: repeating
 * that it can be read could make a reader sleep.
 *
 * Return: true if it does.
 */
bool dep_file_consumes(const struct file *file)
{
	switch (file_magic(file)) {
	case ANON_INODE_FS_MAGIC:
		return file_is_named(file, "[perf_event]");
	case PROC_SUPER_MAGIC:
		return !file_is_named(file, "kmsg");
	case CGROUP2_SUPER_MAGIC:
		return strstr(file->f_path.dentry->d_name.name, ".pressure");
	default:
		return false;
	}
}
