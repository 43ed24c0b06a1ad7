// SPDX-License-Identifier: GPL-2.0
/*
 * The result buffer of /dev/poll: making, mapping, filling and freeing it.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/helpers.h"

#define ROOM 100

static int dp_alloc(int fd, long nr)
{
	return dp_ioctl(fd, DP_ALLOC, (void *)nr);
}

static int dp_free(int fd)
{
	return dp_ioctl(fd, DP_FREE, NULL);
}

static bool map_is_refused(int fd, size_t size, off_t offset)
{
	errno = 0;
	return mmap(NULL, size, PROT_READ, MAP_SHARED, fd, offset) ==
	       MAP_FAILED && errno == EINVAL;
}

FIXTURE(buffer) {
	int fd;
	int event;
	size_t page;
	struct pollfd *map;
};

FIXTURE_SETUP(buffer)
{
	self->page = getpagesize();
	ASSERT_LE(0, (self->fd = dp_open()));
	ASSERT_LE(0, (self->event = eventfd_new()));
	ASSERT_EQ(0, dp_alloc(self->fd, ROOM));
	self->map = mmap(NULL, ROOM * sizeof(struct pollfd),
			 PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, 0);
	ASSERT_TRUE(self->map != MAP_FAILED);
}

FIXTURE_TEARDOWN(buffer)
{
	munmap(self->map, self->page);
	EXPECT_EQ(0, close(self->fd));
	close(self->event);
}

TEST_F(buffer, results_stand_in_the_mapping)
{
	ASSERT_EQ(8, dp_set(self->fd, self->event, POLLIN));
	EXPECT_EQ(0, dp_wait(DP_LINUX, self->fd, NULL, ROOM, 0));
	EXPECT_EQ(0, self->map[0].fd);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, dp_wait(DP_LINUX, self->fd, NULL, ROOM, -1));
	EXPECT_EQ(self->event, self->map[0].fd);
	EXPECT_EQ(POLLIN, self->map[0].events);
	EXPECT_EQ(POLLIN, self->map[0].revents);
	EXPECT_EQ(0, self->map[1].fd);
}

TEST_F(buffer, results_can_go_elsewhere_all_the_same)
{
	struct pollfd out = { .fd = -1 };

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(8, dp_set(self->fd, self->event, POLLIN));
	EXPECT_EQ(1, dp_wait(DP_LINUX, self->fd, &out, 1, 0));
	EXPECT_EQ(self->event, out.fd);
	EXPECT_EQ(0, self->map[0].fd);
}

TEST_F(buffer, is_neither_made_nor_freed_while_it_is_mapped)
{
	EXPECT_EQ(-EPERM, dp_alloc(self->fd, ROOM));
	EXPECT_EQ(-EPERM, dp_alloc(self->fd, 10 * ROOM));
	EXPECT_EQ(-EBUSY, dp_free(self->fd));
	ASSERT_EQ(0, munmap(self->map, self->page));
	EXPECT_EQ(0, dp_alloc(self->fd, ROOM));
	EXPECT_EQ(0, dp_free(self->fd));
	EXPECT_EQ(-EINVAL, dp_free(self->fd));
}

TEST_F(buffer, is_wanted_where_no_place_is_named)
{
	ASSERT_EQ(0, munmap(self->map, self->page));
	EXPECT_EQ(-EINVAL, dp_wait(DP_LINUX, self->fd, NULL, ROOM, 0));
	ASSERT_EQ(0, dp_free(self->fd));
	EXPECT_EQ(-EINVAL, dp_wait(DP_LINUX, self->fd, NULL, ROOM, 0));
}

TEST_F(buffer, numbers_of_fds_are_checked)
{
	const long bad[] = { 0, -1, 131073, 2147483647, -2147483647 };
	size_t i;

	ASSERT_EQ(0, munmap(self->map, self->page));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, dp_alloc(self->fd, bad[i]));
	EXPECT_EQ(0, dp_alloc(self->fd, 1));
	EXPECT_EQ(0, dp_alloc(self->fd, 131072));
	self->map = mmap(NULL, 131072 * 8, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_TRUE(self->map != MAP_FAILED);
	EXPECT_EQ(0, self->map[131071].fd);
	EXPECT_EQ(0, munmap(self->map, 131072 * 8));
}

TEST_F(buffer, is_mapped_as_a_whole_and_only_to_be_read)
{
	size_t page = self->page;

	EXPECT_EQ(-1, mprotect(self->map, page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_TRUE(map_is_refused(self->fd, 2 * page, 0));
	EXPECT_TRUE(map_is_refused(self->fd, page, page));
	ASSERT_EQ(0, munmap(self->map, page));
	ASSERT_EQ(0, dp_free(self->fd));
	EXPECT_TRUE(map_is_refused(self->fd, page, 0));
}

/* A call with more room than the buffer has does not write beyond it. */
TEST_F(buffer, takes_no_more_than_it_was_made_for)
{
	int events[6], i, n;

	ASSERT_EQ(0, munmap(self->map, self->page));
	ASSERT_EQ(0, dp_alloc(self->fd, 4));
	self->map = mmap(NULL, self->page, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_TRUE(self->map != MAP_FAILED);
	for (i = 0; i < 6; i++) {
		ASSERT_LE(0, (events[i] = eventfd_new()));
		ASSERT_EQ(0, eventfd_post(events[i]));
		ASSERT_EQ(8, dp_set(self->fd, events[i], POLLIN));
	}
	n = dp_wait(DP_LINUX, self->fd, NULL, 2147483647, 0);
	EXPECT_EQ(4, n);
	EXPECT_EQ(0, self->map[4].fd);
	for (i = 0; i < 6; i++)
		close(events[i]);
}

TEST_F(buffer, more_than_a_batch_fits)
{
	struct pollfd seen[ROOM];
	int events[ROOM], i;

	for (i = 0; i < ROOM; i++) {
		ASSERT_LE(0, (events[i] = eventfd_new()));
		ASSERT_EQ(0, eventfd_post(events[i]));
		ASSERT_EQ(8, dp_set(self->fd, events[i], POLLIN));
	}
	ASSERT_EQ(ROOM, dp_wait(DP_LINUX, self->fd, NULL, ROOM, 0));
	memcpy(seen, self->map, sizeof(seen));
	for (i = 0; i < ROOM; i++)
		EXPECT_EQ(POLLIN, event_of(seen, ROOM, events[i]));
	for (i = 0; i < ROOM; i++)
		close(events[i]);
}

TEST_F(buffer, a_child_keeps_it_mapped)
{
	int pipe[2];
	pid_t child;

	ASSERT_EQ(0, pipe_pair(pipe));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		close(pipe[1]);
		_exit(!await(poll_now(pipe[0], POLLIN | POLLHUP)));
	}
	ASSERT_EQ(0, munmap(self->map, self->page));
	EXPECT_EQ(-EBUSY, dp_free(self->fd));
	EXPECT_EQ(0, put_byte(pipe[1]));
	ASSERT_EQ(0, reap(child));
	EXPECT_EQ(0, dp_free(self->fd));
	close(pipe[0]);
	close(pipe[1]);
}

