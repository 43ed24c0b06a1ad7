// SPDX-License-Identifier: GPL-2.0
/*
 * Files whose ->poll() consumes the event that it reports: an answer that could
 * not be handed out is not lost.
 */
#include <string.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "core/consume.h"

#define NR 4

FIXTURE(consume) {
	struct eset set;
	struct eset outer;
	struct probe probe;
	int event;
};

FIXTURE_VARIANT(consume) {
	const struct consumer *consumer;
	uint32_t mode;
	const struct eset_ops *ops;
};

CONSUMER(consume, mounts);
CONSUMER(consume, hostname);
CONSUMER(consume, pressure);
CONSUMER(consume, perf);
CONSUMER_BY(consume, cgroup_pressure, level, 0, devepoll);
CONSUMER_BY(consume, cgroup_pressure, level, 0, sysepoll);

static int watch(struct eset *set, const struct probe *probe,
		 const struct consumer *consumer, uint32_t mode)
{
	return eset_add(set, probe->fd, consumer->events | mode);
}

FIXTURE_SETUP(consume)
{
	CONSUMER_OPEN();
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	ASSERT_EQ(0, eset_open(&self->outer, variant->ops));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, watch(&self->set, &self->probe, variant->consumer,
			   variant->mode));
	EXPECT_EQ(0, eset_drain(&self->set));
}

FIXTURE_TEARDOWN(consume)
{
	consumer_close(variant->consumer, &self->probe);
	eset_close(&self->set);
	eset_close(&self->outer);
}

/*
 * A wait for this many events, which counts what is ready before it takes it;
 * one for none is like any other.
 */
static int wait_for(const struct eset *set, void *out, uint32_t min, int ms)
{
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = NR,
		.min_events = min,
		.timeout = ms < 0 ? DEVEPOLL_FOREVER : ms * 1000000LL,
	};

	return dep_request(set->fd, DEVEPOLL_WAIT, &args);
}

/* A wait into memory as it is. */
static int wait_raw(struct eset *set, void *out, int ms)
{
	int n;

	if (set->ops == &eset_devepoll)
		return wait_for(set, out, 0, ms);
	if (set->ops == &eset_devepoll_fadvise)
		return dep_epoll_wait(set->fd, out, NR, ms);
	n = epoll_wait(set->fd, out, NR, ms);
	return n < 0 ? -errno : n;
}

static uint32_t events_raw(const struct eset *set, const void *out)
{
	if (set->ops == &eset_devepoll)
		return ((const struct devepoll_event *)out)->events;
	return ((const struct epoll_event *)out)->events;
}

/* The event is reported once. */
#define EXPECT_ONCE()							\
	do {								\
		EXPECT_EQ(variant->consumer->events,			\
			  told_of(variant->consumer->events,		\
				  eset_wait_one(&self->set,		\
						self->probe.fd, 0)));	\
		EXPECT_EQ(0, eset_drain(&self->set));			\
	} while (0)

TEST_F(consume, event_is_handed_out_into_untouched_memory)
{
	void *out = untouched(PROT_READ | PROT_WRITE);

	ASSERT_NE(NULL, out);
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(1, wait_raw(&self->set, out, SOON_MS));
	EXPECT_EQ(variant->consumer->events,
		  variant->consumer->events & events_raw(&self->set, out));
	EXPECT_EQ(0, eset_drain(&self->set));
}

TEST_F(consume, events_on_both_sides_of_a_page_are_handed_out)
{
	size_t size = variant->ops == &eset_devepoll ?
		      sizeof(struct devepoll_event) :
		      sizeof(struct epoll_event);
	char *out = mmap(NULL, 2 * getpagesize(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *first;

	ASSERT_NE(MAP_FAILED, (void *)out);
	first = out + getpagesize() - size;
	/* The event of the eventfd fits, that of the file is on a new page. */
	memset(first, 0xa5, size);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(2, wait_raw(&self->set, first, SOON_MS));
	EXPECT_EQ(variant->consumer->events,
		  variant->consumer->events &
		  (events_raw(&self->set, first) |
		   events_raw(&self->set, first + size)));
	ASSERT_EQ(0, eventfd_take(self->event));
	EXPECT_EQ(0, eset_drain(&self->set));
}

TEST_F(consume, event_is_seen_through_an_outer_set)
{
	ASSERT_EQ(0, eset_add(&self->outer, self->set.fd, EPOLLIN));
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->outer, self->set.fd, 0));
	if (eset_has(&self->set, KEEPS_ANSWERS))
		EXPECT_ONCE();
	EXPECT_EQ(0, eset_drain(&self->outer));
}

