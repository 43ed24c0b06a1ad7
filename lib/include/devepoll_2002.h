/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: the calls of epoll as they first were, in October and in
 * November 2002, on /dev/epoll.
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
 * Both forms have ``epoll_create(maxfds)`` and ``epoll_ctl(epfd, op, fd,
 * events)`` with the events themselves as last argument, and report each
 * arrival once.  They differ in the wait:
 *
 * 1. (20 October) ``epoll_wait(epfd, &events, timeout)`` sets a pointer into
 *    the mapping of the set, which stays valid until the next wait.  Here it
 *    is a set of the interface of 2001.
 * 2. (2 November) ``epoll_wait(epfd, events, maxevents, timeout)`` fills an
 *    array of struct pollfd.  Here it is a set of the extended interface.
 *
 * A program defines DEVEPOLL_2002 as 1 or 2 before it includes this header, or
 * is compiled with ``-DDEVEPOLL_2002=1 -include devepoll_2002.h``, and has the
 * form under the old names; without it there are only those with a prefix.
 *
 * All return -1 and set errno when they fail.
 */

/* Operations of epoll_ctl(), as they were called then. */
#ifndef EP_CTL_ADD
#define EP_CTL_ADD	1
#define EP_CTL_DEL	2
#define EP_CTL_MOD	3
#endif

/* Sets of the first form have descriptors below this. */
#define DEVEPOLL_2002_MAX_SETS	1024

/* By descriptor; one for the whole program, though each file defines it. */
#pragma weak devepoll_2002_sets
struct devepoll *devepoll_2002_sets[DEVEPOLL_2002_MAX_SETS];

static inline int devepoll_2002_result(int ret)
{
	if (ret >= 0)
		return ret;
	/* The number of a closed set can name another file. */
	errno = ret == -ENOTTY ? EINVAL : -ret;
	return -1;
}

/* The set of the first form that a descriptor stands for; NULL sets errno. */
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
 * devepoll_oct2002_create() - make a set of the first form
 * @maxfds: for how many fds there shall be room
 *
 * close(2) closes it.  Its mapping goes when the next set gets its number, or
 * with the program; so no thread may be in a call on a set, or look at events
 * of it, while another closes it and makes a new one.  A duplicate by dup(2) is
 * not known to be a set: EINVAL.
 *
 * Return: a descriptor, or -1 with errno
 * EMFILE: no descriptor below DEVEPOLL_2002_MAX_SETS is free;
 * or as devepoll_open() gives it.
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
 * @epfd: the set
 * @op: EP_CTL_ADD, EP_CTL_DEL or EP_CTL_MOD
 * @fd: the fd
 * @events: the events asked for, as for poll(2)
 *
 * What is ready when an fd is added is reported, as the second form did.
 *
 * Return: 0, or -1 with errno
 * EBADF: @epfd or @fd is not open;
 * EEXIST: EP_CTL_ADD of an fd that is in the set;
 * ENOENT: EP_CTL_DEL or EP_CTL_MOD of one that is not;
 * EINVAL: @epfd is not a set of the first form, unknown @op, or @events has
 * POLLREMOVE;
 * or as devepoll_add() gives it.
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
 * @epfd: the set
 * @events: out: where the events are, until the next wait on this set
 * @timeout: milliseconds; 0 does not sleep, a negative one waits without limit
 *
 * Return: the number of events, 0 when the time is over; or -1 with errno
 * EBADF: @epfd is not open;
 * EFAULT: @events is NULL;
 * EINTR: a signal came before an event did;
 * EINVAL: @epfd is not a set of the first form.
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
 * devepoll_nov2002_create() - make a set of the second form
 * @maxfds: how many fds there will be; any number above 0
 *
 * Return: a descriptor, or -1 with errno, as devepoll_epoll_create().
 */
static inline int devepoll_nov2002_create(int maxfds)
{
	return devepoll_epoll_create(maxfds);
}

/**
 * devepoll_nov2002_ctl() - add, remove or change an fd in the second form
 * @epfd: the set
 * @op: EP_CTL_ADD, EP_CTL_DEL or EP_CTL_MOD
 * @fd: the fd
 * @events: the events asked for, as for poll(2)
 *
 * Return: 0, or -1 with errno, as devepoll_epoll_ctl().
 */
static inline int devepoll_nov2002_ctl(int epfd, int op, int fd,
				       unsigned int events)
{
	struct epoll_event event;

	/* Events came as edges; those asked for come back with them. */
	events &= 0xffff;
	event.events = events | EPOLLET;
	event.data.u64 = events;
	return devepoll_epoll_ctl(epfd, op, fd, &event);
}

/* How many events one call hands out at most. */
#define DEVEPOLL_NOV2002_BATCH	128

/**
 * devepoll_nov2002_wait() - wait for events in the second form
 * @epfd: the set
 * @events: out: the events; written by the program itself, so an array that
 *	can't be written ends it
 * @maxevents: for how many there is room; more than DEVEPOLL_NOV2002_BATCH are
 *	not given at once
 * @timeout: milliseconds; 0 does not sleep, a negative one waits without limit
 *
 * Return: the number of events, or -1 with errno, as devepoll_epoll_wait() but
 * EFAULT: @events is NULL.
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
