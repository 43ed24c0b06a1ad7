// SPDX-License-Identifier: GPL-2.0
/*
 * Room for fds: EP_ALLOC, EP_FREE and the conditions of mmap(2).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define SLEEPERS	150	/* more than the kernel wakes at a time */
#define GROWING_FDS	700	/* in the set while it grows */
#define GROWING_LIMIT	4096	/* more than any of their numbers */
#define GROWING_ROUNDS	5

FIXTURE(room) {
	int fd;
	int event;
};

FIXTURE_SETUP(room)
{
	self->fd = dep_open();
	ASSERT_LE(0, self->fd);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(room)
{
	EXPECT_EQ(0, close(self->fd));
	EXPECT_EQ(0, close(self->event));
}

/* The errno of an mmap that is refused; 0 for one that is not. */
static int map_errno(int fd, size_t size, off_t offset)
{
	char *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, offset);

	if (map == MAP_FAILED)
		return errno;
	munmap(map, size);
	return 0;
}

/* The one event that is ready, through a mapping made for this call. */
static int poll_once(int fd, int room)
{
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	char *map = dep_map(fd, EP_MAP_SIZE(room));
	int ret;

	if (map == MAP_FAILED)
		return -errno;
	ret = dep_poll(fd, &evp);
	if (ret == 1)
		ret = ((struct pollfd *)(map + evp.ep_resoff))->fd;
	munmap(map, EP_MAP_SIZE(room));
	return ret;
}

TEST_F(room, for_none_or_less_is_refused)
{
	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, 0));
	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, -1));
	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, INT_MIN));
	EXPECT_EQ(-EINVAL, dep_free(self->fd));
}

static long module_max_fds(void)
{
	FILE *file = fopen("/sys/module/devepoll/parameters/max_fds", "r");
	long max = -1;

	if (file) {
		if (fscanf(file, "%ld", &max) != 1)
			max = -1;
		fclose(file);
	}
	return max;
}

TEST_F(room, for_131072_is_the_most_by_default)
{
	ASSERT_EQ(MAX_FDS_IN_EVENTPOLL, module_max_fds());
	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, MAX_FDS_IN_EVENTPOLL + 1));
	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, INT_MAX));
	EXPECT_EQ(-EINVAL, dep_free(self->fd));
	EXPECT_EQ(0, dep_alloc(self->fd, MAX_FDS_IN_EVENTPOLL));
	EXPECT_EQ(0, map_errno(self->fd, EP_MAP_SIZE(MAX_FDS_IN_EVENTPOLL),
			       0));
	EXPECT_EQ(0, dep_free(self->fd));
}

TEST_F(room, grows)
{
	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(0, map_errno(self->fd, EP_MAP_SIZE(10), 0));
	ASSERT_EQ(0, dep_alloc(self->fd, 2000));
	EXPECT_EQ(EINVAL, map_errno(self->fd, EP_MAP_SIZE(10), 0));
	EXPECT_EQ(0, map_errno(self->fd, EP_MAP_SIZE(2000), 0));
}

TEST_F(room, never_shrinks)
{
	ASSERT_EQ(0, dep_alloc(self->fd, 2000));
	EXPECT_EQ(0, dep_alloc(self->fd, 2000));
	EXPECT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(0, dep_alloc(self->fd, 1));
	EXPECT_EQ(0, map_errno(self->fd, EP_MAP_SIZE(2000), 0));
	EXPECT_EQ(EINVAL, map_errno(self->fd, EP_MAP_SIZE(10), 0));
}

TEST_F(room, stays_as_it_is_after_a_refused_growth)
{
	ASSERT_EQ(0, dep_alloc(self->fd, 600));
	ASSERT_EQ(8, dep_write_one(self->fd, self->event, POLLIN));
	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, INT_MAX));
	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(self->event, poll_once(self->fd, 600));
}

