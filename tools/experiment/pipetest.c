// SPDX-License-Identifier: GPL-2.0
/*
 * Passes messages around a ring of pipes: each message is read from one pipe
 * and written to the next one.  There are as many messages as "threads", of a
 * byte each.  Prints the result as JSON.
 *
 * A pass is one step of a message, and a generation is one step of every
 * message.  In the test of 2002, each message was a thread; here, a single
 * process passes all of them.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../clock.h"
#include "args.h"
#include "engine.h"

#define OWN_FDS		16	/* that are no pipes */

static const struct engine *engine;
static const char *engine_name = "devepoll";
static int pipes;
static int threads;
static long generations;

static struct engine_set *set;
static int (*ends)[2];		/* by pipe: where to read and to write */
static int *pipe_of;		/* by fd to read from */
static char *buf;
static size_t buf_len;		/* for all messages, and more */

static const struct arg args[] = {
	ARG_TEXT("engine", "E", "wait with engine E (default: devepoll); 'list'\n"
		 "lists all engines", &engine_name),
	{ }
};

static void read_options(int argc, char **argv)
{
	int first = args_read(argc, argv, args,
			      "pipetest [OPTION...] PIPES THREADS GENERATIONS",
			      NULL);

	engine = engine_choose(engine_name);
	args_done(argc, first, 3, 3);
	pipes = number_of("PIPES", argv[first], 1, 500000);
	threads = number_of("THREADS", argv[first + 1], 1, pipes);
	generations = number_of("GENERATIONS", argv[first + 2], 1, 1L << 40);
}

static void put(int pipe)
{
	ssize_t n = write(ends[pipe][1], buf, 1);

	if (n < 0)
		err(1, "write to pipe %d", pipe + 1);
	if (!n)
		errx(1, "pipe %d is full", pipe + 1);
}

static void make_pipes(int maxfds)
{
	int i, ret;

	ends = calloc(pipes, sizeof(*ends));
	pipe_of = calloc(maxfds, sizeof(*pipe_of));
	/* A read that is shorter than it could be has emptied the pipe. */
	buf_len = threads + 1;
	buf = calloc(1, buf_len);
	if (!ends || !pipe_of || !buf)
		err(1, "%d pipes", pipes);
	for (i = 0; i < pipes; i++) {
		if (pipe2(ends[i], O_NONBLOCK | O_CLOEXEC))
			err(1, "pipe %d of %d", i + 1, pipes);
		if (ends[i][0] >= maxfds)
			errx(1, "too many files are open already");
		/* It allocates a page for the first message, and keeps it. */
		put(i);
		if (read(ends[i][0], buf, buf_len) != 1)
			err(1, "read from pipe %d", i + 1);
		pipe_of[ends[i][0]] = i;
		ret = engine->add(set, ends[i][0], POLLIN);
		if (ret)
			errx(1, "engine %s can't watch pipe %d: %s",
			     engine->name, i + 1, strerror(-ret));
	}
	/* All messages may meet in one pipe. */
	if (fcntl(ends[pipes - 1][1], F_GETPIPE_SZ) < threads)
		errx(1, "%d messages do not fit into a pipe", threads);
}

static long pass_on(const struct pollfd *event)
{
	int i, pipe = pipe_of[event->fd];
	ssize_t n;

	if (event->revents & POLLNVAL)
		errx(1, "engine %s can't watch pipe %d", engine->name,
		     pipe + 1);
	n = read(event->fd, buf, buf_len);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		err(1, "read from pipe %d", pipe + 1);
	/* Those that met part again, or all would stay together for ever. */
	for (i = 0; i < n; i++)
		put((pipe + 1 + i) % pipes);
	return n;
}

/* As many passes as asked for, or a few more. */
static long run(void)
{
	long passes = 0, before = -1, wanted = threads * generations;
	const struct pollfd *events = NULL;
	int i, nr;

	while (passes < wanted) {
		nr = engine->wait(set, &events, 10000);
		if (nr == -EINTR)
			continue;
		if (nr < 0)
			errx(1, "engine %s: %s", engine->name, strerror(-nr));
		/* It may be woken for nothing, but not twice in a row. */
		if (!nr && passes == before)
			errx(1, "engine %s lost a message", engine->name);
		if (!nr)
			before = passes;
		for (i = 0; i < nr; i++)
			passes += pass_on(&events[i]);
	}
	return passes;
}

/* All messages are still there. */
static void count_messages(void)
{
	long bytes = 0;
	int i, n;

	for (i = 0; i < pipes; i++) {
		if (ioctl(ends[i][0], FIONREAD, &n))
			err(1, "pipe %d", i + 1);
		bytes += n;
	}
	if (bytes != threads)
		errx(1, "%ld bytes in the pipes instead of %d", bytes, threads);
}

int main(int argc, char **argv)
{
	double began, took;
	int i, maxfds;
	long passes;

	read_options(argc, argv);
	maxfds = 2 * pipes + OWN_FDS;
	if (limit_files(maxfds))
		errx(1, "the limit of open files is too low for %d pipes",
		     pipes);
	set = engine_open(engine, maxfds);
	make_pipes(maxfds);
	for (i = 0; i < threads; i++)
		put((long)i * pipes / threads);

	began = now_seconds();
	passes = run();
	took = now_seconds() - began;
	count_messages();
	printf("{\"engine\": \"%s\", \"passes\": %ld, \"seconds\": %.9f, "
	       "\"passes_per_sec\": %.2f}\n", engine->name, passes, took,
	       passes / took);
	engine->close(set);
	return 0;
}
