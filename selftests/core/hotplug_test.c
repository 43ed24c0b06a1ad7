// SPDX-License-Identifier: GPL-2.0
/* A processor that goes offline while it has tasks to wake, and comes back. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/limits.h"

#define ONLINE		"/sys/devices/system/cpu/cpu1/online"
#define ROUNDS		6

/* More than an interrupt wakes. */
#define SETS		40
#define POLLERS		12

FIXTURE(hotplug) {
	struct eset sets[SETS];
	int outer[POLLERS];
	int event;
	bool off;
};

ESET_VARIANTS(hotplug);

FIXTURE_SETUP(hotplug)
{
	int i, j;

	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	for (j = 0; j < POLLERS; j++) {
		self->outer[j] = epoll_create1(EPOLL_CLOEXEC);
		ASSERT_LE(0, self->outer[j]);
	}
	for (i = 0; i < SETS; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		ASSERT_EQ(0, eset_open(&self->sets[i], variant->ops))
			TH_LOG("no %s here", variant->ops->name);
		ASSERT_EQ(0, eset_add(&self->sets[i], self->event, EPOLLIN));
		for (j = 0; j < POLLERS; j++)
			ASSERT_EQ(0, epoll_ctl(self->outer[j], EPOLL_CTL_ADD,
					       self->sets[i].fd, &event));
	}
}

FIXTURE_TEARDOWN(hotplug)
{
	int i;

	if (self->off)
		EXPECT_EQ(0, write_number(ONLINE, 1));
	for (i = 0; i < SETS; i++)
		eset_close(&self->sets[i]);
}

struct poster {
	int event;
	atomic_bool stop;
	atomic_bool runs;
};

/* Runs on the processor as long as it is there. */
static long post_all_the_time(void *arg)
{
	struct poster *poster = arg;
	int ret = pin_to_cpu(1);

	while (!ret && !atomic_load(&poster->stop)) {
		ret = eventfd_post(poster->event);
		atomic_store(&poster->runs, true);
		ret = ret ?: eventfd_take(poster->event);
	}
	return ret ?: eventfd_post(poster->event);
}

static bool all_told(const int *outer)
{
	struct epoll_event out[SETS];
	int j;

	for (j = 0; j < POLLERS; j++)
		if (epoll_wait(outer[j], out, SETS, 0) != SETS)
			return false;
	return true;
}

/* One more sleeps behind another waiter, so the timer checks who has come. */
TEST_F(hotplug, loses_no_wake_up)
{
	struct ewaiter waiters[2];
	struct poster poster;
	struct task task;
	int round, refused, i;

	if (geteuid() || cpus_online() < 2 || write_number(ONLINE, 1))
		SKIP(return, "no processor to be taken away");
	for (round = 0; round < ROUNDS; round++) {
		poster = (struct poster){ .event = self->event };
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, ewaiter_start(&waiters[i], &self->sets[0],
						   -1));
		ASSERT_EQ(0, task_start(&task, post_all_the_time, &poster));
		ASSERT_TRUE(await(atomic_load(&poster.runs)));
		self->off = true;
		refused = write_number(ONLINE, 0);
		atomic_store(&poster.stop, true);
		EXPECT_EQ(0, task_join(&task));
		EXPECT_TRUE(await(all_told(self->outer)));
		for (i = 0; i < 2; i++)
			EXPECT_EQ(1, ewaiter_join(&waiters[i]));
		ASSERT_EQ(0, eventfd_take(self->event));
		ASSERT_EQ(0, write_number(ONLINE, 1));
		self->off = false;
		if (refused)
			SKIP(return, "the processor can't be taken away");
	}
}

TEST_HARNESS_MAIN
