// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP server of the experiment: it has one coroutine per connection, gives
 * the same answer to every request, and waits with any engine.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
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
#include "args.h"
#include "engine.h"
#include "listener.h"
#include "loop.h"

#define WORKERS_MAX	64
#define OWN_FDS		16	/* that are no connections */

/* The options. */
static struct loop_options loop = {
	.maxfds = 20000,
	.stksize = 8192,
};

static const char *engine_name = "devepoll";
static const char *address = "127.0.0.1";
static int msgsize = 128;
static int port = 8080;
static int workers = 1;
static int timeout = 60;
static int bufsize;

static int stop_pipe[2];
static struct loop_counts *counts;	/* one for each worker */

static const struct arg args[] = {
	ARG_TEXT("engine", "E", "wait with engine E (default: devepoll); 'list'\n"
		 "lists all engines", &engine_name),
	ARG_NUMBER("msgsize", "N", "size of the body of an answer in bytes\n"
		   "(default: 128)", &msgsize, 1, 1 << 20),
	ARG_TEXT("address", "A", "listen on address A (default: 127.0.0.1)",
		 &address),
	ARG_NUMBER("port", "N", "listen on port N (default: 8080); 0 takes any port,\n"
		   "which is printed", &port, 0, 65535),
	ARG_NUMBER("maxfds", "N", "maximum number of fds, and thus roughly of\n"
		   "connections (default: 20000)",
		   &loop.maxfds, 2 * OWN_FDS, 1 << 20),
	ARG_NUMBER("stksize", "N", "size of the stack of a coroutine in bytes\n"
		   "(default: 8192)", &loop.stksize, 8192, 1 << 24),
	ARG_NUMBER("workers", "N", "number of processes that share the port\n"
		   "(default: 1)", &workers, 1, WORKERS_MAX),
	ARG_NUMBER("timeout", "S", "close a connection if a request does not arrive,\n"
		   "or its answer is not taken, within S seconds\n"
		   "(default: 60); 0 means no limit",
		   &timeout, 0, 86400),
	ARG_NUMBER("bufsize", "N", "size of the buffers of a socket in bytes\n"
		   "(default: 0, the choice of the kernel)",
		   &bufsize, 0, 1 << 24),
	{ }
};

static void read_options(int argc, char **argv)
{
	int first = args_read(argc, argv, args, "ephttpd [OPTION...]",
			      "On SIGTERM, the server prints its counters and exits.\n");

	args_done(argc, first, 0, 0);
	loop.timeout = 1000 * timeout;
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

static void limit_own_files(void)
{
	struct rlimit lim;

	if (!limit_files(loop.maxfds))
		return;
	if (getrlimit(RLIMIT_NOFILE, &lim))
		err(1, "getrlimit");
	warnx("--maxfds %d is greater than the limit of open files (%ld)",
	      loop.maxfds, (long)lim.rlim_max);
	limit_files(lim.rlim_max);
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
	limit_own_files();
	counts = mmap(NULL, workers * sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		err(1, "counters");
	catch_signals();
	listener_init();
	/* Errors of the engine come before those of the port. */
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
