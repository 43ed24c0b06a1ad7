/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: the system calls of epoll for /dev/epoll, in their first forms,
 * those of October and of November 2002.
 */
#ifndef DEVEPOLL_2002_H
#define DEVEPOLL_2002_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>

#include "devepoll.h"
#include "devepoll_epoll.h"
#include "devepoll_events.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: epoll of 2002
 *
 * Both forms have ``epoll_create(maxfds)``, and ``epoll_ctl(epfd, op, fd,
 * events)`` with the events themselves as last argument.  Both report each
 * arrival once.  They differ in the wait:
 *
 * 1. (20 October) ``epoll_wait(epfd, &events, timeout)`` sets a pointer into
 *    the mapping of the instance, which stays valid until the next wait.  Such
 *    an instance has the 2001 interface.
 * 2. (2 November) ``epoll_wait(epfd, events, maxevents, timeout)`` fills an
 *    array of struct pollfd.  Such an instance has the extended interface.
 *
 * A program that uses the old names must define DEVEPOLL_2002 as 1 or 2 before
 * it includes this header, or be compiled with ``-DDEVEPOLL_2002=1 -include
 * devepoll_2002.h``.  Otherwise, the header only declares names with a prefix.
 *
 * On error, all functions return -1 and set errno.
 */

/* Operations of epoll_ctl(), with their names of that time. */
#ifndef EP_CTL_ADD
#define EP_CTL_ADD	1
#define EP_CTL_DEL	2
#define EP_CTL_MOD	3
#endif

/* Instances of the first form have descriptors below this number. */
#define DEVEPOLL_2002_MAX_SETS	1024

/* By descriptor.  Each file defines the array, but a program has only one. */
#pragma weak devepoll_2002_sets
struct devepoll *devepoll_2002_sets[DEVEPOLL_2002_MAX_SETS];

static inline int devepoll_2002_result(int ret)
{
	if (ret >= 0)
		return ret;
	/* The number of a closed instance can refer to another file. */
	errno = ret == -ENOTTY ? EINVAL : -ret;
	return -1;
}

/* The first-form instance of a descriptor, or NULL with errno set. */
static inline struct devepoll *devepoll_2002_set(int epfd)
{
	struct devepoll *set = NULL;

	if (epfd >= 0 && epfd < DEVEPOLL_2002_MAX_SETS)
		set = __atomic_load_n(&devepoll_2002_sets[epfd],
				      __ATOMIC_ACQUIRE);
	if (!set && fcntl(epfd, F_GETFD) >= 0)
		errno = EINVAL;
	else if (!set)
		errno = EBADF;
	return set;
}

/**
 * devepoll_oct2002_create() - create an instance of the first form
 * @maxfds: number of fds to allocate room for
 *
 * close(2) closes the instance.  Its mapping is removed only when another
 * instance gets the same descriptor, or when the program terminates.  While one
 * thread closes an instance and creates another, no other thread may therefore
 * be in a call on the instance or look at its events.  The functions do not
 * recognize a duplicate that dup(2) has made (EINVAL).
 *
 * Return: a descriptor, or -1 with errno
 * EMFILE: no descriptor below DEVEPOLL_2002_MAX_SETS is available;
 * or an error of devepoll_open().
 */
static inline int devepoll_oct2002_create(int maxfds)
{
	struct devepoll *set, *old;
	int fd, err;

	err = devepoll_open(&set, NULL, maxfds, DEVEPOLL_NO_CLOEXEC);
	if (err) {
		errno = -err;
		return -1;
	}

	fd = devepoll_fd(set);
	if (fd >= DEVEPOLL_2002_MAX_SETS) {
		devepoll_close(set);
		return devepoll_2002_result(-EMFILE);
	}
	old = __atomic_exchange_n(&devepoll_2002_sets[fd], set,
				  __ATOMIC_ACQ_REL);
	if (old)
		devepoll_detach(old);
	return fd;
}

/**
 * devepoll_oct2002_ctl() - add, remove or change an fd in the first form
 * @epfd: the instance
 * @op: EP_CTL_ADD, EP_CTL_DEL or EP_CTL_MOD
 * @fd: the fd
 * @events: the requested events, as for poll(2)
 *
 * What an fd is ready for when it is added is reported, as the second form did.
 *
 * Return: 0, or -1 with errno
 * EBADF: @epfd or @fd is not open;
 * EEXIST: EP_CTL_ADD, and @fd is in the interest list;
 * ENOENT: EP_CTL_DEL or EP_CTL_MOD, and @fd is not in the interest list;
 * EINVAL: @epfd is not an instance of the first form, @op is unknown, or
 * @events contains POLLREMOVE;
 * or an error of devepoll_add().
 */
