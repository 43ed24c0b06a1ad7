/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: the system calls of epoll for /dev/epoll, with a prefix.
 */
#ifndef DEVEPOLL_EPOLL_H
#define DEVEPOLL_EPOLL_H

#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: epoll
 *
 * These are the system calls of epoll(7), with their types, for instances of
 * the device.  They return -1 and set errno as those of epoll do; the
 * description of each function lists the differences.  They work on any
 * descriptor of an instance, including one that was inherited, duplicated or
 * received.  close(2) closes it.
 *
 * All functions may be called from any thread at any time, and several threads
 * may wait on one instance.  They may be called in a signal handler, as those
 * of epoll may.  Waits are cancellation points: a wait that can sleep can be
 * canceled at any instruction, even when it has already taken events.
 */

/**
 * devepoll_epoll_create() - create an instance that stays open across execve(2)
 * @size: ignored, but must be greater than 0
 *
 * Return: a descriptor, or -1 with errno
 * EINVAL: @size is not greater than 0;
 * or an error of devepoll_epoll_create1().
 */
int devepoll_epoll_create(int size);

/**
 * devepoll_epoll_create1() - create an instance
 * @flags: EPOLL_CLOEXEC or 0
 *
 * Return: a descriptor, or -1 with errno
 * EINVAL: @flags has an unknown bit;
 * EMFILE, ENFILE: no descriptor is available;
 * ENOMEM: there is not enough memory;
 * and errors that epoll does not have:
 * ENOENT: the node does not exist;
 * EACCES: the mode of the node forbids reading or writing;
 * ENODEV, ENXIO: the node exists, but the module is not loaded;
 * ENOTTY: the node is not the device, or the module is too old;
 * EPERM, EACCES, ENOSYS: a system call filter refuses every request.
 */
int devepoll_epoll_create1(int flags);

/**
 * devepoll_epoll_ctl() - add, change or remove an fd
 * @epfd: the instance
 * @op: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL
 * @fd: the fd
 * @event: the requested events, the mode and the data; EPOLL_CTL_DEL ignores it
 *
 * An fd leaves the interest list when it is closed, even if its file stays open
 * under another number.  A number that now refers to another file can be added
 * at once.
 *
 * Return: 0, or -1 with errno
 * EFAULT: @event can't be read;
 * EBADF: @epfd or @fd is not open (but a closed fd that is in the interest list
 * can still be removed);
 * EPERM: the file does not support polling;
 * EINVAL: @epfd is not an instance of the device, or is @fd; @op is unknown;
 * epoll_ctl(2) refuses the mode;
 * EEXIST: @fd is already in the interest list;
 * ENOENT: @fd is not in the interest list;
 * ELOOP: @fd is an instance that contains this one, instances would be nested
 * too deep, or @fd is an instance of epoll itself;
 * ENOSPC: a limit of the user, of the instance or of the file was reached;
 * ENOMEM: there is not enough memory;
 * EBUSY: the instance has the 2001 interface.
 */
int devepoll_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);

/**
 * devepoll_epoll_wait() - wait for events
 * @epfd: the instance
 * @events: out: the events
 * @maxevents: number of events that fit in @events, at least 1
 * @timeout: milliseconds; with 0 the call does not sleep, with a negative
 *	number it waits indefinitely
 *
 * Return: the number of events; 0 if the call timed out; or -1 with errno
 * EBADF: @epfd is not open;
 * EFAULT: @events can't be written (no event is lost);
 * EINTR: a signal arrived before an event did; the call is never restarted;
 * EINVAL: @epfd is not an instance of the device, or @maxevents is less than 1
 * or too large;
 * EBUSY: the instance has the 2001 interface.
 */
int devepoll_epoll_wait(int epfd, struct epoll_event *events, int maxevents,
			int timeout);

/**
 * devepoll_epoll_pwait() - wait for events or a signal
 * @epfd: the instance
 * @events: out: the events
 * @maxevents: number of events that fit in @events, at least 1
 * @timeout: milliseconds, as for devepoll_epoll_wait()
 * @sigmask: the signal mask while the call waits; or NULL to leave the signal
 *	mask as it is
 *
 * Return: as devepoll_epoll_wait(), and
 * EFAULT: @sigmask can't be read.
 */
int devepoll_epoll_pwait(int epfd, struct epoll_event *events, int maxevents,
			 int timeout, const sigset_t *sigmask);

/*
 * If time_t has 32 bits, the library was built with that size, and a program
 * that selects 64 bits would pass another structure.
 */
#if defined(__LP64__) || !defined(__USE_TIME_BITS64)

/**
 * devepoll_epoll_pwait2() - wait with a timeout in nanoseconds
 * @epfd: the instance
 * @events: out: the events
 * @maxevents: number of events that fit in @events, at least 1
 * @timeout: minimum time to wait, or NULL to wait indefinitely
 * @sigmask: as for devepoll_epoll_pwait()
 *
 * Return: as devepoll_epoll_pwait(), and
 * EFAULT: @timeout can't be read;
 * EINVAL: @timeout is negative, or its nanoseconds are not less than
 * 1000000000.
 */
int devepoll_epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
			  const struct timespec *timeout,
			  const sigset_t *sigmask);

#endif

#ifdef __cplusplus
}
#endif

#endif /* DEVEPOLL_EPOLL_H */
