/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ABI of /dev/poll: the Linux face, and the request numbers of the Solaris
 * face, for which programs include <sys/devpoll.h>.
 */
#ifndef _UAPI_LINUX_DEVPOLL_H
#define _UAPI_LINUX_DEVPOLL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The program chooses the header that defines this: see devepoll.h. */
struct pollfd;

/**
 * DOC: devpoll node
 *
 * The device is a character device, 10:125, at ``/dev/poll``.  If another
 * driver has taken minor number 125, the device gets another one.  Each open(2)
 * creates an instance with an interest list of its own.  Events are those of
 * poll(2): they are level-triggered, and POLLERR and POLLHUP are always
 * reported.
 */
#define DEVPOLL_MAJOR		10
#define DEVPOLL_MINOR		125

/**
 * DOC: devpoll faces
 *
 * The device has two faces.  The request number of the first ioctl(2) decides
 * which of them an instance has: the Linux face (DP_ALLOC, DP_POLL,
 * DP_ISPOLLED, DP_FREE) or the Solaris face (DP_SOLARIS_*).  Requests of the
 * other face fail with EBUSY from then on.  Earlier writes count as if the face
 * had been known.
 *
 * ``write(struct pollfd[])`` adds, changes and removes fds.  In the Linux face,
 * it replaces the events of an fd that is in the interest list, and does not
 * add an fd that is not open.  In the Solaris face, it adds to the requested
 * events, and an fd that is not open, or that is closed later, is reported as
 * POLLNVAL until it is removed.  Both faces take both values of POLLREMOVE, and
 * ignore negative fds.
 *
 * Return: the size of the entries up to the first one that failed, which is
 * usually the size of all of them; or, if the first entry failed, -1 with errno
 * EINVAL: the size is not a multiple of that of an entry, or the fd is the
 * instance itself;
 * EFAULT: an entry can't be read;
 * ELOOP: the fd is an instance of in-tree epoll, or instances would form a loop
 * or be nested too deep;
 * ENOSPC: the instance is full, or a limit of the user or of the file was
 * reached;
 * ENOMEM: there is not enough memory;
 * EINTR: the caller is being killed.
 */
#ifndef POLLREMOVE
#define POLLREMOVE		0x1000
#endif
#define DP_SOLARIS_POLLREMOVE	0x0800

/**
 * struct dvpoll - argument of DP_POLL
 * @dp_fds: array for the results, or NULL for the mapping
 * @dp_nfds: number of results that fit there
 * @dp_timeout: milliseconds to wait; with 0 the call does not wait, with a
 *	negative value it waits indefinitely
 */
struct dvpoll {
	struct pollfd *dp_fds;
	int dp_nfds;
	int dp_timeout;
};

/**
 * struct dvpoll32 - struct dvpoll of a 32-bit program
 * @dp_fds: as in struct dvpoll
 * @dp_nfds: as in struct dvpoll
 * @dp_timeout: as in struct dvpoll
 */
struct dvpoll32 {
	__u32 dp_fds;
	__s32 dp_nfds;
	__s32 dp_timeout;
};

/**
 * define DP_ALLOC - allocate a result buffer
 *
 * The argument is the number of events, passed by value.  The buffer can then
 * be mapped, read-only, at offset 0 and with a length of all pages that hold
 * it.  It replaces the previous buffer, and does not limit the interest list.
 *
 * Return: 0, or -1 with errno
 * EINVAL: the number is less than 1 or greater than max_fds of the module;
 * EPERM: the buffer is mapped, or a DP_POLL is writing to it;
 * ENOMEM: there is not enough memory, or RLIMIT_MEMLOCK or the cgroup forbids
 * the allocation;
 * EBUSY: the instance has the Solaris face;
 * EINTR: the caller is being killed.
 */
#define DP_ALLOC		_IOR('P', 1, int)

