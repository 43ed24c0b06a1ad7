/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ABI of /dev/epoll: the 2001 interface, unchanged, and the extended one.
 */
#ifndef _UAPI_LINUX_DEVEPOLL_H
#define _UAPI_LINUX_DEVEPOLL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * The C library's and the kernel's headers each define struct pollfd, and a
 * program that includes both does not compile.  So none is included here: the
 * program includes <poll.h>, <sys/poll.h> or <linux/poll.h>, as it likes.
 */
struct pollfd;

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

/**
 * DOC: extended interface
 *
 * A second set of requests on the same node.  A set belongs to the interface
 * that it is first used with, and the other one answers EBUSY from then on:
 * EP_ALLOC makes it a set of 2001, the first DEVEPOLL_CTL or DEVEPOLL_WAIT an
 * extended one.  What fails is no use of it: neither a request that is refused
 * nor changes of which none took effect.
 *
 * Events are those of epoll_ctl(2), modes included: level by default, EPOLLET,
 * EPOLLONESHOT, EPOLLEXCLUSIVE, EPOLLWAKEUP; EPOLLERR and EPOLLHUP are always
 * reported.
 *
 * The size of the argument is part of each request's number, so structs can
 * grow: what an older program does not know of counts as 0, and what an older
 * kernel does not know of has to be 0, or the request fails with E2BIG.  A size
 * below that of the first version is no such request (ENOTTY).  Unknown bits of
 * flags are refused with EINVAL.
 */

/* Values of devepoll_change.op; the numbers of epoll_ctl(2). */
#define DEVEPOLL_ADD		1
#define DEVEPOLL_DEL		2
#define DEVEPOLL_MOD		3

/* Flags of devepoll_change.flags. */

/* A last event, DEVEPOLL_CLOSED, when the fd has left the set by a close. */
#define DEVEPOLL_TELL_CLOSED	0x0001
/*
 * Take the waker's word: report the events that wake-ups named, added up, and
 * ask the file only where they name none.  Cheaper by the asking; an event may
 * be over when it is read.  With EPOLLET only.
 */
#define DEVEPOLL_TRUST		0x0002

/*
 * In the events of a result: the file is closed, or its number names another
 * file now.  Nothing comes for this data any more.
 */
#define DEVEPOLL_CLOSED		0x00010000

/**
 * struct devepoll_change - one change of the interest set
 * @op: DEVEPOLL_ADD, DEVEPOLL_MOD or DEVEPOLL_DEL
 * @flags: DEVEPOLL_TELL_CLOSED, DEVEPOLL_TRUST; 0 for DEVEPOLL_DEL
 * @fd: the number, in the files of the caller
 * @events: the events asked for and the mode, EPOLL* bits
 * @result: out: 0, or why not, as a negative errno
 * @data: comes back with each event of the fd
 *
 * The results are
 * EBADF: the fd is not open, or opened with O_PATH (the process that added a
 * number can remove it nevertheless, and anybody once that has ended);
 * EEXIST: ADD of what is there;
 * ENOENT: MOD or DEL of what is not there;
 * EPERM: a file that can't be polled, or, in a signal set, one of FUSE or CUSE;
 * EINVAL: unknown op or bit; the set itself; EPOLLEXCLUSIVE in a MOD, for a
 * set, or with bits that epoll_ctl(2) forbids; DEVEPOLL_TRUST without EPOLLET;
 * ELOOP: a set of the device that would make a cycle, or sets nested too deep;
 * or a set of in-tree epoll, whose members can't be seen;
 * ENOSPC: the set is full, or a limit of the user or of the file, or 64 files
 * of several processes under one number, or, in a signal set, max_signals;
 * ENOMEM: no memory.
 *
 * After an error the fd is watched as before.  A MOD without memory may let it
 * tell once more what it has told already.
 */
struct devepoll_change {
	__u16 op;
	__u16 flags;
	__s32 fd;
	__u32 events;
	__s32 result;
	__u64 data;
};

/**
 * struct devepoll_ctl - argument of DEVEPOLL_CTL
 * @changes: address of an array of struct devepoll_change
 * @nr: how many there are, at most DEVEPOLL_MAX_CHANGES
 * @change_size: size of one of them, in bytes
 * @flags: 0
 * @nr_failed: out: how many of those that were tried have a result other
 *	than 0
 */
struct devepoll_ctl {
	__u64 changes;
	__u32 nr;
	__u32 change_size;
	__u32 flags;
	__u32 nr_failed;
};

#define DEVEPOLL_MAX_CHANGES	(1024 * 1024)

