// SPDX-License-Identifier: GPL-2.0
/*
 * Table 63-9 of The Linux Programming Interface: what a wait costs when one of
 * N fds, chosen at random, is ready.
 *
 * As there, the fds are pipes and each wait is preceded by a byte into one of
 * them.  What is counted is the wait with its reading of the events; the write
 * before and the read after it are not.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../bench/sample.h"
#include "engine.h"
#include "number.h"

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

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

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

/* Whether @fd is told within a few waits: a hint may be one for nothing. */
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
	began = now();
	if (!is_told(run, pipe[0]))
		errx(1, "%s: fd %d is ready and was not told",
		     run->engine->name, pipe[0]);
	run->seconds += now() - began;
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
	/* The first waits fill caches and take what adding has kept back. */
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

static void usage(FILE *out)
{
	fputs("usage: table639 --engine E [--waits W] N...\n"
	      "--engine E   a mechanism; `list' lists them\n"
	      "--waits W    for each N (100000, as in the book)\n"
	      "N            how many pipes are watched, one of which is ready\n"
	      "Prints a line of JSON for each N.  per_wait, the median of what\n"
	      "a wait took, and mean are ticks of the time stamp counter:\n"
	      "instructions where exact is true.\n", out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "engine", required_argument, NULL, 'e' },
		{ "waits", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const struct engine *engine = NULL;
	long n, most = 0, waits = 100000;
	struct rlimit lim;
	int i, opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'e':
			engine = engine_choose(optarg);
			break;
		case 'w':
			waits = number_of("--waits", optarg, 1, 100000000);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind == argc || !engine) {
		usage(stderr);
		return 2;
	}
	for (i = optind; i < argc; i++) {
		n = number_of("N", argv[i], 1, NFDS_MOST);
		if (n > most)
			most = n;
	}
	lim.rlim_cur = maxfds_for(most);
	lim.rlim_max = lim.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "no more than the limit of open files allows (%ld)",
		    (long)lim.rlim_cur);
	counter_calibrate();
	for (i = optind; i < argc; i++)
		measure(engine, number_of("N", argv[i], 1, NFDS_MOST), waits);
	return 0;
}
