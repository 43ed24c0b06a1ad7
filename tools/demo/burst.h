/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bursts of clients on the loopback, whose messages a server echoes, and the
 * kernel's counts of system calls.
 *
 * BURSTS times, BURST_CLIENTS clients connect, send BURST_MESSAGES messages
 * each, and close.  Clients and server take turns in one thread, so that each
 * run has the same work, and the server never comes too early.
 */
#ifndef DEMO_BURST_H
#define DEMO_BURST_H

#include <netinet/in.h>
#include <stdint.h>

/* Makes a listening socket that does not block; returns its address. */
struct sockaddr_in listen_on_loopback(int *listener, int backlog);

#define BURSTS		3
#define BURST_CLIENTS	20
#define BURST_MESSAGES	3

/*
 * What the server has done in this burst: connections accepted, messages
 * answered, connections closed.  Its turn ends when it has done all of them.
 */
struct burst_done {
	int accepted;
	int answered;
	int closed;
};

extern struct burst_done burst_done;

/* Accepts all connections that there are, and has the server watch each. */
void burst_accept(int listener, void (*watch)(int fd));

/* One burst; serve() is a turn of the server, until *done has come to goal. */
void burst_run(const struct sockaddr_in *addr,
	       void (*serve)(const int *done, int goal));

/*
 * Returns a counter of the calling thread's system calls.  It needs root, and
 * counts only those that the filter lets by, unless that is NULL.
 */
int counter_open(const char *filter);

uint64_t counter_read(int counter);

#endif
