/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How __fput() tells /dev/epoll, which may be a module, that a file which it
 * watches is released.  A mark in f_mode spares all other files a call.
 */
#ifndef _LINUX_DEVEPOLL_RELEASE_H
#define _LINUX_DEVEPOLL_RELEASE_H

#include <linux/fs.h>

#ifdef CONFIG_DEVEPOLL_RELEASE
int devepoll_release_register(void (*hook)(struct file *file));
void devepoll_release_unregister(void);
void devepoll_release_marked(struct file *file);

/**
 * devepoll_mark() - have the release of a file reported
 * @file: the file, on which the caller has a reference until it returns
 *
 * The mark stays until the file is freed.
 *
 * Context: process, with interrupts on; takes f_lock, under which posix_fadvise()
 * writes the f_mode of an open file.  splice() takes no lock, and exchanges it.
 */
static inline void devepoll_mark(struct file *file)
{
	fmode_t mode = READ_ONCE(file->f_mode);

	if (mode & FMODE_DEVEPOLL)
		return;
	spin_lock(&file->f_lock);
	mode = READ_ONCE(file->f_mode);
	while (!try_cmpxchg(&file->f_mode, &mode, mode | FMODE_DEVEPOLL))
		;
	spin_unlock(&file->f_lock);
}

/**
 * devepoll_release() - report a file if it has the mark
 * @file: a file whose last reference is gone, before its ->release
 */
static inline void devepoll_release(struct file *file)
{
	if (unlikely(file->f_mode & FMODE_DEVEPOLL))
		devepoll_release_marked(file);
}
#else
static inline void devepoll_release(struct file *file)
{
}
#endif

#endif /* _LINUX_DEVEPOLL_RELEASE_H */
