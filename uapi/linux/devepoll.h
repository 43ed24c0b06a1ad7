/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ABI of /dev/epoll: the 2001 interface, which is unchanged, and the
 * extended interface.
 */
#ifndef _UAPI_LINUX_DEVEPOLL_H
#define _UAPI_LINUX_DEVEPOLL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * The headers of the C library and of the kernel each define struct pollfd, and
 * a program that includes both does not compile.  This header therefore
 * includes neither: the program includes <poll.h>, <sys/poll.h> or
 * <linux/poll.h>.
 */
struct pollfd;

/**
 * DOC: node
 *
 * The device is a character device, 10:124, at ``/dev/epoll`` and (through a
 * udev rule) at ``/dev/misc/eventpoll``.  Each open(2) creates an instance with
 * an interest list of its own.  Descriptors that are duplicated by fork(2) or
 * dup(2), or passed with SCM_RIGHTS, refer to the same instance.
 */
#define EVENTPOLL_MAJOR		10
#define EVENTPOLL_MINOR		124

/**
 * DOC: result pages
 *
 * mmap(2) at offset 0 of exactly EP_MAP_SIZE(n) bytes, where n is the number
 * of fds passed to EP_ALLOC, maps two page sets, one after the other.  Each is
 * an array of struct pollfd.  The kernel fills one of them while the program
 * reads the other.  The mapping is read-only, whatever protection was
 * requested.
 */
#define EP_PAGE_SIZE		4096
#define POLLFD_X_PAGE		(EP_PAGE_SIZE / sizeof(struct pollfd))
#define MAX_FDS_IN_EVENTPOLL	(1024 * 128)
#define EP_FDS_PAGES(n)		(((n) + POLLFD_X_PAGE - 1) / POLLFD_X_PAGE)
#define EP_MAP_SIZE(n)		(EP_FDS_PAGES(n) * EP_PAGE_SIZE * 2)

/* In the events of an entry for write(2): remove the fd. */
#ifndef POLLREMOVE
#define POLLREMOVE		0x1000
#endif

/**
 * struct evpoll - argument of EP_POLL
 * @ep_timeout: in: milliseconds to wait; with 0 the call does not wait, with a
 *	negative value it waits indefinitely
 * @ep_resoff: out: offset in bytes, from the start of the mapping, of the page
 *	set that holds the result; written only if the call returns more
 *	than 0
 */
struct evpoll {
	int ep_timeout;
	unsigned long ep_resoff;
};

/*
 * Programs were also built with two other layouts.  The size is part of the
 * request number, so every program can use any of the three.
 */

/**
 * struct evpoll32 - struct evpoll of a 32-bit program
 * @ep_timeout: as in struct evpoll
 * @ep_resoff: as in struct evpoll
 */
struct evpoll32 {
	__s32 ep_timeout;
	__u32 ep_resoff;
};

/**
 * struct evpoll_packed - packed struct evpoll of a 64-bit program
 * @ep_timeout: as in struct evpoll
 * @ep_resoff: as in struct evpoll
 */
struct evpoll_packed {
	__s32 ep_timeout;
	__u64 ep_resoff;
} __attribute__((packed));

#define EP_IOC_MAGIC		'P'

/**
 * define EP_ALLOC - allocate room for fds
 *
 * The argument is the number of fds, an int that is passed by value.  An
 * instance can only grow: a number that is not larger than the present one
 * changes nothing.
 *
 * Return: 0, or -1 with errno
 * EINVAL: the number is less than 1 or greater than max_fds of the module;
 * EBUSY: the instance is mapped, has the extended interface, or is a signal
 * instance;
 * EINTR: the caller is being killed;
 * ENOMEM: there is not enough memory, or RLIMIT_MEMLOCK of the user or the
 * cgroup forbids the allocation.
 */
#define EP_ALLOC		_IOR(EP_IOC_MAGIC, 1, int)

/**
 * define EP_POLL - wait for events and take all pending ones
 *
 * The argument is a struct evpoll.
 *
 * Return: the number of struct pollfd at ep_resoff; 0 if the call timed out; or
 * -1 with errno
 * EFAULT: the argument can't be read or written (pending events stay);
 * EINVAL: the instance is not mapped;
 * EBUSY: the instance has the extended interface, or is a signal instance;
 * EINTR: a signal arrived before an event did.
 */
#define EP_POLL			_IOWR(EP_IOC_MAGIC, 2, struct evpoll)
#define EP_POLL32		_IOWR(EP_IOC_MAGIC, 2, struct evpoll32)
#define EP_POLL_PACKED		_IOWR(EP_IOC_MAGIC, 2, struct evpoll_packed)

/**
 * define EP_FREE - remove all fds and free the memory
 *
 * Return: 0, or -1 with errno
 * EINVAL: nothing is allocated;
 * EBUSY: the instance is mapped, has the extended interface, or is a signal
 * instance;
 * EINTR: the caller is being killed.
 */
#define EP_FREE			_IO(EP_IOC_MAGIC, 3)

/**
 * define EP_ISPOLLED - check whether an fd is in the interest list
 *
 * The argument is a struct pollfd, of which the kernel reads the fd.  If the fd
 * is in the interest list, the kernel fills in its events and sets revents
 * to 0.
 *
 * Return: 1 if the fd is in the interest list, 0 if it is not, or -1 with errno
 * EFAULT: the argument can't be read or written;
 * EBUSY: the instance has the extended interface.
 */
#define EP_ISPOLLED		_IOWR(EP_IOC_MAGIC, 4, struct pollfd)

/**
 * DOC: extended interface
 *
 * The same node takes a second group of requests.  The first use of an instance
 * decides which interface it has, and requests of the other interface fail with
 * EBUSY from then on.  EP_ALLOC makes it an instance of the 2001 interface; the
 * first DEVEPOLL_CTL, DEVEPOLL_WAIT or DEVEPOLL_RING, or the first
 * DEVEPOLL_CHANGE, DEVEPOLL_TAKE or call of epoll by the fadvise entry, makes it
 * one of the extended interface.  A request that fails does not decide the
 * interface, and neither do changes of which none took effect.  O_EXCL of
 * open(2) makes it one of the extended interface at once, to which write(2),
 * mmap(2), lseek(2) and unknown ioctls say what they say to an epoll fd.
 *
 * Events and modes are those of epoll_ctl(2): an fd is level-triggered by
 * default, and EPOLLET, EPOLLONESHOT, EPOLLEXCLUSIVE and EPOLLWAKEUP are
 * accepted.  EPOLLERR and EPOLLHUP are always reported.
 *
 * The size of the argument is part of each request number, so structures can
 * grow.  Members that an older program does not know count as 0.  Members that
 * an older kernel does not know must be 0, or the request fails with E2BIG.  A
 * size below that of the first version makes an unknown request (ENOTTY).
 * Unknown flag bits fail with EINVAL.
 */

