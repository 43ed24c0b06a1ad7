// SPDX-License-Identifier: GPL-2.0
/*
 * devepoll(1): what it does to the programs that it runs, and to others.  This
 * program, started with a word after "--go-on", does what the word says.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/other_node.h"
#include "library/lib_command.h"

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

/* --- A program that has many fds --- */

/* The processor time of the parent in ns, or the greatest number. */
static uint64_t time_of_parent(void)
{
	unsigned long user, system;
	char path[64];
	FILE *file;
	int fields;

	snprintf(path, sizeof(path), "/proc/%d/stat", getppid());
	file = fopen(path, "re");
	if (!file)
		return UINT64_MAX;
	fields = fscanf(file,
			"%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			&user, &system);
	fclose(file);
	return fields == 2 ? 1000000000ULL * (user + system) /
			     sysconf(_SC_CLK_TCK) : UINT64_MAX;
}

/* What it takes to look at all fds of this process, as devepoll does; in ns. */
static uint64_t time_of_a_look(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct timespec begin, end;
	struct dirent *entry;
	char target[64];

	if (!dir)
		return 0;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	while ((entry = readdir(dir)))
		readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	closedir(dir);
	return (end.tv_sec - begin.tv_sec) * 1000000000ULL + end.tv_nsec -
	       begin.tv_nsec;
}

#define MANY		4000

/* Long enough for six looks, if they are not kept rare. */
static int hold_many_files(void)
{
	uint64_t look, least = 1500000000;
	int i;

	if (raise_fd_limit(MANY + 64))
		return 1;
	for (i = 0; i < MANY; i++) {
		if (dup(STDIN_FILENO) < 0)
			return 2;
	}
	look = time_of_a_look();
	usleep((10 * look > least ? 10 * look : least) / 1000);
	return time_of_parent() > 3 * look;
}

static int go_on(const char *word)
{
	if (!strcmp(word, "crash"))
		return raise(SIGSEGV);
	if (!strcmp(word, "many-files"))
		return hold_many_files();
	if (!strcmp(word, "without-library"))
		return !!getenv("LD_PRELOAD");
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

TEST(looks_at_many_files_are_rare)
{
	EXPECT_EQ(0, run_word("--trust", "many-files"));
}

/* Whether it left one. */
static bool dumps_core(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV &&
	       WCOREDUMP(status);
}

TEST(core_dump_of_the_program_is_the_only_one)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	char *const argv[] = {
		"devepoll", "--report", own_path(), "--go-on", "crash", NULL,
	};
	int status;
	pid_t child;

	/* A folder that vanishes. */
	ASSERT_EQ(0, other_node(-1, 0));
	ASSERT_EQ(0, chdir("/dev"));
	ASSERT_EQ(0, setrlimit(RLIMIT_CORE, &all));
	child = fork();
	if (!child)
		_exit(raise(SIGSEGV));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	if (!dumps_core(status))
		SKIP(return, "there are no core dumps");
	status = run_devepoll(argv);
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	EXPECT_FALSE(dumps_core(status));
}

/* --- A program whose C library is another one --- */

#define OTHER_LINKER	"/dev/ld-other"

/* Copies this program, but for the name of its dynamic linker; 0 or -1. */
static int copy_with_other_linker(const char *copy)
{
	size_t size, len = strlen(OTHER_LINKER) + 1;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	char *bytes, *name, *linker;
	struct stat st;

	if (fstat(from, &st))
		return -1;
	size = st.st_size;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, from, 0);
	close(from);
	if (bytes == MAP_FAILED)
		return -1;
	name = memmem(bytes, size, "/ld-linux", 9);
	/* A 0 comes before the name, or a string without an end. */
	while (name && name > bytes && *--name != '/')
		;
	linker = name ? strdup(name) : NULL;
	if (!linker || strlen(linker) < len ||
	    symlink(linker, OTHER_LINKER))
		return -1;
	memcpy(name, OTHER_LINKER, len);
	if (write(to, bytes, size) != st.st_size)
		return -1;
	return close(to);
}

TEST(program_of_another_c_library_runs_without_the_library)
{
	char *copy = "/dev/program";
	char *const argv[] = {
		"devepoll", copy, "--go-on", "without-library", NULL,
	};

	ASSERT_EQ(0, other_node(-1, 0));
	ASSERT_EQ(0, copy_with_other_linker(copy));
	unsetenv("LD_PRELOAD");
	EXPECT_EQ(0, run_devepoll(argv));
	EXPECT_TRUE(says("devepoll: /dev/program runs without the library: "));
	EXPECT_TRUE(says(": its C library is not glibc\n"));
	EXPECT_EQ(0, run("--trust", copy, "without-library"));
	EXPECT_TRUE(says("not reach the program: its C library is not glibc"));
}

TEST_HARNESS_MAIN
