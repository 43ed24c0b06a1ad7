// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose ->poll() consumes the event that it reports, watched by a program
 * that calls epoll and runs on the device.
 */
#include <string.h>

#include "kselftest_harness.h"

#include "core/consume.h"
#include "preload/preloaded.h"

#define NR	4

FIXTURE(preload_consume) {
	int set;
	int outer;
	struct probe probe;
};

FIXTURE_VARIANT(preload_consume) {
	const struct consumer *consumer;
	uint32_t mode;
	const struct eset_ops *ops;
};

/* The calls are epoll's, and so is the name. */
CONSUMER_BY(preload_consume, mounts, level, 0, sysepoll);
CONSUMER_BY(preload_consume, mounts, edge, EPOLLET, sysepoll);
CONSUMER_BY(preload_consume, hostname, level, 0, sysepoll);
CONSUMER_BY(preload_consume, hostname, edge, EPOLLET, sysepoll);
CONSUMER_BY(preload_consume, pressure, edge, EPOLLET, sysepoll);
CONSUMER_BY(preload_consume, perf, edge, EPOLLET, sysepoll);

FIXTURE_SETUP(preload_consume)
{
	CONSUMER_OPEN();
	self->set = epoll_create1(0);
	self->outer = epoll_create1(0);
	ASSERT_TRUE(is_set_of_the_device(self->set));
	ASSERT_EQ(0, add(self->outer, self->set, EPOLLIN));
	ASSERT_EQ(0, add(self->set, self->probe.fd,
			 variant->consumer->events | variant->mode));
	EXPECT_EQ(-ENOMSG, ready(self->set));
}

FIXTURE_TEARDOWN(preload_consume)
{
	consumer_close(variant->consumer, &self->probe);
	close(self->outer);
	close(self->set);
}

TEST_F(preload_consume, event_is_handed_out_into_untouched_memory)
{
	struct epoll_event *out = untouched(PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, out);
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(1, epoll_wait(self->set, out, NR, SOON_MS));
	EXPECT_EQ(self->probe.fd, out->data.fd);
	EXPECT_EQ(variant->consumer->events,
		  variant->consumer->events & out->events);
	EXPECT_EQ(-ENOMSG, ready(self->set));
}

TEST_F(preload_consume, event_is_there_after_the_outer_set_told_of_it)
{
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	EXPECT_EQ(self->set, ready(self->outer));
	EXPECT_EQ(self->probe.fd, ready(self->set));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	EXPECT_EQ(-ENOMSG, ready(self->outer));
}

TEST_HARNESS_MAIN