/* Values of devepoll_change.op, which are those of epoll_ctl(2). */
#define DEVEPOLL_ADD		1
#define DEVEPOLL_DEL		2
#define DEVEPOLL_MOD		3

/* Flags of devepoll_change.flags. */

/*
 * Report a final event, DEVEPOLL_CLOSED, when the fd was closed.  A MOD can't
 * request this for an fd that was added without it.
 */
#define DEVEPOLL_TELL_CLOSED	0x0001
/*
 * The kernel may report what has happened since the last report without polling
 * the file.  This saves the poll, but a reported event may no longer hold, and
 * what did not happen anew may be missing.  It is a permission: for which files
 * and events the kernel makes use of it is no part of the interface, and may
 * change.  This flag requires EPOLLET.
 */
#define DEVEPOLL_TRUST		0x0002

/*
 * In the events of a result: the file was closed, or its number now refers to
 * another file.  No event of the fd follows, and no thread has an earlier one:
 * see "DOC: the last event".
 */
#define DEVEPOLL_CLOSED		0x00010000

/**
 * struct devepoll_change - one change to the interest list
 * @op: DEVEPOLL_ADD, DEVEPOLL_MOD or DEVEPOLL_DEL
 * @flags: DEVEPOLL_TELL_CLOSED, DEVEPOLL_TRUST; 0 for DEVEPOLL_DEL
 * @fd: the file descriptor, a number in the file table of the caller
 * @events: the requested events and the mode, EPOLL* bits
 * @result: out: 0, or a negative errno
 * @data: returned with each event of the fd
 *
 * The results are, negated,
 * EBADF: the fd is not open, or was opened with O_PATH (a DEL nevertheless
 * succeeds in the process that added the number and, once that process has
 * terminated, in any other);
 * EEXIST: an ADD, and the fd is in the interest list;
 * ENOENT: a MOD or a DEL, and the fd is not in the interest list;
 * EPERM: the file does not support polling, or the instance is a signal
 * instance and the file is on FUSE or is a CUSE device;
 * EINVAL: op or a bit is unknown (DEVEPOLL_TELL_CLOSED is to a module that was
 * built without "closed"); the fd is the instance itself; EPOLLEXCLUSIVE in a
 * MOD, for an fd that is an instance, or with bits that epoll_ctl(2) forbids;
 * DEVEPOLL_TRUST without EPOLLET; DEVEPOLL_TELL_CLOSED in a MOD of an fd that
 * was added without it;
 * ELOOP: the fd is an instance of the device that would close a loop or would
 * be nested too deep; or it is an instance of in-tree epoll, whose interest
 * list the module can't see;
 * ENOSPC: the instance is full; a limit of the user or of the file was reached;
 * the instance watches 64 files of other processes under this number; or, in a
 * signal instance, max_signals was reached;
 * ENOMEM: there is not enough memory.
 *
 * After an error, the fd is watched as before.  After a MOD that failed with
 * ENOMEM, an event that was already reported may be reported once more.
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
 * @nr: number of elements, at most DEVEPOLL_MAX_CHANGES
 * @change_size: size of one element, in bytes
 * @flags: 0 or DEVEPOLL_NO_RESULTS
 * @nr_failed: out: number of changes that were tried and have a result other
 *	than 0; not written with DEVEPOLL_NO_RESULTS
 */
struct devepoll_ctl {
	__u64 changes;
	__u32 nr;
	__u32 change_size;
	__u32 flags;
	__u32 nr_failed;
};

#define DEVEPOLL_MAX_CHANGES	(1024 * 1024)

/*
 * A flag of devepoll_ctl.flags: the changes are only read, so they may be in
 * memory that can't be written, and neither they nor the argument say what
 * failed.  The first change that fails is the last one that is tried.
 */
#define DEVEPOLL_NO_RESULTS	0x0001

/**
 * define DEVEPOLL_CTL - change the interest list
 *
 * The argument is a struct devepoll_ctl.  Changes are made in order, and each
 * change that was tried has a result.  A DEL has taken effect when the call is
 * over: no call that begins later returns an event of the fd.
 *
 * Return: the number of changes that were tried, which is all of them unless
 * the next one can't be read and written, the next one has a part that this
 * kernel does not know, or the caller is being killed; with DEVEPOLL_NO_RESULTS
 * the number of changes that were made, unless the first one failed, whose
 * result then is errno; or -1 with errno
 * EFAULT: the argument, or the first change, can't be read and written;
 * EINVAL: nr is 0 or too large; change_size is too small, too large or not a
 * multiple of 8; flags has an unknown bit;
 * E2BIG: the argument, or the first change, has a part that this kernel does
 * not know and that is not 0;
 * EBUSY: the instance has the 2001 interface;
 * EINTR: the caller is being killed.
 */
#define DEVEPOLL_CTL		_IOWR(EP_IOC_MAGIC, 0x10, struct devepoll_ctl)

/**
 * struct devepoll_event - one event, as DEVEPOLL_WAIT writes it
 * @data: devepoll_change.data of the fd
 * @events: the ready events, EPOLL* bits; or DEVEPOLL_CLOSED
 * @fd: the file descriptor
 */
struct devepoll_event {
	__u64 data;
	__u32 events;
	__s32 fd;
};

/* Flags of devepoll_wait_args.flags. */

/* The timeout is a point in time of the caller's CLOCK_MONOTONIC. */
#define DEVEPOLL_WAIT_ABSTIME	0x0001
/* Write events as struct epoll_event, like epoll_wait(2). */
#define DEVEPOLL_WAIT_EPOLL	0x0002
/* Write events to the mapping at DEVEPOLL_MAP_EVENTS; events is an offset. */
#define DEVEPOLL_WAIT_MAPPED	0x0004
/* Of DEVEPOLL_RING_WAIT: the caller owns the slot set spare. */
#define DEVEPOLL_WAIT_SPARE	0x0008

/* Wait indefinitely; any other negative timeout does the same. */
#define DEVEPOLL_FOREVER	(-1)