/**
 * define DP_POLL - wait for events
 *
 * The argument is a struct dvpoll.  A result has the fd, the requested events
 * and the events that occurred.  Results that did not fit come first in the
 * next call.
 *
 * Return: the number of results; 0 if the call timed out; or -1 with errno
 * EFAULT: the argument can't be read, or the results can't be written;
 * EINVAL: dp_nfds is not positive, or dp_fds is NULL and there is no mapping;
 * EINTR: a signal arrived before an event did;
 * EBUSY: the instance has the Solaris face.
 */
#define DP_POLL			_IOWR('P', 2, struct dvpoll)
#define DP_POLL32		_IOWR('P', 2, struct dvpoll32)

/**
 * define DP_FREE - free the result buffer
 *
 * Return: 0, or -1 with errno
 * EINVAL: there is no buffer;
 * EBUSY: the buffer is mapped, or a DP_POLL is writing to it; or the instance
 * has the Solaris face.
 */
#define DP_FREE			_IO('P', 3)

/**
 * define DP_ISPOLLED - check whether an fd is in the interest list
 *
 * The argument is a struct pollfd, of which the kernel reads the fd.  If the fd
 * is in the interest list, the kernel fills in its events and sets revents
 * to 0.
 *
 * Return: 1 if the fd is in the interest list, 0 if it is not, or -1 with errno
 * EFAULT: the argument can't be read or written;
 * EBUSY: the instance has the Solaris face;
 * EINTR: the caller is being killed.
 */
#define DP_ISPOLLED		_IOWR('P', 4, struct pollfd)

/**
 * struct dvpoll_solaris - argument of DP_SOLARIS_POLL and DP_SOLARIS_PPOLL
 * @dp_fds: address of the array for the results
 * @dp_nfds: number of results that fit there
 * @dp_timeout: milliseconds, as in struct dvpoll
 * @dp_pad: ignored
 * @dp_setp: address of a signal mask to be in effect during the wait, or 0;
 *	only DP_SOLARIS_PPOLL uses it
 */
struct dvpoll_solaris {
	__u64 dp_fds;
	__u64 dp_nfds;
	__s32 dp_timeout;
	__u32 dp_pad;
	__u64 dp_setp;
};

/**
 * struct dvpoll_solaris32 - struct dvpoll_solaris of a 32-bit program
 * @dp_fds: as in struct dvpoll_solaris
 * @dp_nfds: as in struct dvpoll_solaris
 * @dp_timeout: as in struct dvpoll_solaris
 * @dp_setp: as in struct dvpoll_solaris
 */
struct dvpoll_solaris32 {
	__u32 dp_fds;
	__u32 dp_nfds;
	__s32 dp_timeout;
	__u32 dp_setp;
};

/**
 * define DP_SOLARIS_POLL - wait for events, in the Solaris face
 *
 * This is DP_POLL, except that the call fails with EFAULT if dp_fds is NULL.
 * The request number does not contain a size: the argument is a struct
 * dvpoll_solaris in a 64-bit program, and a struct dvpoll_solaris32 in a 32-bit
 * program.
 *
 * Return: the number of results; 0 if the call timed out; or -1 with errno
 * EFAULT: the argument can't be read, or the results can't be written;
 * EINVAL: dp_nfds is 0 or too large;
 * EINTR: a signal arrived before an event did;
 * EBUSY: the instance has the Linux face.
 */
#define DP_SOLARIS_POLL		0xd001

/**
 * define DP_SOLARIS_ISPOLLED - check whether an fd is in the interest list
 *
 * This is DP_ISPOLLED, except that the kernel fills in the requested events as
 * revents, and sets events to 0.
 *
 * Return: as DP_ISPOLLED; EBUSY: the instance has the Linux face.
 */
#define DP_SOLARIS_ISPOLLED	0xd002

/**
 * define DP_SOLARIS_PPOLL - wait with a signal mask in effect
 *
 * This is DP_SOLARIS_POLL with the signal mask dp_setp.
 *
 * Return: as DP_SOLARIS_POLL; EFAULT: or the signal mask can't be read.
 */
#define DP_SOLARIS_PPOLL	0xd003

#endif /* _UAPI_LINUX_DEVPOLL_H */
