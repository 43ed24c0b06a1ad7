// SPDX-License-Identifier: GPL-2.0
/*
 * Table 63-9 of The Linux Programming Interface: the cost of a wait if one of N
 * fds, chosen at random, is ready.
 *
 * As in the book, the fds are pipes, and the program writes a byte to one of
 * them before each wait.  The cost includes the wait and the reading of its
 * events, but not the write before and the read after it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench/sample.h"
#include "../clock.h"
#include "args.h"
#include "engine.h"

#define NFDS_MOST	100000
#define SPARE_FDS	64

static struct series series;

struct run {
	const struct engine *engine;
	struct engine_set *set;
	int (*pipes)[2];
	long nfds;
	long waits;
	double ticks;	/* of all waits */
	double seconds;	/* of all waits */
	unsigned int seed;
};

/* The fds of a set have numbers below the limit of open files. */
static long maxfds_for(long nfds)
{
	return 2 * nfds + SPARE_FDS;
}

static void pipes_open(struct run *run)
{
	long i;
	int ret;

	run->pipes = calloc(run->nfds, sizeof(*run->pipes));
	if (!run->pipes)
		err(1, "calloc");
	for (i = 0; i < run->nfds; i++) {
		if (pipe2(run->pipes[i], O_NONBLOCK | O_CLOEXEC))
			err(1, "pipe %ld of %ld", i, run->nfds);
		ret = run->engine->add(run->set, run->pipes[i][0], POLLIN);
		if (ret)
			errx(1, "%s: adding fd %d: %s", run->engine->name,
			     run->pipes[i][0], strerror(-ret));
	}
}

static void pipes_close(struct run *run)
{
	long i;

	for (i = 0; i < run->nfds; i++) {
		run->engine->remove(run->set, run->pipes[i][0]);
		close(run->pipes[i][0]);
		close(run->pipes[i][1]);
	}
	free(run->pipes);
}

/* Whether @fd is reported within a few waits: a hint may be for nothing. */
static bool is_told(struct run *run, int fd)
{
	const struct pollfd *events;
	int i, n, tries;

	for (tries = 0; tries < 4; tries++) {
		series_begin(&series);
		n = run->engine->wait(run->set, &events, 1000);
		series_end(&series);
		run->ticks += series.samples[(series.n - 1) % 2048];
		if (n < 0 && n != -EINTR)
			errx(1, "%s: wait: %s", run->engine->name,
			     strerror(-n));
		for (i = 0; i < n; i++)
			if (events[i].fd == fd && events[i].revents & POLLIN)
				return true;
	}
	return false;
}

static void one_wait(struct run *run)
{
	int *pipe = run->pipes[rand_r(&run->seed) % run->nfds];
	double began;
	char byte = 'x';

	if (write(pipe[1], &byte, 1) != 1)
		err(1, "write");
	began = now_seconds();
	if (!is_told(run, pipe[0]))
		errx(1, "%s: fd %d is ready but was not reported",
		     run->engine->name, pipe[0]);
	run->seconds += now_seconds() - began;
	if (read(pipe[0], &byte, 1) != 1)
		err(1, "read");
}

static void measure(const struct engine *engine, long nfds, long waits)
{
	struct run run = {
		.engine = engine, .nfds = nfds, .waits = waits, .seed = 639,
	};
	long i;

	run.set = engine_open(engine, maxfds_for(nfds));
	pipes_open(&run);
	/* The first waits fill caches and make deferred changes. */
	for (i = 0; i < 5; i++)
		one_wait(&run);
	run.ticks = 0;
	run.seconds = 0;
	series_clear(&series);
	for (i = 0; i < waits; i++)
		one_wait(&run);
	printf("{\"engine\": \"%s\", \"nfds\": %ld, \"waits\": %ld, ",
	       engine->name, nfds, waits);
	printf("\"per_wait\": %.1f, \"mean\": %.1f, ",
	       series_median(&series),
	       run.ticks / waits - counter_overhead());
	printf("\"seconds\": %.6f, \"exact\": %s}\n", run.seconds,
	       counter_is_exact() ? "true" : "false");
	fflush(stdout);
	pipes_close(&run);
	engine->close(run.set);
}

static const char *engine_name;
static int nr_waits = 100000;

static const struct arg args[] = {
	ARG_TEXT("engine", "E", "measure engine E; 'list' lists all engines",
		 &engine_name),
	ARG_NUMBER("waits", "W", "number of waits for each N (default: 100000, as in\n"
		   "the book)", &nr_waits, 1, 100000000),
	{ }
};

static const char about[] =
"N is the number of watched pipes, one of which is ready.  Prints a line of JSON\n"
"for each N.  per_wait, the median cost of a wait, and mean are in ticks of the\n"
"time stamp counter, which are instructions if exact is true.\n";

int main(int argc, char **argv)
{
	const struct engine *engine;
	int first, i;
	long n, most = 0;

	first = args_read(argc, argv, args,
			  "table639 --engine E [OPTION...] N...", about);
	if (!engine_name)
		errx(2, "--engine is missing (try --help)");
	engine = engine_choose(engine_name);
	args_done(argc, first, 1, argc);
	for (i = first; i < argc; i++) {
		n = number_of("N", argv[i], 1, NFDS_MOST);
		if (n > most)
			most = n;
	}
	if (limit_files(maxfds_for(most)))
		errx(1, "the limit of open files is too low (%ld are needed)",
		     maxfds_for(most));
	counter_calibrate();
	for (i = first; i < argc; i++)
		measure(engine, number_of("N", argv[i], 1, NFDS_MOST),
			nr_waits);
	return 0;
}