/**
 * struct devepoll_wait_args - argument of DEVEPOLL_WAIT
 * @events: address of an array of struct devepoll_event, or as @flags say
 * @max_events: number of elements, at least 1
 * @min_events: number of fds to wait for, at most @max_events; 0 means 1.
 *	Fewer are returned if the call times out, if a signal arrives, or if
 *	another thread takes some of them
 * @timeout: nanoseconds; with 0 the call does not wait, with a negative value
 *	it waits indefinitely
 * @sigmask: address of a signal mask to be in effect while the call waits, as
 *	for epoll_pwait2(2), or 0
 * @sigsetsize: size of the signal mask in bytes, 8; 0 if @sigmask is 0
 * @flags: DEVEPOLL_WAIT_*
 * @changes: address of the changes to make first, as for DEVEPOLL_CTL; 0 if
 *	@nr_changes is 0
 * @nr_changes: number of changes, or 0
 * @change_size: size of one change; 0 if @nr_changes is 0
 * @nr_tried: out: number of changes that were tried
 * @nr_failed: out: number of these that have a result other than 0
 *
 * @nr_tried and @nr_failed are written only if @nr_changes is not 0.
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

/* The maximum of devepoll_wait_args.max_events. */
#define DEVEPOLL_MAX_EVENTS	(0x7fffffff / sizeof(struct devepoll_event))

/**
 * define DEVEPOLL_WAIT - make changes, then wait for events and take them
 *
 * The argument is a struct devepoll_wait_args.  If not all changes take effect,
 * the call returns the events that are ready, without waiting.  Any number of
 * threads may wait on one instance; each event goes to one of them.  Ready fds
 * are returned in turn: those that did not fit come first in the next call.
 *
 * Return: the number of events; 0 if the call timed out; or -1 with errno
 * EFAULT: the argument, the signal mask or the array can't be read or written
 * (no event is lost);
 * EINVAL: max_events is 0 or too large; min_events is greater than max_events;
 * flags has unknown bits, or bits that exclude each other; sigsetsize is wrong;
 * a member that has no meaning in this call is not 0; the offset is outside the
 * mapping or not a multiple of 16; or the changes are wrong, as for
 * DEVEPOLL_CTL;
 * E2BIG: the argument has a part that this kernel does not know and that is
 * not 0;
 * EBADF: there are changes, and the instance is not open for writing;
 * EINTR: a signal arrived before an event did;
 * ENOMEM: an fd has DEVEPOLL_TELL_CLOSED, and there is not enough memory (no
 * event is lost);
 * EOPNOTSUPP: an fd has, or had, DEVEPOLL_TELL_CLOSED, and the wait is a command
 * of an io_uring; changes were made;
 * EBUSY: the instance has the 2001 interface.
 */
#define DEVEPOLL_WAIT		_IOWR(EP_IOC_MAGIC, 0x11, \
				      struct devepoll_wait_args)

/**
 * struct devepoll_command - the bytes of an io_uring command
 * @arg: address of the argument of the request
 * @cookie: in a DEVEPOLL_WAIT, any number but 0, by which DEVEPOLL_CANCEL finds
 *	the wait while it is pending, or 0; in other requests 0
 *
 * DEVEPOLL_EPOLL_CTL(op) has other bytes: see "DOC: fadvise entry".
 */
struct devepoll_command {
	__u64 arg;
	__u64 cookie;
};

/**
 * struct devepoll_cancel - argument of DEVEPOLL_CANCEL
 * @cookie: the cookie, not 0
 * @flags: 0
 * @reserved: 0
 */
struct devepoll_cancel {
	__u64 cookie;
	__u32 flags;
	__u32 reserved;
};

/**
 * define DEVEPOLL_CANCEL - cancel waits that are io_uring commands
 *
 * The argument is a struct devepoll_cancel.  The request cancels all waits with
 * this cookie that the calling process has pending on the instance, in any of
 * its io_urings and by any open of the instance.  Waits of other processes are
 * left alone, even if they have the same cookie, as after fork(2); so an open
 * for reading can disturb nobody else.  Several waits may have one cookie, and
 * a cookie may be used again at any time.
 *
 * Each wait that was found completes exactly once, shortly after the call, and
 * its memory belongs to the kernel until then.  The result is -ECANCELED or, if
 * the wait was about to complete at that moment, what it would have been: a
 * number of events, or an error.  A multishot wait may have more completions
 * with IORING_CQE_F_MORE before the last one.  No event is lost: a wait that is
 * cancelled takes none, and one that it was woken for goes to the next waiter.
 *
 * A wait is pending once the kernel has begun with its entry.  That is before
 * io_uring_enter(2) returns, but later if a worker begins with it (IOSQE_ASYNC)
 * or the kernel polls for entries (IORING_SETUP_SQPOLL).  As a command, the
 * request finds the waits of entries before its own, unless these are begun by
 * workers.
 *
 * The time that the call takes grows with the number of waits that it finds,
 * and with the logarithm of the number of all waits with cookies.
 *
 * Return: the number of waits that were found, at least 1; or -1 with errno
 * EFAULT: the argument can't be read;
 * EINVAL: cookie is 0; or flags or reserved is not 0;
 * E2BIG: the argument has a part that this kernel does not know and that is
 * not 0;
 * EBADF: the instance is not open for reading;
 * EBUSY: the instance has the 2001 interface, or is a signal instance;
 * ENOENT: no wait was found, as always on kernels where no wait stays pending.
 */
#define DEVEPOLL_CANCEL		_IOW(EP_IOC_MAGIC, 0x1d, \
				     struct devepoll_cancel)

/* The maximum of devepoll_spin.usecs, and the value that only queries. */
#define DEVEPOLL_SPIN_MAX	10000
#define DEVEPOLL_SPIN_ASK	(-1)

/**
 * struct devepoll_spin - argument of DEVEPOLL_SPIN
 * @usecs: for how long a wait looks for an event before it sleeps, in
 *	microseconds, at most DEVEPOLL_SPIN_MAX; 0: it sleeps at once;
 *	DEVEPOLL_SPIN_ASK: no change.  out: the value of the instance
 * @reserved: 0
 * @looks: out: number of looks
 * @hits: out: looks that a wake-up ended
 * @ns: out: time of all looks in nanoseconds, an upper bound on what they took
 *	of a processor
 */
struct devepoll_spin {
	__s32 usecs;
	__u32 reserved;
	__u64 looks;
	__u64 hits;
	__u64 ns;
};

