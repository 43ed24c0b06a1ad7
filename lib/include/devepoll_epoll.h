/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: the calls of epoll on /dev/epoll, under a prefix.
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
 * The calls of epoll(7) with their types, on sets of the device.  They return
 * -1 and set errno where epoll's would, to what epoll's would set it to; what
 * differs is said with each.  They work on any descriptor of a set, also on one
 * that was inherited, duplicated or received; close(2) closes it.
 *
 * All may be called from any thread at any time, several waits on one set
 * among them, and in a signal handler as much as epoll's may.  Waits are
 * cancellation points; one that can sleep can be cancelled at any instruction,
 * also when it has taken events already.
 */

/**
 * devepoll_epoll_create() - make a set that survives execve(2)
 * @size: any number above 0
 *
 * Return: a descriptor, or -1 with errno
 * EINVAL: @size is not above 0;
 * or as for devepoll_epoll_create1().
 */
int devepoll_epoll_create(int size);

/**
 * devepoll_epoll_create1() - make a set
 * @flags: EPOLL_CLOEXEC or 0
 *
 * Return: a descriptor, or -1 with errno
 * EINVAL: @flags has an unknown bit;
 * EMFILE, ENFILE: no descriptor is free;
 * ENOMEM: no memory;
 * and what epoll has not:
 * ENOENT: there is no node;
 * EACCES: the node's mode forbids reading or writing;
 * ENODEV, ENXIO: the node is there, but the module is not loaded;
 * ENOTTY: the node is not the device, or the module is too old.
 */
int devepoll_epoll_create1(int flags);

/**
 * devepoll_epoll_ctl() - add, change or remove an fd
 * @epfd: the set
 * @op: EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL
 * @fd: the fd
 * @event: the events asked for, the mode and the data; not looked at by
 *	EPOLL_CTL_DEL
 *
 * An fd leaves the set when it is closed, also if its file stays open under
 * another number; a number that names another file by now can be added at
 * once.
 *
 * Return: 0, or -1 with errno
 * EFAULT: @event can't be read;
 * EBADF: @epfd or @fd is not open (but a closed fd that is in the set still can
 * be removed);
 * EPERM: the file can't be polled;
 * EINVAL: @epfd is not a set of the device, or is @fd; unknown @op; a mode that
 * epoll_ctl(2) refuses;
 * EEXIST: @fd is in the set already;
 * ENOENT: @fd is not in the set;
 * ELOOP: @fd is a set that contains this one, or sets are nested too deep, or
 * it is a set of epoll's own;
 * ENOSPC: a limit of the user, of the set or of the file is reached;
 * ENOMEM: no memory;
 * EBUSY: the set is used by the interface of 2001.
 */
int devepoll_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);

/**
 * devepoll_epoll_wait() - wait for events
 * @epfd: the set
 * @events: out: what happened
 * @maxevents: for how many there is room, at least 1
 * @timeout: milliseconds; 0 does not sleep, a negative one waits without limit
 *
 * Return: the number of events, 0 if the time was over before there was one; or
 * -1 with errno
 * EBADF: @epfd is not open;
 * EFAULT: @events can't be written (no event is lost);
 * EINTR: a signal came before an event did; the call is never restarted;
 * EINVAL: @epfd is not a set of the device, or @maxevents is below 1 or too
 * large;
 * EBUSY: the set is used by the interface of 2001.
 */
int devepoll_epoll_wait(int epfd, struct epoll_event *events, int maxevents,
			int timeout);

/**
 * devepoll_epoll_pwait() - wait for events or a signal
 * @epfd: the set
 * @events: out: what happened
 * @maxevents: for how many there is room, at least 1
 * @timeout: milliseconds, as for devepoll_epoll_wait()
 * @sigmask: signals that are blocked while the call waits, and only then; or
 *	NULL for those that are blocked anyway
 *
 * Return: as devepoll_epoll_wait(), also
 * EFAULT: @sigmask can't be read.
 */
int devepoll_epoll_pwait(int epfd, struct epoll_event *events, int maxevents,
			 int timeout, const sigset_t *sigmask);

/*
 * Where time_t has 32 bits the library was built with these, and a program that
 * asks for 64 would hand it another struct.
 */
#if defined(__LP64__) || !defined(__USE_TIME_BITS64)

/**
 * devepoll_epoll_pwait2() - wait for events or a signal, for nanoseconds
 * @epfd: the set
 * @events: out: what happened
 * @maxevents: for how many there is room, at least 1
 * @timeout: how long to wait at least, or NULL for without limit
 * @sigmask: as for devepoll_epoll_pwait()
 *
 * Return: as devepoll_epoll_pwait(), also
 * EFAULT: @timeout can't be read;
 * EINVAL: @timeout is negative, or its nanoseconds are not below 1000000000.
 */
int devepoll_epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
			  const struct timespec *timeout,
			  const sigset_t *sigmask);

#endif

#ifdef __cplusplus
}
#endif

#endif /* DEVEPOLL_EPOLL_H */
