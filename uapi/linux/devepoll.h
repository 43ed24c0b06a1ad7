/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ABI of /dev/epoll: the 2001 interface, unchanged.
 */
#ifndef _UAPI_LINUX_DEVEPOLL_H
#define _UAPI_LINUX_DEVEPOLL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * struct pollfd: the C library's and the kernel's headers each define it, and
 * a program that includes both does not compile, so follow the C library.
 */
#ifdef __KERNEL__
#include <linux/poll.h>
#else
#include <poll.h>
#endif

/**
 * DOC: node
 *
 * The device is a character device, 10:124, at ``/dev/epoll`` and (by a udev
 * rule) ``/dev/misc/eventpoll``.  Each open has an interest set of its own,
 * which fork(2), dup(2) and SCM_RIGHTS share.
 */
#define EVENTPOLL_MAJOR		10
#define EVENTPOLL_MINOR		124

/**
 * DOC: result pages
 *
 * mmap(2) at offset 0 of exactly EP_MAP_SIZE(n) bytes, where n is the number
 * of fds given to EP_ALLOC, gives two page sets, one after the other.  The
 * kernel fills one while the program reads the other, as an array of struct
 * pollfd.  The mapping is read-only, whatever protection was asked for.
 */
#define EP_PAGE_SIZE		4096
#define POLLFD_X_PAGE		(EP_PAGE_SIZE / sizeof(struct pollfd))
#define MAX_FDS_IN_EVENTPOLL	(1024 * 128)
#define EP_FDS_PAGES(n)		(((n) + POLLFD_X_PAGE - 1) / POLLFD_X_PAGE)
#define EP_MAP_SIZE(n)		(EP_FDS_PAGES(n) * EP_PAGE_SIZE * 2)

/* In the events of an entry given to write(2): remove the fd from the set. */
#ifndef POLLREMOVE
#define POLLREMOVE		0x1000
#endif

/**
 * struct evpoll - argument of EP_POLL
 * @ep_timeout: in: milliseconds to wait; 0 does not wait, negative waits
 *	without limit
 * @ep_resoff: out: offset in bytes, from the start of the mapping, of the page
 *	set that holds the result; written only when the call returns more
 *	than 0
 */
struct evpoll {
	int ep_timeout;
	unsigned long ep_resoff;
};

/*
 * The two other layouts that programs were built with.  The size is part of
 * the request number, so all three work from every program.
 */

/**
 * struct evpoll32 - struct evpoll as a 32-bit program has it
 * @ep_timeout: as in struct evpoll
 * @ep_resoff: as in struct evpoll
 */
struct evpoll32 {
	__s32 ep_timeout;
	__u32 ep_resoff;
};

/**
 * struct evpoll_packed - struct evpoll as a packed struct of a 64-bit program
 * @ep_timeout: as in struct evpoll
 * @ep_resoff: as in struct evpoll
 */
struct evpoll_packed {
	__s32 ep_timeout;
	__u64 ep_resoff;
} __attribute__((packed));

#define EP_IOC_MAGIC		'P'

/**
 * define EP_ALLOC - make room for so many fds
 *
 * The argument is the number of fds, an int passed by value.  A set grows; a
 * number that is not larger than the present one changes nothing.
 *
 * Return: 0, or -1 with errno
 * EINVAL: the number is below 1 or above the module's max_fds;
 * EBUSY: the set is mapped;
 * ENOMEM: no memory, or the user's RLIMIT_MEMLOCK or cgroup forbids it.
 */
#define EP_ALLOC		_IOR(EP_IOC_MAGIC, 1, int)

/**
 * define EP_POLL - wait for events and take all that are pending
 *
 * The argument is a struct evpoll.
 *
 * Return: the number of struct pollfd at ep_resoff; 0 after the time-out; or
 * -1 with errno
 * EFAULT: the argument can't be read or written (pending events stay);
 * EINVAL: the set is not mapped;
 * EINTR: a signal came before an event did.
 */
#define EP_POLL			_IOWR(EP_IOC_MAGIC, 2, struct evpoll)
#define EP_POLL32		_IOWR(EP_IOC_MAGIC, 2, struct evpoll32)
#define EP_POLL_PACKED		_IOWR(EP_IOC_MAGIC, 2, struct evpoll_packed)

/**
 * define EP_FREE - forget all fds and give the memory back
 *
 * Return: 0, or -1 with errno
 * EINVAL: nothing is allocated;
 * EBUSY: the set is mapped.
 */
#define EP_FREE			_IO(EP_IOC_MAGIC, 3)

/**
 * define EP_ISPOLLED - ask whether an fd is in the set
 *
 * The argument is a struct pollfd whose fd is read.  Where the fd is in the
 * set, its events are filled in and revents is set to 0.
 *
 * Return: 1 where the fd is in the set, 0 where not, or -1 with errno
 * EFAULT: the argument can't be read or written.
 */
#define EP_ISPOLLED		_IOWR(EP_IOC_MAGIC, 4, struct pollfd)

#endif /* _UAPI_LINUX_DEVEPOLL_H */
