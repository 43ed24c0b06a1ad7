// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading the module: parameters, refusals, and what stays.
 * Needs root and $DEVEPOLL_KO; for one test $DEVEPOLL_KO_UNTESTED, a module
 * that was tested on no kernel as new as this.  The module is loaded
 * afterwards, whether it was before or not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/failnth.h"
#include "core/helpers.h"
#include "load/load_module.h"

#define NODE		"/dev/epoll"
#define FTRACE_SWITCH	"/proc/sys/kernel/ftrace_enabled"
#define SET_FDS		512
#define MISC_MAJOR	10
#define MINOR_OF_OLD	124
/*
 * The last points of failure: of the kernel's loader, of the module's own code,
 * and of devices and uevents, whose failures often do not matter.
 */
#define LAST_POINTS	900
/* Of them that are tried; another distance is in $DEVEPOLL_LOAD_APART. */
#define POINTS_APART	15

FIXTURE(load) {
	bool was_loaded;
	int log;
};

FIXTURE_SETUP(load)
{
	if (geteuid() || !getenv("DEVEPOLL_KO"))
		SKIP(return, "needs root and $DEVEPOLL_KO");
	self->was_loaded = module_is_loaded();
	if (self->was_loaded)
		ASSERT_TRUE(module_goes());
	self->log = log_open();
	ASSERT_LE(0, self->log);
}

FIXTURE_TEARDOWN(load)
{
	if (module_is_loaded())
		EXPECT_TRUE(module_goes());
	if (self->was_loaded)
		EXPECT_EQ(0, module_load(""));
}

TEST_F(load, twenty_times_with_and_without_use)
{
	int i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, module_load("")) TH_LOG("round %d", i);
		ASSERT_TRUE(await(access(NODE, R_OK | W_OK) == 0));
		if (i % 2)
			ASSERT_EQ(1, use_set());
		ASSERT_TRUE(module_goes()) TH_LOG("round %d", i);
		ASSERT_TRUE(await(access(NODE, F_OK) != 0));
	}
}

TEST_F(load, second_load_is_refused)
{
	ASSERT_EQ(0, module_load(""));
	EXPECT_EQ(-EEXIST, module_load(""));
	EXPECT_EQ(1, use_set());
}

TEST_F(load, open_set_keeps_the_module)
{
	int fd;

	ASSERT_EQ(0, module_load(""));
	fd = dep_open();
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_EQ(0, dep_alloc(fd, SET_FDS));
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	close(fd);
	EXPECT_TRUE(module_goes());
}

TEST_F(load, mapping_alone_keeps_the_module)
{
	char *map;
	int fd;

	ASSERT_EQ(0, module_load(""));
	fd = dep_open();
	ASSERT_EQ(0, dep_alloc(fd, SET_FDS));
	map = dep_map(fd, EP_MAP_SIZE(SET_FDS));
	ASSERT_NE(MAP_FAILED, map);
	close(fd);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_EQ(0, map[0]);
	munmap(map, EP_MAP_SIZE(SET_FDS));
	EXPECT_TRUE(module_goes());
}

TEST_F(load, set_on_its_way_through_a_socket_keeps_it)
{
	int fd, pair[2];

	ASSERT_EQ(0, module_load(""));
	ASSERT_EQ(0, unix_pair(pair, SOCK_DGRAM));
	fd = dep_open();
	ASSERT_LE(0, fd);
	ASSERT_LE(0, send_fd(pair[1], fd));
	close(fd);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	close(pair[0]);
	close(pair[1]);
	EXPECT_TRUE(module_goes());
}

/* A child whose only thread has a signal of the set, and which has ended. */
static pid_t ended_with_a_signal(int set, int event)
{
	const int signo = SIGRTMIN;
	struct devepoll_signal signal = { .signo = signo,
					  .flags = DEVEPOLL_SIGNAL_THREAD };
	pid_t child = fork();
	siginfo_t info;
	sigset_t mask;

	if (!child) {
		sigemptyset(&mask);
		sigaddset(&mask, signo);
		if (sigprocmask(SIG_BLOCK, &mask, NULL) ||
		    ioctl(set, DEVEPOLL_SIGNAL, &signal) ||
		    dep_write_one(set, event, POLLIN) != 8 ||
		    eventfd_post(event))
			_exit(1);
		_exit(!await(!sigpending(&mask) && sigismember(&mask, signo)));
	}
	if (child > 0 && (waitid(P_PID, child, &info, WEXITED | WNOWAIT) ||
			  info.si_status))
		return -ECHILD;
	return child;
}

