// SPDX-License-Identifier: GPL-2.0
/*
 * Makes one call again and again, between marks that the plugin knows.
 *
 * usage: call BACKEND WHAT
 */
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../bench/backend.h"
#include "../bench/files.h"
#include "../bench/policy.h"
#include "mark.h"

#define WATCHED		1000
#define WARM		20	/* rounds before those that count */
#define ROUNDS		11
#define SETS		30	/* opened in one round of sets_add */

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
static pid_t child;

static void must(bool ok)
{
	if (!ok)
		errx(1, "%s: a call failed", be->name);
}

/* One wait, @ready of 1000 files ready. */
static void wait_for(bool counts, int ready)
{
	int i, n;

	for (i = 0; i < ready; i++)
		files_signal(files, i * (WATCHED / (ready + 1)));
	if (counts)
		mark_begin();
	n = be->wait(set, 0);
	if (counts)
		mark_end();
	must(n == ready);
	for (i = 0; i < ready; i++)
		files_clear(files, i * (WATCHED / (ready + 1)));
	be->wait(set, 0);
}

static void wait_0(bool counts)
{
	wait_for(counts, 0);
}

static void wait_1(bool counts)
{
	wait_for(counts, 1);
}

static void wait_2(bool counts)
{
	wait_for(counts, 2);
}

static void wait_16(bool counts)
{
	wait_for(counts, 16);
}

static void wait_256(bool counts)
{
	wait_for(counts, 256);
}

/* A write to a file that is watched. */
static void produce(bool counts)
{
	if (counts)
		mark_begin();
	files_signal(files, 0);
	if (counts)
		mark_end();
	must(be->wait(set, 0) == 1);
	files_clear(files, 0);
	be->wait(set, 0);
}

/* Another write before anybody has waited. */
static void produce_again(bool counts)
{
	files_signal(files, 0);
	produce(counts);
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
	if (counts)
		mark_begin();
	files_signal(files, 0);
	be->wait(pong, -1);
	if (be->level)
		files_clear(files, 1);
	if (counts)
		mark_end();
}

typedef bool change_fn(struct set *set, const int *fds, int n);

static void change(bool counts, change_fn *fn, int nr)
{
	bool ok;

	if (counts)
		mark_begin();
	ok = fn(set, &files->in[nr], 1);
	if (counts)
		mark_end();
	must(ok);
}

static void remove_1(bool counts)
{
	change(counts, be->remove, 7);
	change(false, be->add, 7);
}

static void add_1(bool counts)
{
	change(false, be->remove, 7);
	change(counts, be->add, 7);
}

/* It is there already. */
static void add_again(bool counts)
{
	bool ok;

	if (counts)
		mark_begin();
	ok = be->add(set, &files->in[7], 1);
	if (counts)
		mark_end();
	must(!ok);
}

static void modify_1(bool counts)
{
	change(counts, be->modify, 7);
}

static void change_all(bool counts, change_fn *fn)
{
	bool ok;

	if (counts)
		mark_begin();
	ok = fn(set, files->in, WATCHED);
	if (counts)
		mark_end();
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
	set = be->open(WATCHED);
	change_all(counts, be->add);
}

static void modify_1000(bool counts)
{
	change_all(counts, be->modify);
}

static void close_set(bool counts)
{
	if (counts)
		mark_begin();
	be->close(set);
	if (counts)
		mark_end();
	set = be->open(WATCHED);
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
	if (counts)
		mark_begin();
	ok = be->add(first, other->in, 1);
	if (counts)
		mark_end();
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

static int last = WATCHED;

static void close_fd(bool counts)
{
	int fd = files->in[--last];

	if (counts)
		mark_begin();
	close(fd);
	if (counts)
		mark_end();
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
	{ "producer", produce }, { "producer_again", produce_again },
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

int main(int argc, char **argv)
{
	struct rlimit lim = { 4096, 4096 };
	void (*run)(bool counts);
	int i;

	if (argc != 3)
		errx(2, "usage: call BACKEND WHAT");
	be = backend_of(argv[1]);
	run = call_of(argv[2]);
	if (setrlimit(RLIMIT_NOFILE, &lim) || mlockall(MCL_CURRENT))
		err(1, "limits");
	files = files_open(WATCHED);
	set = be->open(WATCHED);
	must(be->add(set, files->in, WATCHED));
	for (i = 0; i < WARM + ROUNDS; i++)
		run(i >= WARM);
	if (child)
		kill(child, SIGKILL);
	return 0;
}
