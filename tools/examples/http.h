/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The HTTP part of the example servers: everything except waiting for events.
 */
#ifndef EXAMPLES_HTTP_H
#define EXAMPLES_HTTP_H

/* Each connection's life is driven by events alone, so count what it did. */
struct http_stats {
	unsigned long accepted;
	unsigned long refused;		/* no room for one more connection */
	unsigned long closed;
	unsigned long answers;		/* 200 */
	unsigned long rejects;		/* 4xx and 5xx */
	unsigned long bytes_in;
	unsigned long bytes_out;
};

extern struct http_stats http_stats;

/* What http_drive() leaves behind. */
enum http_next {
	HTTP_WAIT,	/* nothing more can be done before the next event */
	HTTP_CLOSE,	/* the connection is over: http_close() it */
};

/*
 * Makes room for connections whose fds are below @maxfds.  Returns 0, or -1
 * with errno.
 */
int http_init(int maxfds);

/*
 * Accepts one connection from the listening socket @lfd.  Returns its fd, or
 * -1 when there is none left: the next one comes with an event of its own.
 */
int http_accept(int lfd);

/*
 * Writes, answers and reads on @fd until the kernel says EAGAIN, which an
 * edge-triggered program must do after every event.
 */
enum http_next http_drive(int fd);

/* Closes @fd and forgets its connection. */
void http_close(int fd);

/* The number of open connections. */
int http_open_conns(void);

#endif /* EXAMPLES_HTTP_H */