TEST_F(room, grows_without_losing_fds_or_events)
{
	int late = eventfd_new();

	ASSERT_LE(0, late);
	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	ASSERT_EQ(8, dep_write_one(self->fd, self->event, POLLIN));
	ASSERT_EQ(8, dep_write_one(self->fd, late, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, dep_alloc(self->fd, 5000));
	EXPECT_EQ(self->event, poll_once(self->fd, 5000));
	ASSERT_EQ(0, eventfd_post(late));
	EXPECT_EQ(late, poll_once(self->fd, 5000));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, dep_alloc(self->fd, 20000));
	EXPECT_EQ(self->event, poll_once(self->fd, 20000));
	/* Now the second page set is filled. */
	ASSERT_EQ(0, eventfd_post(late));
	ASSERT_EQ(0, dep_alloc(self->fd, 30000));
	EXPECT_EQ(late, poll_once(self->fd, 30000));
	EXPECT_EQ(0, close(late));
}

/* Fds of a set, of which a thread makes some ready, and closes others. */
struct crowd {
	int fds[GROWING_FDS];
	bool done;
};

/* Each fd has one event; every third is closed while others follow its slot. */
static long crowd_act(void *arg)
{
	struct crowd *crowd = arg;
	long bad = 0;
	int i;

	for (i = 0; i < GROWING_FDS; i++) {
		bad += eventfd_post(crowd->fds[i]) != 0;
		if (i % 3 == 2) {
			bad += close(crowd->fds[i - 2]) != 0;
			crowd->fds[i - 2] = -1;
		}
	}
	__atomic_store_n(&crowd->done, true, __ATOMIC_RELEASE);
	return bad;
}

/* Are just the fds of @crowd that are still open in these slots? */
static int crowd_misses(const struct crowd *crowd, const struct pollfd *slots,
			int n)
{
	static int seen[GROWING_LIMIT];
	int i, wrong = 0;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < n; i++) {
		if (slots[i].fd < 0 || slots[i].fd >= GROWING_LIMIT ||
		    slots[i].revents != POLLIN)
			wrong++;
		else
			seen[slots[i].fd]++;
	}
	for (i = 0; i < GROWING_FDS; i++)
		if (crowd->fds[i] >= 0)
			wrong += seen[crowd->fds[i]] != 1;
	return wrong;
}

TEST_F_TIMEOUT(room, grows_while_events_come_and_files_are_closed, 150)
{
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	int i, fd, round, room, open = GROWING_FDS - GROWING_FDS / 3;
	/* Each takes a debug kernel a second or two. */
	int rounds = 1 + (GROWING_ROUNDS - 1) / slowness();
	static struct crowd crowd;
	struct task task;
	char *map;

	NEEDS_THREADS();
	ASSERT_EQ(0, raise_fd_limit(GROWING_LIMIT));
	for (round = 0; round < rounds; round++) {
		fd = dep_open();
		ASSERT_LE(0, fd);
		room = 3 * POLLFD_X_PAGE;
		ASSERT_EQ(0, dep_alloc(fd, room));
		for (i = 0; i < GROWING_FDS; i++) {
			crowd.fds[i] = eventfd_new();
			ASSERT_LE(0, crowd.fds[i]);
			ASSERT_EQ(8, dep_write_one(fd, crowd.fds[i], POLLIN));
		}
		crowd.done = false;
		ASSERT_EQ(0, task_start(&task, crowd_act, &crowd));
		while (!__atomic_load_n(&crowd.done, __ATOMIC_ACQUIRE) &&
		       room < 64 * POLLFD_X_PAGE) {
			room += POLLFD_X_PAGE;
			ASSERT_EQ(0, dep_alloc(fd, room));
		}
		ASSERT_EQ(0, task_join(&task));

		map = dep_map(fd, EP_MAP_SIZE(room));
		ASSERT_TRUE(map != MAP_FAILED);
		ASSERT_EQ(open, dep_poll(fd, &evp));
		EXPECT_EQ(0, crowd_misses(&crowd, (void *)(map + evp.ep_resoff),
					  open));
		ASSERT_EQ(0, munmap(map, EP_MAP_SIZE(room)));
		for (i = 0; i < GROWING_FDS; i++)
			if (crowd.fds[i] >= 0)
				ASSERT_EQ(0, close(crowd.fds[i]));
		ASSERT_EQ(0, close(fd));
	}
}

