/* SPDX-License-Identifier: GPL-2.0 */
/* What an open of a node may do, and by which call. */
#ifndef DEVEPOLL_ACCESS_H
#define DEVEPOLL_ACCESS_H

#include <linux/fs.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/nest.h"

extern bool dep_access_fadvise;

/**
 * dep_access_by_fadvise() - is the fadvise entry on?
 *
 * Return: true if requests may be made by fadvise64(2).
 */
static inline bool dep_access_by_fadvise(void)
{
	/* Parameter fadvise, which may be written at any time. */
	return READ_ONCE(dep_access_fadvise);
}

/**
 * dep_access_takes() - may the fadvise entry have these arguments?
 * @request: the request, one that has no other arguments there
 * @offset: its argument
 * @length: the other one
 *
 * Refuses what may get a meaning in a later kernel, and what would be cut off
 * in silence, as ioctl(2) does with the int that EP_ALLOC takes.
 *
 * Return: true if it may.
 */
static inline bool dep_access_takes(unsigned int request, u64 offset,
				    u64 length)
{
	if (length)
		return false;
	switch (request) {
	case EP_ALLOC:
		return (s64)offset == (int)offset;
	case EP_FREE:
	case DEVEPOLL_STEP_BACK:
		return !offset;
	}
	return true;
}

/**
 * dep_access_has() - has an open a mode?
 * @file: the open
 * @mode: FMODE_READ, FMODE_WRITE, both or neither
 *
 * Return: true if it has.
 */
static inline bool dep_access_has(const struct file *file, fmode_t mode)
{
	return (file->f_mode & mode) == mode;
}

/**
 * dep_access_no_request() - the error of a request that there is not
 * @inst: the instance
 *
 * Return: -ENOTTY or, in a set for epoll's calls, the kernel's own error there.
 */
static inline long dep_access_no_request(const struct dep_instance *inst)
{
	return dep_instance_kind(inst->file) == DEP_FILE_AS_EPOLL ?
		       -DEP_EPOLL_NO_IOCTL : -ENOTTY;
}

bool dep_access_allows_part(const struct file *file, unsigned int cmd);

/**
 * dep_access_is_full() - is this an open for reading and writing?
 * @file: the open
 *
 * Return: true if so: then it may make every request.
 */
static inline bool dep_access_is_full(const struct file *file)
{
	return dep_access_has(file, FMODE_READ | FMODE_WRITE);
}

/**
 * dep_access_allows() - may a request be made through an open of this mode?
 * @file: the open
 * @cmd: the request of /dev/epoll, or one of the fadvise entry
 *
 * Return: true if it may, or if there is no such request.
 */
static inline bool dep_access_allows(const struct file *file, unsigned int cmd)
{
	return likely(dep_access_is_full(file)) ||
	       dep_access_allows_part(file, cmd);
}

#endif /* DEVEPOLL_ACCESS_H */
