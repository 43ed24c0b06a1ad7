/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ABI of /dev/poll: the Linux face, and the numbers of the Solaris one,
 * for which programs include <sys/devpoll.h>.
 */
#ifndef _UAPI_LINUX_DEVPOLL_H
#define _UAPI_LINUX_DEVPOLL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The program includes the header that it takes it from: see devepoll.h. */
struct pollfd;

/**
 * DOC: devpoll node
 *
 * The device is a character device, 10:125, at ``/dev/poll``.  Where minor 125
 * is taken it has another one.  Each open has an interest set of its own.
 * Events are those of poll(2): level-triggered, POLLERR and POLLHUP always
 * reported.
 */
#define DEVPOLL_MAJOR		10
#define DEVPOLL_MINOR		125

/**
 * DOC: devpoll faces
 *
 * A set has one of two faces, of which the first ioctl(2) tells by its number:
 * the Linux one (DP_ALLOC, DP_POLL, DP_ISPOLLED, DP_FREE) or the Solaris one
 * (DP_SOLARIS_*).  Requests of the other face fail with EBUSY from then on.
 * What was written before counts as if the face had been known.
 *
 * ``write(struct pollfd[])`` adds, changes and removes.  In the Linux face the
 * events of a known fd are replaced, and an fd that is not open is no member.
 * In the Solaris face they are added to those asked for, and an fd that is not
 * open, or is closed later, is reported as POLLNVAL until it is removed.
 * Either takes both values of POLLREMOVE.  Negative fds are passed over.
 *
 * Return: the size of the entries up to the first that failed, so usually all;
 * or -1 with errno if that was the first one
 * EINVAL: the size is not a multiple of that of an entry, or the fd is the set
 * itself;
 * EFAULT: an entry can't be read;
 * ELOOP: a set of in-tree epoll, or sets nested too deep or in a cycle;
 * ENOSPC: the set is full, or a limit of the user or of the file;
 * ENOMEM: no memory;
 * EINTR: the caller is being killed.
 */
#ifndef POLLREMOVE
#define POLLREMOVE		0x1000
#endif
#define DP_SOLARIS_POLLREMOVE	0x0800

/**
 * struct dvpoll - argument of DP_POLL
 * @dp_fds: where results go, or NULL for the mapping
 * @dp_nfds: for how many there is room
 * @dp_timeout: milliseconds to wait; 0 does not wait, negative waits without
 *	limit
 */
struct dvpoll {
	struct pollfd *dp_fds;
	int dp_nfds;
	int dp_timeout;
};

/**
 * struct dvpoll32 - struct dvpoll as a 32-bit program has it
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
 * define DP_ALLOC - make a result buffer for so many events
 *
 * The argument is a number, passed by value.  The buffer can be mapped then, at
 * offset 0 and with the whole pages that hold it; the mapping is read-only.  It
 * takes the place of the one before, and is no limit of the set.
 *
 * Return: 0, or -1 with errno
 * EINVAL: the number is below 1 or above the module's max_fds;
 * EPERM: the buffer is mapped, or a DP_POLL writes to it;
 * ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it;
 * EBUSY: a set of the Solaris face.
 */
#define DP_ALLOC		_IOR('P', 1, int)

/**
 * define DP_POLL - wait for events
 *
 * The argument is a struct dvpoll.  A result has the fd, the events asked for
 * and those that are there.  With more ready than there is room for, those that
 * did not fit come first the next time.
 *
 * Return: the number of results; 0 after the time-out; or -1 with errno
 * EFAULT: the argument can't be read, or the results can't be written;
 * EINVAL: dp_nfds is not positive, or dp_fds is NULL and there is no mapping;
 * EINTR: a signal came before an event did;
 * EBUSY: a set of the Solaris face.
 */
#define DP_POLL			_IOWR('P', 2, struct dvpoll)
#define DP_POLL32		_IOWR('P', 2, struct dvpoll32)

/**
 * define DP_FREE - free the result buffer
 *
 * Return: 0, or -1 with errno
 * EINVAL: there is none;
 * EBUSY: it is mapped, or a DP_POLL writes to it; or a set of the Solaris face.
 */
#define DP_FREE			_IO('P', 3)

/**
 * define DP_ISPOLLED - ask whether an fd is in the set
 *
 * The argument is a struct pollfd whose fd is read.  Where the fd is in the
 * set, its events are filled in and revents is set to 0.
 *
 * Return: 1 where the fd is in the set, 0 where not, or -1 with errno
 * EFAULT: the argument can't be read or written;
 * EBUSY: a set of the Solaris face.
 */
#define DP_ISPOLLED		_IOWR('P', 4, struct pollfd)

/**
 * struct dvpoll_solaris - argument of DP_SOLARIS_POLL and DP_SOLARIS_PPOLL
 * @dp_fds: address of the array for the results
 * @dp_nfds: for how many there is room
 * @dp_timeout: milliseconds, as in struct dvpoll
 * @dp_pad: not looked at
 * @dp_setp: address of a signal set to be in force meanwhile, or 0; only
 *	DP_SOLARIS_PPOLL looks at it
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
 * As DP_POLL, but EFAULT where dp_fds is NULL.  The number has no size in it:
 * the kind of the program tells the layout of the argument.
 */
#define DP_SOLARIS_POLL		0xd001

/**
 * define DP_SOLARIS_ISPOLLED - ask whether an fd is in the set
 *
 * As DP_ISPOLLED, but the events asked for come in revents, and events is 0.
 */
#define DP_SOLARIS_ISPOLLED	0xd002

/**
 * define DP_SOLARIS_PPOLL - wait with a signal set in force
 *
 * As DP_SOLARIS_POLL; besides, EFAULT if the signal set can't be read.
 */
#define DP_SOLARIS_PPOLL	0xd003

#endif /* _UAPI_LINUX_DEVPOLL_H */
