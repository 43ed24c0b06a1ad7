// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints: each says what happened to which fd of a set.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define TRACEFS	"/sys/kernel/tracing"

/* A trace of our own, which nobody else writes to or clears. */
struct trace {
	char dir[128];
};

static int write_file(const struct trace *trace, const char *name,
		      const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", trace->dir, name);
	return write_text(path, text);
}

/* 0, or -errno: -ENOENT where the kernel has no such thing. */
static int trace_open(struct trace *trace)
{
	if (access(TRACEFS "/instances", F_OK) &&
	    mount("tracefs", TRACEFS, "tracefs", 0, NULL))
		return -ENOENT;
	snprintf(trace->dir, sizeof(trace->dir),
		 TRACEFS "/instances/devepoll-%d", getpid());
	return mkdir(trace->dir, 0700) ? -errno : 0;
}

static void trace_close(struct trace *trace)
{
	if (!trace->dir[0])
		return;
	write_file(trace, "events/devepoll/enable", "0");
	rmdir(trace->dir);
}

/* How many lines there are of an event, with this text in each. */
static int trace_count(const struct trace *trace, const char *event,
		       const char *text)
{
	char path[256], line[512], name[64];
	FILE *file;
	int n = 0;

	snprintf(path, sizeof(path), "%s/trace", trace->dir);
	snprintf(name, sizeof(name), " devepoll_%s: ", event);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		n += line[0] != '#' && strstr(line, name) &&
		     strstr(line, text);
	fclose(file);
	return n;
}

FIXTURE(trace) {
	struct eset set;
	struct trace trace;
	int event;
	char fd[32];	/* as the trace has it */
};

DEVICE_VARIANTS(trace);

FIXTURE_SETUP(trace)
{
	int ret, event = eventfd_new();

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ret = trace_open(&self->trace);
	if (ret == -ENOENT)
		SKIP(return, "no tracefs in this kernel");
	ASSERT_EQ(0, ret);
	/*
	 * Names of threads are not wanted: to record them the kernel patches
	 * the scheduler while it runs, which some emulators can't handle.
	 */
	ASSERT_EQ(0, write_file(&self->trace, "trace_options",
				"norecord-cmd"));
	ASSERT_EQ(0, write_file(&self->trace, "events/devepoll/enable", "1"));
	/* A number that nobody else has. */
	self->event = fcntl(event, F_DUPFD_CLOEXEC, 777);
	ASSERT_LE(777, self->event);
	ASSERT_EQ(0, close(event));
	snprintf(self->fd, sizeof(self->fd), " fd=%d ", self->event);
}

FIXTURE_TEARDOWN(trace)
{
	trace_close(&self->trace);
	eset_close(&self->set);
}

TEST_F(trace, tells_of_each_add_and_removal)
{
	EXPECT_EQ(0, trace_count(&self->trace, "add", self->fd));
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, self->event,
			      EPOLLIN | EPOLLET, 0xabcdef));
	EXPECT_EQ(1, trace_count(&self->trace, "add", self->fd));
	EXPECT_EQ(1, trace_count(&self->trace, "add", " data=0xabcdef"));
	ASSERT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(1, trace_count(&self->trace, "add", self->fd));
	EXPECT_EQ(0, trace_count(&self->trace, "remove", self->fd));
	ASSERT_EQ(0, eset_del(&self->set, self->event));
	EXPECT_EQ(1, trace_count(&self->trace, "remove", self->fd));
	ASSERT_EQ(-ENOENT, eset_del(&self->set, self->event));
	EXPECT_EQ(1, trace_count(&self->trace, "remove", self->fd));
	EXPECT_EQ(0, trace_count(&self->trace, "close", self->fd));
}

TEST_F(trace, tells_of_each_wake_up_and_harvest)
{
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(i, trace_count(&self->trace, "event", self->fd));
		EXPECT_EQ(i - 1, trace_count(&self->trace, "harvest",
					     " events=1"));
		ASSERT_EQ(1, eset_drain(&self->set));
		EXPECT_EQ(i, trace_count(&self->trace, "harvest",
					 " events=1"));
		ASSERT_EQ(0, eset_drain(&self->set));
		EXPECT_EQ(i, trace_count(&self->trace, "harvest", " events="));
	}
}

/* Though the set, without a trace, would have nothing to do. */
TEST_F(trace, tells_of_each_wake_up_while_an_event_is_pending)
{
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(i, trace_count(&self->trace, "event", self->fd));
	}
	EXPECT_EQ(1, eset_drain(&self->set));
}

TEST_F(trace, tells_of_a_close)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, trace_count(&self->trace, "close", self->fd));
	ASSERT_EQ(0, close(self->event));
	EXPECT_EQ(1, trace_count(&self->trace, "close", self->fd));
	EXPECT_EQ(0, trace_count(&self->trace, "remove", self->fd));
}

TEST_F(trace, tells_of_a_closed_number_when_it_is_found)
{
	int kept = dup(self->event);

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, eventfd_post(kept));
	ASSERT_EQ(0, eset_drain(&self->set));
	EXPECT_EQ(1, trace_count(&self->trace, "close", self->fd));
	EXPECT_EQ(0, trace_count(&self->trace, "remove", self->fd));
	ASSERT_EQ(0, close(kept));
	EXPECT_EQ(1, trace_count(&self->trace, "close", self->fd));
}

TEST_HARNESS_MAIN
