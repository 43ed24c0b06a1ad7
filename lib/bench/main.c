// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * devepoll-bench: epoll beside /dev/epoll on this machine, in time.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/bench.h"

/* The ways take turns, so that a drift meets all of them. */
#define ROUNDS		5
#define MOST_SAMPLES	1000000
#define MOST_SECONDS	60

static const char usage[] =
"usage: devepoll-bench [--seconds=N]\n"
"\n"
"Compares epoll with /dev/epoll on this machine: the times of a wait, of a\n"
"wake-up and of an echo between two processes, and how connections are spread\n"
"over processes.  It takes two minutes.\n"
"\n"
"  --seconds=N   measure each figure for so long, 1 to 60 (5)\n"
"  --help        print this text\n"
"  --version     print the version\n";

static const char *const titles[NR_WAYS] = { "epoll", "/dev/epoll", "a ring" };

/* A row of the table; a wait if it has events. */
static const struct row {
	const char *title;
	unsigned int ready;
	void (*measure)(enum bench_way way, uint64_t ns,
			struct bench_samples *samples);
} rows[] = {
	{ "wait, 1 of 1000 fds ready", 1, NULL },
	{ "wait, 16 ready", 16, NULL },
	{ "wait, 256 ready", 256, NULL },
	{ "wake-up of a process", 0, bench_wake },
	{ "echo by two processes", 0, bench_echo },
};

static int by_size(const void *a, const void *b)
{
	const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

static void measure(const struct row *row, enum bench_way way, uint64_t ns,
		    struct bench_samples *samples)
{
	if (row->measure)
		row->measure(way, ns, samples);
	else
		bench_wait(way, row->ready, ns, samples);
}

static void print_row(const struct row *row, struct bench_samples *samples)
{
	unsigned int way;
	uint32_t nr;

	printf("%-26s", row->title);
	for (way = 0; way < NR_WAYS; way++) {
		nr = samples[way].nr;
		if (!nr) {
			printf("  %9s %9s", "-", "-");
			continue;
		}
		qsort(samples[way].ns, nr, sizeof(*samples[way].ns), by_size);
		printf("  %9u %9u", samples[way].ns[nr / 2],
		       samples[way].ns[(uint64_t)nr * 99 / 100]);
	}
	putchar('\n');
	fflush(stdout);
}

static void print_times(unsigned int seconds)
{
	const uint64_t ns = seconds * 1000000000ULL / ROUNDS;
	struct bench_samples samples[NR_WAYS];
	unsigned int i, way, round;

	for (way = 0; way < NR_WAYS; way++) {
		samples[way].room = MOST_SAMPLES;
		samples[way].ns = malloc(MOST_SAMPLES * sizeof(uint32_t));
		bench_need(!!samples[way].ns, "memory");
	}
	printf("%-26s", "nanoseconds");
	for (way = 0; way < NR_WAYS; way++)
		printf("  %19s", titles[way]);
	printf("\n%-26s", "");
	for (way = 0; way < NR_WAYS; way++)
		printf("  %9s %9s", "median", "p99");
	putchar('\n');
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (way = 0; way < NR_WAYS; way++)
			samples[way].nr = 0;
		for (round = 0; round < ROUNDS; round++)
			for (way = 0; way < NR_WAYS; way++)
				measure(rows + i, way, ns, samples + way);
		print_row(rows + i, samples);
	}
	for (way = 0; way < NR_WAYS; way++)
		free(samples[way].ns);
}

static void print_accepts(void)
{
	uint32_t counts[BENCH_WORKERS];
	unsigned int i, way;

	printf("\n%d connections, one by one, to %d with EPOLLEXCLUSIVE\n",
	       BENCH_CONNECTIONS, BENCH_WORKERS);
	for (way = WAY_EPOLL; way <= WAY_DEVICE; way++) {
		bench_accepts(way, counts);
		qsort(counts, BENCH_WORKERS, sizeof(*counts), by_size);
		printf("%-26s", titles[way]);
		for (i = 0; i < BENCH_WORKERS; i++)
			printf(" %4u", counts[i]);
		putchar('\n');
	}
}

/* Says what is missing in one line, before anything is printed. */
static void look_for_device(void)
{
	const int fd = devepoll_events_open(0);

	if (fd < 0) {
		fprintf(stderr, "devepoll-bench: /dev/epoll: %s%s\n",
			strerror(-fd), fd == -ENOENT ?
			"; load the module: modprobe devepoll" : "");
		exit(1);
	}
	close(fd);
}

static void wrong(const char *what, const char *why)
{
	fprintf(stderr, "devepoll-bench: %s%s; try devepoll-bench --help\n",
		what, why);
	exit(2);
}

static unsigned int seconds_of(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < 1 ||
	    number > MOST_SECONDS)
		wrong(text, " is no number of seconds from 1 to 60");
	return number;
}

static unsigned int options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned int seconds = 5;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
		switch (option) {
		case 's':
			seconds = seconds_of(optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			puts("devepoll-bench " DEVEPOLL_VERSION);
			exit(0);
		case ':':
			wrong(argv[optind - 1], " wants a number");
			break;
		default:
			wrong(argv[optind - 1], " is no option");
		}
	}
	if (optind < argc)
		wrong(argv[optind], " is no option");
	return seconds;
}

int main(int argc, char **argv)
{
	const unsigned int seconds = options(argc, argv);
	struct bench_set probe;
	struct rlimit limit;

	look_for_device();
	bench_set_open(&probe, WAY_EPOLL);
	bench_set_close(&probe);
	/* A thousand fds are more than some have. */
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	bench_machine();
	fflush(stdout);
	/* The workers of the last part go where the scheduler has them. */
	print_accepts();
	putchar('\n');
	bench_processor(0);
	print_times(seconds);
	return 0;
}
