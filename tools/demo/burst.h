/* SPDX-License-Identifier: GPL-2.0 */
/* Clients on the loopback, and the kernel's counts of system calls. */
#ifndef DEMO_BURST_H
#define DEMO_BURST_H

#include <netinet/in.h>
#include <stdint.h>

/* Makes a listening socket that does not block; returns its address. */
struct sockaddr_in listen_on_loopback(int *listener, int backlog);

int connect_to(const struct sockaddr_in *addr);

/*
 * Returns a counter of the calling thread's system calls.  It needs root, and
 * counts only those that the filter lets by, unless that is NULL.
 */
int counter_open(const char *filter);

uint64_t counter_read(int counter);

#endif