/**
 * define DEVEPOLL_CTL - change the interest set
 *
 * The argument is a struct devepoll_ctl.  Changes are made in their order, and
 * each that was tried has its own result.  A DEL has taken effect when the
 * call returns: no call that begins later returns an event of it.
 *
 * Return: how many changes were tried, all of them unless the next could not be
 * read and written or has a part that this kernel does not know, or the caller
 * is being killed; or -1 with errno
 * EFAULT: not even the first could be, or the argument can't be;
 * EINVAL: nr is 0 or too large, change_size is too small, too large or not a
 * multiple of 8, or unknown flags;
 * E2BIG: the argument, or a change, has a part that this kernel does not know
 * and that is not 0;
 * EBUSY: a set of the 2001 interface;
 * EINTR: the caller is being killed.
 */
#define DEVEPOLL_CTL		_IOWR(EP_IOC_MAGIC, 0x10, struct devepoll_ctl)

/**
 * struct devepoll_event - one event, as DEVEPOLL_WAIT writes it
 * @data: devepoll_change.data of the fd
 * @events: what is ready, EPOLL* bits; or DEVEPOLL_CLOSED
 * @fd: the number
 */
struct devepoll_event {
	__u64 data;
	__u32 events;
	__s32 fd;
};

/* Flags of devepoll_wait_args.flags. */

/* The time-out is a point in time of CLOCK_MONOTONIC. */
#define DEVEPOLL_WAIT_ABSTIME	0x0001
/* Results are struct epoll_event, as epoll_wait(2) has them. */
#define DEVEPOLL_WAIT_EPOLL	0x0002
/* Results go to the mapping at DEVEPOLL_MAP_EVENTS; events is an offset. */
#define DEVEPOLL_WAIT_MAPPED	0x0004

/* A time-out that never ends; any other negative one does the same. */
#define DEVEPOLL_FOREVER	(-1)

/**
 * struct devepoll_wait_args - argument of DEVEPOLL_WAIT
 * @events: address of an array of struct devepoll_event, or what the flags say
 * @max_events: its length, at least 1
 * @min_events: return only when so many fds are ready; 0 means 1; not above
 *	@max_events.  Fewer are returned when the time is over or a signal
 *	comes, or if another thread takes some of them
 * @timeout: nanoseconds; 0 does not wait, negative waits without limit
 * @sigmask: address of a signal set to be in force while the call waits, as
 *	for epoll_pwait2(2), or 0
 * @sigsetsize: its size in bytes, 8; 0 where @sigmask is 0
 * @flags: DEVEPOLL_WAIT_*
 * @changes: address of changes to be made first, as for DEVEPOLL_CTL; 0 where
 *	@nr_changes is 0
 * @nr_changes: how many; 0 for none
 * @change_size: size of one of them; 0 where @nr_changes is 0
 * @nr_tried: out: how many changes were tried
 * @nr_failed: out: how many of them have a result other than 0
 *
 * @nr_tried and @nr_failed are written only where @nr_changes is not 0.
 */
struct devepoll_wait_args {
	__u64 events;
	__u32 max_events;
	__u32 min_events;
	__s64 timeout;
	__u64 sigmask;
	__u32 sigsetsize;
	__u32 flags;
	__u64 changes;
	__u32 nr_changes;
	__u32 change_size;
	__u32 nr_tried;
	__u32 nr_failed;
};

/* The most of devepoll_wait_args.max_events. */
#define DEVEPOLL_MAX_EVENTS	(0x7fffffff / sizeof(struct devepoll_event))

/**
 * define DEVEPOLL_WAIT - make changes, then wait for events and take them
 *
 * The argument is a struct devepoll_wait_args.  If not all changes took
 * effect, the call returns what is ready without waiting.  Any number of
 * threads may wait on one set; each event goes to one of them.  What is ready
 * is given in turn: fds that did not fit come first the next time.
 *
 * Return: the number of events, 0 when the time is over; or -1 with errno
 * EFAULT: the argument, the signal set or the array can't be read or written
 * (no event is lost); EINVAL: max_events is 0 or too large, min_events is above
 * it, unknown flags or two that exclude each other, a wrong sigsetsize, a
 * member that says nothing here and is not 0, an offset outside of the mapping
 * or not a multiple of 16; or what is wrong with the changes, as for
 * DEVEPOLL_CTL; E2BIG: a part of the argument is not known to this kernel and
 * not 0; EINTR: a signal came before an event did; EBUSY: a set of the 2001
 * interface.
 */
#define DEVEPOLL_WAIT		_IOWR(EP_IOC_MAGIC, 0x11, \
				      struct devepoll_wait_args)

