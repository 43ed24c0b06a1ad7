// SPDX-License-Identifier: GPL-2.0
/*
 * devepoll(1): what it does to the programs that it runs, and to others.  This
 * program, started with a word after "--go-on", does what the word says.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "helpers.h"
#include "lib_command.h"

/* --- A report that is over --- */

/* A child with this PID, which has what its parent has open. */
static pid_t fork_as(int pid)
{
	const struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal;
		uint64_t stack, stack_size, tls, set_tid, set_tid_size;
	} args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return syscall(SYS_clone3, &args, sizeof(args));
}

static bool is_zero(int file, off_t size)
{
	char byte;
	off_t i;

	for (i = 0; i < size; i++) {
		if (pread(file, &byte, 1, i) != 1 || byte)
			return false;
	}
	return pread(file, &byte, 1, size) == 0;
}

/*
 * As the first process of a PID namespace: another one has the PID of devepoll,
 * and @file where the report was.  Runs a program that has the library.
 */
static int run_beside(int pid, int fd, int file)
{
	pid_t other, child;
	int status;

	if (mount("none", "/proc", "proc", 0, NULL) || dup2(file, fd) != fd)
		return 1;
	other = fork_as(pid);
	if (!other) {
		for (;;)
			pause();
	}
	if (other != pid)
		return 2;
	child = fork();
	if (!child) {
		execl("/proc/self/exe", "program", "--go-on", "nothing", NULL);
		_exit(99);
	}
	status = reap(child);
	kill(other, SIGKILL);
	return status;
}

static int meet_another_file(off_t size)
{
	const char *variable = getenv("DEVEPOLL_REPORT");
	int pid, fd, status, file = memfd_create("other", MFD_CLOEXEC);
	pid_t first;

	if (!variable || sscanf(variable, "/proc/%d/fd/%d", &pid, &fd) != 2)
		return 3;
	if (ftruncate(file, size) || unshare(CLONE_NEWPID | CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 4;
	first = fork();
	if (!first)
		_exit(run_beside(pid, fd, file));
	status = reap(first);
	if (status)
		return status;
	return is_zero(file, size) ? 0 : 5;
}

static int go_on(const char *word)
{
	if (!strncmp(word, "meet-", 5))
		return meet_another_file(atoi(word + 5));
	return strcmp(word, "nothing") != 0;
}

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--go-on"))
		_exit(go_on(argv[2]));
}

TEST(file_that_took_the_place_of_the_report_is_left_alone)
{
	EXPECT_EQ(0, run_word("--trust", "meet-4096"));
	EXPECT_EQ(0, run_word("--trust", "meet-8192"));
	/* A process that writes to such a mapping gets SIGBUS. */
	EXPECT_EQ(0, run_word("--trust", "meet-0"));
}

TEST_HARNESS_MAIN
