/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * <sys/devpoll.h>: /dev/poll for programs that were written for Solaris.
 */
#ifndef _SYS_DEVPOLL_H
#define _SYS_DEVPOLL_H

#include <poll.h>
#include <signal.h>
#include <sys/select.h>	/* sigset_t in strict modes of C, too */

/**
 * DOC: sys/devpoll.h
 *
 * As it stands, the header gives the Solaris face of the device: a second
 * write of an fd adds its events to those asked for, and a closed fd is
 * reported as POLLNVAL.  A program that takes a second write to replace the
 * events is compiled with ``-DDEVPOLL_REPLACE``, and has the Linux face.
 *
 * The two differ in the number of DP_POLL, which is how the device is told.
 */
#ifdef DEVPOLL_REPLACE

#include <linux/devpoll.h>

typedef struct dvpoll dvpoll_t;

#else

/**
 * struct dvpoll - argument of DP_POLL and DP_PPOLL
 * @dp_fds: where results go
 * @dp_nfds: for how many there is room
 * @dp_timeout: milliseconds to wait; 0 does not wait, negative waits without
 *	limit
 * @dp_setp: signals to be blocked meanwhile, or NULL; only DP_PPOLL looks at it
 */
typedef struct dvpoll {
	struct pollfd *dp_fds;
	nfds_t dp_nfds;
	int dp_timeout;
	sigset_t *dp_setp;
} dvpoll_t;

/* The C library may have its own value: the device takes both. */
#ifndef POLLREMOVE
#define POLLREMOVE	0x0800
#endif

#define DP_POLL		0xd001
#define DP_ISPOLLED	0xd002
#define DP_PPOLL	0xd003

#endif /* DEVPOLL_REPLACE */

#endif /* _SYS_DEVPOLL_H */