/* From 6.13 to 7.1 its queue is emptied when it is reaped, and not before. */
TEST_F(load, goes_before_a_thread_that_has_ended_is_reaped)
{
	int set, event = eventfd_new();
	pid_t child, unloader;

	ASSERT_EQ(0, module_load(""));
	set = dep_open();
	ASSERT_LE(0, set);
	child = ended_with_a_signal(set, event);
	ASSERT_LT(0, child);
	close(set);
	unloader = fork();
	ASSERT_LE(0, unloader);
	/* A call that does not end can't be interrupted either. */
	if (!unloader)
		_exit(!module_goes());
	EXPECT_TRUE(await(!module_is_loaded()));
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(0, reap(unloader));
	close(event);
}

TEST_F(load, nothing_is_left_behind)
{
	ASSERT_EQ(0, module_load(""));
	EXPECT_EQ(1, use_set());
	if (access("/sys/kernel/slab", F_OK) == 0)
		EXPECT_TRUE(matches("/sys/kernel/slab/devepoll*"));
	ASSERT_TRUE(module_goes());
	EXPECT_FALSE(has_slab_caches());
	EXPECT_FALSE(matches(MODULE_DIR "*"));
	EXPECT_FALSE(matches("/sys/class/misc/eventpoll*"));
	EXPECT_FALSE(file_has("/proc/misc", "eventpoll"));
	EXPECT_FALSE(file_has("/proc/kallsyms", "[devepoll]"));
}

TEST_F(load, refused_with_one_line_while_ftrace_is_off)
{
	/* With PREEMPT_RT there is a second cause of the same error. */
	const char *said = is_realtime() ? "ftrace is off (kernel.ftrace_enabled=0), or" :
					   "set kernel.ftrace_enabled=1";
	int ret, lines;

	ret = write_text(FTRACE_SWITCH, "0");
	if (ret == -EOPNOTSUPP)
		SKIP(return, "on this kernel ftrace can't be off");
	ASSERT_EQ(0, ret);
	ret = module_load("");
	lines = log_new_lines(self->log, said);
	ASSERT_EQ(0, write_text(FTRACE_SWITCH, "1"));
	EXPECT_EQ(-EBUSY, ret);
	EXPECT_EQ(1, lines);
	EXPECT_NE(0, access(NODE, F_OK));
	EXPECT_FALSE(has_slab_caches());

	ASSERT_EQ(0, module_load(""));
	EXPECT_EQ(1, use_set());
}

TEST_F(load, ftrace_stays_on_while_loaded)
{
	struct pollfd pfd;
	bool always;
	int fd, ret;

	ret = write_text(FTRACE_SWITCH, "0");
	always = ret == -EOPNOTSUPP;
	if (!ret)
		ASSERT_EQ(0, write_text(FTRACE_SWITCH, "1"));
	ASSERT_EQ(0, module_load(""));
	EXPECT_EQ(always ? -EOPNOTSUPP : -EBUSY,
		  write_text(FTRACE_SWITCH, "0"));

	/* The hook still works: a closed file leaves the set. */
	fd = dep_open();
	ASSERT_EQ(0, dep_alloc(fd, SET_FDS));
	pfd.fd = eventfd_new();
	ASSERT_EQ(8, dep_write_one(fd, pfd.fd, POLLIN));
	EXPECT_EQ(1, dep_ispolled(fd, &pfd));
	close(pfd.fd);
	EXPECT_EQ(0, dep_ispolled(fd, &pfd));
	close(fd);
	ASSERT_TRUE(module_goes());

	if (always)
		return;
	EXPECT_EQ(0, write_text(FTRACE_SWITCH, "0"));
	EXPECT_EQ(0, write_text(FTRACE_SWITCH, "1"));
}

