/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * <sys/devpoll.h>: /dev/poll for programs that were written for Solaris.
 */
#ifndef _SYS_DEVPOLL_H
#define _SYS_DEVPOLL_H

#include <poll.h>
#include <signal.h>
#include <sys/select.h>	/* sigset_t, also in strict modes of C */

/**
 * DOC: sys/devpoll.h
 *
 * By default, this header provides the Solaris face of the device: a second
 * write of an fd adds to its requested events, and a closed fd is reported as
 * POLLNVAL.  A program that expects a second write to replace the events must
 * be compiled with ``-DDEVPOLL_REPLACE``, which gives it the Linux face.
 *
 * The two faces have different numbers for DP_POLL, from which the device
 * knows which face the program uses.
 */
#ifdef DEVPOLL_REPLACE

#include <linux/devpoll.h>

typedef struct dvpoll dvpoll_t;

#else

/**
 * struct dvpoll - argument of DP_POLL and DP_PPOLL
 * @dp_fds: array for the results
 * @dp_nfds: number of results that fit there
 * @dp_timeout: milliseconds to wait; with 0 the call does not wait, with a
 *	negative value it waits indefinitely
 * @dp_setp: signals that are blocked during the wait, or NULL; only DP_PPOLL
 *	uses it
 */
typedef struct dvpoll {
	struct pollfd *dp_fds;
	nfds_t dp_nfds;
	int dp_timeout;
	sigset_t *dp_setp;
} dvpoll_t;

/* The C library may define another value; the device takes both. */
#ifndef POLLREMOVE
#define POLLREMOVE	0x0800
#endif

#define DP_POLL		0xd001
#define DP_ISPOLLED	0xd002
#define DP_PPOLL	0xd003

#endif /* DEVPOLL_REPLACE */

#endif /* _SYS_DEVPOLL_H */
