/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting until an operation on a file has no further effects.
 */
#ifndef EPDIFF_SETTLE_H
#define EPDIFF_SETTLE_H

#include <stdbool.h>

/**
 * settle_init() - stay on one processor
 * @workers: let the kernel's unbound workers run there, too; that is for
 *	guests, since it changes the machine
 *
 * Soft interrupts, ptys' workers and the device's deferred wake-ups then run
 * between two of our instructions and never beside us.
 */
void settle_init(bool workers);

/* Call it in each new process that plays a world. */
void settle_open(void);

/* Segments that are under way have come; pass the ends that are open, or -1. */
void settle_tcp(int fd, int peer_fd);

/* The ends of a pty that was just made. */
void settle_pty_made(int master, int slave);

/* Call it before and after something is written to the other end of @fd. */
void settle_pty_before(void);
void settle_pty_after(int fd);

/* A timer that was set to the past has expired. */
void settle_timer(int fd);

/* Workers that were woken have run, being on this processor. */
void settle_workers(void);

#endif /* EPDIFF_SETTLE_H */
