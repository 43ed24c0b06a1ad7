// SPDX-License-Identifier: GPL-2.0
/*
 * Loading, working and unloading while others hook the same function of the
 * kernel: probes, tracers and a livepatch, from before and from after.
 * Needs root and $DEVEPOLL_KO; for the livepatch $DEVEPOLL_LIVEPATCH.  The
 * module is loaded afterwards, whether it was before or not.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "kselftest_harness.h"

#include "load/load_tracefs.h"

#define FTRACE_SWITCH	"/proc/sys/kernel/ftrace_enabled"
#define KPROBE_SWITCH	"/sys/kernel/debug/kprobes/enabled"
#define TRACE_SWITCH	TRACEFS "tracing_on"

FIXTURE(load_hook) {
	int log;
};

FIXTURE_VARIANT(load_hook) {
	const struct hooker *other;
};

#define OTHER(name)							\
	FIXTURE_VARIANT_ADD(load_hook, name) { .other = &by_##name }

OTHER(kprobe);
OTHER(kprobe_within);
OTHER(kretprobe);
OTHER(fprobe);
OTHER(function_tracer);
OTHER(graph_tracer);
OTHER(livepatch);

FIXTURE_SETUP(load_hook)
{
	if (geteuid() || !getenv("DEVEPOLL_KO"))
		SKIP(return, "needs root and $DEVEPOLL_KO");
	tracefs_mount();
	if (module_is_loaded())
		ASSERT_TRUE(module_goes());
	self->log = log_open();
	ASSERT_LE(0, self->log);
	if (is_realtime() && variant->other == &by_livepatch)
		SKIP(return, "with PREEMPT_RT there is one or the other");
	if (!variant->other->start())
		SKIP(return, "no %s here", variant->other->name);
	EXPECT_TRUE(variant->other->stop());
}

FIXTURE_TEARDOWN(load_hook)
{
	if (!module_is_loaded())
		EXPECT_EQ(0, module_load(""));
}

/* Both do their work. */
static bool both_work(const struct hooker *other)
{
	long before = other->hits();

	return closed_files_that_left() == CLOSES &&
	       other->hits() >= before + CLOSES;
}

/* The other does its work when the module is not there. */
static bool other_works(const struct hooker *other)
{
	long before = other->hits();
	int i;

	for (i = 0; i < CLOSES; i++)
		close(eventfd_new());
	return other->hits() >= before + CLOSES;
}

TEST_F(load_hook, comes_and_goes_while_another_is_there)
{
	const struct hooker *other = variant->other;

	ASSERT_TRUE(other->start());
	EXPECT_TRUE(other_works(other));
	EXPECT_EQ(0, module_load(""));
	EXPECT_TRUE(both_work(other));
	EXPECT_TRUE(module_goes());
	EXPECT_TRUE(other_works(other));
	EXPECT_EQ(0, module_load(""));
	EXPECT_TRUE(both_work(other));
	EXPECT_TRUE(other->stop());
	EXPECT_EQ(CLOSES, closed_files_that_left());
	EXPECT_TRUE(module_goes());
	EXPECT_GT(1000, log_new_lines(self->log, "loaded"));
}

TEST_F(load_hook, stays_while_another_comes_and_goes)
{
	const struct hooker *other = variant->other;

	ASSERT_EQ(0, module_load(""));
	EXPECT_TRUE(other->start());
	EXPECT_TRUE(both_work(other));
	EXPECT_TRUE(other->stop());
	EXPECT_EQ(CLOSES, closed_files_that_left());
	EXPECT_TRUE(other->start());
	EXPECT_TRUE(both_work(other));
	EXPECT_TRUE(module_goes());
	EXPECT_TRUE(other_works(other));
	EXPECT_TRUE(other->stop());
	EXPECT_GT(1000, log_new_lines(self->log, "loaded"));
}

/* What switches the others off leaves the hook alone. */
TEST_F(load_hook, works_while_the_others_are_switched_off)
{
	static const char *const switches[] = { KPROBE_SWITCH, TRACE_SWITCH };
	const struct hooker *other = variant->other;
	int i;

	ASSERT_TRUE(other->start());
	EXPECT_EQ(0, module_load(""));
	for (i = 0; i < 2; i++) {
		if (write_text(switches[i], "0"))
			continue;
		EXPECT_EQ(CLOSES, closed_files_that_left());
		EXPECT_EQ(0, write_text(switches[i], "1"));
	}
	EXPECT_NE(0, write_text(FTRACE_SWITCH, "0"));
	EXPECT_TRUE(both_work(other));
	EXPECT_TRUE(module_goes());
	EXPECT_TRUE(other->stop());
}

/* There both would change where the function goes on. */
TEST(realtime_module_is_refused_with_one_line_beside_a_livepatch)
{
	int log = log_open();

	if (geteuid() || !getenv("DEVEPOLL_KO") || !is_realtime())
		SKIP(return, "needs root, $DEVEPOLL_KO and PREEMPT_RT");
	ASSERT_LE(0, log);
	if (module_is_loaded())
		ASSERT_TRUE(module_goes());
	if (!by_livepatch.start())
		SKIP(return, "no livepatch here");
	log_new_lines(log, "");
	EXPECT_EQ(-EBUSY, module_load(""));
	EXPECT_EQ(1, log_new_lines(log, "a live patch or kprobe redirects"));
	EXPECT_TRUE(by_livepatch.stop());
	EXPECT_EQ(0, module_load(""));
	EXPECT_FALSE(by_livepatch.start());
	EXPECT_EQ(CLOSES, closed_files_that_left());
}

TEST_HARNESS_MAIN