/**
 * define DEVEPOLL_SPIN - look for an event for a while before each sleep
 *
 * The argument is a struct devepoll_spin.  A wait that finds nothing stays on
 * its processor for so long, and sees an event without a switch of tasks, and
 * without the interrupt that wakes an idle processor.  This pays where events
 * follow each other within microseconds, and costs processor time, which is
 * the waiting task's.  So a look ends when another task is ready to run on the
 * processor, or when a signal is pending.  A wait does not look if another one of
 * the instance is pending when it begins: the next event usually belongs to that
 * one.  After one look that times out, the next sleep has no look; after two in a
 * row, the next 3; then 7, 15, 31 and at most 63.  A look that a wake-up ends, or
 * another value of usecs, begins anew.
 *
 * It holds for all waits that sleep: EP_POLL, DEVEPOLL_WAIT, DEVEPOLL_TAKE,
 * DEVEPOLL_EPOLL_WAIT and DEVEPOLL_RING_WAIT; not for poll(2), for waits on an
 * instance that contains this one, or for a wait that is an io_uring command.
 * If EPIOCSPARAMS has a wait poll a network device, it does that instead.  The
 * request does not decide the interface of the instance.
 *
 * Return: 0, or -1 with errno
 * EBADF: the instance is not open for reading; or usecs is not
 * DEVEPOLL_SPIN_ASK, and it is not open for writing;
 * EFAULT: the argument can't be read or written; if it can't be written, the
 * value was set;
 * EINVAL: usecs is out of range, or reserved is not 0;
 * E2BIG: the argument has a part that this kernel does not know and that is
 * not 0;
 * ENOMEM: there is not enough memory.
 */
#define DEVEPOLL_SPIN		_IOWR(EP_IOC_MAGIC, 0x1e, struct devepoll_spin)

/**
 * DOC: the last event
 *
 * DEVEPOLL_CLOSED of an fd is handed out when no thread can have an event of
 * the fd in use any more; so whoever gets it may free what the data points to.
 * A thread that has taken an event of an fd with DEVEPOLL_TELL_CLOSED is a
 * reader of the instance until it
 *
 * - waits for the instance again: by any wait, also of an instance around this
 *   one that polls it; or, if the thread has no io_uring, by poll(2) or
 *   select(2), or by a wait of an instance of epoll around this one;
 * - makes DEVEPOLL_STEP_BACK;
 * - ends, or calls execve(2).
 *
 * It must have dealt with its events by then.  EPOLL_CTL_MOD of the instance in
 * an instance of epoll polls it, and counts as a wait.  A thread that hands an
 * event on to another must not wait again before that one has dealt with it.
 * While a reader may have an event of the fd, DEVEPOLL_CLOSED is held back; also
 * while it may have one of an fd whose events were handed out before and after
 * that.  A reader that does not come back holds back these, and no others.  One
 * call may return an event and, behind it, the DEVEPOLL_CLOSED of the same fd.
 *
 * In a ring, the events of a slot set are in use until the set is given back,
 * or its owner makes DEVEPOLL_RING_WAIT with DEVEPOLL_WAIT_SPARE.
 *
 * When the completion of an io_uring command was dealt with, nobody knows.  So
 * in an instance in which an fd has, or had, DEVEPOLL_TELL_CLOSED, a wait as a
 * command, or by a worker of an io_uring, fails with EOPNOTSUPP.
 *
 * /proc/PID/fdinfo/FD shows how many readers there are, how many
 * DEVEPOLL_CLOSED are held back, and for which threads.
 */

/**
 * define DEVEPOLL_STEP_BACK - have no event of the instance in use
 *
 * There is no argument.  The calling thread is no reader of the instance any
 * more: see "DOC: the last event".  This is for a thread that does not wait for
 * the instance for some time.
 *
 * Return: 0, or -1 with errno
 * EBADF: the instance is not open for reading;
 * EBUSY: the instance has the 2001 interface.
 */
#define DEVEPOLL_STEP_BACK	_IO(EP_IOC_MAGIC, 0x1c)

/**
 * DOC: mapped events
 *
 * mmap(2) at offset DEVEPOLL_MAP_EVENTS maps memory of the device, to which a
 * wait with DEVEPOLL_WAIT_MAPPED writes events without page faults.  The memory
 * is a read-only array of struct devepoll_event.  The first mapping determines
 * its size, which is at most 1024 pages.  Each thread should wait with a part
 * of the array that belongs to it alone.  mmap(2) fails with EINVAL for a size
 * other than the first one, with EACCES if the first one is made by an open
 * without write access, with EBUSY for an instance of the 2001 interface, and
 * with ENOMEM if RLIMIT_MEMLOCK or the cgroup forbids the allocation.
 */
#define DEVEPOLL_MAP_EVENTS	0x100000000ULL

/**
 * DOC: ring
 *
 * DEVEPOLL_RING gives an instance a ring, from which threads take events
 * without a call.  The events of fds that have EPOLLET and DEVEPOLL_TRUST go to
 * it as they happen.  Everything else goes there when a thread makes
 * DEVEPOLL_RING_WAIT: other fds, wake-ups that did not name their events,
 * events that did not fit, and DEVEPOLL_CLOSED.
 *
 * The memory has two parts.  mmap(2) at offset DEVEPOLL_MAP_RING maps one page,
 * which begins with a struct devepoll_ring_page and is 0 at first; the mapping
 * must be MAP_SHARED.  Its first member is a 64-bit word that the kernel and
 * the program both change.  What is behind the struct belongs to the program.
 *
 * mmap(2) at offset DEVEPOLL_MAP_RING_SLOTS of DEVEPOLL_RING_SIZE(consumers,
 * slots) bytes, rounded up to whole pages, maps the slot sets, which are
 * read-only, whatever protection was requested: one set for each consumer, and
 * one more.  Each is an array of struct devepoll_event with as many elements as
 * the ring has slots.  Set s begins at byte s * DEVEPOLL_RING_STRIDE(slots),
 * with a cache line of its own.  Set 0 is filled first, and consumer i owns set
 * i + 1.  DEVEPOLL_RING_INFO returns these sizes.
 *
 * The upper half of the word is the number of the set that is being filled.  In
 * the lower half, DEVEPOLL_RING_COUNT is the number of its slots that are in
 * use, and DEVEPOLL_RING_ASK says that DEVEPOLL_RING_WAIT has something to do.
 * A consumer whose set is s does the following::
 *
 *	if (!(__u32)word)                       // one load
 *		return 0;
 *	old = exchange(&word, (__u64)s << 32);  // a full memory barrier
 *	s = old >> 32;
 *	n = old & DEVEPOLL_RING_COUNT;
 *	// read slots 0 to n - 1 of set s, passing over those with no events
 *	if (old & DEVEPOLL_RING_ASK)
 *		// DEVEPOLL_RING_WAIT, and look again
 *
 * An exchange with __ATOMIC_SEQ_CST alone is no full memory barrier on every
 * processor: on arm64 without LSE, a slot may be read before the kernel can see
 * that the set was taken, and an event is lost.  So the exchange needs
 * __atomic_thread_fence(__ATOMIC_SEQ_CST) behind it, except on x86, where each
 * locked instruction is a full barrier.
 *
 * The consumer owns the new set until its next exchange, which gives it
 * back.  A program must do nothing else to the word.  If it does, it may lose
 * events of this instance or see them twice.
 *
 * An fd has at most one slot in a set: events that happen before the set is
 * taken are added to those in the slot, and some may be reported once more in
 * the next set.  If an fd is removed or closed, or changed by DEVEPOLL_MOD, the
 * events of its slot become 0 unless the set has been taken.  EPOLLONESHOT
 * disables the fd when its event goes to the ring.  As the kernel does not see
 * when a set is taken, an fd number that was closed while a duplicate of its
 * file stays open is reported until a request notices it, as with epoll.
 *
 * Other waits, poll(2) and instances around this one work as usual.  They see
 * the events that have not been taken, and a wait takes them out of the ring.
 * Each event is thus handed out by one of them.  A child of fork(2) has no
 * mapping of the word or of the slots, because it would give back sets that the
 * threads of its parent own.  If the parent has called madvise(2) with
 * MADV_DOFORK, which newer kernels refuse, the child has the addresses, and an
 * access is SIGBUS.  Nor can a part of either mapping be unmapped or changed.
 */
