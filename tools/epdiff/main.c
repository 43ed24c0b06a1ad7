// SPDX-License-Identifier: GPL-2.0
/*
 * The differential fuzzer: random sequences of operations on files that both
 * /dev/epoll and in-tree epoll watch, in lock step.
 */
#include <err.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../clock.h"
#include "../examples/number.h"
#include "run.h"
#include "settle.h"
#include "threads.h"

#define SHRINK_SECONDS	60
#define SECONDS_MOST	100000000

struct options {
	const struct engine *sides[2];
	const char *replay;
	uint64_t seed;
	int64_t ops;
	double seconds;
	double shrink;
	bool threads;
};

static void usage(FILE *out)
{
	fputs("usage: epdiff [OPTION...]\n"
	      "\n"
	      "Makes the same operations on instances of two kinds that watch the same files,\n"
	      "and stops when the results differ.  Prints the sequence of operations after\n"
	      "shortening it; --replay takes this output.\n"
	      "\n"
	      "  --engine A:B   compare A with B: device, epoll, or epoll with a fault\n"
	      "                 (default: device:epoll)\n"
	      "  --seed N       seed of the first world; the next has N + 1 (default: random)\n"
	      "  --ops N        stop after N operations (default: 100000)\n"
	      "  --seconds S    stop after S seconds\n"
	      "  --replay FILE  make the operations in FILE; - is standard input\n"
	      "  --shrink S     spend S seconds on shortening a sequence (default: 60)\n"
	      "  --threads      instead, let several threads wait at once; can't be replayed\n"
	      "  --without A,B  leave out verbs, kinds of files, nest, exclusive, bits, hold\n"
	      "  --list         print the intended differences, and all names\n"
	      "\n"
	      "Exit status: 0 if the results are the same, 1 if they differ, 2 or 3 on errors.\n",
	      out);
}

static void list(void)
{
	int i;

	/* Name, row of differences.rst, how it is dealt with. */
	puts("intended differences:");
	for (i = 0; i < INTENDED_NR; i++)
		printf("  %s\t%s\t%s\n", intended_rows[i].name,
		       intended_rows[i].row, intended_rows[i].why);
	puts("verbs:");
	for (i = 0; i < OP_VERBS; i++)
		printf("  %s\n", op_name(i));
	puts("kinds of files:");
	for (i = 0; i < FILE_KINDS; i++)
		printf("  %s\n", file_kind_name(i));
	puts("engines:\n  device\n  epoll");
	for (i = 0; i < engines_faulty_nr; i++)
		printf("  %s\n", engines_faulty[i].name);
}

static void parse_engines(struct options *o, char *text)
{
	char *second = strchr(text, ':');

	if (!second)
		errx(2, "--engine requires two names, A:B");
	*second++ = '\0';
	o->sides[0] = engine_find(text);
	o->sides[1] = engine_find(second);
	if (!o->sides[0] || !o->sides[1])
		errx(2, "unknown engine %s (try --list)",
		     o->sides[0] ? second : text);
}

static void parse_without(char *text)
{
	char *word, *rest;

	for (word = strtok_r(text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		if (!gen_without(word))
			errx(2, "unknown name %s (try --list)", word);
	}
}

/* A part of a second is a number, too. */
static double seconds_of(const char *what, const char *text)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || *end || !(n >= 0 && n <= SECONDS_MOST))
		errx(2, "%s: '%s' is not a number from 0 to %d", what, text,
		     SECONDS_MOST);
	return n;
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "engine", required_argument, NULL, 'e' },
		{ "seed", required_argument, NULL, 's' },
		{ "ops", required_argument, NULL, 'o' },
		{ "seconds", required_argument, NULL, 't' },
		{ "replay", required_argument, NULL, 'r' },
		{ "shrink", required_argument, NULL, 'k' },
		{ "without", required_argument, NULL, 'w' },
		{ "threads", no_argument, NULL, 'T' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'e':
			parse_engines(o, optarg);
			break;
		case 's':
			o->seed = number_of("--seed", optarg, 0, LONG_MAX);
			break;
		case 'o':
			o->ops = number_of("--ops", optarg, 1, 1L << 40);
			break;
		case 't':
			o->seconds = seconds_of("--seconds", optarg);
			break;
		case 'r':
			o->replay = optarg;
			break;
		case 'k':
			o->shrink = seconds_of("--shrink", optarg);
			break;
		case 'w':
			parse_without(optarg);
			break;
		case 'T':
			o->threads = true;
			break;
		case 'l':
			list();
			exit(0);
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind != argc) {
		usage(stderr);
		exit(2);
	}
}