TEST_F(load, bad_parameters_are_refused_with_one_line)
{
	static const struct {
		const char *params, *word;
	} bad[] = {
		{ "max_fds=0", "max_fds" },
		{ "max_fds=1048577", "max_fds" },
		{ "max_fds=2097152", "max_fds" },
		{ "mode=04666", "mode" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(-EINVAL, module_load(bad[i].params))
			TH_LOG("%s", bad[i].params);
		EXPECT_EQ(1, log_new_lines(self->log, bad[i].word))
			TH_LOG("%s", bad[i].params);
		EXPECT_FALSE(module_is_loaded());
		EXPECT_NE(0, access(NODE, F_OK));
	}
	EXPECT_EQ(-EINVAL, module_load("max_fds=many"));
}

TEST_F(load, tells_in_one_line_of_a_kernel_that_is_newer_than_tested)
{
	const char *untested = getenv("DEVEPOLL_KO_UNTESTED");
	int lines;

	if (!untested || !*untested)
		SKIP(return, "no $DEVEPOLL_KO_UNTESTED");
	ASSERT_EQ(0, module_load(""));
	lines = log_new_lines(self->log, "is newer than");
	EXPECT_EQ(0, lines % 100);
	ASSERT_TRUE(module_goes());
	ASSERT_EQ(0, module_load_file(untested, ""));
	EXPECT_EQ(lines + 1, log_new_lines(self->log, "is newer than"));
	EXPECT_EQ(1, use_set());
}

/* 601 for 6.1. */
static int kernel_version(void)
{
	int major = 0, minor = 0;
	struct utsname name;

	if (!uname(&name))
		sscanf(name.release, "%d.%d", &major, &minor);
	return 100 * major + minor;
}

/* Does modinfo of the module say this? */
static bool modinfo_has(const char *text)
{
	int fd = open(getenv("DEVEPOLL_KO"), O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool found = false;
	void *map;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st)) {
		map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			found = memmem(map, st.st_size, text, strlen(text) + 1);
			munmap(map, st.st_size);
		}
	}
	close(fd);
	return found;
}

TEST_F(load, names_in_one_line_what_the_kernel_lacks)
{
	int version = kernel_version();
	const char *lacks = version < 607 ?
		"kernel_lacks=io_uring commands that stay pending or are multishot" :
		version < 618 ? "kernel_lacks=multishot io_uring commands" :
		"kernel_lacks=nothing";

	ASSERT_EQ(0, module_load(""));
	EXPECT_EQ(version < 618, log_new_lines(self->log, "this kernel lacks") % 100);
	EXPECT_TRUE(modinfo_has(lacks));
}

TEST_F(load, max_fds_bounds_a_set)
{
	int fd;

	ASSERT_EQ(0, module_load("max_fds=1000"));
	fd = dep_open();
	EXPECT_EQ(-EINVAL, dep_alloc(fd, 1001));
	EXPECT_EQ(0, dep_alloc(fd, 1000));
	close(fd);
	ASSERT_TRUE(module_goes());

	ASSERT_EQ(0, module_load("max_fds=1048576"));
	fd = dep_open();
	EXPECT_EQ(-EINVAL, dep_alloc(fd, 1048577));
	EXPECT_EQ(0, dep_alloc(fd, 1048576));
	close(fd);
}

TEST_F(load, mode_is_a_parameter)
{
	static const struct {
		const char *params;
		unsigned int mode;
	} modes[] = {
		{ "mode=0600", 0600 }, { "mode=0660", 0660 }, { "", 0666 },
	};
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		ASSERT_EQ(0, module_load(modes[i].params));
		ASSERT_TRUE(await(stat(NODE, &st) == 0));
		EXPECT_EQ(modes[i].mode, st.st_mode & 07777);
		ASSERT_TRUE(module_goes());
	}
}

/*
 * Without memory for a node in /dev the kernel goes on silently.  True if one
 * was made in its place, which the kernel will not remove.
 */
static bool node_made_by_hand(void)
{
	return access(NODE, F_OK) &&
	       !mknod(NODE, S_IFCHR | 0600, makedev(MISC_MAJOR, MINOR_OF_OLD));
}

static int points_apart(void)
{
	const char *text = getenv("DEVEPOLL_LOAD_APART");

	return text && atoi(text) > 0 ? atoi(text) : POINTS_APART;
}

