// SPDX-License-Identifier: GPL-2.0
/*
 * Makes calls again and again, between marks that plugins of QEMU know.
 *
 * usage: call [-c] [-n N] [-r ROUNDS] BACKEND WHAT...
 *
 * N fds are watched, 1000 if it is not given, and each call is made ROUNDS times, 11
 * if it is not given, after some that do not count.  With -c the caches of the
 * processor are empty before each call that counts.  After each WHAT there is a mark
 * to write down what was counted, and the program prints the name.  What closes fds,
 * and pair, must come last.
 */
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../bench/backend.h"
#include "../bench/files.h"
#include "../bench/policy.h"
#include "mark.h"

#define WARM		20	/* rounds before those that count */
#define SETS		30	/* opened in one round of sets_add */
#define BATCH		1000	/* fds added by one call, at most */
#define EVENTS		1024	/* that one wait of most back ends may return */

static const struct {
	const char *name;
	const struct backend *be;
} backends[] = {
	{ "devepoll", &backend_devepoll },
	{ "calls", &backend_fadvise },
	{ "calls_level", &backend_fadvise_level },
	{ "trusted", &backend_trusted },
	{ "ring", &backend_ring },
	{ "preload", &backend_preload_ring },
	{ "library", &backend_library },
	{ "sysepoll", &backend_sysepoll },
	{ "sysepoll_level", &backend_sysepoll_level },
};

static const struct backend *be;
static struct files *files;
static struct set *set;
static int watched = 1000;
static int rounds = 11;
/* The numbers of the files, of which the first ones are those of this round. */
static int *order;
static bool cold;
static pid_t child;

static void must(bool ok)
{
	if (!ok)
		errx(1, "%s: a call failed", be->name);
}

/* Where what counts begins, and ends. */
static void begin(bool counts)
{
	if (counts && cold)
		MARK(MARK_COLD);
	if (counts)
		mark_begin();
}

static void end(bool counts)
{
	if (counts)
		mark_end();
}

static uint64_t seed;

/* The same numbers for all back ends, by a generator of Knuth's */
static int random_below(int limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % limit;
}

/* Brings @n files at random to the beginning of the order. */
static void choose(int n)
{
	int i, other, nr;

	for (i = 0; i < n; i++) {
		other = i + random_below(watched - i);
		nr = order[i];
		order[i] = order[other];
		order[other] = nr;
	}
}

/* @ready files are ready, and one wait takes them; one of both counts. */
static void wait_for(int ready, bool counts_wakes, bool counts_wait)
{
	int i, n;

	choose(ready);
	begin(counts_wakes);
	for (i = 0; i < ready; i++)
		files_signal(files, order[i]);
	end(counts_wakes);
	begin(counts_wait);
	n = be->wait(set, 0);
	end(counts_wait);
	must(n == ready);
	for (i = 0; i < ready; i++)
		files_clear(files, order[i]);
	if (be->level)
		be->wait(set, 0);
}

static void wait_0(bool counts)
{
	wait_for(0, false, counts);
}

static void wait_1(bool counts)
{
	wait_for(1, false, counts);
}

static void wait_2(bool counts)
{
	wait_for(2, false, counts);
}

static void wait_16(bool counts)
{
	wait_for(16, false, counts);
}

static void wait_256(bool counts)
{
	wait_for(256, false, counts);
}

/* A write to a file that is watched. */
static void produce(bool counts)
{
	wait_for(1, counts, false);
}

/* Writes to many of them. */
static void produce_256(bool counts)
{
	wait_for(256, counts, false);
}

/* Another write before anybody has waited. */
static void produce_again(bool counts)
{
	files_signal(files, order[0]);
	begin(counts);
	files_signal(files, order[0]);
	end(counts);
	must(be->wait(set, 0) == 1);
	files_clear(files, order[0]);
	if (be->level)
		be->wait(set, 0);
}

/* Sets of 2001 have a slot for each fd; others have room for some events. */
static struct set *open_set(void)
{
	bool old = be == &backend_devepoll || be == &backend_library;

	return be->open(old || watched < EVENTS ? watched : EVENTS);
}

static struct set *set_of_one(int nr)
{
	struct set *one = be->open(1);

	must(be->add(one, &files->in[nr], 1));
	return one;
}

/* The other process of pair(), until it is killed. */
static void answer(void)
{
	struct set *ping = set_of_one(0);

	for (;;) {
		be->wait(ping, -1);
		if (be->level)
			files_clear(files, 0);
		files_signal(files, 1);
	}
}

/* Two processes wake each other, as in tools/bench/measure.c. */
static void pair(bool counts)
{
	static struct set *pong;

	if (!pong) {
		must(be->remove(set, files->in, 2));
		pong = set_of_one(1);
		policy_set(SCHED_FIFO);
		child = fork();
		must(child >= 0);
		if (!child)
			answer();
	}
	begin(counts);
	files_signal(files, 0);
	be->wait(pong, -1);
	if (be->level)
		files_clear(files, 1);
	end(counts);
}

typedef bool change_fn(struct set *set, const int *fds, int n);

static void change(bool counts, change_fn *fn, int nr)
{
	bool ok;

	begin(counts);
	ok = fn(set, &files->in[nr], 1);
	end(counts);
	must(ok);
}

static void remove_1(bool counts)
{
	choose(1);
	change(counts, be->remove, order[0]);
	change(false, be->add, order[0]);
}

static void add_1(bool counts)
{
	choose(1);
	change(false, be->remove, order[0]);
	change(counts, be->add, order[0]);
}