#define DEVEPOLL_MAP_RING	0x200000000ULL
#define DEVEPOLL_MAP_RING_SLOTS	0x300000000ULL

#define DEVEPOLL_RING_COUNT	0x7fffffffU
#define DEVEPOLL_RING_ASK	0x80000000U
#define DEVEPOLL_RING_SET_SHIFT	32

/* A slot set begins at a multiple of this many bytes. */
#define DEVEPOLL_RING_ALIGN	64
#define DEVEPOLL_RING_STRIDE(slots) \
	(((__u64)(slots) * sizeof(struct devepoll_event) + \
	  DEVEPOLL_RING_ALIGN - 1) & ~(__u64)(DEVEPOLL_RING_ALIGN - 1))
#define DEVEPOLL_RING_SIZE(consumers, slots) \
	(((__u64)(consumers) + 1) * DEVEPOLL_RING_STRIDE(slots))

/**
 * struct devepoll_ring_page - the beginning of the page at DEVEPOLL_MAP_RING
 * @word: the word, which only the exchange above may write
 * @reserved: 0; for the kernel and the library
 * @ask: belongs to the library, whose consumers note here that a
 *	DEVEPOLL_RING_WAIT is due
 * @reserved_more: 0; for the kernel and the library
 */
struct devepoll_ring_page {
	__u64 word;
	__u64 reserved[7];
	__u64 ask;
	__u64 reserved_more[23];
};

/**
 * struct devepoll_ring - argument of DEVEPOLL_RING
 * @consumers: number of threads that may take events at the same time, at
 *	least 1
 * @slots: number of events in one set, at least 1; it may be smaller than the
 *	number of fds
 * @flags: 0
 * @reserved: 0
 */
struct devepoll_ring {
	__u32 consumers;
	__u32 slots;
	__u32 flags;
	__u32 reserved;
};

/**
 * define DEVEPOLL_RING - give an instance a ring, for good
 *
 * The argument is a struct devepoll_ring.  The instance must have no fds, and
 * becomes one of the extended interface.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be read;
 * EINVAL: consumers or slots is 0; the slot sets would have more pages than
 * devepoll_features.max_map_pages; or flags or reserved is not 0;
 * E2BIG: the argument has a part that this kernel does not know and that is
 * not 0;
 * EBUSY: the instance has fds, has a ring already, has the 2001 interface, or
 * is a signal instance;
 * ENOMEM: there is not enough memory, or RLIMIT_MEMLOCK of the user or the
 * cgroup forbids the allocation;
 * EINTR: the caller is being killed.
 *
 * mmap(2) of the word or of the slots fails with EINVAL if the instance has no
 * ring, if the length is wrong, or if the word would be mapped MAP_PRIVATE, and
 * with EACCES if the word would be mapped by an open without write access.
 */
#define DEVEPOLL_RING		_IOW(EP_IOC_MAGIC, 0x16, struct devepoll_ring)

/**
 * struct devepoll_ring_info - result of DEVEPOLL_RING_INFO
 * @consumers: devepoll_ring.consumers
 * @slots: devepoll_ring.slots
 * @stride: number of bytes from the beginning of one slot set to the next one's
 * @filling: number of the set that is being filled
 * @page_size: size of the mapping at DEVEPOLL_MAP_RING, in bytes
 * @slots_size: size of the mapping at DEVEPOLL_MAP_RING_SLOTS, in bytes
 */
struct devepoll_ring_info {
	__u32 consumers;
	__u32 slots;
	__u32 stride;
	__u32 filling;
	__u64 page_size;
	__u64 slots_size;
};

/**
 * define DEVEPOLL_RING_INFO - get the sizes of a ring that somebody has made
 *
 * The argument is a struct devepoll_ring_info, which may have any size: members
 * that do not fit are left out, and members that this kernel does not know are
 * 0.  The request works with any open mode.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be written;
 * EINVAL: the instance has no ring.
 */
#define DEVEPOLL_RING_INFO	_IOR(EP_IOC_MAGIC, 0x18, \
				     struct devepoll_ring_info)

/**
 * struct devepoll_ring_reclaim - argument of DEVEPOLL_RING_RECLAIM
 * @owned: address of an array of __u32: the number of the slot set of each
 *	consumer that lives
 * @nr: number of elements, less than the ring has consumers
 * @flags: 0
 * @set: out: the number of a slot set that none of them owns
 * @reserved: 0
 */
struct devepoll_ring_reclaim {
	__u64 owned;
	__u32 nr;
	__u32 flags;
	__u32 set;
	__u32 reserved;
};

/**
 * define DEVEPOLL_RING_RECLAIM - get the slot set of a consumer that has ended
 *
 * The argument is a struct devepoll_ring_reclaim.  A thread may end, or be
 * killed, at any point of an exchange; whichever set it then owned is the one
 * that is not being filled and that no other consumer owns.  The caller gets
 * the number of this set, and owns it from then on.  If several consumers have
 * ended, it gets the least number, and can call again with this set among those
 * that are owned.  No consumer may make an exchange during the call.  The
 * kernel can't know who owns what, so a caller that names the wrong sets gets
 * one that somebody else reads.
 *
 * The events of the set that the consumer had not dealt with are lost with it:
 * a DEVEPOLL_MOD of an fd reports anew what it is ready for.  If there are events
 * that are not in the ring yet, the word has DEVEPOLL_RING_ASK after the call,
 * since the consumer may have taken it.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument or the array can't be read, or the argument can't be
 * written;
 * EINVAL: the instance has no ring; nr is too large; a number is that of no
 * set; or flags, set or reserved is not 0;
 * E2BIG: the argument has a part that this kernel does not know and that is
 * not 0;
 * EBUSY: a set is named twice, or is the one that is being filled: the array is
 * out of date;
 * ENOMEM: there is not enough memory.
 */
