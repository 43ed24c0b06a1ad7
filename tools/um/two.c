// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what an event costs that goes from one processor to another, in the
 * kernel of "tools/um/kernel two", in ticks of the processors' counter.
 *
 * usage: two WAY FDS ROUNDS
 *
 * A producer on one processor writes to one of FDS eventfds, in turn to 16 of
 * them; a waiter on the other one takes the event, reads the eventfd, and
 * answers by another eventfd, which is not watched.  The producer writes when
 * the waiter has been waiting for a while.  A round counts if the waiter's call
 * had begun long enough before.
 *
 * Each line of the output has quartiles of the kernel's part of the write(), of
 * the time from its beginning until the waiter's call has ended in the kernel;
 * and of the time until the producer has read the answer, with all entries to
 * the kernel and exits from it.  The last line has the rounds that count, in
 * percent.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "../bench/backend.h"
#include "../bench/files.h"
#include "../pin.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define SYS_TICKS	1000	/* of the patch of the kernel */
enum { BEGIN, END };

/* The programs before have left processor 0 to the waiter: see init.c. */
enum { WAITER, PRODUCER };

#define USED		16	/* files that have events */
#define STEP		61
#define WARM		(4 * USED)
#define PAUSE		100000	/* ticks between two rounds */
#define ASLEEP		10000	/* ticks after which a waiter sleeps */
#define SPIN		2000	/* microseconds */

enum how { SLEEPS, SPINS, ASKS };

static const struct way {
	const char *name;
	const struct backend *be;
	enum how how;
} ways[] = {
	{ "epoll", &backend_sysepoll, SLEEPS },
	{ "calls", &backend_fadvise, SLEEPS },
	{ "ring", &backend_ring, SLEEPS },
	/* What epoll differs from itself is by chance. */
	{ "control", &backend_sysepoll, SLEEPS },
	{ "calls_spin", &backend_fadvise, SPINS },
	{ "ring_spin", &backend_ring, SPINS },
	{ "epoll_busy", &backend_sysepoll, ASKS },
	{ "calls_busy", &backend_fadvise, ASKS },
	{ "ring_busy", &backend_ring, ASKS },
};

static const struct way *way;

/* What the two processes tell each other of a round. */
struct round {
	/* The waiter's: its call that took the event. */
	uint64_t waits, woken;
	/* The producer's: its write(), and both system calls with all between. */
	uint64_t writes, written, trip;
};

static uint64_t now(void)
{
	uint32_t low, high;

	asm volatile("lfence; rdtsc; lfence"
		     : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/*
 * When a call of this processor began or ended: the one that was made @before
 * calls before the last one.
 */
static uint64_t ticks(int before, int what)
{
	return syscall(SYS_TICKS, before, what);
}

static int file_of(int round)
{
	return round % USED * STEP;
}

static void produce(const struct files *files, int answer,
		    struct round *rounds, int n)
{
	uint64_t begin = now(), value;
	int i;

	for (i = 0; i < n; i++) {
		while (now() - begin < PAUSE)
			;
		begin = now();
		files_signal(files, file_of(i));
		if (read(answer, &value, sizeof(value)) != sizeof(value))
			err(1, "the answer");
		rounds[i].trip = now() - begin;
		rounds[i].writes = ticks(1, BEGIN);
		rounds[i].written = ticks(1, END);
		begin = now();
	}
}

/* One call that sleeps, or as many as it takes.  The last one has the event. */
static void take(struct set *set)
{
	int n;

	do {
		n = way->be->wait(set, way->how == ASKS ? 0 : -1);
	} while (!n && way->how == ASKS);
	if (n != 1)
		errx(1, "%s: not one event", way->name);
}

static void answer_all(struct set *set, const struct files *files, int answer,
		       struct round *rounds, int n)
{
	const uint64_t one = 1;
	int i;

	for (i = 0; i < n; i++) {
		take(set);
		rounds[i].woken = now();
		files_clear(files, file_of(i));
		if (write(answer, &one, sizeof(one)) != sizeof(one))
			err(1, "the answer");
		/* A ring that is asked makes no call. */
		if (way->be == &backend_ring && way->how == ASKS)
			continue;
		rounds[i].waits = ticks(2, BEGIN);
		rounds[i].woken = ticks(2, END);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const char *what, uint64_t *sample, int n)
{
	qsort(sample, n, sizeof(*sample), compare);
	printf("%s %lu %lu %lu\n", what, sample[n / 4], sample[n / 2],
	       sample[n * 3 / 4]);
}

/* Did the write() find the waiter as it should be? */
static bool counts(const struct round *round)
{
	if (round->woken <= round->writes)
		return false;
	return way->how == ASKS || round->waits + ASLEEP <= round->writes;
}

static void report(const struct round *rounds, int n)
{
	uint64_t *write = calloc(n, sizeof(*write));
	uint64_t *wake = calloc(n, sizeof(*wake));
	uint64_t *trip = calloc(n, sizeof(*trip));
	int i, found = 0;

	if (!write || !wake || !trip)
		err(1, "calloc");
	for (i = 0; i < n; i++) {
		if (!counts(&rounds[i]))
			continue;
		write[found] = rounds[i].written - rounds[i].writes;
		wake[found] = rounds[i].woken - rounds[i].writes;
		trip[found++] = rounds[i].trip;
	}
	if (found < n / 2)
		errx(1, "%s: only %d of %d rounds count", way->name, found, n);
	print("write", write, found);
	print("event", wake, found);
	print("trip", trip, found);
	printf("counted %d\n", found * 100 / n);
}

static struct set *open_set(int nfds)
{
	struct devepoll_spin spin = { .usecs = SPIN };
	/* The lowest number that is free, which the set will have. */
	int fd = dup(0);
	struct set *set;

	close(fd);
	set = way->be->open(nfds);
	if (way->how == SPINS && ioctl(fd, DEVEPOLL_SPIN, &spin))
		err(1, "DEVEPOLL_SPIN");
	return set;
}

static void exchange(int nfds, int n)
{
	struct rlimit lim = { nfds + 100, nfds + 100 };
	int answer = eventfd(0, 0), status;
	struct round *rounds;
	struct files *files;
	struct set *set;
	pid_t child;

	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "setrlimit");
	rounds = mmap(NULL, n * sizeof(*rounds), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	files = files_open(nfds);
	set = open_set(nfds);
	if (answer < 0 || rounds == MAP_FAILED ||
	    !way->be->add(set, files->in, nfds))
		errx(1, "%s: no set", way->name);
	/* A program stays on the host's processor where its memory was made. */
	pin(PRODUCER);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		produce(files, answer, rounds, n);
		_exit(0);
	}
	pin(WAITER);
	answer_all(set, files, answer, rounds, n);
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "%s: the producer failed", way->name);
	report(rounds + WARM, n - WARM);
}

int main(int argc, char **argv)
{
	unsigned int i;
	int nfds, n;

	for (i = 0; argc == 4 && i < ARRAY_SIZE(ways); i++) {
		if (!strcmp(ways[i].name, argv[1]))
			way = &ways[i];
	}
	if (!way)
		errx(2, "usage: two WAY FDS ROUNDS");
	nfds = atoi(argv[2]);
	n = atoi(argv[3]);
	if (nfds < USED * STEP || n < 4)
		errx(2, "at least %d fds and 4 rounds", USED * STEP);
	exchange(nfds, WARM + n);
	return 0;
}