/**
 * DOC: mapped events
 *
 * mmap(2) at offset DEVEPOLL_MAP_EVENTS gives memory of the device in which
 * DEVEPOLL_WAIT_MAPPED puts events, so that no fault can meet them.  The first
 * mapping settles its size, 1024 pages at most; it is an array of struct
 * devepoll_event, read-only, and each thread waits into a part of its own.
 * mmap(2) fails with EINVAL for another size than the first, EBUSY for a set of
 * 2001, and ENOMEM where RLIMIT_MEMLOCK or the cgroup forbids the memory.
 */
#define DEVEPOLL_MAP_EVENTS	0x100000000ULL

/**
 * struct devepoll_stats - result of DEVEPOLL_STATS
 * @items: fds in the set now
 * @ready: those of them that may be ready, and closed ones whose last event
 *	nobody took yet
 * @adds: fds added so far
 * @mods: changes so far
 * @dels: fds removed so far by the program
 * @closes: fds that left so far because their file was closed or their number
 *	names another
 * @wakes: wake-ups of watched files that mattered
 * @asks: questions to files whether they are ready
 * @harvests: calls that returned events
 * @events: events returned
 */
struct devepoll_stats {
	__u64 items;
	__u64 ready;
	__u64 adds;
	__u64 mods;
	__u64 dels;
	__u64 closes;
	__u64 wakes;
	__u64 asks;
	__u64 harvests;
	__u64 events;
};

/**
 * define DEVEPOLL_STATS - tell what a set has seen
 *
 * The argument is a struct devepoll_stats, which is filled in as far as its
 * size goes; what this kernel does not know is 0.  Works on sets of either
 * interface.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be written.
 */
#define DEVEPOLL_STATS		_IOR(EP_IOC_MAGIC, 0x12, struct devepoll_stats)

/* Flags of devepoll_signal.flags. */

/* To the calling thread; else to its process. */
#define DEVEPOLL_SIGNAL_THREAD	0x0001

/**
 * struct devepoll_signal - argument of DEVEPOLL_SIGNAL
 * @signo: the signal: a real-time one, so that none of the system meets it, or
 *	any other that can be caught and does nothing by itself to the process
 *	or its faults: not SIGKILL, SIGSTOP, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU,
 *	SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE or SIGSYS
 * @flags: DEVEPOLL_SIGNAL_THREAD
 */
struct devepoll_signal {
	__s32 signo;
	__u32 flags;
};

/**
 * define DEVEPOLL_SIGNAL - tell events by signals, one per fd
 *
 * The argument is a struct devepoll_signal.  A set that was not used before
 * becomes a signal set, for good.  Fds are added, changed and removed by
 * write(2), DEVEPOLL_CTL or DEVEPOLL_EPOLL_CTL; only EPOLLET may go with their
 * events, and POLLERR and POLLHUP are always told.
 *
 * What happens to an fd, and what is ready when it is added, comes as a signal
 * with si_fd, the events in si_band and the most urgent of them in si_code.
 * While the signal of an fd waits to be taken, whatever else happens to the fd
 * is added to its si_band.  So a set has at most as many signals waiting as it
 * has fds, and none is ever lost, whatever RLIMIT_SIGPENDING is.
 *
 * An fd that leaves the set, by a request or by the last close of its file,
 * takes its waiting signal with it; but where it is not a real-time signal, one
 * that says nothing (SI_USER of process 0) may come, since others may have sent
 * the signal too.  The set can't be waited for or mapped.
 *
 * A file of FUSE or a device of CUSE can't be added (EPERM), since a worker,
 * which can't be killed, would have to wait for a program's answer.  Each fd
 * counts as four of the user's watches, and all signal sets of the machine have
 * max_signals fds together, those of one user no more than he leaves to others
 * (ENOSPC).
 *
 * A real-time signal that kill(2) sent when RLIMIT_SIGPENDING left it no place
 * in the queue is lost if the last fd of the same signal leaves the set before
 * the signal is taken.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be read;
 * EINVAL: no such signal, or not one that can be used; unknown flags; the
 * caller is a thread of an io_uring, and DEVEPOLL_SIGNAL_THREAD is given;
 * E2BIG: a part of the argument is not known to this kernel and not 0;
 * EBUSY: the set belongs to one of the interfaces already, or to a signal;
 * ENOSPC: 256 other users have signal sets, and the caller is not root;
 * ENOMEM: no memory;
 * EINTR: the caller is being killed.
 */
#define DEVEPOLL_SIGNAL		_IOW(EP_IOC_MAGIC, 0x13, struct devepoll_signal)

/* The present devepoll_features.abi. */
#define DEVEPOLL_ABI			1

/* Bits of devepoll_features.features. */