#define DEVEPOLL_RING_RECLAIM	_IOWR(EP_IOC_MAGIC, 0x19, \
				      struct devepoll_ring_reclaim)

/**
 * struct devepoll_ring_wait_args - argument of DEVEPOLL_RING_WAIT
 * @timeout: nanoseconds; with 0 the call does not wait, with a negative value
 *	it waits indefinitely
 * @sigmask: address of a signal mask to be in effect while the call waits, as
 *	for epoll_pwait2(2), or 0
 * @sigsetsize: size of the signal mask in bytes, 8; 0 if @sigmask is 0
 * @flags: DEVEPOLL_WAIT_ABSTIME, DEVEPOLL_WAIT_SPARE
 * @min_events: number of fds to wait for, at most as many as a set has slots; 0
 *	means 1.  The call returns with fewer if it times out or if a signal
 *	arrives
 * @spare: with DEVEPOLL_WAIT_SPARE the number of the slot set that the caller
 *	owns, and whose events it has dealt with; otherwise 0
 */
struct devepoll_ring_wait_args {
	__s64 timeout;
	__u64 sigmask;
	__u32 sigsetsize;
	__u32 flags;
	__u32 min_events;
	__u32 spare;
};

/**
 * define DEVEPOLL_RING_WAIT - fill the ring, and wait until it has events
 *
 * The argument is a struct devepoll_ring_wait_args.  The call polls the files
 * that may be ready and whose events could not go to the ring by themselves,
 * and adds the events to the ring.  If the ring has none then, the call
 * sleeps.  It takes nothing: the caller does that by an exchange.
 *
 * An fd that is level-triggered is polled by each call until it is not ready
 * any more, and DEVEPOLL_RING_ASK stays set as long.
 *
 * Return: the number of events in the ring, which another thread may take
 * first; 0 if the call timed out; or -1 with errno
 * EBADF: the instance is not open for reading; or DEVEPOLL_WAIT_SPARE by a
 * further open without write access, which owns no slot set;
 * EFAULT: the argument or the signal mask can't be read;
 * EINVAL: the instance has no ring; flags has an unknown bit; min_events is
 * greater than the number of slots; sigsetsize is wrong; spare is not the
 * number of a slot set, or is not 0 without DEVEPOLL_WAIT_SPARE; an fd has
 * DEVEPOLL_TELL_CLOSED, or had it, and DEVEPOLL_WAIT_SPARE is missing in a call
 * by any other open; or a worker of an io_uring makes the call, with a signal
 * mask;
 * E2BIG: the argument has a part that this kernel does not know and that is
 * not 0;
 * EINTR: a signal arrived before an event did.
 */
#define DEVEPOLL_RING_WAIT	_IOW(EP_IOC_MAGIC, 0x17, \
				     struct devepoll_ring_wait_args)

/**
 * struct devepoll_stats - result of DEVEPOLL_STATS
 * @items: fds in the interest list now
 * @ready: those of them that may be ready, and closed ones whose final event no
 *	thread has taken yet
 * @adds: fds added so far
 * @mods: fds changed so far
 * @dels: fds that the program removed so far
 * @closes: fds that left so far because their file was closed or their number
 *	refers to another file
 * @wakes: wake-ups by watched files that told the instance something new
 * @asks: polls of files to find out whether they are ready
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
 * define DEVEPOLL_STATS - get the counters of an instance
 *
 * The argument is a struct devepoll_stats, which may have any size: counters
 * that do not fit are left out, and counters that this kernel does not know are
 * 0.  The request works with instances of either interface.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be written.
 */
#define DEVEPOLL_STATS		_IOR(EP_IOC_MAGIC, 0x12, struct devepoll_stats)

/* Flags of devepoll_signal.flags. */

/* Send signals to the calling thread instead of its process. */
#define DEVEPOLL_SIGNAL_THREAD	0x0001

/**
 * struct devepoll_signal - argument of DEVEPOLL_SIGNAL
 * @signo: the signal.  It should be a real-time signal, which the kernel does
 *	not send by itself.  Other signals are allowed, except those that can't
 *	be caught, that stop or continue a process, or that report its faults:
 *	SIGKILL, SIGSTOP, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS,
 *	SIGILL, SIGTRAP, SIGFPE and SIGSYS
 * @flags: DEVEPOLL_SIGNAL_THREAD
 */
struct devepoll_signal {
	__s32 signo;
	__u32 flags;
};

/**
 * define DEVEPOLL_SIGNAL - report events through signals, one for each fd
 *
 * The argument is a struct devepoll_signal.  The request turns an unused
 * instance into a signal instance, for good.  Fds are added, changed and
 * removed with write(2), DEVEPOLL_CTL, DEVEPOLL_CHANGE or DEVEPOLL_EPOLL_CTL.
 * EPOLLET is the only mode allowed, and POLLERR and POLLHUP are always reported.
 *
 * A signal reports what happens to an fd, and what the fd is ready for when it
 * is added.  It has the fd in si_fd, the events in si_band, and the most urgent
 * of them in si_code.  While the signal of an fd is pending, later events of
 * the fd are added to its si_band.  There are thus never more pending signals
 * than fds, and none is ever lost, whatever RLIMIT_SIGPENDING is.
 *
 * When an fd leaves the instance, through a request or the last close of its
 * file, its pending signal is removed.  A signal that is not a real-time signal
 * may stay pending without information (SI_USER from process 0), because other
 * senders may have sent it too.  The instance can't be waited on or mapped.
 *
 * A file on FUSE or a CUSE device can't be added (EPERM), because a kernel
 * worker, which can't be killed, would have to wait for the answer of a
 * user-space program.  Each fd counts as four of the user's watches.  All
 * signal instances of the machine together have at most max_signals fds, and
 * one user can't take more of them than then remain for other users (ENOSPC).
 *
 * A real-time signal that kill(2) sent while RLIMIT_SIGPENDING left no room for
 * it in the queue is lost if the last fd with the same signal leaves the
 * instance before the signal is taken.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be read;
 * EINVAL: signo is not a signal, or is one that is not allowed; flags has an
 * unknown bit; or the caller is a worker thread of an io_uring and flags has
 * DEVEPOLL_SIGNAL_THREAD;
 * E2BIG: the argument has a part that this kernel does not know and that is
 * not 0;
 * EBUSY: the instance already has one of the interfaces, or already is a signal
 * instance;
 * ENOSPC: 256 other users have signal instances, and the caller lacks
 * CAP_SYS_RESOURCE;
 * ENOMEM: there is not enough memory;
 * EINTR: the caller is being killed.
 */
