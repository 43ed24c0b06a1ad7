// SPDX-License-Identifier: GPL-2.0
/*
 * devepoll(1): what it reports of a program, and why a program is not on the
 * device.  This program, started with a word after "--go-on", does what the
 * word says.
 */
#include <devepoll.h>
#include <errno.h>
#include <fcntl.h>
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

#include "core/fadvise_filter.h"
#include "core/fadvise_param.h"
#include "core/helpers.h"
#include "core/other_node.h"
#include "library/lib_command.h"

#define WAITS		10

/* A call that no library sees. */
static long raw_epoll_create(void)
{
	long ret;

#ifdef __aarch64__
	register long nr asm("x8") = SYS_epoll_create1;
	register long x0 asm("x0") = 0;

	asm volatile("svc #0" : "+r" (x0) : "r" (nr) : "memory");
	ret = x0;
#elif defined(__riscv)
	register long nr asm("a7") = SYS_epoll_create1;
	register long a0 asm("a0") = 0;

	asm volatile("ecall" : "+r" (a0) : "r" (nr) : "memory");
	ret = a0;
#elif defined(__LP64__)
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

#define WORKERS		4

static int use_sets_in_workers(void)
{
	pid_t workers[WORKERS];
	int i, status = 0;

	for (i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (!workers[i])
			_exit(use_a_set());
	}
	for (i = 0; i < WORKERS; i++)
		status |= reap(workers[i]);
	return status;
}

static long sleeps_of_devepoll(void)
{
	return status_field(getppid(), "voluntary_ctxt_switches");
}

/*
 * Until devepoll, which sleeps between two looks into /proc, has looked.  It may be
 * in a look that began before there was a set, and may sleep in one as well.
 */
#define SLEEPS	4

static int hold(void)
{
	const long before = sleeps_of_devepoll();
	long sleeps = before;

	while (sleeps >= 0 && sleeps < before + SLEEPS) {
		pause_briefly();
		sleeps = sleeps_of_devepoll();
	}
	return sleeps < 0;
}

static int hold_a_set_of_our_own(void)
{
	return raw_epoll_create() < 0 || hold();
}

static int hold_a_set(void)
{
	return epoll_create1(0) < 0 || hold();
}

/* Waits with a ring, of fds that no ring serves. */
static int use_level_triggered(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0), fd = eventfd_new(), i;

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) ||
	    eventfd_post(fd))
		return 1;
	for (i = 0; i < WAITS; i++) {
		if (epoll_wait(set, &event, 1, -1) != 1)
			return 2;
	}
	return 0;
}

/* Waits that find nothing, and sleep. */
static int only_sleep(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int set = epoll_create1(0), i;

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, eventfd_new(), &event))
		return 1;
	for (i = 0; i < WAITS; i++) {
		if (epoll_wait(set, &event, 1, 1))
			return 2;
	}
	return 0;
}

/* A set is created only when devepoll has ended. */
static int go_to_the_background(void)
{
	const pid_t devepoll = getppid();
	pid_t child = fork();
	int null;

	if (child)
		return child < 0;
	null = open("/dev/null", O_RDWR);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	while (!kill(devepoll, 0))
		usleep(1000);
	return use_a_set();
}

static int create_in_vain(int err)
{
	return epoll_create1(0) != -1 || errno != err;
}

static int reach_the_limit(void)
{
	const struct rlimit full = { 3, 3 };

	closefrom(3);
	return setrlimit(RLIMIT_NOFILE, &full) || create_in_vain(EMFILE);
}

/* --- Another root directory, and another /dev --- */

#define ROOT		"/mnt"
#define PROGRAM		"/program"

static int bind_folder(const char *path)
{
	char there[64];

	snprintf(there, sizeof(there), ROOT "%s", path);
	return mkdir(there, 0755) || mount(path, there, NULL, MS_BIND, NULL);
}

static int bind_file(const char *path, const char *there)
{
	int fd = open(there, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);

	return fd < 0 || close(fd) || mount(path, there, NULL, MS_BIND, NULL);
}

/* As it is in the root directory: a symbolic link, a folder, or nothing. */
static int take_over(const char *path)
{
	char target[64], there[64];
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len < 0)
		return errno == ENOENT ? 0 : bind_folder(path);
	target[len] = '\0';
	snprintf(there, sizeof(there), ROOT "%s", path);
	return symlink(target, there);
}

