/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests: which of them an open may make, and how their arguments are read.
 */
#ifndef DEVEPOLL_REQUEST_H
#define DEVEPOLL_REQUEST_H

#include <linux/fs.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/open.h"

extern bool dep_access_fadvise;

/**
 * dep_request_is() - is this the request, whatever the size of its argument?
 * @cmd: what the program passed
 * @request: the request, whose argument may have another size elsewhere
 *
 * Return: true if all but the size is the same.
 */
static inline bool dep_request_is(unsigned int cmd, unsigned int request)
{
	return !((cmd ^ request) & ~IOCSIZE_MASK);
}

/**
 * dep_request_is_op() - does this request make one change?
 * @request: the request
 * @none: DEVEPOLL_EPOLL_CTL(0) or DEVEPOLL_CHANGE(0)
 *
 * Return: true if it is that of one of the three operations.
 */
static inline bool dep_request_is_op(unsigned int request, unsigned int none)
{
	return request - (none + DEVEPOLL_ADD) <= DEVEPOLL_MOD - DEVEPOLL_ADD;
}

/**
 * dep_words_from_user() - read a struct of 64-bit words
 * @to: the struct as we know it
 * @size: its size, bytes
 * @from: its address
 * @from_size: its size as the program knows it
 *
 * The two sizes are nearly always the same, and for so few words single reads
 * are faster than a copy.
 *
 * Return: 0;
 * -ENOTTY: the program's is too small for what we need;
 * -E2BIG: the program sets fields that this kernel does not know;
 * -EFAULT: it can't be read.
 */
static __always_inline int dep_words_from_user(u64 *to, size_t size,
					       const void __user *from,
					       size_t from_size)
{
	const u64 __user *word = from;
	size_t i;

	if (unlikely(size != from_size))
		return from_size < size ?
		       -ENOTTY :
		       copy_struct_from_user(to, size, from, from_size);
	might_fault();
	if (!user_read_access_begin(from, size))
		return -EFAULT;
	for (i = 0; i < size / sizeof(u64); i++)
		unsafe_get_user(to[i], &word[i], efault);
	user_read_access_end();
	return 0;

efault:
	user_read_access_end();
	return -EFAULT;
}

/**
 * dep_event_from_user() - read the event of an epoll_ctl(2)
 * @address: its address
 * @events: out: the events and modes
 * @data: out: the user data
 *
 * Return: 0, or -EFAULT.
 */
static __always_inline int dep_event_from_user(u64 address, u32 *events,
					       u64 *data)
{
	const struct epoll_event __user *from = u64_to_user_ptr(address);

	if (!user_read_access_begin(from, sizeof(*from)))
		return -EFAULT;
	unsafe_get_user(*events, (u32 __user *)&from->events, efault);
	unsafe_get_user(*data, &from->data, efault);
	user_read_access_end();
	return 0;

efault:
	user_read_access_end();
	return -EFAULT;
}

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
 * dep_access_allows() - may a request be made through an open of this mode?
 * @file: the open
 * @cmd: the request of /dev/epoll, or one of the fadvise entry
 *
 * Return: true if it may, or if there is no such request.
 */
static inline bool dep_access_allows(const struct file *file, unsigned int cmd)
{
	return likely(dep_access_has(file, FMODE_READ | FMODE_WRITE)) ||
	       dep_access_allows_part(file, cmd);
}

long dep_features_ioctl(unsigned int cmd, unsigned long arg);

#endif /* DEVEPOLL_REQUEST_H */
