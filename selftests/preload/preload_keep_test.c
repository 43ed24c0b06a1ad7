// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so in programs that leave the root directory, or /dev:
 * the descriptor of the device that the library keeps from the start.  This
 * program, started with a word after "--go-on", does what the word says.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_filter.h"
#include "core/fadvise_param.h"
#include "core/helpers.h"
#include "core/other_node.h"
#include "preload/preload_keep.h"

/* --- What a program that was started anew does; its exit status. --- */

static int has_no_descriptor(void)
{
	return kept_number() >= 0;
}

static int has_one_and_leaves(void)
{
	return kept_number() < 0 || leave_the_root() || !makes_sets();
}

static int falls_back_outside(void)
{
	return leave_the_root() || !falls_back();
}

/* Its node has mode 0600, and it gives up the rights of root. */
static int is_nobody_outside(void)
{
	return kept_number() < 0 || leave_the_root() || !makes_sets() ||
	       setresuid(NOBODY, NOBODY, NOBODY) ||
	       epoll_create1(0) != -1 || errno != EACCES;
}

static int has_all_numbers(void)
{
	struct rlimit limit;
	int fd;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	closefrom(3);
	for (fd = 3; fd < (int)limit.rlim_cur; fd++) {
		if (dup(0) != fd)
			return 2;
	}
	return 0;
}

static int go_on(const char *word)
{
	if (!strcmp(word, "none"))
		return has_no_descriptor();
	if (!strcmp(word, "leave"))
		return has_one_and_leaves();
	if (!strcmp(word, "fall-back"))
		return has_no_descriptor() || falls_back_outside();
	if (!strcmp(word, "nobody"))
		return is_nobody_outside();
	if (!strcmp(word, "all-numbers"))
		return has_no_descriptor() || has_all_numbers();
	return 111;
}

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "--go-on"))
		_exit(go_on(argv[2]));
}

static int run_self(const char *setting, const char *word)
{
	pid_t child = fork();

	if (!child) {
		if (setting)
			putenv((char *)setting);
		closefrom(3);
		execl("/proc/self/exe", "program", "--go-on", word, NULL);
		_exit(127);
	}
	return child < 0 ? -errno : reap(child);
}

TEST_F(keep, is_high_and_closed_by_exec)
{
	EXPECT_EQ(-1, device_from(self->kept + 1));
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->kept, F_GETFD));
	/* A library that is not there: the program runs without any. */
	EXPECT_EQ(0, run_self("LD_PRELOAD=/none/libdevepoll-preload.so",
			      "none"));
}

TEST_F(keep, makes_sets_after_chroot)
{
	ASSERT_EQ(0, leave_the_root());
	EXPECT_TRUE(makes_sets());
	ASSERT_EQ(0, become(NOBODY));
	EXPECT_TRUE(makes_sets());
}

TEST_F(keep, makes_sets_in_a_dev_of_its_own)
{
	ASSERT_EQ(0, other_node(-1, 0));
	EXPECT_TRUE(makes_sets());
}

TEST_F(keep, makes_sets_where_dev_is_a_file)
{
	int fd;

	ASSERT_EQ(0, leave_the_root());
	fd = open("/dev", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_TRUE(makes_sets());
}

/* Whoever made it has decided that it leads elsewhere, or is not for us. */
TEST_F(keep, gives_way_to_a_node_that_is_there)
{
	ASSERT_EQ(0, other_node(99, 0666));
	EXPECT_TRUE(falls_back());
}

TEST_F(keep, gives_way_to_the_mode_of_a_node)
{
	ASSERT_EQ(0, other_node(NODE_MINOR, 0600));
	ASSERT_EQ(0, become(NOBODY));
	EXPECT_TRUE(falls_back());
}

TEST_F(keep, gives_way_to_another_file)
{
	int fd;

	ASSERT_EQ(0, other_node(-1, 0));
	fd = open(NODE, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_TRUE(falls_back());
}

TEST_F(keep, gives_no_rights_that_the_user_has_not)
{
	ASSERT_EQ(0, other_node(NODE_MINOR, 0600));
	EXPECT_EQ(0, run_self("DEVEPOLL_NO_FALLBACK=1", "nobody"));
}

TEST_F(keep, stays_under_a_lower_limit)
{
	const struct rlimit low = { 32, 32 };

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
	ASSERT_EQ(0, leave_the_root());
	EXPECT_TRUE(makes_sets());
}

TEST_F(keep, is_none_where_numbers_are_few)
{
	const struct rlimit low = { 64, 64 };

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
	EXPECT_EQ(0, run_self(NULL, "all-numbers"));
	EXPECT_EQ(0, run_self(NULL, "fall-back"));
}

TEST_F(keep, is_none_if_asked)
{
	EXPECT_EQ(0, run_self("DEVEPOLL_NO_KEEP=1", "fall-back"));
	EXPECT_EQ(0, run_self("DEVEPOLL_NO_KEEP=0", "leave"));
}

TEST_F(keep, says_what_fails_in_its_place)
{
	struct rlimit none = { 3, 3 };

	ASSERT_EQ(0, leave_the_root());
	closefrom(3);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-1, epoll_create1(0));
	EXPECT_EQ(EMFILE, errno);
}

TEST_F(keep, makes_sets_under_a_filter_of_ioctl)
{
	int set;

	if (fadvise_param() == 'N')
		SKIP(return, "fadvise is off: no way is left into sets");
	ASSERT_EQ(0, leave_the_root());
	ASSERT_EQ(0, refuse_call(SYS_ioctl, EPERM));
	set = epoll_create1(0);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_TRUE(works(set));
}

TEST_HARNESS_MAIN
