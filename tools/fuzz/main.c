// SPDX-License-Identifier: GPL-2.0
/* libFuzzer's side: the coverage, and the processes that run the inputs. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

/* After so long without an end, sleeping calls are interrupted. */
#define INTERRUPT_MS	8
/* After so many times, something hangs. */
#define INTERRUPTS_MOST	3000

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The module counts in this section, which libFuzzer reads and clears. */
__attribute__((section("__libfuzzer_extra_counters"), aligned(4096)))
static uint8_t counters[COVER_BLOCKS];

struct control *control;
static int cover = -1;
static pid_t processes[PROCESSES];

static void process_start(unsigned int nr)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid) {
		processes[nr] = pid;
		return;
	}
	munmap(counters, sizeof(counters));
	process_run(nr);
}

static void set_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* A kernel without it has nothing that could be set. */
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		warn("%s", path);
	if (fd >= 0)
		close(fd);
}

/* Allocations that may sleep fail too; nothing is said about it. */
static void set_failures(void)
{
	const char *dir = "/sys/kernel/debug/";
	static const char *const texts[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
		{ "fail_usercopy/verbose", "0" },
	};
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, texts[i][0]);
		set_text(path, texts[i][1]);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned int i;

	(void)argc;
	(void)argv;
	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (control == MAP_FAILED)
		err(2, "mmap");
	control->verbose = getenv("FUZZ_VERBOSE");
	cover = open("/dev/devepoll-fuzz", O_RDWR | O_CLOEXEC);
	if (cover < 0)
		warn("/dev/devepoll-fuzz: without coverage");
	else if (mmap(counters, sizeof(counters), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED, cover, 0) != counters)
		err(2, "/dev/devepoll-fuzz");
	for (i = 0; i < PROCESSES; i++) {
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK |
			       SOCK_CLOEXEC, 0, control->inbox[i]))
			err(2, "socketpair");
	}
	set_failures();
	for (i = 0; i < PROCESSES; i++)
		process_start(i);
	return 0;
}

/* Fds that were sent and not received. */
static void empty_inboxes(void)
{
	struct actor nobody = { .nr = 0 };
	struct op op = {};
	unsigned int i;

	for (i = 0; i < PROCESSES; i++) {
		nobody.nr = i * THREADS;
		while (do_receive(&nobody, &op) >= 0)
			;
	}
	close_range(SLOT_FIRST, ~0U, 0);
}

/* Ends what sleeps for long, and sees to processes that have died. */
static void prod(void)
{
	unsigned int i, j;
	pid_t pid;

	for (i = 0; i < ACTORS; i++) {
		if (control->busy[i] && control->tid[i])
			syscall(SYS_tgkill, processes[i / THREADS],
				control->tid[i], SIGUSR1);
	}
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (i = 0; i < PROCESSES && processes[i] != pid; i++)
			;
		if (i == PROCESSES)
			continue;
		for (j = i * THREADS; j < (i + 1) * THREADS; j++) {
			control->tid[j] = 0;
			control->busy[j] = 0;
		}
		process_start(i);
	}
}

static void give_up(void)
{
	unsigned int i;

	for (i = 0; i < ACTORS; i++) {
		if (!control->busy[i])
			continue;
		fprintf(stderr, "actor %u: operation %u, %s\n", i,
			control->at[i],
			verbs[control->ops[control->at[i] % OPS_MOST].verb %
			      nr_verbs].name);
	}
	set_text("/proc/sysrq-trigger", "w");
	fprintf(stderr, "an input does not end\n");
	abort();
}

static void start(void)
{
	unsigned int i, nr, busy = 0;

	for (i = 0; i < control->nr; i++) {
		nr = OP_ACTOR(&control->ops[i]);
		/* The first thread of a process clears up. */
		busy |= 1 << nr | 1 << (nr - nr % THREADS);
	}
	for (i = 0; i < ACTORS; i++)
		control->busy[i] = busy >> i & 1;
	for (i = 0; i < ACTORS; i++) {
		if (busy & 1 << i)
			futex_wake(&control->busy[i]);
	}
}

static bool all_done(void)
{
	unsigned int i;

	for (i = 0; i < ACTORS && !control->busy[i]; i++)
		;
	return i == ACTORS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int prods = 0;
	uint32_t ends;

	size -= size % sizeof(struct op);
	if (size > sizeof(control->ops))
		size = sizeof(control->ops);
	if (cover >= 0 && write(cover, data, size) != (ssize_t)size)
		err(2, "/dev/devepoll-fuzz");
	memcpy(control->ops, data, size);
	control->nr = size / sizeof(struct op);
	start();
	for (;;) {
		ends = control->ends;
		if (all_done())
			break;
		futex_wait(&control->ends, ends, INTERRUPT_MS);
		if (control->ends != ends)
			continue;
		prod();
		if (prods++ == INTERRUPTS_MOST)
			give_up();
	}
	/* One may have died after it was done. */
	if (prods)
		prod();
	empty_inboxes();
	return 0;
}
