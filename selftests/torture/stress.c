// SPDX-License-Identifier: GPL-2.0
/*
 * Stress for /dev/epoll: two processes that look for lost wake-ups beside one
 * that does everything at once, for some time, from a seed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "torture/stress.h"

#define PAIRS_MOST	8
#define REFCOUNT_FILE	"/sys/module/devepoll/refcnt"

struct options {
	unsigned int seconds;
	uint64_t seed;
	bool unload;
};

static void usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [--seconds N] [--seed N] [--unload]\n"
		"  --seconds N  run for so long (5)\n"
		"  --seed N     do the same again\n"
		"  --unload     unload the module at the end, and load $DEVEPOLL_KO again\n",
		name);
	exit(KSFT_FAIL);
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "unload", no_argument, NULL, 'u' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 't')
			o->seconds = strtoul(optarg, NULL, 0);
		else if (c == 's')
			o->seed = strtoull(optarg, NULL, 0);
		else if (c == 'u')
			o->unload = true;
		else
			usage(argv[0]);
	}
	if (optind != argc || !o->seconds)
		usage(argv[0]);
}

static pid_t start_pair(const struct options *o, unsigned int i)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(pair_run(pair_faces[i], o->seed + i + 1, o->seconds));
	return pid;
}

static pid_t start_chaos(const struct options *o, struct chaos_verdict *v)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(o->seconds + 2 * STRESS_BOUND_SECONDS);
		chaos_run(o->seed, o->seconds, v);
		exit(0);
	}
	return pid;
}

static bool ended_well(pid_t pid, const char *what)
{
	int status = -1;

	if (waitpid(pid, &status, 0) == pid && status == 0)
		return true;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		ksft_print_msg("%s: hung\n", what);
	else
		ksft_print_msg("%s: ended with status %#x\n", what, status);
	return false;
}

static long module_references(void)
{
	FILE *f = fopen(REFCOUNT_FILE, "re");
	long n = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

/* The last reference of a file may go a moment after the last close. */
static bool module_becomes_unused(void)
{
	double until = now_seconds() + STRESS_BOUND_SECONDS;

	while (module_references() > 0 && now_seconds() < until)
		sched_yield();
	return module_references() == 0;
}

/* Does the module unload and, if its file is known, load again? */
static bool module_reloads(void)
{
	const char *path = getenv("DEVEPOLL_KO");
	bool loaded;
	int fd;

	if (syscall(SYS_delete_module, "devepoll", O_NONBLOCK)) {
		ksft_print_msg("unload: %s\n", strerror(errno));
		return false;
	}
	if (!path)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	loaded = fd >= 0 && !syscall(SYS_finit_module, fd, "", 0);
	if (!loaded)
		ksft_print_msg("load: %s\n", strerror(errno));
	close(fd);
	return loaded;
}

static void report_chaos(const struct chaos_verdict *v, bool ended)
{
	ksft_test_result(ended, "nothing_hangs_or_dies\n");
	ksft_test_result(ended && !v->bad_results,
			 "results_are_whole_and_stay_untouched\n");
	ksft_test_result(ended && !v->bad_errors,
			 "no_call_gives_an_unexpected_errno\n");
	ksft_test_result(ended && !v->idle_operations, "every_operation_ran\n");
	ksft_print_msg("the tracer was switched %lu times\n",
		       v->tracer_toggles);
	if (v->has_tracer)
		ksft_test_result(v->tracer_toggles,
				 "tracer_on_the_hooked_function_is_harmless\n");
	else
		ksft_test_result_skip("no tracer for the hooked function\n");
}

int main(int argc, char **argv)
{
	struct options o = { .seconds = 5, .seed = time(NULL) };
	struct chaos_verdict *v;
	pid_t pairs[PAIRS_MOST], chaos;
	bool noticed = true, ended;
	sigset_t mask;
	unsigned int i;

	parse_options(argc, argv, &o);
	ksft_print_header();
	if (access("/dev/epoll", R_OK | W_OK))
		ksft_exit_skip("no /dev/epoll\n");
	ksft_set_plan(8);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ksft_print_msg("--seed %llu --seconds %u, %ld CPUs\n",
		       (unsigned long long)o.seed, o.seconds,
		       sysconf(_SC_NPROCESSORS_ONLN));
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, STRESS_SIGNAL);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	v = mmap(NULL, sizeof(*v), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (v == MAP_FAILED || !tracer_lock_init())
		ksft_exit_fail_msg("no memory\n");

	v->has_tracer = tracer_start();
	for (i = 0; i < nr_pair_faces; i++)
		pairs[i] = start_pair(&o, i);
	chaos = start_chaos(&o, v);
	ended = ended_well(chaos, "chaos");
	for (i = 0; i < nr_pair_faces; i++)
		noticed &= ended_well(pairs[i], "pair");
	tracer_stop();

	ksft_test_result(noticed, "every_event_is_noticed\n");
	report_chaos(v, ended);
	ksft_test_result(module_becomes_unused(), "nothing_stays_open\n");
	if (o.unload && geteuid() == 0)
		ksft_test_result(module_reloads(), "module_unloads\n");
	else
		ksft_test_result_skip("unloading was not asked for\n");
	ksft_finished();
}
