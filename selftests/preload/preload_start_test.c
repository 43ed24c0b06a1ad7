// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: programs that are started with it: with a set that
 * they inherit, with variables in the environment, without the device.  This
 * program, started with a word after "--go-on", does what the word says.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "core/fadvise_filter.h"
#include "core/helpers.h"
#include "core/other_node.h"
#include "preload/preloaded.h"

/* What a program that was started anew does; its exit status. */

static int go_on_with_set(int set, int member)
{
	return !is_set_of_the_device(set) || ready(set) != member ||
	       eventfd_take(member) || !works(set);
}

static int find_set_closed(int set)
{
	return ready(set) != -EBADF;
}

static int use_epoll(void)
{
	int i, set;

	for (i = 0; i < 3; i++) {
		set = i ? epoll_create1(0) : epoll_create(1);
		if (!is_set_of_epoll(set) || !works(set))
			return 1;
	}
	return 0;
}

/* How often files were asked for 10 events, and that all went well: 100 + n */
static int count_asks(uint32_t mode)
{
	struct devepoll_stats before, after;
	int set = epoll_create1(0);
	int fd = eventfd_new();
	int i;

	if (add(set, fd, EPOLLIN | mode) ||
	    ioctl(set, DEVEPOLL_STATS, &before))
		return 1;
	for (i = 0; i < 10; i++) {
		if (eventfd_post(fd) || ready(set) != fd || eventfd_take(fd))
			return 2;
	}
	if (ioctl(set, DEVEPOLL_STATS, &after))
		return 3;
	return 100 + after.asks - before.asks;
}

static int give_bad_events(void)
{
	int set = epoll_create1(0);
	int fd = eventfd_new();

	if (epoll_ctl(set, EPOLL_CTL_ADD, fd, NULL) != -1 || errno != EFAULT ||
	    epoll_ctl(set, EPOLL_CTL_ADD, fd, (void *)8) != -1 ||
	    errno != EFAULT)
		return 1;
	/* Bits that mean nothing. */
	if (add(set, fd, EPOLLIN | EPOLLET | 0x0fff0000) ||
	    epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL))
		return 2;
	return !works(set);
}

/* Two calls fail, on a set from before the filter. */
static int lose_a_set(void)
{
	/* With a ring, the wait sees in memory that there is nothing. */
	int expected = getenv("DEVEPOLL_RING") ? -ENOMSG : -EPERM;
	int set = epoll_create1(0);

	if (refuse_call(SYS_ioctl, EPERM) || refuse_fadvise(EPERM))
		return 1;
	return ready(set) != expected || add(set, 0, EPOLLIN) != -EPERM ||
	       !works(epoll_create1(0));
}

/* The state for a moment while another thread calls setenv(3). */
static int lose_the_environment(void)
{
	int set;

	environ = (char **)8;
	set = epoll_create1(0);
	return add(set, eventfd_new(), EPOLLIN | EPOLLET) || !works(set);
}

static int go_on(int argc, char **argv)
{
	const char *word = argc > 2 ? argv[2] : "";

	if (!strcmp(word, "with-set") && argc == 5)
		return go_on_with_set(atoi(argv[3]), atoi(argv[4]));
	if (!strcmp(word, "set-closed") && argc == 4)
		return find_set_closed(atoi(argv[3]));
	if (!strcmp(word, "epoll"))
		return use_epoll();
	if (!strcmp(word, "set-lost"))
		return lose_a_set();
	if (!strcmp(word, "create-errno"))
		return epoll_create1(0) == -1 ? errno : 0;
	if (!strcmp(word, "edge-asks"))
		return count_asks(EPOLLET);
	if (!strcmp(word, "level-asks"))
		return count_asks(0);
	if (!strcmp(word, "bad-events"))
		return give_bad_events();
	if (!strcmp(word, "environment-lost"))
		return lose_the_environment();
	return 111;
}

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--go-on"))
		_exit(go_on(argc, argv));
}