/* It is there already. */
static void add_again(bool counts)
{
	bool ok;

	begin(counts);
	ok = be->add(set, &files->in[7], 1);
	end(counts);
	must(!ok);
}

static void modify_1(bool counts)
{
	choose(1);
	change(counts, be->modify, order[0]);
}

static void change_all(bool counts, change_fn *fn)
{
	bool ok;

	begin(counts);
	ok = fn(set, files->in, watched);
	end(counts);
	must(ok);
}

static void remove_1000(bool counts)
{
	change_all(counts, be->remove);
	change_all(false, be->add);
}

/* As the bench does it: in a set that is new. */
static void add_1000(bool counts)
{
	be->close(set);
	set = open_set();
	change_all(counts, be->add);
}

static void modify_1000(bool counts)
{
	change_all(counts, be->modify);
}

static void close_set(bool counts)
{
	begin(counts);
	be->close(set);
	end(counts);
	set = open_set();
	change_all(false, be->add);
}

/* The first fd of a set; no other set watches it. */
static void add_first(bool counts)
{
	static struct files *other;
	struct set *first = be->open(1);
	bool ok;

	if (!other)
		other = files_open(1);
	begin(counts);
	ok = be->add(first, other->in, 1);
	end(counts);
	must(ok);
	be->close(first);
}

/* A file that more and more sets watch; these stay open. */
static void sets_add(bool counts)
{
	int i;

	for (i = 0; i < SETS; i++) {
		set = be->open(1);
		change(counts, be->add, 7);
	}
}

static int last;

static void close_fd(bool counts)
{
	int fd = files->in[--last];

	begin(counts);
	close(fd);
	end(counts);
}

/* An fd that is watched. */
static void close_watched(bool counts)
{
	close_fd(counts);
}

/* One that is not, while the module is loaded. */
static void close_other(bool counts)
{
	must(be->remove(set, &files->in[last - 1], 1));
	close_fd(counts);
}

static const struct {
	const char *name;
	void (*run)(bool counts);
} calls[] = {
	{ "wait_0", wait_0 }, { "wait_1", wait_1 }, { "wait_2", wait_2 },
	{ "wait_16", wait_16 }, { "wait_256", wait_256 }, { "pair", pair },
	{ "producer", produce }, { "producer_256", produce_256 },
	{ "producer_again", produce_again },
	{ "add_1", add_1 }, { "add_again", add_again },
	{ "modify_1", modify_1 }, { "remove_1", remove_1 },
	{ "add_1000", add_1000 }, { "modify_1000", modify_1000 },
	{ "remove_1000", remove_1000 },
	{ "add_first", add_first }, { "sets_add", sets_add },
	{ "close_set", close_set }, { "close_watched", close_watched },
	{ "close_other", close_other },
};

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const struct backend *backend_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(backends); i++)
		if (!strcmp(backends[i].name, name))
			return backends[i].be;
	errx(2, "there is no backend '%s'", name);
}

static void (*call_of(const char *name))(bool counts)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].run;
	errx(2, "there is no call '%s'", name);
}

/* Each file has an event once, so that caches are what they are after a while. */
static void touch_all(void)
{
	int i, first;

	for (first = 0; first < watched; first = i) {
		for (i = first; i < watched && i < first + 64; i++)
			files_signal(files, i);
		must(be->wait(set, 0) == i - first);
		for (i = first; i < watched && i < first + 64; i++)
			files_clear(files, i);
		if (be->level)
			be->wait(set, 0);
	}
}

static void add_all(void)
{
	int i, n;

	set = open_set();
	for (i = 0; i < watched; i += n) {
		n = watched - i < BATCH ? watched - i : BATCH;
		must(be->add(set, files->in + i, n));
	}
}

static void make_room(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	fprintf(file, "%d\n", 2 * watched + 1000);
	fclose(file);
}

static void raise_limits(void)
{
	struct rlimit lim = { watched + 3096, watched + 3096 };

	if (watched > 1000) {
		make_room("/proc/sys/fs/file-max");
		make_room("/proc/sys/fs/epoll/max_user_watches");
		make_room("/sys/module/devepoll/parameters/max_user_watches");
	}
	if (setrlimit(RLIMIT_NOFILE, &lim) || mlockall(MCL_CURRENT))
		err(1, "limits");
}

static void options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "cn:r:")) != -1) {
		if (option == 'c')
			cold = true;
		else if (option == 'n')
			watched = atoi(optarg);
		else if (option == 'r')
			rounds = atoi(optarg);
		else
			optind = argc;
	}
	if (argc - optind < 2 || watched < 300 || rounds < 1)
		errx(2, "usage: call [-c] [-n N] [-r ROUNDS] BACKEND WHAT...");
}

int main(int argc, char **argv)
{
	void (*run)(bool counts);
	int i;

	options(argc, argv);
	be = backend_of(argv[optind++]);
	raise_limits();
	files = files_open(watched);
	order = calloc(watched, sizeof(*order));
	if (!order)
		err(1, "calloc");
	add_all();
	MARK(MARK_START);
	touch_all();
	last = watched;
	for (; optind < argc; optind++) {
		run = call_of(argv[optind]);
		seed = 42;
		for (i = 0; i < watched; i++)
			order[i] = i;
		for (i = 0; i < WARM + rounds; i++)
			run(i >= WARM);
		MARK(MARK_RECORD);
		printf("%s %s\n", be->name, argv[optind]);
	}
	if (child)
		kill(child, SIGKILL);
	return 0;
}