static inline int devepoll_oct2002_ctl(int epfd, int op, int fd,
				       unsigned int events)
{
	struct devepoll *set = devepoll_2002_set(epfd);
	int there;

	if (!set)
		return -1;
	there = devepoll_query(set, fd);
	if (there < 0 && there != -ENOENT)
		return devepoll_2002_result(there);

	switch (op) {
	case EP_CTL_ADD:
		if (there >= 0)
			return devepoll_2002_result(-EEXIST);
		return devepoll_2002_result(devepoll_add(set, fd, events));
	case EP_CTL_DEL:
		if (there < 0)
			return devepoll_2002_result(there);
		return devepoll_2002_result(devepoll_remove(set, fd));
	case EP_CTL_MOD:
		if (there < 0)
			return devepoll_2002_result(there);
		return devepoll_2002_result(devepoll_add(set, fd, events));
	default:
		return devepoll_2002_result(-EINVAL);
	}
}

/**
 * devepoll_oct2002_wait() - wait for events in the first form
 * @epfd: the instance
 * @events: out: the events, valid until the next wait on this instance
 * @timeout: milliseconds; with 0 the call does not sleep, with a negative
 *	number it waits indefinitely
 *
 * Return: the number of events; 0 if the call timed out; or -1 with errno
 * EBADF: @epfd is not open;
 * EFAULT: @events is NULL;
 * EINTR: a signal arrived before an event did;
 * EINVAL: @epfd is not an instance of the first form.
 */
static inline int devepoll_oct2002_wait(int epfd, struct pollfd const **events,
					int timeout)
{
	struct devepoll *set = devepoll_2002_set(epfd);
	struct devepoll_cursor cursor;
	int nr;

	if (!set)
		return -1;
	if (!events)
		return devepoll_2002_result(-EFAULT);

	nr = devepoll_wait(set, &cursor, timeout);
	if (nr > 0)
		*events = cursor.next;
	return devepoll_2002_result(nr);
}

/**
 * devepoll_nov2002_create() - create an instance of the second form
 * @maxfds: expected number of fds; any number greater than 0
 *
 * Return: a descriptor, or -1 with an errno of devepoll_epoll_create().
 */
static inline int devepoll_nov2002_create(int maxfds)
{
	return devepoll_epoll_create(maxfds);
}

/**
 * devepoll_nov2002_ctl() - add, remove or change an fd in the second form
 * @epfd: the instance
 * @op: EP_CTL_ADD, EP_CTL_DEL or EP_CTL_MOD
 * @fd: the fd
 * @events: the requested events, as for poll(2)
 *
 * Return: 0, or -1 with an errno of devepoll_epoll_ctl().
 */
static inline int devepoll_nov2002_ctl(int epfd, int op, int fd,
				       unsigned int events)
{
	struct epoll_event event;

	/* This form is edge-triggered and returns the requested events too. */
	events &= 0xffff;
	event.events = events | EPOLLET;
	event.data.u64 = events;
	return devepoll_epoll_ctl(epfd, op, fd, &event);
}

/* The maximum number of events that one call returns. */
#define DEVEPOLL_NOV2002_BATCH	128

/**
 * devepoll_nov2002_wait() - wait for events in the second form
 * @epfd: the instance
 * @events: out: the events; the program itself writes them, so an array that
 *	can't be written raises SIGSEGV
 * @maxevents: number of events that fit in @events; at most
 *	DEVEPOLL_NOV2002_BATCH are returned at once
 * @timeout: milliseconds; with 0 the call does not sleep, with a negative
 *	number it waits indefinitely
 *
 * Return: the number of events, or -1 with an errno of devepoll_epoll_wait(),
 * except that
 * EFAULT means that @events is NULL.
 */
static inline int devepoll_nov2002_wait(int epfd, struct pollfd *events,
					int maxevents, int timeout)
{
	struct devepoll_event batch[DEVEPOLL_NOV2002_BATCH];
	int64_t ns = timeout < 0 ? -1 : (int64_t)timeout * 1000000;
	int i, nr;

	if (maxevents < 1)
		return devepoll_2002_result(-EINVAL);
	if (!events)
		return devepoll_2002_result(-EFAULT);
	if (maxevents > DEVEPOLL_NOV2002_BATCH)
		maxevents = DEVEPOLL_NOV2002_BATCH;

	nr = devepoll_events_wait(epfd, batch, maxevents, ns);
	for (i = 0; i < nr; i++) {
		events[i].fd = batch[i].fd;
		events[i].events = batch[i].data;
		events[i].revents = batch[i].events;
	}
	return devepoll_2002_result(nr);
}

#ifdef DEVEPOLL_2002
#if DEVEPOLL_2002 == 1
#define epoll_create	devepoll_oct2002_create
#define epoll_ctl	devepoll_oct2002_ctl
#define epoll_wait	devepoll_oct2002_wait
#elif DEVEPOLL_2002 == 2
#define epoll_create	devepoll_nov2002_create
#define epoll_ctl	devepoll_nov2002_ctl
#define epoll_wait	devepoll_nov2002_wait
#else
#error "DEVEPOLL_2002 is 1 or 2"
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif /* DEVEPOLL_2002_H */
