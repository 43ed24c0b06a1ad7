// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel disables ftrace for good when it finds a bug in it: nobody can
 * hook or unhook a function any more.  Our hook stays where it is, and works.
 * This kernel is of no use to other tests afterwards.
 *
 * Needs root, the module loaded, and in $DEVEPOLL_FTRACE_KILL a module that
 * disables ftrace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "load/load_module.h"

#define FTRACE_SWITCH	"/proc/sys/kernel/ftrace_enabled"
#define KILLER		"load_ftrace_kill"
#define STAYS		"the module stays until a reboot"

FIXTURE(load_dead) {
	int log;
};

FIXTURE_SETUP(load_dead)
{
	const char *killer = getenv("DEVEPOLL_FTRACE_KILL");

	if (geteuid() || !module_is_loaded() || !killer)
		SKIP(return,
		     "needs root, the module and $DEVEPOLL_FTRACE_KILL");
	self->log = log_open();
	ASSERT_LE(0, self->log);
	ASSERT_EQ(CLOSES, closed_files_that_left());
	ASSERT_EQ(0, module_load_file(killer, ""));
	ASSERT_EQ(-ENODEV, write_text(FTRACE_SWITCH, "1"));
}

FIXTURE_TEARDOWN(load_dead)
{
	EXPECT_EQ(0, syscall(SYS_delete_module, KILLER, O_NONBLOCK));
}

TEST_F(load_dead, ftrace_leaves_the_hook_at_work)
{
	EXPECT_EQ(CLOSES, closed_files_that_left());
	EXPECT_EQ(1, use_set());
	EXPECT_EQ(0, log_new_lines(self->log, STAYS));
}

/* Never ends, so it closes its fds: the guest waits for these. */
static void unload_and_exit(void)
{
	close_range(0, ~0U, 0);
	_exit(module_unload() ? 1 : 0);
}

/* The kernel may call the hook for ever, so its text must not be freed. */
TEST_F(load_dead, ftrace_lets_no_unload_end)
{
	pid_t unloader = fork();
	int lines = 0;

	ASSERT_LE(0, unloader);
	if (!unloader)
		unload_and_exit();
	EXPECT_TRUE(await((lines += log_new_lines(self->log, STAYS)) > 0));
	EXPECT_EQ(1, lines);
	/* It sleeps as TASK_IDLE, so the kernel reports no hung task. */
	EXPECT_TRUE(await(idles_in(unloader, SYS_delete_module)));
	EXPECT_EQ(0, kill(unloader, SIGKILL));
	EXPECT_TRUE(module_is_loaded());
	EXPECT_EQ(-ENOENT, dep_open());
}

TEST_HARNESS_MAIN
