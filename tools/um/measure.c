// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the calls of one back end in the kernel of tools/um/kernel, in ticks
 * of the processor's counter.
 *
 * usage: measure BACKEND FDS ROUNDS
 *
 * The kernel times its own part of each call.  What reads a ring is timed here,
 * whole.  Each line of the output is a call with the quartiles of its ticks.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bench/backend.h"
#include "../bench/files.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define SYS_TICKS	1000	/* of the patch of the kernel */
#define WARM		20	/* rounds before those that count */
#define BATCH		256	/* fds added by one call, at most */
#define EVENTS		1024	/* that one wait may return */
#define READY		256	/* at most */

static const struct {
	const char *name;
	const struct backend *be;
} backends[] = {
	{ "epoll", &backend_sysepoll },
	{ "calls", &backend_fadvise },
	{ "trusted", &backend_trusted },
	{ "ring", &backend_ring },
	{ "epoll_level", &backend_sysepoll_level },
	{ "calls_level", &backend_fadvise_level },
};

static const struct backend *be;
static struct files *files;
static struct set *set;
static int watched, rounds;
/* The numbers of the files, of which the first ones are those of this round. */
static int *order;

static void must(bool ok, const char *what)
{
	if (!ok)
		errx(1, "%s: %s failed", be->name, what);
}

static uint64_t now(void)
{
	uint32_t low, high;

	asm volatile("lfence; rdtsc; lfence"
		     : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* What the kernel has timed since this was called last, of @n calls at most. */
static int take(uint32_t *ticks, int n)
{
	int found = syscall(SYS_TICKS, ticks, n);

	if (found < 0)
		err(1, "the kernel has no ticks");
	return found;
}

/* All ticks of one kind of call. */
struct sample {
	uint32_t *ticks;
	int n;
};

static void sample_init(struct sample *sample, int n)
{
	sample->ticks = calloc(n, sizeof(*sample->ticks));
	sample->n = 0;
	if (!sample->ticks)
		err(1, "calloc");
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sample_print(struct sample *sample, const char *call)
{
	int n = sample->n;

	qsort(sample->ticks, n, sizeof(*sample->ticks), compare);
	printf("%s %u %u %u\n", call, sample->ticks[n / 4],
	       sample->ticks[n / 2], sample->ticks[n * 3 / 4]);
	free(sample->ticks);
}

/* Brings @n files at random to the beginning of the order. */
static void choose(int n)
{
	int i, other, nr;

	for (i = 0; i < n; i++) {
		other = i + random() % (watched - i);
		nr = order[i];
		order[i] = order[other];
		order[other] = nr;
	}
}

/*
 * @ready of the files become ready, and one wait takes them.  Adds the ticks of
 * the writes and of the wait.
 */
static void round_of(int ready, struct sample *writes, struct sample *waits)
{
	bool is_ring = be == &backend_ring;
	static uint32_t ticks[READY + 1];
	uint64_t begin, end;
	int i, n;

	take(ticks, 0);
	for (i = 0; i < ready; i++)
		files_signal(files, order[i]);
	begin = now();
	n = be->wait(set, 0);
	end = now();
	must(n == ready, "a wait");
	must(take(ticks, READY + 1) == ready + !is_ring, "counting calls");
	for (i = 0; i < ready; i++) {
		files_clear(files, order[i]);
		writes->ticks[writes->n++] = ticks[i];
	}
	waits->ticks[waits->n++] = is_ring ? end - begin : ticks[ready];
	if (be->level)
		be->wait(set, 0);
}

/*
 * Prints the ticks of waits for @ready files and of the writes before them, if
 * these have a name.  With @same the files are always the same.
 */
static void measure(int ready, bool same, const char *wait, const char *write)
{
	struct sample writes, waits;
	int i;

	sample_init(&writes, (WARM + rounds) * ready + 1);
	sample_init(&waits, WARM + rounds);
	for (i = 0; i < WARM + rounds; i++) {
		if (i == WARM) {
			writes.n = 0;
			waits.n = 0;
		}
		if (!same)
			choose(ready);
		round_of(ready, &writes, &waits);
	}
	if (wait)
		sample_print(&waits, wait);
	if (write)
		sample_print(&writes, write);
}

/* Removes a file and adds it again. */
static void measure_changes(void)
{
	struct sample adds, removes;
	uint32_t ticks[2];
	int i, *fd;

	sample_init(&adds, WARM + rounds);
	sample_init(&removes, WARM + rounds);
	for (i = 0; i < WARM + rounds; i++) {
		choose(1);
		fd = &files->in[order[0]];
		take(ticks, 0);
		must(be->remove(set, fd, 1) && be->add(set, fd, 1), "a change");
		must(take(ticks, 2) == 2, "counting calls");
		if (i < WARM)
			continue;
		removes.ticks[removes.n++] = ticks[0];
		adds.ticks[adds.n++] = ticks[1];
	}
	sample_print(&adds, "add");
	sample_print(&removes, "remove");
}

/* What the counter itself takes, and the least that a call takes. */
static void measure_nothing(void)
{
	struct sample calls;
	int i;

	sample_init(&calls, rounds);
	take(calls.ticks, 0);
	for (i = 0; i < rounds; i++)
		syscall(SYS_getppid);
	calls.n = take(calls.ticks, rounds);
	must(calls.n == rounds, "counting calls");
	sample_print(&calls, "getppid");
}

/* Each file has an event once. */
static void touch_all(void)
{
	int i, first;

	for (first = 0; first < watched; first = i) {
		for (i = first; i < watched && i < first + BATCH; i++)
			files_signal(files, i);
		must(be->wait(set, 0) == i - first, "a wait");
		for (i = first; i < watched && i < first + BATCH; i++)
			files_clear(files, i);
		if (be->level)
			be->wait(set, 0);
	}
}

static void prepare(void)
{
	struct rlimit lim = { watched + 100, watched + 100 };
	int i, n;

	if (setrlimit(RLIMIT_NOFILE, &lim) || mlockall(MCL_CURRENT))
		err(1, "limits");
	files = files_open(watched);
	order = calloc(watched, sizeof(*order));
	if (!order)
		err(1, "calloc");
	set = be->open(EVENTS);
	for (i = 0; i < watched; i += n) {
		n = watched - i < BATCH ? watched - i : BATCH;
		must(be->add(set, files->in + i, n), "adding fds");
	}
	for (i = 0; i < watched; i++)
		order[i] = i;
	touch_all();
}

int main(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; argc == 4 && i < ARRAY_SIZE(backends); i++) {
		if (!strcmp(backends[i].name, argv[1]))
			be = backends[i].be;
	}
	if (!be)
		errx(2, "usage: measure BACKEND FDS ROUNDS");
	watched = atoi(argv[2]);
	rounds = atoi(argv[3]);
	if (watched < READY || rounds < 4)
		errx(2, "at least %d fds and 4 rounds", READY);
	prepare();
	measure_nothing();
	measure(0, false, "wait_0", NULL);
	measure(1, false, "wait_1", NULL);
	measure(1, true, NULL, "write_hot");
	measure(16, false, "wait_16", "write_16");
	measure(256, false, "wait_256", "write_256");
	measure_changes();
	return 0;
}