/* The short door is open: see there. */
#define DEVEPOLL_FEATURE_FADVISE	0x0001ULL
/* DEVEPOLL_SIGNAL. */
#define DEVEPOLL_FEATURE_SIGNAL		0x0002ULL
/* DEVEPOLL_CTL and DEVEPOLL_WAIT as commands of an io_uring... */
#define DEVEPOLL_FEATURE_URING		0x0004ULL
/* ...of which a wait may be left pending... */
#define DEVEPOLL_FEATURE_URING_WAIT	0x0008ULL
/* ...and be multishot. */
#define DEVEPOLL_FEATURE_URING_MULTISHOT 0x0010ULL

/**
 * struct devepoll_features - result of DEVEPOLL_FEATURES
 * @abi: the version of the interface, DEVEPOLL_ABI; it grows with what no bit
 *	of @features tells
 * @max_fds: the most fds of one set, the parameter of the module
 * @features: DEVEPOLL_FEATURE_*
 * @max_fd: the largest number that can be watched
 * @max_changes: the most of devepoll_ctl.nr
 * @max_events: the most of devepoll_wait_args.max_events
 * @max_map_pages: the most pages of the mapping at DEVEPOLL_MAP_EVENTS
 * @max_nested: how many sets may stand in one another
 * @max_per_file: how many sets may watch one file, those of all users; one user
 *	has a part of that
 */
struct devepoll_features {
	__u32 abi;
	__u32 max_fds;
	__u64 features;
	__u32 max_fd;
	__u32 max_changes;
	__u32 max_events;
	__u32 max_map_pages;
	__u32 max_nested;
	__u32 max_per_file;
};

/**
 * define DEVEPOLL_FEATURES - tell what the module can
 *
 * The argument is a struct devepoll_features, which is filled in as far as its
 * size goes; what this kernel does not know is 0.  Works on any open of the
 * device and makes it a set of no interface.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be written;
 * ENOTTY: not the device, or a module that is older than this request.
 */
#define DEVEPOLL_FEATURES	_IOR(EP_IOC_MAGIC, 0x14, \
				     struct devepoll_features)

/**
 * DOC: open modes
 *
 * A set that was opened without write access can't be changed, one without read
 * access can't be waited for or asked: EBADF, as of read(2) and write(2).
 * Writing is EP_ALLOC, EP_FREE, write(2), DEVEPOLL_CTL, DEVEPOLL_SIGNAL,
 * DEVEPOLL_EPOLL_CTL and a DEVEPOLL_WAIT with changes; reading EP_POLL,
 * EP_ISPOLLED, DEVEPOLL_WAIT and DEVEPOLL_EPOLL_WAIT.  mmap(2) wants reading,
 * and the first mapping at DEVEPOLL_MAP_EVENTS writing, too (EACCES).  poll(2)
 * says POLLERR of a set that can't be waited for, and no set takes it (EPERM).
 */

/**
 * DOC: short door
 *
 * Every request of the device can also be made as ``fadvise64(fd, argument,
 * 0, request)``: this way no security module looks at each call, as none
 * looks at epoll_wait(2), which saves about 250 instructions.  Access to the
 * device was checked when it was opened.  A length other than 0 is refused with
 * EINVAL, as is a number for EP_ALLOC that is no int, or an argument of
 * EP_FREE.
 *
 * The parameter fadvise of the module shuts the door, at any time: then
 * fadvise64(2) says EINVAL to these requests, as of any other device, and the
 * way is ioctl(2).  DEVEPOLL_FEATURES tells.
 *
 * Besides, the calls of epoll have a form that takes their arguments as they
 * are: DEVEPOLL_EPOLL_WAIT with the address of the struct epoll_event array as
 * offset and DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout in milliseconds) as
 * length; and DEVEPOLL_EPOLL_CTL(op) with the address of the struct
 * epoll_event as offset and the fd as length (EBADF if that is no int).  Their
 * errors are those of epoll_wait(2) and of epoll_ctl(2), and those of struct
 * devepoll_change.
 *
 * DEVEPOLL_EPOLL_CTL(op) is also a command of an io_uring, whose bytes are a
 * struct devepoll_event: the fd, its events and its data, which are 0 for
 * DEVEPOLL_DEL (else EINVAL).
 */
#define DEVEPOLL_EPOLL_WAIT	_IO(EP_IOC_MAGIC, 0x20)
#define DEVEPOLL_EPOLL_CTL(op)	(_IO(EP_IOC_MAGIC, 0x20) + (op))
#define DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout_ms) \
	((__u64)(__u32)(maxevents) << 32 | (__u32)(timeout_ms))

#endif /* _UAPI_LINUX_DEVEPOLL_H */
