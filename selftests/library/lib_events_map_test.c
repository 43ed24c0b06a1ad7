// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll: the mapping, with a part for each thread, and sets that are
 * detached.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "library/lib_events.h"

#define PARTS		4
#define PER_PART	3
#define POSTED		40

struct taker {
	const struct devepoll_part *part;
	struct task task;
	int seen[POSTED];
	int first;
	long wrong;
};

/* Takes events until an fd reports that the test is over. */
static long take_all(void *arg)
{
	struct taker *t = arg;
	int i, n;

	for (;;) {
		n = devepoll_events_take(t->part, -1);
		if (n < 1 || n > PER_PART)
			return -1;
		for (i = 0; i < n; i++) {
			const struct devepoll_event *event =
				&t->part->events[i];
			int nr = event->fd - t->first;

			if (nr < 0 || nr >= POSTED)
				return t->wrong;
			t->wrong += event->events != EPOLLIN ||
				    event->data != 0x100000000 + event->fd;
			t->seen[nr]++;
		}
	}
}

TEST_F(events, threads_take_each_event_once_from_parts_of_the_mapping)
{
	struct devepoll_part parts[PARTS];
	static struct taker takers[PARTS];
	int first = 0, stop, i, j, fd;

	ASSERT_EQ(0, devepoll_events_map(self->set, parts, PARTS, PER_PART));
	for (i = 0; i < PARTS; i++) {
		EXPECT_EQ(PER_PART, parts[i].max_events);
		EXPECT_EQ(self->set, parts[i].fd);
		EXPECT_EQ(i * PER_PART * sizeof(struct devepoll_event),
			  parts[i].offset);
	}
	for (i = 0; i < POSTED; i++) {
		fd = add_eventfd(self->set, EPOLLET, false);
		if (i == 0)
			first = fd;
		ASSERT_EQ(first + i, fd);
	}
	stop = add_eventfd(self->set, 0, false);

	for (i = 0; i < PARTS; i++) {
		takers[i].part = &parts[i];
		takers[i].first = first;
		ASSERT_EQ(0, task_start(&takers[i].task, take_all,
					&takers[i]));
	}
	for (i = 0; i < POSTED; i++)
		ASSERT_EQ(0, eventfd_post(first + i));
	ASSERT_TRUE(await(({
		struct devepoll_stats stats = { 0 };

		devepoll_events_stats(self->set, &stats);
		stats.events >= POSTED;
	})));
	ASSERT_EQ(0, eventfd_post(stop));
	for (i = 0; i < PARTS; i++)
		EXPECT_EQ(0, task_join(&takers[i].task));
	for (i = 0; i < POSTED; i++) {
		int times = 0;

		for (j = 0; j < PARTS; j++)
			times += takers[j].seen[i];
		EXPECT_EQ(1, times);
	}
	devepoll_events_unmap(parts, PARTS);
}

TEST_F(events, mapping_has_the_size_that_the_first_one_asked_for)
{
	struct devepoll_part parts[2], more[3];
	unsigned int page = sysconf(_SC_PAGESIZE);
	unsigned int events = page / sizeof(struct devepoll_event);

	EXPECT_EQ(-EINVAL, devepoll_events_map(self->set, parts, 0, 1));
	EXPECT_EQ(-EINVAL, devepoll_events_map(self->set, parts, 1, 0));
	EXPECT_GT(0, devepoll_events_map(self->set, parts, UINT_MAX, UINT_MAX));

	ASSERT_EQ(0, devepoll_events_map(self->set, parts, 2, events));
	EXPECT_EQ(-EINVAL, devepoll_events_map(self->set, more, 3, events));
	EXPECT_EQ(-EINVAL, devepoll_events_map(self->set, more, 1, events));
	/* Rounded up to whole pages. */
	ASSERT_EQ(0, devepoll_events_map(self->set, more, 2, events - 1));
	ASSERT_LE(0, add_eventfd(self->set, 0, true));

	/* The same memory, until the last thread has unmapped it. */
	EXPECT_EQ(1, devepoll_events_take(&parts[0], 0));
	EXPECT_EQ(EPOLLIN, more[0].events->events);
	devepoll_events_unmap(more, 2);
	EXPECT_EQ(1, devepoll_events_take(&parts[1], 0));
	EXPECT_EQ(EPOLLIN, parts[1].events->events);
	devepoll_events_unmap(parts, 2);
}

TEST_F(events, part_that_the_mapping_has_not_is_refused)
{
	struct devepoll_part part;

	ASSERT_LE(0, add_eventfd(self->set, 0, true));
	part = (struct devepoll_part){ .fd = self->set, .max_events = 1 };
	EXPECT_EQ(-EINVAL, devepoll_events_take(&part, 0));
	ASSERT_EQ(0, devepoll_events_map(self->set, &part, 1, 1));
	part.offset = 1 << 20;
	EXPECT_EQ(-EINVAL, devepoll_events_take(&part, 0));
	part.offset = 8;
	EXPECT_EQ(-EINVAL, devepoll_events_take(&part, 0));
	part.offset = 0;
	EXPECT_EQ(1, devepoll_events_take(&part, 0));
	devepoll_events_unmap(&part, 1);
}

TEST(detached_set_leaves_its_descriptor_alone)
{
	struct devepoll *set;
	int fd, other;
	long pages;

	EXPECT_EQ(-EINVAL, devepoll_detach(NULL));
	pages = status_field(getpid(), "VmSize");
	ASSERT_LT(0, pages);
	ASSERT_EQ(0, devepoll_open(&set, NULL, 131072, 0));
	fd = devepoll_fd(set);
	EXPECT_EQ(fd, devepoll_detach(set));
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_GT(pages + 2048, status_field(getpid(), "VmSize"));
	EXPECT_EQ(0, close(fd));

	/* Even if the number names another file by now. */
	ASSERT_EQ(0, devepoll_open(&set, NULL, 1, 0));
	fd = devepoll_fd(set);
	ASSERT_EQ(0, close(fd));
	other = eventfd_new();
	ASSERT_EQ(fd, other);
	EXPECT_EQ(fd, devepoll_detach(set));
	EXPECT_EQ(0, eventfd_post(other));
	EXPECT_FALSE(leaks_memory());
}

TEST_HARNESS_MAIN