static unsigned int read_ops(const char *path, struct op *ops)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	unsigned int n = 0, line = 0;
	char text[512];
	int ret;

	if (!in)
		err(2, "%s", path);
	while (fgets(text, sizeof(text), in)) {
		line++;
		if (n == OPS_MOST)
			errx(2, "%s: more than %d operations", path, OPS_MOST);
		ret = op_parse(text, &ops[n]);
		if (ret < 0)
			errx(2, "%s:%u: invalid operation", path, line);
		n += ret;
	}
	return n;
}

/* Everything but operations stands behind a #. */
static void print_difference(const struct run *run)
{
	const struct world *w = &run->world;
	unsigned int i;

	printf("# at operation %u of %u:\n# %s\n", w->verdict.at + 1, w->nops,
	       w->verdict.text);
	for (i = 0; i < w->nops; i++)
		op_print(stdout, &w->ops[i]);
	fflush(stdout);
}

static void print_tally(const struct run *run, const struct options *o,
			double took)
{
	const struct tally *t = &run->world.tally;
	uint64_t ops = 0;
	struct utsname u;
	int i;

	uname(&u);
	for (i = 0; i < OP_VERBS; i++)
		ops += t->ops[i];
	printf("# %s:%s on %s: %llu operations, %llu worlds, seeds %llu to %llu, %.1f s\n",
	       o->sides[0]->name, o->sides[1]->name, u.release,
	       (unsigned long long)ops, (unsigned long long)t->worlds,
	       (unsigned long long)o->seed,
	       (unsigned long long)(run->seed ? run->seed - 1 : o->seed), took);
	printf("# compared: %llu changes (%llu with a wait), %llu waits, %llu of them with events, %llu events; partial %llu, in another order %llu\n",
	       (unsigned long long)t->changes, (unsigned long long)t->rode,
	       (unsigned long long)t->waits, (unsigned long long)t->fruitful,
	       (unsigned long long)t->events, (unsigned long long)t->partial,
	       (unsigned long long)t->reordered);
	printf("# operations:");
	for (i = 0; i < OP_VERBS; i++)
		printf(" %s %llu", op_name(i), (unsigned long long)t->ops[i]);
	printf("\n# intended differences met:");
	for (i = 0; i < INTENDED_NR; i++)
		printf(" %s %llu", intended_rows[i].name,
		       (unsigned long long)t->intended[i]);
	printf("\n");
}

static int fuzz(struct run *run, const struct options *o)
{
	double began = now_seconds();
	enum outcome outcome;

	printf("# --engine %s:%s --seed %llu --ops %lld\n", o->sides[0]->name,
	       o->sides[1]->name, (unsigned long long)o->seed,
	       (long long)o->ops);
	fflush(stdout);
	run->seed = o->seed;
	run->ops_left = o->ops;
	run->until = o->seconds ? began + o->seconds : 0;
	outcome = run_random(run);
	print_tally(run, o, now_seconds() - began);
	if (outcome == RUN_SAME) {
		printf("# no difference\n");
		return 0;
	}
	printf("# DIFFERENCE in the world of seed %llu\n",
	       (unsigned long long)run->world.seed);
	printf("# at operation %u of %u:\n# %s\n", run->world.verdict.at + 1,
	       run->world.nops, run->world.verdict.text);
	fflush(stdout);
	if (o->shrink > 0) {
		shrink(run, outcome, o->shrink);
		printf("# shortened:\n");
	}
	print_difference(run);
	return 1;
}

static int replay(struct run *run, const struct options *o)
{
	unsigned int n = read_ops(o->replay, run->world.ops);

	if (run_ops(run, run->world.ops, n) == RUN_SAME) {
		printf("# no difference in %u operations\n", n);
		return 0;
	}
	print_difference(run);
	return 1;
}

int main(int argc, char **argv)
{
	struct options o = {
		.sides = { &engine_device, &engine_epoll },
		.ops = 100000,
		.shrink = SHRINK_SECONDS,
	};
	struct run *run;

	if (getrandom(&o.seed, 4, 0) != 4)
		o.seed = 1;
	parse_options(argc, argv, &o);
	signal(SIGPIPE, SIG_IGN);
	if (o.threads)
		return !threads_play(o.sides, o.seed, o.ops,
				     o.seconds ? now_seconds() + o.seconds : 0);
	settle_init(o.sides[0]->is_device || o.sides[1]->is_device);
	run = run_new(o.sides);
	return o.replay ? replay(run, &o) : fuzz(run, &o);
}