/*
 * The kernel allocates for the module last of all.  A load that fails leaves
 * nothing behind; one that succeeds may lack /dev/poll, or the nodes in /dev,
 * but no more.
 */
TEST_F_TIMEOUT(load, every_failed_allocation_is_survived, 1800)
{
	int fail_nth = failnth_open();
	int points, fd, n, err, apart = points_apart();
	int tried = 0, failed = 0, lacking = 0;
	bool by_hand;

	if (fail_nth < 0)
		SKIP(return, "no fault injection in this kernel");
	/* The very first load allocates more. */
	ASSERT_EQ(0, module_load(""));
	ASSERT_TRUE(module_goes());
	/* Opened and closed unarmed: the file may lie on another machine. */
	fd = open(getenv("DEVEPOLL_KO"), O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	failnth_arm(fail_nth, 1000000);
	err = syscall(SYS_finit_module, fd, "", 0);
	points = failnth_points(fail_nth, 1000000);
	ASSERT_EQ(0, err);
	ASSERT_TRUE(module_goes());
	ASSERT_LT(LAST_POINTS, points);
	for (n = points - LAST_POINTS + 1; n <= points; n += apart) {
		failnth_arm(fail_nth, n);
		err = syscall(SYS_finit_module, fd, "", 0);
		failnth_disarm(fail_nth);
		tried++;
		failed += !!err;
		if (!err) {
			by_hand = node_made_by_hand();
			EXPECT_EQ(1, use_set()) TH_LOG("point %d", n);
			lacking += access("/dev/poll", F_OK) != 0;
			EXPECT_TRUE(module_goes());
			if (by_hand)
				unlink(NODE);
		}
		EXPECT_FALSE(module_is_loaded());
		EXPECT_FALSE(has_slab_caches());
		EXPECT_NE(0, access(NODE, F_OK));
	}
	close(fd);
	TH_LOG("%d points, %d of the last %d tried: %d loads failed, %d had no /dev/poll",
	       points, tried, LAST_POINTS, failed, lacking);
	/* 185 of 950 did: 8 of each thirtieth, or 5 at most elsewhere. */
	EXPECT_LT(apart == 1 ? 5 : 0, failed);
	close(fail_nth);
}

/* Drivers that take a dynamic minor of the misc device. */
static const char * const dynamic_drivers[][2] = {
	{ "vsock", "vsock" }, { "nvme-fabrics", "nvme-fabrics" },
};

#define DYNAMIC_DRIVERS 2

TEST_F(load, later_misc_devices_get_their_minors)
{
	int i, tried = 0;

	ASSERT_EQ(0, module_load(""));
	EXPECT_EQ(1, use_set());
	EXPECT_FALSE(file_has("/proc/misc", "eventpoll-hold"));
	log_new_lines(self->log, "");
	for (i = 0; i < DYNAMIC_DRIVERS; i++) {
		if (driver("-n", dynamic_drivers[i][0]))
			continue;
		tried++;
		EXPECT_EQ(0, driver("", dynamic_drivers[i][0]));
		EXPECT_TRUE(file_has("/proc/misc", dynamic_drivers[i][1]));
	}
	EXPECT_EQ(0, log_new_lines(self->log, ""));
	EXPECT_EQ(1, use_set());
	for (i = 0; i < DYNAMIC_DRIVERS; i++)
		driver("-r", dynamic_drivers[i][0]);
	if (!tried)
		SKIP(return, "no driver with a dynamic minor here");
}

/* Where dynamic minors reach down to 124, another driver may have it. */
TEST_F(load, works_when_the_minor_is_taken)
{
	int i, err;

	for (i = 0; i < DYNAMIC_DRIVERS; i++)
		driver("", dynamic_drivers[i][0]);
	log_new_lines(self->log, "");
	err = module_load("");
	EXPECT_EQ(0, err);
	if (!err) {
		EXPECT_EQ(1, use_set());
		EXPECT_EQ(file_has("/proc/misc", "124 eventpoll") ? 0 : 1,
			  log_new_lines(self->log, "minor 124 is taken") % 100);
	}
	EXPECT_TRUE(module_goes());
	for (i = 0; i < DYNAMIC_DRIVERS; i++)
		driver("-r", dynamic_drivers[i][0]);
}

TEST_HARNESS_MAIN
