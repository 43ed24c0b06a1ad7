// SPDX-License-Identifier: GPL-2.0
/*
 * devepoll(1): what it reports of a program, and why a program is not on the
 * device.  This program, started with a word after "--go-on", does what the
 * word says.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "fadvise_filter.h"
#include "fadvise_param.h"
#include "helpers.h"
#include "lib_command.h"
#include "other_node.h"

#define WAITS		10

/* A call that no library sees. */
static long raw_epoll_create(void)
{
	long ret;

#ifdef __LP64__
	asm volatile("syscall" : "=a" (ret) : "0" (SYS_epoll_create1), "D" (0)
		     : "rcx", "r11", "memory");
#else
	asm volatile("int $0x80" : "=a" (ret) : "0" (SYS_epoll_create1), "b" (0)
		     : "memory");
#endif
	return ret;
}

/* One set with one fd, and waits that return one event each. */
static int use_a_set(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int set = epoll_create1(0);
	int fd = eventfd_new();
	int i;

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		return 1;
	for (i = 0; i < WAITS; i++) {
		if (eventfd_post(fd) || epoll_wait(set, &event, 1, 0) != 1)
			return 2;
	}
	return 0;
}

static int use_a_set_in_a_child(void)
{
	pid_t child = fork();

	if (!child)
		_exit(use_a_set());
	return reap(child) || use_a_set();
}

/* Long enough for devepoll to look into /proc a few times. */
static int hold_a_set_of_our_own(void)
{
	return raw_epoll_create() < 0 || usleep(1500000);
}

static int go_on(const char *word)
{
	if (!strcmp(word, "set"))
		return use_a_set();
	if (!strcmp(word, "fork"))
		return use_a_set_in_a_child();
	if (!strcmp(word, "killed"))
		return use_a_set() || kill(getpid(), SIGKILL);
	if (!strcmp(word, "own"))
		return hold_a_set_of_our_own();
	if (!strcmp(word, "no-ioctl"))
		return refuse_call(SYS_ioctl, EPERM) || use_a_set();
	if (!strcmp(word, "no-open"))
		return refuse_call(SYS_openat, EPERM) || use_a_set();
	return strcmp(word, "nothing") != 0;
}

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--go-on"))
		_exit(go_on(argv[2]));
	unsetenv("DEVEPOLL_RING");
}

/* The program succeeds, and each of the texts is in the report. */
static bool reports(const char *option, char *word, const char *const *texts)
{
	bool said = true;
	int status = run_word(option, word);

	if (status)
		fprintf(stderr, "# it ends with %d\n", status);
	for (; *texts; texts++)
		said &= says(*texts);
	return !status && said;
}

#define REPORTS(option, word, ...) \
	reports(option, word, (const char *const[]){ __VA_ARGS__, NULL })

TEST(sets_changes_waits_and_events_are_counted)
{
	EXPECT_TRUE(REPORTS("--strict", "set",
			    "1 process: 1 set on /dev/epoll, 0 on epoll\n",
			    "/dev/epoll: 1 change, 10 waits by system call, "));
	EXPECT_FALSE(mentions("fell back"));
	EXPECT_FALSE(mentions("ring"));
	EXPECT_FALSE(mentions("on epoll:"));
}

TEST(children_are_counted)
{
	EXPECT_TRUE(REPORTS("--strict", "fork",
			    ": 2 sets on /dev/epoll, 0 on epoll\n",
			    ": 2 changes, 20 waits by system call, ",
			    ", 20 events\n"));
}

TEST(nothing_is_lost_when_the_program_is_killed)
{
	EXPECT_NE(0, run_word("--strict", "killed"));
	EXPECT_TRUE(says(": 1 change, 10 waits by system call, 10 events\n"));
}

/* The first event goes through the kernel, so that the memory is known. */
TEST(waits_without_a_system_call_are_counted)
{
	EXPECT_TRUE(REPORTS("--ring", "set",
			    "rings: 1 set with one; 9 of 10 waits took 9 events",
			    "system calls saved: 9 ",
			    ": 1 change, 1 wait by system call, 1 event\n"));
}

TEST(end_is_seen_where_the_ends_of_children_are_ignored)
{
	ignores_children = true;
	EXPECT_TRUE(REPORTS("--strict", "set",
			    "1 set on /dev/epoll, 0 on epoll\n"));
	EXPECT_EQ(128 + SIGKILL, run_word("--strict", "killed"));
}

TEST(program_without_sets_is_named)
{
	EXPECT_TRUE(REPORTS("--strict", "nothing",
			    "the program created no set\n"));
}

TEST(sets_by_system_calls_of_the_programs_own_are_named)
{
	EXPECT_TRUE(REPORTS("--strict", "own",
			    "not reach: it makes system calls of its own"));
}

TEST(static_program_is_named)
{
	if (sizeof(long) != 8 || access("/bin/busybox", X_OK))
		SKIP(return, "no static program of this kind");
	EXPECT_EQ(0, run("--strict", "/bin/busybox", NULL));
	EXPECT_TRUE(says("not reach the program: it is statically linked\n"));
}

TEST(filter_of_ioctl_leaves_the_set_on_the_device)
{
	if (fadvise_param() == 'N')
		SKIP(return, "fadvise is off: no way is left into sets");
	EXPECT_TRUE(REPORTS("--strict", "no-ioctl",
			    "1 set on /dev/epoll, 0 on epoll\n",
			    "10 waits by system call, 10 events\n"));
}

TEST(filter_of_open_is_named)
{
	EXPECT_TRUE(REPORTS("--trust", "no-open",
			    "0 sets on /dev/epoll, 1 on epoll\n",
			    "1 time: a filter of system calls (seccomp)",
			    "on epoll: 1 change, 10 waits by system call, "));
}

TEST(limit_of_locked_memory_is_named)
{
	const struct rlimit none = { 0, 0 };

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &none));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	EXPECT_TRUE(REPORTS("--ring", "set",
			    "no ring, 1 time: the limit of locked memory"));
}

FIXTURE(fallback) { };

FIXTURE_VARIANT(fallback)
{
	int node_minor;
	mode_t mode;
	uid_t user;
	const char *reason;
};

FIXTURE_VARIANT_ADD(fallback, no_node) {
	.node_minor = -1,
	.reason = "there is no /dev/epoll; load the module: modprobe devepoll\n",
};

FIXTURE_VARIANT_ADD(fallback, no_driver) {
	.node_minor = 99,
	.mode = 0666,
	.reason = "/dev/epoll has no module; load it: modprobe devepoll\n",
};

FIXTURE_VARIANT_ADD(fallback, no_permission) {
	.node_minor = NODE_MINOR,
	.mode = 0600,
	.user = 65534,
	.reason = "no permission to open /dev/epoll; see the parameter mode",
};

FIXTURE_SETUP(fallback)
{
	ASSERT_EQ(0, other_node(variant->node_minor, variant->mode));
	ASSERT_EQ(0, setresuid(variant->user, variant->user, variant->user));
}

FIXTURE_TEARDOWN(fallback)
{
}

TEST_F(fallback, reason_is_named)
{
	EXPECT_TRUE(REPORTS("--trust", "set",
			    "0 sets on /dev/epoll, 1 on epoll\n",
			    "fell back to epoll, 1 time: ",
			    variant->reason));
}

TEST_HARNESS_MAIN
