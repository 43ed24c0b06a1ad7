// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes on two processors: one writes to a watched file, which wakes
 * the other one from its wait; that one reads the file and answers, and each
 * sleeps until the other one has done so.
 *
 * usage: exchange ROUNDS BACKEND...
 *
 * The marks of tools/profile/mark.h surround the rounds that count.  After each
 * back end the program prints its name, and how often the waiter slept in a
 * round.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench/backend.h"
#include "../bench/files.h"
#include "../pin.h"
#include "../profile/mark.h"

#define WATCHED		1000
/*
 * The files that have events, in turn; before those that count, each has had
 * some, so that its lines are where an event leaves them.
 */
#define USED		16
#define STEP		61
#define WARM		(4 * USED)

enum { PRODUCER, WAITER };

static const struct {
	const char *name;
	const struct backend *be;
} backends[] = {
	{ "sysepoll", &backend_sysepoll },
	{ "calls", &backend_fadvise },
	{ "ring", &backend_ring },
};

static const struct backend *backend_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (!strcmp(backends[i].name, name))
			return backends[i].be;
	errx(2, "there is no backend '%s'", name);
}

static int file_of(int round)
{
	return round % USED * STEP;
}

static void produce(const struct files *files, int answer, int rounds)
{
	uint64_t value;
	int i;

	pin(PRODUCER);
	for (i = 0; i < WARM + rounds; i++) {
		if (i == WARM)
			mark_begin();
		files_signal(files, file_of(i));
		if (read(answer, &value, sizeof(value)) != sizeof(value))
			err(1, "the answer");
	}
	mark_end();
}

static void answer_all(const struct backend *be, struct set *set,
		       const struct files *files, int answer, int rounds)
{
	const uint64_t one = 1;
	int i;

	for (i = 0; i < WARM + rounds; i++) {
		if (be->wait(set, -1) != 1)
			errx(1, "%s: not one event", be->name);
		files_clear(files, file_of(i));
		if (write(answer, &one, sizeof(one)) != sizeof(one))
			err(1, "the answer");
	}
}

static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static void exchange(const char *name, const struct files *files, int rounds)
{
	const struct backend *be = backend_of(name);
	struct set *set = be->open(WATCHED);
	int answer = eventfd(0, 0), status;
	long before;
	pid_t child;

	if (answer < 0 || !be->add(set, files->in, files->n))
		errx(1, "%s: no set", name);
	before = sleeps();
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		produce(files, answer, rounds);
		_exit(0);
	}
	answer_all(be, set, files, answer, rounds);
	printf("%s %.2f\n", name,
	       (double)(sleeps() - before) / (WARM + rounds));
	fflush(stdout);
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "%s: the producer failed", name);
	MARK(MARK_RECORD);
	close(answer);
	be->close(set);
}

int main(int argc, char **argv)
{
	int i, rounds = argc > 2 ? atoi(argv[1]) : 0;
	struct files *files;

	if (rounds < 1)
		errx(2, "usage: exchange ROUNDS BACKEND...");
	pin(WAITER);
	files = files_open(WATCHED);
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	MARK(MARK_START);
	for (i = 2; i < argc; i++)
		exchange(argv[i], files, rounds);
	return 0;
}
