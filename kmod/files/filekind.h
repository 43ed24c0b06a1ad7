/* SPDX-License-Identifier: GPL-2.0 */
/* What has to be known about the kind of a file before it is watched. */
#ifndef DEVEPOLL_FILEKIND_H
#define DEVEPOLL_FILEKIND_H

#include <linux/fs.h>
#include <linux/magic.h>

bool dep_file_is_epoll(const struct file *file);
bool dep_file_is_fuse(const struct file *file);
bool dep_file_consumes(const struct file *file);
bool dep_file_names_truly(struct file *file);

/**
 * dep_file_is_plain() - is a file of none of the kinds that are told here?
 * @file: a file that the caller has a reference on
 *
 * This is a short test that nearly all files pass.
 *
 * Return: true if those functions are sure to return false.
 */
static inline bool dep_file_is_plain(const struct file *file)
{
	u32 length;

	switch (file_inode(file)->i_sb->s_magic) {
	case ANON_INODE_FS_MAGIC:
		length = file->f_path.dentry->d_name.len;
		return length != sizeof("[eventpoll]") - 1 &&
		       length != sizeof("[perf_event]") - 1;
	case PROC_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

#endif /* DEVEPOLL_FILEKIND_H */
