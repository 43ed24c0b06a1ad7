// SPDX-License-Identifier: GPL-2.0
/*
 * The frame of the example servers: options, sockets and termination.
 */
#define _GNU_SOURCE
#include "server.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "http.h"
#include "listen.h"
#include "number.h"

static int stop_pipe[2];

/* Writes to a pipe that the loop watches, so that no signal is missed. */
static void stop(int sig)
{
	ssize_t n = write(stop_pipe[1], "", 1);

	(void)sig;
	(void)n;
}

static void catch_signals(struct server *srv)
{
	struct sigaction act = { .sa_handler = stop };

	if (pipe2(stop_pipe, O_NONBLOCK | O_CLOEXEC))
		err(1, "pipe");
	srv->stop_fd = stop_pipe[0];
	if (sigaction(SIGTERM, &act, NULL) || sigaction(SIGINT, &act, NULL))
		err(1, "sigaction");
}

static void raise_limit(int maxfds)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		err(1, "getrlimit");
	if (lim.rlim_cur >= (rlim_t)maxfds)
		return;
	lim.rlim_cur = maxfds;
	if (lim.rlim_max < (rlim_t)maxfds)
		lim.rlim_max = maxfds;
	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "the limit of open files is too low (%d are needed)",
		    maxfds);
}

static void usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [-p port] [-n maxfds] [-d device] [-b bufsize]\n",
		name);
	exit(2);
}

void server_start(struct server *srv, int argc, char **argv)
{
	int opt, port = 8080, bufsize = 0;

	*srv = (struct server){ .device = "/dev/epoll", .maxfds = 4096 };
	while ((opt = getopt(argc, argv, "p:n:d:b:")) != -1) {
		switch (opt) {
		case 'p':
			port = number_of("-p", optarg, 0, 65535);
			break;
		case 'n':
			srv->maxfds = number_of("-n", optarg, 16, 1 << 20);
			break;
		case 'b':
			bufsize = number_of("-b", optarg, 0, 1 << 20);
			break;
		case 'd':
			srv->device = optarg;
			break;
		default:
			usage(argv[0]);
		}
	}
	if (optind != argc)
		usage(argv[0]);
	raise_limit(srv->maxfds);
	if (http_init(srv->maxfds))
		err(1, "no room for %d connections", srv->maxfds);
	catch_signals(srv);
	srv->listen_fd = listen_at(&port, SOMAXCONN, bufsize);
	srv->port = port;
}

void server_ready(const struct server *srv)
{
	printf("listening on port %d\n", srv->port);
	fflush(stdout);
}

void server_report(const char *name, const struct loop_stats *loop)
{
	const struct http_stats *st = &http_stats;

	printf("%s: %lu waits, %lu events, %lu calls with changes\n",
	       name, loop->waits, loop->events, loop->changes);
	printf("%lu accepted, %lu refused, %lu closed, %d open at the end\n",
	       st->accepted, st->refused, st->closed, http_open_conns());
	printf("%lu answers, %lu rejects, %lu bytes in, %lu bytes out\n",
	       st->answers, st->rejects, st->bytes_in, st->bytes_out);
	fflush(stdout);
}
