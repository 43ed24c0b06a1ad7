// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP server of the experiment: one coroutine per connection, the same
 * answer to every request, and any engine to wait with.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"
#include "engine.h"
#include "listener.h"
#include "loop.h"
#include "number.h"

#define WORKERS_MAX	64
#define OWN_FDS		16	/* that are no connections */

static const char usage[] =
"usage: ephttpd [OPTION...]\n"
"\n"
"  --engine E      how to wait (devepoll); 'list' names all engines\n"
"  --msgsize N     bytes of an answer's body (128)\n"
"  --address A     where to listen (127.0.0.1)\n"
"  --port N        and at which port (8080); 0: any, it says which\n"
"  --maxfds N      fds, and so about as many connections (20000)\n"
"  --stksize N     bytes of a coroutine's stack (8192)\n"
"  --workers N     processes that share the port (1)\n"
"  --timeout S     seconds for a request to come and its answer to be taken,\n"
"                  after which the connection is closed (60); 0: no limit\n"
"  --bufsize N     bytes of a socket's buffers; 0: the kernel's choice (0)\n"
"\n"
"SIGTERM ends it, and then it prints what it did.\n";

/* The options. */
static struct loop_options loop = {
	.maxfds = 20000,
	.stksize = 8192,
	.timeout = 60000,
};

static const char *engine_name = "devepoll";
static const char *address = "127.0.0.1";
static int msgsize = 128;
static int port = 8080;
static int workers = 1;
static int bufsize;

static int stop_pipe[2];
static struct loop_counts *counts;	/* one for each worker */

static const struct option long_options[] = {
	{ "engine", required_argument, NULL, 'e' },
	{ "msgsize", required_argument, NULL, 'm' },
	{ "address", required_argument, NULL, 'a' },
	{ "port", required_argument, NULL, 'p' },
	{ "maxfds", required_argument, NULL, 'n' },
	{ "stksize", required_argument, NULL, 's' },
	{ "workers", required_argument, NULL, 'w' },
	{ "timeout", required_argument, NULL, 't' },
	{ "bufsize", required_argument, NULL, 'b' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

static void set_option(int opt)
{
	switch (opt) {
	case 'e':
		engine_name = optarg;
		break;
	case 'm':
		msgsize = number_of("--msgsize", optarg, 1, 1 << 20);
		break;
	case 'a':
		address = optarg;
		break;
	case 'p':
		port = number_of("--port", optarg, 0, 65535);
		break;
	case 'n':
		loop.maxfds = number_of("--maxfds", optarg, 2 * OWN_FDS,
					1 << 20);
		break;
	case 's':
		loop.stksize = number_of("--stksize", optarg, 8192, 1 << 24);
		break;
	case 'w':
		workers = number_of("--workers", optarg, 1, WORKERS_MAX);
		break;
	case 't':
		loop.timeout = 1000 * number_of("--timeout", optarg, 0, 86400);
		break;
	case 'b':
		bufsize = number_of("--bufsize", optarg, 0, 1 << 24);
		break;
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		fputs("try --help\n", stderr);
		exit(2);
	}
}

static void read_options(int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		set_option(opt);
	if (optind < argc)
		errx(2, "not an option: %s (try --help)", argv[optind]);
	loop.engine = engine_choose(engine_name);
}

/* A byte in a pipe that the loop watches: no signal can come too early. */
static void stop(int sig)
{
	int saved = errno;
	ssize_t n = write(stop_pipe[1], "", 1);

	(void)sig;
	(void)n;
	errno = saved;
}

/* A coroutine's stack has no room for a signal. */
static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = stop, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = SIGSTKSZ };

	stack.ss_sp = malloc(stack.ss_size);
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		err(1, "a stack for signals");
	if (pipe2(stop_pipe, O_NONBLOCK | O_CLOEXEC))
		err(1, "pipe");
	loop.stop_fd = stop_pipe[0];
	if (sigaction(SIGTERM, &act, NULL) || sigaction(SIGINT, &act, NULL))
		err(1, "sigaction");
}

