/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame of the example servers: options, sockets and termination.
 */
#ifndef EXAMPLES_SERVER_H
#define EXAMPLES_SERVER_H

struct server {
	const char *device;	/* the node, for those that open one */
	int maxfds;		/* fds are below this number */
	int port;
	int listen_fd;		/* non-blocking, on the loopback interface */
	int stop_fd;		/* readable once SIGTERM or SIGINT has come */
};

/* What the loop itself counts. */
struct loop_stats {
	unsigned long waits;
	unsigned long events;
	unsigned long changes;		/* calls that changed the set */
};

/*
 * Reads the options and listens.  Ends the program with a message when any of
 * it fails.
 */
void server_start(struct server *srv, int argc, char **argv);

/* Prints the port on stdout, once everything is set up. */
void server_ready(const struct server *srv);

/* Prints the statistics; @name is the server's way of waiting. */
void server_report(const char *name, const struct loop_stats *loop);

#endif /* EXAMPLES_SERVER_H */
