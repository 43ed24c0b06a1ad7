// SPDX-License-Identifier: GPL-2.0
/*
 * Waits on /dev/poll with bad arguments, or whose memory goes while they sleep.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/helpers.h"

FIXTURE(wait) {
	enum dp_face face;
	int fd;
	int event;
	struct pollfd *page;
};

FIXTURE_VARIANT(wait) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(wait, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(wait, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(wait)
{
	self->face = variant->face;
	ASSERT_LE(0, (self->fd = dp_open()));
	ASSERT_LE(0, (self->event = eventfd_new()));
	ASSERT_EQ(0, dp_wait_one(self->face, self->fd, -1, 0));
	ASSERT_EQ(8, dp_set(self->fd, self->event, POLLIN));
	self->page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->page != MAP_FAILED);
}

FIXTURE_TEARDOWN(wait)
{
	munmap(self->page, getpagesize());
	EXPECT_EQ(0, close(self->fd));
	close(self->event);
}

/* A thread in a wait whose argument and results are in memory of its own. */
struct sleeper {
	struct task task;
	enum dp_face face;
	int fd;
	void *arg;
};

static long sleeper_call(void *data)
{
	struct sleeper *s = data;

	return dp_ioctl(s->fd, s->face == DP_LINUX ? DP_POLL : DP_SOLARIS_POLL,
			s->arg);
}

/* Waits until it sleeps; 0 or -errno. */
static int sleeper_start(struct sleeper *s, enum dp_face face, int fd,
			 struct pollfd *out, int ms, void *arg)
{
	struct dvpoll dvp = {
		.dp_fds = out, .dp_nfds = 1, .dp_timeout = ms,
	};
	struct sun_dvpoll sun = {
		.dp_fds = out, .dp_nfds = 1, .dp_timeout = ms,
	};

	s->face = face;
	s->fd = fd;
	s->arg = arg;
	if (face == DP_LINUX)
		memcpy(arg, &dvp, sizeof(dvp));
	else
		memcpy(arg, &sun, sizeof(sun));
	return task_start(&s->task, sleeper_call, s) ?:
	       await_sleep(s->task.tid, SYS_ioctl);
}

TEST_F(wait, of_the_most_extreme_times_goes_on_until_an_event)
{
	const int times[] = { INT_MAX, INT_MAX - 1, -2, INT_MIN };
	struct sleeper sleeper;
	struct pollfd out;
	char arg[64];
	size_t i;

	NEEDS_THREADS();
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		ASSERT_EQ(0, sleeper_start(&sleeper, self->face, self->fd,
					   &out, times[i], arg));
		ASSERT_EQ(0, eventfd_post(self->event));
		EXPECT_EQ(1, task_join(&sleeper.task)) TH_LOG("%d", times[i]);
		EXPECT_EQ(self->event, out.fd);
		ASSERT_EQ(0, eventfd_take(self->event));
	}
}

TEST_F(wait, whose_result_memory_goes_loses_no_event)
{
	struct sleeper sleeper;
	char arg[64];

	NEEDS_THREADS();
	ASSERT_EQ(0, sleeper_start(&sleeper, self->face, self->fd, self->page,
				   -1, arg));
	ASSERT_EQ(0, munmap(self->page, getpagesize()));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EFAULT, task_join(&sleeper.task));
	EXPECT_EQ(POLLIN, dp_wait_one(self->face, self->fd, self->event, 0));
}

/* It was read when the call began. */
TEST_F(wait, does_not_need_its_argument_any_more)
{
	struct sleeper sleeper;
	struct pollfd out;

	NEEDS_THREADS();
	ASSERT_EQ(0, sleeper_start(&sleeper, self->face, self->fd, &out, -1,
				   self->page));
	ASSERT_EQ(0, munmap(self->page, getpagesize()));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&sleeper.task));
	EXPECT_EQ(self->event, out.fd);
}

TEST_F(wait, into_memory_that_can_not_be_written_is_a_fault)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, mprotect(self->page, getpagesize(), PROT_READ));
	EXPECT_EQ(-EFAULT, dp_wait(self->face, self->fd, self->page, 1, 0));
	EXPECT_EQ(POLLIN, dp_wait_one(self->face, self->fd, self->event, 0));
}

TEST_F(wait, has_questions_that_need_memory_to_be_written)
{
	self->page->fd = self->event;
	ASSERT_EQ(0, mprotect(self->page, getpagesize(), PROT_READ));
	EXPECT_EQ(-EFAULT, dp_ispolled(self->face, self->fd, self->page));
	ASSERT_EQ(0, munmap(self->page, getpagesize()));
	EXPECT_EQ(-EFAULT, dp_ispolled(self->face, self->fd, self->page));
}

/* The results in the mapping are the kernel's. */
TEST(stores_into_the_mapping_kill)
{
	const int kinds[] = { MAP_PRIVATE, MAP_SHARED };
	struct pollfd *map;
	size_t i;
	pid_t pid;
	int fd;

	ASSERT_LE(0, (fd = dp_open()));
	ASSERT_EQ(0, dp_ioctl(fd, DP_ALLOC, (void *)16L));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		map = mmap(NULL, 16 * sizeof(*map), PROT_READ | PROT_WRITE,
			   kinds[i], fd, 0);
		ASSERT_TRUE(map != MAP_FAILED);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			signal(SIGSEGV, SIG_DFL);
			((volatile struct pollfd *)map)->fd = 1;
			_exit(0);
		}
		EXPECT_EQ(128 + SIGSEGV, reap(pid));
		EXPECT_EQ(0, map->fd);
		ASSERT_EQ(0, munmap(map, 16 * sizeof(*map)));
	}
	ASSERT_EQ(0, close(fd));
}

TEST_HARNESS_MAIN