TEST_F(consume, event_is_seen_by_poll)
{
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	if (eset_has(&self->set, KEEPS_ANSWERS))
		EXPECT_ONCE();
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

TEST_F(consume, event_outlives_a_wait_that_could_not_write_it)
{
	void *out = untouched(PROT_READ);

	ASSERT_NE(NULL, out);
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	EXPECT_EQ(-EFAULT, wait_raw(&self->set, out, 0));
	if (eset_has(&self->set, KEEPS_ANSWERS))
		EXPECT_ONCE();
}

TEST_F(consume, event_of_before_is_reported_by_who_adds)
{
	ASSERT_EQ(0, eset_del(&self->set, self->probe.fd));
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(0, watch(&self->set, &self->probe, variant->consumer,
			   variant->mode));
	if (eset_has(&self->set, KEEPS_ANSWERS))
		EXPECT_ONCE();
}

TEST_F(consume, event_outlives_a_change)
{
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(0, eset_mod(&self->set, self->probe.fd,
			      variant->consumer->events | variant->mode));
	if (eset_has(&self->set, KEEPS_ANSWERS))
		EXPECT_ONCE();
}

TEST_F(consume, event_that_nobody_saw_is_handed_out_again_after_a_one_shot)
{
	const uint32_t once = variant->consumer->events | variant->mode |
			      EPOLLONESHOT;

	ASSERT_EQ(0, eset_mod(&self->set, self->probe.fd, once));
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	EXPECT_EQ(variant->consumer->events,
		  told_of(variant->consumer->events,
			  eset_wait_one(&self->set, self->probe.fd, 0)));
	EXPECT_EQ(0, eset_drain(&self->set));
	/* It was handed out: nothing is left to report. */
	ASSERT_EQ(0, eset_mod(&self->set, self->probe.fd, once));
	EXPECT_EQ(0, eset_drain(&self->set));
}

/* Nobody else waits for several. */
FIXTURE(count) {
	struct eset set;
	struct probe probe;
	int event;
};

FIXTURE_VARIANT(count) {
	const struct consumer *consumer;
	uint32_t mode;
	const struct eset_ops *ops;
};

CONSUMER_BY(count, mounts, level, 0, devepoll);
CONSUMER_BY(count, hostname, level, 0, devepoll);
CONSUMER_BY(count, pressure, level, 0, devepoll);
CONSUMER_BY(count, perf, level, 0, devepoll);
CONSUMER_BY(count, mounts, edge, EPOLLET, devepoll);
CONSUMER_BY(count, hostname, edge, EPOLLET, devepoll);
CONSUMER_BY(count, pressure, edge, EPOLLET, devepoll);
CONSUMER_BY(count, perf, edge, EPOLLET, devepoll);

FIXTURE_SETUP(count)
{
	CONSUMER_OPEN();
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, self->probe.fd,
			      variant->consumer->events | variant->mode));
	EXPECT_EQ(0, eset_drain(&self->set));
}

FIXTURE_TEARDOWN(count)
{
	consumer_close(variant->consumer, &self->probe);
	eset_close(&self->set);
}

TEST_F(count, event_is_counted_and_taken)
{
	struct devepoll_event out[NR];

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	EXPECT_EQ(2, wait_for(&self->set, out, 2, SOON_MS));
	ASSERT_EQ(0, eventfd_take(self->event));
	EXPECT_EQ(0, eset_drain(&self->set));
}

TEST_F(count, event_is_taken_by_a_wait_that_wanted_more)
{
	struct devepoll_event out[NR];

	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	/* First without sleeping, then while it sleeps. */
	EXPECT_EQ(1, wait_for(&self->set, out, 2, 0));
	EXPECT_EQ(self->probe.fd, out[0].data);
	EXPECT_EQ(0, eset_drain(&self->set));
}

static long wait_for_two(void *arg)
{
	struct devepoll_event out[NR];

	return wait_for(arg, out, 2, -1);
}

TEST_F(count, event_is_kept_while_a_wait_for_more_sleeps)
{
	struct task task;

	ASSERT_EQ(0, consumer_make(variant->consumer, &self->probe));
	ASSERT_EQ(0, task_start(&task, wait_for_two, &self->set));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_ioctl));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(2, task_join(&task));
}

/* A change in a set of 2001 posts nothing, and loses nothing. */
TEST(event_outlives_a_change_of_a_set_of_2001)
{
	struct probe probe;
	struct set set;

	ASSERT_EQ(0, set_open(&set, &backend_devepoll, NR));
	ASSERT_EQ(0, consumer_open(&consumer_mounts, &probe));
	ASSERT_EQ(0, set_add(&set, probe.fd, POLLPRI));
	EXPECT_EQ(0, set_drain(&set));
	ASSERT_EQ(0, consumer_make(&consumer_mounts, &probe));
	ASSERT_EQ(0, set_change(&set, probe.fd, POLLPRI | POLLIN));
	EXPECT_EQ(POLLPRI, told_of(POLLPRI, set_wait_one(&set, probe.fd, 0)));
	EXPECT_EQ(0, set_drain(&set));
	consumer_close(&consumer_mounts, &probe);
	set_close(&set);
}

/* The opposite: what is over is not reported, however often it was polled. */
TEST(ready_file_that_is_read_after_it_was_counted_is_not_reported)
{
	struct devepoll_event out[NR];
	int first = eventfd_new(), second = eventfd_new();
	struct task task;
	struct eset set;

	ASSERT_EQ(0, eset_open(&set, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&set, first, EPOLLIN));
	ASSERT_EQ(0, eset_add(&set, second, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(first));
	ASSERT_EQ(0, task_start(&task, wait_for_two, &set));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_ioctl));
	EXPECT_EQ(POLLIN, poll_now(set.fd, POLLIN));
	ASSERT_EQ(0, eventfd_take(first));
	EXPECT_EQ(0, wait_for(&set, out, 1, 0));
	ASSERT_EQ(0, eventfd_post(first));
	ASSERT_EQ(0, eventfd_post(second));
	EXPECT_EQ(2, task_join(&task));
	eset_close(&set);
}

TEST(ready_file_that_is_read_after_a_fault_is_not_reported)
{
	void *out = untouched(PROT_READ);
	int fd = eventfd_new();
	struct eset set;

	ASSERT_EQ(0, eset_open(&set, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(-EFAULT, wait_raw(&set, out, 0));
	ASSERT_EQ(0, eventfd_take(fd));
	EXPECT_EQ(0, eset_drain(&set));
	eset_close(&set);
}

TEST_HARNESS_MAIN