static void raise_limit(void)
{
	struct rlimit lim, old;

	if (getrlimit(RLIMIT_NOFILE, &old))
		err(1, "getrlimit");
	lim.rlim_cur = loop.maxfds;
	lim.rlim_max = old.rlim_max;
	if (lim.rlim_max < lim.rlim_cur)
		lim.rlim_max = lim.rlim_cur;
	if (!setrlimit(RLIMIT_NOFILE, &lim))
		return;
	warn("--maxfds %d is more than the limit of open files (%ld)",
	     loop.maxfds, (long)old.rlim_max);
	lim.rlim_cur = old.rlim_max;
	lim.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
}

static void ready(void)
{
	printf("listening on port %d\n", port);
	fflush(stdout);
}

static void report(void)
{
	struct loop_counts sum = { 0 };
	int i;

	for (i = 0; i < workers; i++) {
		sum.waits += counts[i].waits;
		sum.events += counts[i].events;
		sum.accepted += counts[i].accepted;
		sum.refused += counts[i].refused;
		sum.closed += counts[i].closed;
		sum.answers += counts[i].answers;
		sum.rejects += counts[i].rejects;
		sum.late += counts[i].late;
	}
	printf("%s: %lu waits, %lu events\n", loop.engine->name, sum.waits,
	       sum.events);
	printf("%lu accepted, %lu refused, %lu closed, %lu of them late\n",
	       sum.accepted, sum.refused, sum.closed, sum.late);
	printf("%lu answers, %lu rejects\n", sum.answers, sum.rejects);
	fflush(stdout);
}

static pid_t start_worker(int index, int listen_fd, const sigset_t *signals)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return pid;

	/* Nothing is left behind, however the first process ends. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	catch_signals();
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	loop_counts = &counts[index];
	loop.listen_fd = index ? listener_share(address, port, bufsize) :
				 listen_fd;
	if (index)
		close(listen_fd);
	loop_run(&loop);
	_exit(0);
}

static int reap_worker(int status)
{
	if (WIFSIGNALED(status))
		warnx("a worker was killed by signal %d", WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The exit status: the first one of a worker that is not 0, or 0. */
static int mind_workers(const pid_t *pids, const sigset_t *signals)
{
	int i, status, left = workers, failed = 0;

	while (left) {
		int sig = sigwaitinfo(signals, NULL);
		bool end = sig == SIGTERM || sig == SIGINT;

		while (waitpid(-1, &status, WNOHANG) > 0) {
			left--;
			if (!failed)
				failed = reap_worker(status);
			end = end || failed;
		}
		for (i = 0; end && left && i < workers; i++)
			kill(pids[i], SIGTERM);
	}
	return failed;
}

static int run_workers(int listen_fd)
{
	pid_t pids[WORKERS_MAX];
	sigset_t signals;
	int i;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	listener_allow_sharing(listen_fd);
	for (i = 0; i < workers; i++)
		pids[i] = start_worker(i, listen_fd, &signals);
	close(listen_fd);
	ready();
	return mind_workers(pids, &signals);
}

int main(int argc, char **argv)
{
	int listen_fd, failed = 0;

	read_options(argc, argv);
	if (!answer_init(msgsize))
		err(1, "an answer of %d bytes", msgsize);
	raise_limit();
	counts = mmap(NULL, workers * sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		err(1, "counters");
	catch_signals();
	listener_init();
	/* What the engine says comes before what the port says. */
	loop.engine->close(engine_open(loop.engine, loop.maxfds));
	listen_fd = listener_open(address, &port, bufsize);

	if (workers == 1) {
		loop_counts = counts;
		loop.listen_fd = listen_fd;
		ready();
		loop_run(&loop);
	} else {
		failed = run_workers(listen_fd);
	}
	report();
	return failed;
}
