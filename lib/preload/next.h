/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Functions that the preload library replaces, and also calls: those of the C
 * library, or of a library that comes after this one, such as a sanitizer's.
 * Close and the waits on instances of epoll are cancellation points, and since
 * glibc 2.41 only the C library can tell whether a call has taken effect.
 */
#ifndef DEVEPOLL_PRELOAD_NEXT_H
#define DEVEPOLL_PRELOAD_NEXT_H

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include <linux/time_types.h>

#include "internal.h"

/*
 * A member is NULL before the constructor of this library has run, and if the C
 * library has no such function.  In either case, a system call has to do.
 */
struct preload_next {
	int (*_Atomic close)(int fd);
	int (*_Atomic close_range)(unsigned int first, unsigned int last,
				   int flags);
	void (*_Atomic closefrom)(int lowfd);
	int (*_Atomic dup2)(int fd, int fd2);
	int (*_Atomic dup3)(int fd, int fd2, int flags);
	/* _Fork(3) */
	pid_t (*_Atomic fork)(void);
	int (*_Atomic epoll_wait)(int epfd, struct epoll_event *events,
				  int maxevents, int timeout);
	int (*_Atomic epoll_pwait)(int epfd, struct epoll_event *events,
				   int maxevents, int timeout,
				   const sigset_t *sigmask);
	/* The one for times of 64 bits. */
	int (*_Atomic epoll_pwait2)(int epfd, struct epoll_event *events,
				    int maxevents,
				    const struct __kernel_timespec *timeout,
				    const sigset_t *sigmask);
	int (*_Atomic pthread_cancel)(pthread_t thread);
};

extern DEVEPOLL_HIDDEN struct preload_next devepoll_preload_next;

DEVEPOLL_HIDDEN void devepoll_preload_find_next(void);

#endif /* DEVEPOLL_PRELOAD_NEXT_H */