#define DEVEPOLL_SIGNAL		_IOW(EP_IOC_MAGIC, 0x13, struct devepoll_signal)

/* The current value of devepoll_features.abi. */
#define DEVEPOLL_ABI			1

/* Bits of devepoll_features.features. */

/* The fadvise entry, described below, is enabled. */
#define DEVEPOLL_FEATURE_FADVISE	0x0001ULL
/* DEVEPOLL_SIGNAL is supported. */
#define DEVEPOLL_FEATURE_SIGNAL		0x0002ULL
/* DEVEPOLL_CTL and DEVEPOLL_WAIT are supported as io_uring commands. */
#define DEVEPOLL_FEATURE_URING		0x0004ULL
/* Such a wait may stay pending. */
#define DEVEPOLL_FEATURE_URING_WAIT	0x0008ULL
/* Such a wait may be multishot. */
#define DEVEPOLL_FEATURE_URING_MULTISHOT 0x0010ULL
/* DEVEPOLL_REOPEN. */
#define DEVEPOLL_FEATURE_REOPEN		0x0020ULL
/* DEVEPOLL_RING. */
#define DEVEPOLL_FEATURE_RING		0x0040ULL
/* DEVEPOLL_TAKE, by the fadvise entry. */
#define DEVEPOLL_FEATURE_TAKE		0x0080ULL
/*
 * EPIOCSPARAMS and EPIOCGPARAMS, as for the files of epoll since Linux 6.9:
 * a wait polls the network device of the instance's sockets before it sleeps.
 */
#define DEVEPOLL_FEATURE_BUSY_POLL	0x0100ULL
/* DEVEPOLL_CANCEL, and devepoll_command.cookie. */
#define DEVEPOLL_FEATURE_CANCEL		0x0200ULL
/* DEVEPOLL_SPIN. */
#define DEVEPOLL_FEATURE_SPIN		0x0400ULL
/* DEVEPOLL_CHANGE(), by the fadvise entry. */
#define DEVEPOLL_FEATURE_CHANGE		0x0800ULL
/* DEVEPOLL_NEW. */
#define DEVEPOLL_FEATURE_NEW		0x1000ULL

/**
 * struct devepoll_features - result of DEVEPOLL_FEATURES
 * @abi: the version of the interface, DEVEPOLL_ABI; it increases with each
 *	change that has no bit in @features
 * @max_fds: maximum number of fds in one instance, a module parameter
 * @features: DEVEPOLL_FEATURE_*
 * @max_fd: largest fd number that can be watched
 * @max_changes: maximum of devepoll_ctl.nr
 * @max_events: maximum of devepoll_wait_args.max_events
 * @max_map_pages: maximum size in pages of the mapping at DEVEPOLL_MAP_EVENTS
 * @max_nested: maximum depth of nested instances
 * @max_per_file: maximum number of instances that may watch one file, counting
 *	all users; a single user may use only a part of these
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
 * define DEVEPOLL_FEATURES - get what the module supports
 *
 * The argument is a struct devepoll_features, which may have any size: members
 * that do not fit are left out, and members that this kernel does not know are
 * 0.  The request works with any open mode and does not decide the interface of
 * the instance.
 *
 * Return: 0, or -1 with errno
 * EFAULT: the argument can't be written;
 * ENOTTY: the file is not the device, or the module is older than this request.
 */
#define DEVEPOLL_FEATURES	_IOR(EP_IOC_MAGIC, 0x14, \
				     struct devepoll_features)

/*
 * Rights of a further open for reading, for the argument of DEVEPOLL_REOPEN.
 * Without any of them, it may only wait.
 */
/* It may be added to another instance. */
#define DEVEPOLL_REOPEN_NEST	0x10000000
/* It may be mapped, and wait with DEVEPOLL_WAIT_MAPPED and DEVEPOLL_TAKE. */
#define DEVEPOLL_REOPEN_MAP	0x20000000
/* It may make further opens, with no more rights than its own. */
#define DEVEPOLL_REOPEN_OPEN	0x40000000

/**
 * define DEVEPOLL_REOPEN - open the same instance once more
 *
 * The argument is a number, passed by value: O_RDONLY, O_WRONLY or O_RDWR,
 * with or without O_CLOEXEC.  So a program can pass an instance to another one
 * that may only wait on it, or only change it.  The instance lives until the
 * last of its opens is closed.  open(2) of the node creates another instance;
 * open(2) of a further open's fd in /proc fails with ENXIO, and that of the
 * first one's creates another instance.
 *
 * An open for reading may wait and query, and nothing else: its holder can use
 * up nothing of which the instance has a limited number.  O_RDONLY may be
 * combined with DEVEPOLL_REOPEN_NEST, DEVEPOLL_REOPEN_MAP and
 * DEVEPOLL_REOPEN_OPEN to allow more.  Its waits take events and change nothing
 * else: no fd leaves the instance or gets another owner by them, and if they
 * would be the first use of the instance, they fail with EBUSY.
 *
 * The new open is not a device file: security modules check it as they check an
 * fd of epoll_create(2), and not by the label of the node.
 *
 * Return: the new fd, or -1 with errno
 * EBADF: fd does not have the access that the argument asks for;
 * EINVAL: the argument has other bits, or no access mode, or has rights with
 * another mode than O_RDONLY;
 * EPERM: fd is an open for reading without DEVEPOLL_REOPEN_OPEN, or without a
 * right that the argument gives;
 * EMFILE, ENFILE, ENOMEM: as for open(2);
 * ENOSPC: the instance has eight further opens already;
 * ENOTTY: the file is not /dev/epoll, or the module is older than this request.
 */
#define DEVEPOLL_REOPEN		_IOW(EP_IOC_MAGIC, 0x15, int)

/**
 * define DEVEPOLL_NEW - make another instance, without the path of the node
 *
 * The argument is a number, passed by value: O_RDONLY, O_WRONLY or O_RDWR,
 * with or without O_CLOEXEC and O_EXCL, as for open(2) of the node.  The fd
 * must come from open(2) of /dev/epoll, or from this request.  So a process
 * that can't reach the node any more, after chroot(2) or in another /dev, can
 * make new instances if it has kept one.  The new instance has nothing of the
 * other one but the node, belongs to the user of the caller, and has no
 * interface yet, unless O_EXCL is given.
 *
 * The fd replaces only the search of the path.  Everything else that open(2)
 * checks is checked for the caller: the mode of the node, whether its mount
 * allows devices, the security modules, and the control group of devices.  So
 * an fd that was passed on allows no more than a path to the node would, and
 * no less: one that is open for reading is enough for an instance of any access.
 *
 * Return: the new fd, or -1 with errno
 * EACCES: the mode of the node, or a security module, does not permit the
 * access; or the mount is nodev;
 * EINVAL: the argument has other bits, or no access mode;
 * EPERM: fd is a further open, made by DEVEPOLL_REOPEN; or the control group
 * of devices, or a security module, does not permit the access;
 * EMFILE, ENFILE, ENOMEM: as for open(2);
 * ENOTTY: the file is not /dev/epoll, or the module is older than this request.
 */
