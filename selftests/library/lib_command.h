/* SPDX-License-Identifier: GPL-2.0 */
/* devepoll(1), as the tests start it: with a program, for its report. */
#ifndef SELFTESTS_LIB_COMMAND_H
#define SELFTESTS_LIB_COMMAND_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/helpers.h"

/* The path of this program; /proc/self/exe is another one in devepoll. */
static inline char *own_path(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len < 0 ? 0 : len] = '\0';
	return path;
}

/* The program under test lies where the library was built. */
static inline char *command(void)
{
	static char path[PATH_MAX];
	const char *own = own_path();
	int dir = strrchr(own, '/') + 1 - own;

	snprintf(path, sizeof(path), "%.*s%sdevepoll", dir, own,
		 PRELOAD_FROM_HERE);
	return path;
}

/* What it said. */
static char report[4096];
/* Whether devepoll is started by a program that ignores SIGCHLD. */
static bool ignores_children;
/* Unless 0, RLIMIT_NOFILE of devepoll, which has no other fds then. */
static rlim_t fd_limit;

/* Runs devepoll; how it ended, as of wait(2), and what was said in report. */
static inline int run_devepoll(char *const argv[])
{
	int fds[2], status = -1;
	size_t used = 0;
	ssize_t len;
	pid_t child;

	if (pipe(fds))
		return -1;
	child = fork();
	if (!child) {
		if (ignores_children)
			signal(SIGCHLD, SIG_IGN);
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		closefrom(STDERR_FILENO + 1);
		if (fd_limit)
			setrlimit(RLIMIT_NOFILE,
				  &(struct rlimit){ fd_limit, fd_limit });
		execv(command(), argv);
		_exit(99);
	}
	close(fds[1]);
	while ((len = read(fds[0], report + used,
			   sizeof(report) - 1 - used)) > 0)
		used += len;
	report[used] = '\0';
	close(fds[0]);
	return waitpid(child, &status, 0) == child ? status : -1;
}

/* The exit status of the program, or 128 + signal. */
static inline int run(const char *option, char *program, char *word)
{
	char *const argv[] = {
		"devepoll", "--report", (char *)option, program,
		word ? "--go-on" : NULL, word, NULL,
	};
	int status = run_devepoll(argv);

	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

static inline int run_word(const char *option, char *word)
{
	return run(option, own_path(), word);
}

static inline bool mentions(const char *text)
{
	return strstr(report, text);
}

static inline bool says(const char *text)
{
	if (mentions(text))
		return true;
	fprintf(stderr, "# \"%s\" is not in: %s", text, report);
	return false;
}

#endif /* SELFTESTS_LIB_COMMAND_H */