/* A root directory with this program, the C library, /proc and an empty /dev. */
static int make_root(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", ROOT, "tmpfs", 0, NULL) || mkdir(ROOT "/dev", 0755))
		return -1;
	return bind_folder("/usr") || bind_folder("/proc") ||
	       take_over("/lib") ||
	       take_over("/lib32") || take_over("/lib64") ||
	       bind_file(own_path(), ROOT PROGRAM);
}

static int enter_root(void)
{
	return chroot(ROOT) || chdir("/");
}

static int go_on_in_root(void)
{
	return enter_root() ||
	       execl(PROGRAM, PROGRAM, "--go-on", "hold", NULL);
}

static int go_on_without_environment(void)
{
	char *const none[] = { NULL };

	return execle(own_path(), "program", "--go-on", "hold", NULL, none);
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
	if (!strcmp(word, "workers"))
		return use_sets_in_workers();
	if (!strcmp(word, "exec"))
		return execl("/proc/self/exe", "program", "--go-on", "set",
			     NULL);
	if (!strcmp(word, "hold"))
		return hold_a_set();
	if (!strcmp(word, "level"))
		return use_level_triggered();
	if (!strcmp(word, "sleep"))
		return only_sleep();
	if (!strcmp(word, "background"))
		return go_to_the_background();
	if (!strcmp(word, "create"))
		return epoll_create1(0) != STDERR_FILENO + 1;
	if (!strcmp(word, "no-set"))
		return create_in_vain(ENOENT);
	if (!strcmp(word, "no-fd"))
		return reach_the_limit();
	if (!strcmp(word, "root"))
		return enter_root() || use_a_set();
	if (!strcmp(word, "root-exec"))
		return go_on_in_root();
	if (!strcmp(word, "dev"))
		return other_node(-1, 0) || use_a_set();
	if (!strcmp(word, "early"))
		return use_a_set() ||
		       mknod(NODE, S_IFCHR | 0666,
			     makedev(EVENTPOLL_MAJOR, NODE_MINOR));
	if (!strcmp(word, "no-environment"))
		return go_on_without_environment();
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

/* Whoever loads another program is still the same process. */
TEST(each_process_is_counted_once)
{
	EXPECT_TRUE(REPORTS("--strict", "workers",
			    ", 5 processes: 4 sets on /dev/epoll, 0 on "
			    "epoll\n"));
	EXPECT_TRUE(REPORTS("--strict", "fork", ", 2 processes: 2 sets "));
	EXPECT_TRUE(REPORTS("--strict", "exec", ", 1 process: 1 set "));
}

/* The first event goes through the kernel, so that the memory is known. */
TEST(waits_without_a_system_call_are_counted)
{
	EXPECT_TRUE(REPORTS("--ring", "set",
			    "rings: 1 set with one; 9 of 10 waits took 9 events",
			    "system calls saved: 9 ",
			    ": 1 change, 1 wait by system call, 1 event\n"));
}

TEST(ring_without_a_use_for_level_triggered_fds_is_named)
{
	EXPECT_TRUE(REPORTS("--ring", "level",
			    "rings: 1 set with one; 0 of 10 waits ",
			    "a system call, 10 times: the kernel had to look "
			    "for events of fds that are level-triggered, "
			    "one-shot or exclusive (1 of 1)\n",
			    "the rings gained nothing; run the program without "
			    "--ring\n"));
	EXPECT_FALSE(mentions("calls saved"));
	EXPECT_FALSE(mentions("slept"));
}

TEST(ring_without_a_use_for_waits_that_sleep_is_named)
{
	EXPECT_TRUE(REPORTS("--ring", "sleep",
			    "rings: 1 set with one; 0 of 10 waits ",
			    "a system call, 10 times: there was no event, so "
			    "the wait slept\n",
			    "the rings gained nothing; run the program without "
			    "--ring\n"));
	EXPECT_FALSE(mentions("had to look"));
}

TEST(use_of_a_ring_is_not_denied)
{
	EXPECT_TRUE(REPORTS("--ring", "set", "system calls saved: 9 "));
	EXPECT_FALSE(mentions("a system call, "));
	EXPECT_FALSE(mentions("gained nothing"));
}

TEST(program_of_another_word_size_gets_its_own_library)
{
	const bool is_64 = sizeof(long) == 8;
	const char *own = own_path();
	int dir = strrchr(own, '/') + 1 - own;
	char other[PATH_MAX], library[PATH_MAX];

	snprintf(other, sizeof(other), "%.*s%s", dir, own,
		 is_64 ? "lib32_report_test" : "lib_report_test");
	snprintf(library, sizeof(library), "%.*s%s", dir, own,
		 is_64 ? "../lib32" : "../lib");
	if (access(other, X_OK))
		SKIP(return, "there is no program of another word size");
	/* Where it is not installed. */
	EXPECT_EQ(0, run("--trust", other, "hold"));
	EXPECT_TRUE(says("not reach: it needs the library of another word "
			 "size; install that, see libdevepoll-preload(7)\n"));
	setenv("LD_LIBRARY_PATH", library, 1);
	EXPECT_EQ(0, run("--strict", other, "set"));
	EXPECT_TRUE(says("1 process: 1 set on /dev/epoll, 0 on epoll\n"));
	EXPECT_FALSE(mentions("not reach"));
}

TEST(program_in_the_background_is_named)
{
	EXPECT_TRUE(REPORTS("--strict", "background",
			    "1 process: 0 sets on /dev/epoll, 0 on epoll\n",
			    "it goes on in the background, where nothing more "
			    "is reported; keep it in the foreground"));
	EXPECT_FALSE(mentions("created no set"));
	EXPECT_TRUE(REPORTS("--strict", "workers", "4 sets"));
	EXPECT_FALSE(mentions("background"));
}

TEST(program_that_does_not_exist_is_named)
{
	EXPECT_EQ(127, run("--strict", "/dev/null/program", NULL) ? 127 : 0);
	EXPECT_TRUE(says("the program did not start: Not a directory\n"));
}

TEST(process_is_counted_with_its_last_fd)
{
	fd_limit = STDERR_FILENO + 2;
	EXPECT_TRUE(REPORTS("--strict", "create",
			    "1 process: 1 set on /dev/epoll, 0 on epoll\n"));
	EXPECT_FALSE(mentions("not reach"));
}

TEST(set_that_the_limit_of_files_prevents_is_named)
{
	EXPECT_TRUE(REPORTS("--trust", "no-fd",
			    "no set at all, 1 time: too many open files; raise "
			    "RLIMIT_NOFILE\n"));
	EXPECT_FALSE(mentions("created no set"));
	EXPECT_FALSE(mentions("fell back"));
}

TEST(strict_program_without_the_device_is_named)
{
	ASSERT_EQ(0, other_node(-1, 0));
	EXPECT_TRUE(REPORTS("--strict", "no-set",
			    "no set at all, 1 time: the module is loaded, but "
			    "this /dev has no /dev/epoll; see "));
	EXPECT_FALSE(mentions("created no set"));
	EXPECT_FALSE(mentions("fell back"));
}

#define NOT_SEEN	"the program does not see /dev/epoll, and has no " \
			"descriptor of it from before, as one that starts " \
			"after chroot(2) or in a /dev of its own; see " \
			"\"Programs "

/* The library keeps a descriptor from the start. */
TEST(program_that_leaves_its_root_directory_is_on_the_device)
{
	ASSERT_EQ(0, make_root());
	EXPECT_TRUE(REPORTS("--strict", "root", "1 set on /dev/epoll, 0 on"));
	EXPECT_TRUE(REPORTS("--strict", "dev", "1 set on /dev/epoll, 0 on"));
}

TEST(program_in_another_root_directory_is_named)
{
	ASSERT_EQ(0, make_root());
	setenv("DEVEPOLL_NO_KEEP", "1", 1);
	EXPECT_TRUE(REPORTS("--trust", "root",
			    "fell back to epoll, 1 time: " NOT_SEEN));
	EXPECT_FALSE(mentions("modprobe"));
	/* What devepoll(1) says to do. */
	ASSERT_EQ(0, bind_file(NODE, ROOT NODE));
	EXPECT_TRUE(REPORTS("--strict", "root", "1 set on /dev/epoll, 0 on"));
}

TEST(program_with_a_dev_of_its_own_is_named)
{
	setenv("DEVEPOLL_NO_KEEP", "1", 1);
	EXPECT_TRUE(REPORTS("--trust", "dev",
			    "fell back to epoll, 1 time: " NOT_SEEN));
	EXPECT_FALSE(mentions("modprobe"));
}

TEST(root_directory_without_the_library_is_named)
{
	ASSERT_EQ(0, make_root());
	EXPECT_TRUE(REPORTS("--trust", "root-exec",
			    "1 set on epoll the library does not reach: it is "
			    "in another root directory, which lacks the "
			    "library; see "));
}

TEST(environment_without_the_library_is_named)
{
	EXPECT_TRUE(REPORTS("--trust", "no-environment",
			    "1 set on epoll the library does not reach: it was "
			    "started without our LD_PRELOAD, as by env -i; run "
			    "devepoll after that\n"));
}

TEST(device_that_comes_too_late_is_named)
{
	ASSERT_EQ(0, other_node(-1, 0));
	EXPECT_TRUE(REPORTS("--trust", "early",
			    "there was no /dev/epoll yet; start the program "
			    "again\n"));
}

static int hide_module(void)
{
	return mount("none", "/sys", "tmpfs", 0, NULL);
}

TEST(version_of_the_module_is_named)
{
	char *const argv[] = { "devepoll", "--version", NULL };
	FILE *file = fopen("/sys/module/devepoll/version", "re");
	char line[64], text[256];

	ASSERT_TRUE(file && fgets(line, sizeof(line), file));
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	snprintf(text, sizeof(text), "devepoll %s\nmodule %s, loaded\n", line,
		 line);
	EXPECT_EQ(0, run_devepoll(argv));
	EXPECT_EQ(0, strcmp(text, report));
	ASSERT_EQ(0, other_node(-1, 0));
	ASSERT_EQ(0, hide_module());
	EXPECT_EQ(0, run_devepoll(argv));
	EXPECT_TRUE(says("\nmodule not loaded\n"));
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
	EXPECT_TRUE(says("not reach the program: it is statically linked; "
			 "link it dynamically, or "));
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
			    "1 time: /dev/epoll: a filter of system calls "
			    "(seccomp) or a control group refuses it",
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
	bool no_module;
	bool is_second;	/* the node is /dev/misc/eventpoll */
	mode_t mode;
	uid_t user;
	const char *reason;
};

FIXTURE_VARIANT_ADD(fallback, no_node) {
	.node_minor = -1,
	.reason = "the module is loaded, but this /dev has no /dev/epoll; see ",
};

FIXTURE_VARIANT_ADD(fallback, no_module) {
	.node_minor = -1,
	.no_module = true,
	.reason = "there is no /dev/epoll; load the module: modprobe devepoll\n",
};

FIXTURE_VARIANT_ADD(fallback, no_driver) {
	.node_minor = 99,
	.mode = 0666,
	.reason = "/dev/epoll: it has another number than the module that is "
		  "loaded; make it anew ",
};

FIXTURE_VARIANT_ADD(fallback, no_driver_and_no_module) {
	.node_minor = 99,
	.no_module = true,
	.mode = 0666,
	.reason = "/dev/epoll: it has no module; load it: modprobe devepoll\n",
};

FIXTURE_VARIANT_ADD(fallback, no_permission) {
	.node_minor = NODE_MINOR,
	.mode = 0600,
	.user = 65534,
	.reason = "/dev/epoll: no permission; see the parameter mode",
};

FIXTURE_VARIANT_ADD(fallback, no_permission_for_the_second_node) {
	.node_minor = NODE_MINOR,
	.is_second = true,
	.mode = 0600,
	.user = 65534,
	.reason = "/dev/misc/eventpoll: no permission; see the parameter mode",
};

FIXTURE_SETUP(fallback)
{
	ASSERT_EQ(0, other_node(variant->node_minor, variant->mode));
	if (variant->no_module)
		ASSERT_EQ(0, hide_module());
	if (variant->is_second) {
		ASSERT_EQ(0, mkdir("/dev/misc", 0755));
		ASSERT_EQ(0, rename(NODE, DEVEPOLL_NODE_MISC));
	}
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

/* What the library itself says, with the path that decided. */
TEST_F(fallback, path_is_named)
{
	const char *node = variant->is_second ? DEVEPOLL_NODE_MISC : NODE;
	char text[64];

	setenv("DEVEPOLL_VERBOSE", "1", 1);
	snprintf(text, sizeof(text), "libdevepoll-preload: %s: ", node);
	EXPECT_TRUE(REPORTS("--trust", "set", text));
}

TEST_HARNESS_MAIN