#define DEVEPOLL_NEW		_IOW(EP_IOC_MAGIC, 0x1f, int)

/**
 * DOC: open modes
 *
 * An instance that was opened without write access can't be changed, and one
 * that was opened without read access can't be waited on or queried.  Such
 * requests fail with EBADF, as read(2) and write(2) do.  The following need
 * write access: EP_ALLOC, EP_FREE, write(2), DEVEPOLL_CTL, DEVEPOLL_SIGNAL,
 * DEVEPOLL_RING, DEVEPOLL_RING_RECLAIM, DEVEPOLL_EPOLL_CTL, DEVEPOLL_CHANGE,
 * EPIOCSPARAMS, a DEVEPOLL_SPIN that sets a value and a DEVEPOLL_WAIT with
 * changes.  The following need read access: EP_POLL, EP_ISPOLLED,
 * DEVEPOLL_WAIT, DEVEPOLL_CANCEL, DEVEPOLL_SPIN, DEVEPOLL_RING_WAIT,
 * DEVEPOLL_TAKE, DEVEPOLL_EPOLL_WAIT and EPIOCGPARAMS.  mmap(2) needs read
 * access.  The first mapping at DEVEPOLL_MAP_EVENTS and each one at
 * DEVEPOLL_MAP_RING also need write access (EACCES).  For an instance that
 * can't be waited on, poll(2) reports POLLERR, and adding it to another
 * instance fails with EPERM.  What a further open for reading may not do
 * without a right of DEVEPOLL_REOPEN fails with EACCES (mmap(2)), EPERM (to
 * add it, or to open it once more) or EBADF (waits with mapped results).
 */

/**
 * DOC: fadvise entry
 *
 * Every request of the device, except EPIOCSPARAMS and EPIOCGPARAMS, can also
 * be made as ``fadvise64(fd, argument, 0, request)``.  Through this entry,
 * security modules do not check each call, just as they do not check
 * epoll_wait(2).  A wait of the 2001 interface costs some 230 to 270
 * instructions less in this way.  Access to the device was checked when it was
 * opened.  But for the requests below, which have arguments of their own, the
 * call fails with EINVAL if the length is not 0, if the number for EP_ALLOC
 * does not fit in an int, or if EP_FREE has an argument.
 *
 * The module parameter fadvise can disable the entry at any time.
 * fadvise64(2) then fails these requests with EINVAL, as for any other device,
 * and programs must use ioctl(2).  DEVEPOLL_FEATURES reports whether the entry
 * is enabled.
 *
 * The fadvise entry also takes the calls of epoll, with their own arguments.
 * DEVEPOLL_EPOLL_WAIT takes the address of the struct epoll_event array as the
 * offset, and DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout in milliseconds) as
 * the length.  DEVEPOLL_EPOLL_CTL(op) takes the address of the struct
 * epoll_event as the offset, and the fd as the length (EBADF if that does not
 * fit in an int).  The errors are those of epoll_wait(2) and of epoll_ctl(2),
 * and those of struct devepoll_change.
 *
 * DEVEPOLL_EPOLL_CTL(op) is also an io_uring command.  The bytes of the command
 * are a struct devepoll_event with the fd, its events and its data.  The events
 * and the data must be 0 for DEVEPOLL_DEL (EINVAL).
 */
#define DEVEPOLL_EPOLL_WAIT	_IO(EP_IOC_MAGIC, 0x20)
#define DEVEPOLL_EPOLL_CTL(op)	(_IO(EP_IOC_MAGIC, 0x20) + (op))
#define DEVEPOLL_EPOLL_WAIT_LEN(maxevents, timeout_ms) \
	((__u64)(__u32)(maxevents) << 32 | (__u32)(timeout_ms))

/**
 * define DEVEPOLL_TAKE - wait for events in mapped memory
 *
 * This is the short form of a DEVEPOLL_WAIT with DEVEPOLL_WAIT_MAPPED.  It has
 * its arguments in registers, and exists as fadvise64(2) only: the offset is
 * devepoll_wait_args.events, the place in the mapping, in bytes; the length is
 * DEVEPOLL_EPOLL_WAIT_LEN(max_events, timeout in milliseconds), where a
 * negative timeout means to wait indefinitely.  It costs least if all events
 * are those of fds with DEVEPOLL_TRUST that are neither one-shot nor exclusive.
 *
 * Return: the number of events; 0 if the call timed out; or -1 with errno
 * EBADF: the instance is not open for reading;
 * EBUSY: it has another interface;
 * EINTR: a signal was caught, or the caller is being killed;
 * EINVAL: there is no mapping, the events are not within it or the offset is
 * not a multiple of 16, max_events is 0 or too large, the fadvise entry is
 * disabled, or the module is older than this request.
 */
#define DEVEPOLL_TAKE		_IO(EP_IOC_MAGIC, 0x24)

/**
 * define DEVEPOLL_CHANGE - make one change
 * @op: DEVEPOLL_ADD, DEVEPOLL_DEL or DEVEPOLL_MOD
 *
 * This is the short form of a DEVEPOLL_CTL with one change.  It exists as
 * fadvise64(2) only: the offset is the address of a struct epoll_event with the
 * events and the data, and 0 for a DEVEPOLL_DEL; the length is
 * DEVEPOLL_CHANGE_LEN(fd, flags), where flags are those of struct
 * devepoll_change.  Unlike DEVEPOLL_EPOLL_CTL(op), it refuses bits that it does
 * not know.
 *
 * Return: 0; or -1 with errno: one of the results of struct devepoll_change, or
 * EBADF: also: the instance is not open for writing;
 * EBUSY: it has another interface;
 * EFAULT: the events can't be read;
 * EINTR: the caller is being killed;
 * EINVAL: also: a DEVEPOLL_DEL with an address or flags, the fadvise entry is
 * disabled, or the module is older than this request.
 */
#define DEVEPOLL_CHANGE(op)	(_IO(EP_IOC_MAGIC, 0x28) + (op))
#define DEVEPOLL_CHANGE_LEN(fd, flags) \
	((__u64)(__u32)(flags) << 32 | (__u32)(fd))

#endif /* _UAPI_LINUX_DEVEPOLL_H */