static long wait_in_map(void *arg)
{
	return dp_wait(DP_LINUX, *(int *)arg, NULL, ROOM, -1);
}

TEST_F(buffer, stays_while_a_call_waits_to_fill_it)
{
	struct task task;

	NEEDS_THREADS();
	ASSERT_EQ(8, dp_set(self->fd, self->event, POLLIN));
	ASSERT_EQ(0, task_start(&task, wait_in_map, &self->fd));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_ioctl));
	ASSERT_EQ(0, munmap(self->map, self->page));
	EXPECT_EQ(-EBUSY, dp_free(self->fd));
	EXPECT_EQ(-EPERM, dp_alloc(self->fd, 2 * ROOM));
	self->map = mmap(NULL, self->page, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_TRUE(self->map != MAP_FAILED);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&task));
	EXPECT_EQ(self->event, self->map[0].fd);
	ASSERT_EQ(0, munmap(self->map, self->page));
	EXPECT_EQ(0, dp_free(self->fd));
}

TEST_F(buffer, counts_as_locked_memory)
{
	struct rlimit limit = { .rlim_cur = 0, .rlim_max = 0 };

	ASSERT_EQ(0, munmap(self->map, self->page));
	ASSERT_EQ(0, dp_free(self->fd));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	EXPECT_EQ(-ENOMEM, dp_alloc(self->fd, ROOM));
	EXPECT_EQ(-EINVAL, dp_free(self->fd));
}

/* Charged is what it has now, not that and what it had. */
TEST_F(buffer, takes_the_place_of_another_within_the_limit)
{
	struct rlimit limit = { .rlim_cur = 4 * self->page };
	long most = limit.rlim_cur / sizeof(struct pollfd);

	limit.rlim_max = limit.rlim_cur;
	ASSERT_EQ(0, munmap(self->map, self->page));
	ASSERT_EQ(0, dp_free(self->fd));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	/* The opener pays, and that is root. */
	EXPECT_EQ(0, close(self->fd));
	ASSERT_LE(0, (self->fd = dp_open()));
	EXPECT_EQ(0, dp_alloc(self->fd, most));
	EXPECT_EQ(0, dp_alloc(self->fd, most));
	EXPECT_EQ(-ENOMEM, dp_alloc(self->fd, most + 1));
	EXPECT_EQ(0, dp_alloc(self->fd, 1));
	EXPECT_EQ(0, dp_alloc(self->fd, most));
	EXPECT_EQ(0, dp_free(self->fd));
	EXPECT_EQ(0, dp_alloc(self->fd, most));
}

TEST_HARNESS_MAIN