TEST_F(room, neither_grows_nor_goes_while_mapped)
{
	struct pollfd pfd = { .fd = self->event };
	char *map;

	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	ASSERT_EQ(8, dep_write_one(self->fd, self->event, POLLIN));
	map = dep_map(self->fd, EP_MAP_SIZE(10));
	ASSERT_TRUE(map != MAP_FAILED);
	EXPECT_EQ(-EBUSY, dep_alloc(self->fd, 1000));
	EXPECT_EQ(-EBUSY, dep_alloc(self->fd, 10));
	EXPECT_EQ(-EBUSY, dep_alloc(self->fd, 5));
	EXPECT_EQ(-EBUSY, dep_free(self->fd));
	EXPECT_EQ(1, dep_ispolled(self->fd, &pfd));
	ASSERT_EQ(0, munmap(map, EP_MAP_SIZE(10)));
	EXPECT_EQ(0, dep_alloc(self->fd, 1000));
	EXPECT_EQ(0, dep_free(self->fd));
}

TEST_F(room, can_not_be_freed_before_it_is_there)
{
	EXPECT_EQ(-EINVAL, dep_free(self->fd));
	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(0, dep_free(self->fd));
	EXPECT_EQ(-EINVAL, dep_free(self->fd));
}

TEST_F(room, takes_fds_and_events_along_when_it_is_freed)
{
	struct evpoll evp = { .ep_timeout = 0 };
	struct pollfd pfd = { .fd = self->event };

	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	ASSERT_EQ(8, dep_write_one(self->fd, self->event, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, poll_now(self->fd, POLLIN));
	ASSERT_EQ(0, dep_free(self->fd));
	EXPECT_EQ(0, poll_now(self->fd, POLLIN));
	EXPECT_EQ(0, dep_ispolled(self->fd, &pfd));
	EXPECT_EQ(-EINVAL, dep_poll(self->fd, &evp));
	EXPECT_EQ(EINVAL, map_errno(self->fd, EP_MAP_SIZE(10), 0));
	EXPECT_EQ(0, dep_write_one(self->fd, self->event, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));

	ASSERT_EQ(0, dep_alloc(self->fd, 700));
	EXPECT_EQ(0, dep_ispolled(self->fd, &pfd));
	EXPECT_EQ(0, poll_once(self->fd, 700));
	ASSERT_EQ(8, dep_write_one(self->fd, self->event, POLLIN));
	EXPECT_EQ(self->event, poll_once(self->fd, 700));
}

TEST_F(room, that_is_freed_wakes_all_who_wait)
{
	static struct waiter waiters[SLEEPERS];
	struct set set;
	int i;

	NEEDS_THREADS();
	ASSERT_EQ(0, set_open(&set, &backend_devepoll, 10));
	for (i = 0; i < SLEEPERS; i++)
		ASSERT_EQ(0, waiter_launch(&waiters[i], &set, -1));
	for (i = 0; i < SLEEPERS; i++)
		ASSERT_EQ(0, await_sleep(waiters[i].task.tid,
					 set.ops->wait_syscall));
	/* The waiters' copies name the same mapping. */
	ASSERT_EQ(0, munmap(set.map, set.map_size));
	set.map = NULL;
	ASSERT_EQ(0, dep_free(set.fd));
	for (i = 0; i < SLEEPERS; i++)
		EXPECT_EQ(-EINVAL, waiter_join(&waiters[i]));
	set_close(&set);
}

TEST_F(room, must_be_there_before_fds_fit)
{
	struct pollfd pfd = { .fd = self->event };

	EXPECT_EQ(0, dep_write_one(self->fd, self->event, POLLIN));
	EXPECT_EQ(0, dep_ispolled(self->fd, &pfd));
	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(0, dep_ispolled(self->fd, &pfd));
	EXPECT_EQ(8, dep_write_one(self->fd, self->event, POLLIN));
}

TEST_F(room, takes_as_many_fds_as_were_asked_for)
{
	enum { N = 700 };
	int fds[1024 + 1], i, fit;

	ASSERT_EQ(0, raise_fd_limit(4096));
	ASSERT_EQ(0, dep_alloc(self->fd, N));
	for (i = 0; i <= 1024; i++) {
		fds[i] = dup(self->event);
		ASSERT_LE(0, fds[i]);
	}
	for (fit = 0; fit <= 1024; fit++)
		if (dep_write_one(self->fd, fds[fit], POLLIN) != 8)
			break;
	/* There may be more room than asked for, up to what the pages hold. */
	EXPECT_LE(N, fit);
	EXPECT_GE(EP_FDS_PAGES(N) * POLLFD_X_PAGE, fit);

	/* Full: changes still work, a new fd needs a place. */
	EXPECT_EQ(8, dep_write_one(self->fd, fds[0], POLLOUT));
	EXPECT_EQ(0, dep_write_one(self->fd, fds[fit], POLLIN));
	EXPECT_EQ(8, dep_write_one(self->fd, fds[1], POLLREMOVE));
	EXPECT_EQ(8, dep_write_one(self->fd, fds[fit], POLLIN));
	EXPECT_EQ(0, dep_write_one(self->fd, fds[1], POLLIN));
}

TEST_F(room, that_is_full_reports_every_fd)
{
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	static char seen[4096];
	struct pollfd *slots;
	int i, fd, fit = 0;
	char *map;

	ASSERT_EQ(0, raise_fd_limit(4096));
	ASSERT_EQ(0, dep_alloc(self->fd, 512));
	while ((fd = dup(self->event)) >= 0 && fd < 4000)
		if (dep_write_one(self->fd, fd, POLLIN) == 8)
			fit++;
	EXPECT_LE(512, fit);
	map = dep_map(self->fd, EP_MAP_SIZE(512));
	ASSERT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(fit, dep_poll(self->fd, &evp));
	slots = (struct pollfd *)(map + evp.ep_resoff);
	for (i = 0; i < fit; i++) {
		ASSERT_EQ(POLLIN, slots[i].revents);
		ASSERT_EQ(0, seen[slots[i].fd]++);
	}
	ASSERT_EQ(0, munmap(map, EP_MAP_SIZE(512)));
	/* EP_FREE with every place taken. */
	EXPECT_EQ(0, dep_free(self->fd));
}

TEST_F(room, is_mapped_whole_or_not_at_all)
{
	const long page = getpagesize();
	/* Of eight pages a set, which the kernel can't round up to more. */
	const size_t size = EP_MAP_SIZE(4000);

	EXPECT_EQ(EINVAL, map_errno(self->fd, size, 0));
	ASSERT_EQ(0, dep_alloc(self->fd, 4000));
	EXPECT_EQ(EINVAL, map_errno(self->fd, 0, 0));
	EXPECT_EQ(EINVAL, map_errno(self->fd, page, 0));
	EXPECT_EQ(EINVAL, map_errno(self->fd, size / 2, 0));
	EXPECT_EQ(EINVAL, map_errno(self->fd, size - page, 0));
	EXPECT_EQ(EINVAL, map_errno(self->fd, size + page, 0));
	/* All pages, including those that only the kernel uses. */
	EXPECT_EQ(EINVAL, map_errno(self->fd, size / 2 * 3, 0));
	EXPECT_EQ(EINVAL, map_errno(self->fd, 2 * size, 0));
	EXPECT_EQ(EINVAL, map_errno(self->fd, size, page));
	EXPECT_EQ(EINVAL, map_errno(self->fd, size - page, page));
	EXPECT_EQ(EINVAL, map_errno(self->fd, size / 2, size / 2));
	EXPECT_EQ(EINVAL, map_errno(self->fd, size, size));
	/* None of these left the set mapped. */
	EXPECT_EQ(0, dep_alloc(self->fd, 8000));
	EXPECT_EQ(0, map_errno(self->fd, EP_MAP_SIZE(8000), 0));
}

TEST_F(room, must_be_mapped_for_a_wait)
{
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	char *map;

	EXPECT_EQ(-EINVAL, dep_poll(self->fd, &evp));
	ASSERT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(-EINVAL, dep_poll(self->fd, &evp));
	ASSERT_EQ(8, dep_write_one(self->fd, self->event, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EINVAL, dep_poll(self->fd, &evp));

	map = dep_map(self->fd, EP_MAP_SIZE(10));
	ASSERT_TRUE(map != MAP_FAILED);
	EXPECT_EQ(1, dep_poll(self->fd, &evp));
	ASSERT_EQ(0, munmap(map, EP_MAP_SIZE(10)));
	EXPECT_EQ(-EINVAL, dep_poll(self->fd, &evp));
}

TEST_HARNESS_MAIN