/* Starts a program with its standard error in @err; its exit status. */
static int run(char *const argv[], const char *setting, char *err, size_t size)
{
	int fds[2];
	size_t used = 0;
	ssize_t len;
	pid_t child;

	if (pipe(fds))
		return -errno;
	child = fork();
	if (child == 0) {
		if (err)
			dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		if (setting)
			putenv((char *)setting);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	if (err) {
		/* To its end: what is written to no reader ends the writer. */
		while (used < size - 1 &&
		       (len = read(fds[0], err + used, size - 1 - used)) > 0)
			used += len;
		err[used] = '\0';
	}
	close(fds[0]);
	return child < 0 ? -errno : reap(child);
}

static int run_self(const char *setting, const char *word, const char *a,
		    const char *b)
{
	char *const argv[] = {
		"/proc/self/exe", "--go-on", (char *)word, (char *)a,
		(char *)b, NULL,
	};

	return run(argv, setting, NULL, 0);
}

/* What the tests of the library expect of epoll itself. */
FIXTURE(suite) { };

FIXTURE_VARIANT(suite)
{
	const char *program;
};

FIXTURE_VARIANT_ADD(suite, errors) {
	.program = SUITE "_epoll_test",
};

FIXTURE_VARIANT_ADD(suite, waits) {
	.program = SUITE "_epoll_wait_test",
};

FIXTURE_SETUP(suite)
{
}

FIXTURE_TEARDOWN(suite)
{
}

TEST_F_TIMEOUT(suite, passes_as_on_epoll, 4 * TEST_SECONDS)
{
	char *const argv[] = {
		(char *)beside_us(variant->program), "-v", "epoll", NULL,
	};
	int out = dup(STDOUT_FILENO);

	/* Its TAP is not ours; failures are printed on standard error. */
	ASSERT_LE(0, dup2(STDERR_FILENO, STDOUT_FILENO));
	EXPECT_EQ(0, run(argv, "DEVEPOLL_NO_FALLBACK=1", NULL, 0));
	ASSERT_LE(0, dup2(out, STDOUT_FILENO));
}

TEST(program_that_is_started_goes_on_with_the_set)
{
	char set_nr[16], fd_nr[16];
	int set = epoll_create1(0);
	int fd = dup(eventfd_new());	/* dup: stays open */

	ASSERT_EQ(0, add(set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(fd));
	snprintf(set_nr, sizeof(set_nr), "%d", set);
	snprintf(fd_nr, sizeof(fd_nr), "%d", fd);
	EXPECT_EQ(0, run_self(NULL, "with-set", set_nr, fd_nr));
	EXPECT_EQ(-ENOMSG, ready(set));
	EXPECT_TRUE(works(set));

	ASSERT_EQ(0, fcntl(set, F_SETFD, FD_CLOEXEC));
	EXPECT_EQ(0, run_self(NULL, "set-closed", set_nr, NULL));
}

TEST(trusted_edges_are_reported_without_asking)
{
	/* This trusts them too. */
	unsetenv("DEVEPOLL_RING");
	EXPECT_EQ(100 + 10, run_self("DEVEPOLL_TRUST=", "edge-asks", NULL,
				     NULL));
	EXPECT_EQ(100, run_self("DEVEPOLL_TRUST=1", "edge-asks", NULL, NULL));
	EXPECT_LE(100 + 10, run_self("DEVEPOLL_TRUST=1", "level-asks", NULL,
				     NULL));
	EXPECT_EQ(0, run_self("DEVEPOLL_TRUST=1", "bad-events", NULL, NULL));
	EXPECT_EQ(0, run_self("DEVEPOLL_TRUST=0", "bad-events", NULL, NULL));
}

TEST(environment_is_not_read_once_the_program_runs)
{
	EXPECT_EQ(0, run_self(NULL, "environment-lost", NULL, NULL));
	EXPECT_EQ(0, run_self("DEVEPOLL_TRUST=1", "environment-lost", NULL,
			      NULL));
}

FIXTURE(fallback) { };

FIXTURE_VARIANT(fallback)
{
	int node_minor;
	mode_t mode;
	int error;
};

FIXTURE_VARIANT_ADD(fallback, no_node) {
	.node_minor = -1,
	.error = ENOENT,
};

/* The minor of /dev/hpet or whatever; nothing has it. */
FIXTURE_VARIANT_ADD(fallback, no_driver) {
	.node_minor = 99,
	.mode = 0666,
	.error = ENODEV,
};

FIXTURE_VARIANT_ADD(fallback, no_permission) {
	.node_minor = NODE_MINOR,
	.mode = 0600,
	.error = EACCES,
};

FIXTURE_SETUP(fallback)
{
	ASSERT_EQ(0, other_node(variant->node_minor, variant->mode));
	if (variant->error == EACCES)
		ASSERT_EQ(0, setresuid(65534, 65534, 65534));
}

FIXTURE_TEARDOWN(fallback)
{
}

TEST_F(fallback, epoll_is_used_and_nothing_is_said)
{
	char *const argv[] = { "/proc/self/exe", "--go-on", "epoll", NULL };
	char err[256] = "";

	EXPECT_EQ(0, run(argv, NULL, err, sizeof(err)));
	EXPECT_STREQ("", err);
	EXPECT_EQ(0, run(argv, "DEVEPOLL_VERBOSE=0", err, sizeof(err)));
	EXPECT_STREQ("", err);
}

TEST_F(fallback, environment_is_not_read_once_the_program_runs)
{
	EXPECT_EQ(0, run_self(NULL, "environment-lost", NULL, NULL));
}

TEST_F(fallback, one_line_is_said_when_asked)
{
	char *const argv[] = { "/proc/self/exe", "--go-on", "epoll", NULL };
	char err[256] = "", expected[256];

	EXPECT_EQ(0, run(argv, "DEVEPOLL_VERBOSE=1", err, sizeof(err)));
	snprintf(expected, sizeof(expected),
		 "libdevepoll-preload: %s: %s; using epoll instead\n", NODE,
		 strerror(variant->error));
	EXPECT_STREQ(expected, err);
}

TEST_F(fallback, none_happens_where_it_is_forbidden)
{
	EXPECT_EQ(variant->error, run_self("DEVEPOLL_NO_FALLBACK=1",
					   "create-errno", NULL, NULL));
}

/* A file in the place of the node; to open it for writing can take 45 s. */
TEST(file_with_a_lease_is_not_waited_for)
{
	uint64_t begin;
	int fd, set;

	ASSERT_EQ(0, other_node(-1, 0));
	fd = open(NODE, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
	ASSERT_LE(0, fd);
	signal(SIGIO, SIG_IGN);
	ASSERT_EQ(0, fcntl(fd, F_SETLEASE, F_RDLCK));
	begin = now_ns();
	set = epoll_create1(0);
	EXPECT_GT(15000 * NSEC_PER_MSEC, now_ns() - begin);
	EXPECT_TRUE(is_set_of_epoll(set));
	EXPECT_TRUE(works(set));
}

TEST(set_keeps_the_mount_of_its_node)
{
	int set;

	ASSERT_EQ(0, other_node(NODE_MINOR, 0666));
	set = epoll_create1(0);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_EQ(-1, umount("/dev"));
	EXPECT_EQ(EBUSY, errno);
	ASSERT_EQ(0, close(set));
	EXPECT_EQ(0, umount("/dev"));
}

TEST(one_line_is_said_of_sets_that_a_filter_shuts_when_asked)
{
	char *const argv[] = { "/proc/self/exe", "--go-on", "set-lost", NULL };
	static const char expected[] =
		"libdevepoll-preload: ioctl(2) and fadvise64(2): "
		"Operation not permitted; "
		"calls on instances of the device fail\n";
	char err[512] = "";

	EXPECT_EQ(0, run(argv, NULL, err, sizeof(err)));
	EXPECT_STREQ("", err);
	EXPECT_EQ(0, run(argv, "DEVEPOLL_VERBOSE=1", err, sizeof(err)));
	EXPECT_TRUE(strstr(err, expected) == err);
}

TEST(no_line_is_said_where_the_device_is_there)
{
	char *const argv[] = {
		"/proc/self/exe", "--go-on", "edge-asks", NULL,
	};
	char err[256] = "";

	EXPECT_LE(100, run(argv, "DEVEPOLL_VERBOSE=1", err, sizeof(err)));
	EXPECT_STREQ("", err);
}

TEST_HARNESS_MAIN
