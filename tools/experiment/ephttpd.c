// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP server of the experiment: it has one coroutine per connection, gives
 * the same answer to every request, and waits with any engine.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "answer.h"
#include "args.h"
#include "engine.h"
#include "listen.h"
#include "loop.h"

#define OWN_FDS		16	/* that are no connections */

/* The options. */
static struct loop_options loop = {
	.maxfds = 20000,
};

static const char *engine_name = "devepoll";
static int msgsize = 128;
static int port = 8080;
static int bufsize;

static int stop_pipe[2];

static const struct arg args[] = {
	ARG_TEXT("engine", "E", "wait with engine E (default: devepoll); 'list'\n"
		 "lists all engines", &engine_name),
	ARG_NUMBER("msgsize", "N", "size of the body of an answer in bytes\n"
		   "(default: 128)", &msgsize, 1, 1 << 20),
	ARG_NUMBER("port", "N", "listen on port N of 127.0.0.1 (default: 8080);\n"
		   "0 takes any port, which is printed", &port, 0, 65535),
	ARG_NUMBER("maxfds", "N", "maximum number of fds, and thus roughly of\n"
		   "connections (default: 20000)",
		   &loop.maxfds, 2 * OWN_FDS, 1 << 20),
	ARG_NUMBER("bufsize", "N", "size of the buffers of a socket in bytes\n"
		   "(default: 0, the choice of the kernel)",
		   &bufsize, 0, 1 << 24),
	{ }
};

static void read_options(int argc, char **argv)
{
	int first = args_read(argc, argv, args, "ephttpd [OPTION...]",
			      "On SIGTERM, the server prints its counters and exits.\n");

	args_done(argc, first, 0, 0);
	loop.engine = engine_choose(engine_name);
}

/* A byte in a pipe that the loop watches: no signal can come too early. */
static void stop(int sig)
{
	int saved = errno;
	ssize_t n = write(stop_pipe[1], "", 1);

	(void)sig;
	(void)n;
	errno = saved;
}

/* A coroutine's stack has no room for a signal. */
static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = stop, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = SIGSTKSZ };

	stack.ss_sp = malloc(stack.ss_size);
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		err(1, "a stack for signals");
	if (pipe2(stop_pipe, O_NONBLOCK | O_CLOEXEC))
		err(1, "pipe");
	loop.stop_fd = stop_pipe[0];
	if (sigaction(SIGTERM, &act, NULL) || sigaction(SIGINT, &act, NULL))
		err(1, "sigaction");
}

static void limit_own_files(void)
{
	struct rlimit lim;

	if (!limit_files(loop.maxfds))
		return;
	if (getrlimit(RLIMIT_NOFILE, &lim))
		err(1, "getrlimit");
	warnx("--maxfds %d is greater than the limit of open files (%ld)",
	      loop.maxfds, (long)lim.rlim_max);
	limit_files(lim.rlim_max);
}

static void ready(void)
{
	printf("listening on port %d\n", port);
	fflush(stdout);
}

static void report(void)
{
	const struct loop_counts *n = &loop_counts;

	printf("%s: %lu waits, %lu events\n", loop.engine->name, n->waits,
	       n->events);
	printf("%lu accepted, %lu refused, %lu closed\n", n->accepted,
	       n->refused, n->closed);
	printf("%lu answers, %lu rejects\n", n->answers, n->rejects);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	if (!answer_init(msgsize))
		err(1, "an answer of %d bytes", msgsize);
	limit_own_files();
	catch_signals();
	/* Errors of the engine come before those of the port. */
	loop.engine->close(engine_open(loop.engine, loop.maxfds));
	loop.listen_fd = listen_at(&port, SOMAXCONN, bufsize);
	ready();
	loop_run(&loop);
	report();
	return 0;
}
