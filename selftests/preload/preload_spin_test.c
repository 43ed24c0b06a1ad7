// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: DEVEPOLL_SPIN, with which the waits of a program look
 * for events before they sleep.  This program, started with "--go-on", says what
 * a set that it creates does.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"

#include <linux/devepoll.h>

#include "core/helpers.h"
#include "preload/preloaded.h"

/* The exit status is the time in units of 50 us; 99 and more: failures. */
#define UNIT	50

static int spin_of_set(int set)
{
	struct devepoll_spin args = { .usecs = DEVEPOLL_SPIN_ASK };

	if (!is_set_of_the_device(set) || !works(set))
		return 99;
	if (ioctl(set, DEVEPOLL_SPIN, &args) || args.usecs % UNIT)
		return 100;
	return args.usecs / UNIT;
}

/* By a set from before all constructors, and by one from now. */
static int tell(void)
{
	int early = spin_of_set(early_set), now;

	/* The environment is read before the program runs. */
	setenv("DEVEPOLL_SPIN", "5000", 1);
	now = spin_of_set(epoll_create1(0));
	/* The C library has no environment as early as that. */
	return early ? 101 : now;
}

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--go-on"))
		_exit(tell());
}

static int with(const char *value)
{
	pid_t pid = fork();

	if (!pid) {
		if (value)
			setenv("DEVEPOLL_SPIN", value, 1);
		else
			unsetenv("DEVEPOLL_SPIN");
		execl("/proc/self/exe", "program", "--go-on", NULL);
		_exit(102);
	}
	return reap(pid);
}

TEST(waits_look_for_so_long)
{
	EXPECT_EQ(0, with(NULL));
	EXPECT_EQ(0, with(""));
	EXPECT_EQ(0, with("0"));
	EXPECT_EQ(1, with("50"));
	EXPECT_EQ(4, with("0200"));
	EXPECT_EQ(DEVEPOLL_SPIN_MAX / UNIT % 256, with("10000"));
}

/* And the program runs all the same. */
TEST(bad_values_are_ignored)
{
	EXPECT_EQ(0, with("10001"));
	EXPECT_EQ(0, with("99999999999999999999999"));
	EXPECT_EQ(0, with("-50"));
	EXPECT_EQ(0, with("+50"));
	EXPECT_EQ(0, with(" 50"));
	EXPECT_EQ(0, with("50us"));
	EXPECT_EQ(0, with("0x32"));
	EXPECT_EQ(0, with("yes"));
}

TEST_HARNESS_MAIN
