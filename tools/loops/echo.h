/* SPDX-License-Identifier: GPL-2.0 */
/* An echo server on an event loop, and the clients that measure it. */
#ifndef LOOPS_ECHO_H
#define LOOPS_ECHO_H

/**
 * struct loop - an event loop of a library
 * @name: the name of the library
 * @open: makes the loop, on the device or on epoll; returns the name of its
 *	backend
 * @watch: calls echo_readable() whenever the fd is readable
 * @forget: stops this, before the fd is closed
 * @turn: waits once, and calls what there is to call
 * @close: ends the loop
 */
struct loop {
	const char *name;
	const char *(*open)(int on_device);
	void (*watch)(int fd);
	void (*forget)(int fd);
	void (*turn)(void);
	void (*close)(void);
};

/* Numbers of fds are below this. */
#define ECHO_FDS	64

extern const struct loop echo_loop;

void echo_readable(int fd);

#endif
