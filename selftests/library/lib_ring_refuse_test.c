// SPDX-License-Identifier: GPL-2.0
/* libdevepoll: rings that are refused, and what that leaves behind. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "library/lib_ring.h"

#define SOMEBODY	45401

#ifdef SYS_mmap2
#define SYS_MMAP	SYS_mmap2
#else
#define SYS_MMAP	SYS_mmap
#endif

TEST_F(lib_ring, second_ring_is_refused)
{
	struct devepoll_consumer c[2];
	int fd = add_trusted(self->set);

	EXPECT_EQ(-EBUSY, devepoll_events_ring(self->set, c, 2, SLOTS));
	ASSERT_EQ(0, change(self->set, DEVEPOLL_DEL, fd, 0, 0));
	EXPECT_EQ(-EBUSY, devepoll_events_ring(self->set, c, 2, SLOTS));
	EXPECT_EQ(0, devepoll_events_consume(self->me, 0));
}

TEST(ring_of_what_can_have_none_is_refused)
{
	struct devepoll_signal signals = { .signo = SIGRTMIN };
	struct devepoll_consumer c[1];
	struct devepoll *old;
	int fds[2], set, fd;

	ASSERT_EQ(0, pipe_pair(fds));
	EXPECT_EQ(-EBADF, devepoll_events_ring(-1, c, 1, 1));
	EXPECT_EQ(-EBADF, devepoll_events_ring(777, c, 1, 1));
	EXPECT_EQ(-ENOTTY, devepoll_events_ring(fds[0], c, 1, 1));
	EXPECT_EQ(-ENOTTY, devepoll_events_ring(epoll_create1(0), c, 1, 1));
	EXPECT_EQ(-ENOTTY, devepoll_events_ring(open("/dev/null", O_RDWR), c,
						1, 1));
	ASSERT_EQ(0, devepoll_open(&old, NULL, 1, 0));
	EXPECT_EQ(-EBUSY, devepoll_events_ring(devepoll_fd(old), c, 1, 1));
	EXPECT_EQ(0, devepoll_close(old));

	set = devepoll_events_open(0);
	ASSERT_EQ(0, devepoll_events_request(set, DEVEPOLL_SIGNAL, &signals));
	EXPECT_EQ(-EBUSY, devepoll_events_ring(set, c, 1, 1));
	ASSERT_EQ(0, close(set));

	set = devepoll_events_open(0);
	EXPECT_EQ(-EFAULT, devepoll_events_ring(set, NULL, 1, 1));
	EXPECT_EQ(-EINVAL, devepoll_events_ring(set, c, 0, 1));
	EXPECT_EQ(-EINVAL, devepoll_events_ring(set, c, 1, 0));
	EXPECT_EQ(-EINVAL, devepoll_events_ring(set, c, UINT_MAX, 1));
	EXPECT_EQ(-EINVAL, devepoll_events_ring(set, c, UINT_MAX, UINT_MAX));
	EXPECT_EQ(-EINVAL, devepoll_events_ring(set, c, 1, INT_MAX));
	fd = add_eventfd(set, EPOLLIN, 0);
	EXPECT_EQ(-EBUSY, devepoll_events_ring(set, c, 1, 1));
	/* None of these harmed the set. */
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, devepoll_events_wait(set, &(struct devepoll_event){}, 1,
					  0));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(0, devepoll_events_ring(set, c, 1, 1));
	devepoll_events_ring_unmap(NULL, 1);
	devepoll_events_ring_unmap(c, 0);
	devepoll_events_ring_unmap(c, 1);
	EXPECT_EQ(0, close(set));
}

static int exceed_memlock(void)
{
	const long page = getpagesize();
	struct rlimit limit = { 4 * page, 4 * page };
	struct devepoll_consumer c[1];
	int set = devepoll_events_open(0);

	if (become(SOMEBODY) || setrlimit(RLIMIT_MEMLOCK, &limit))
		return 1;
	close(set);
	set = devepoll_events_open(0);
	if (devepoll_events_ring(set, c, 1, page / 4) != -ENOMEM)
		return 2;
	/* The set is as it was. */
	return devepoll_events_ring(set, c, 1, SLOTS) ? 3 : 0;
}

TEST(ring_of_more_memory_than_may_be_locked_is_refused)
{
	pid_t child;

	if (geteuid())
		SKIP(return, "needs root");
	child = fork();
	if (!child)
		_exit(exceed_memlock());
	EXPECT_EQ(0, reap(child));
}

/* The module would refuse the request, and so does a filter. */
TEST(ring_is_refused_without_harm)
{
	struct devepoll_consumer c[1];
	struct devepoll_event event;
	int set = devepoll_events_open(0), fd;
	pid_t child = fork();

	if (!child)
		_exit(refuse_requests() ||
		      devepoll_events_ring(set, c, 1, 1) != -EPERM);
	EXPECT_EQ(0, reap(child));
	/* No memory can be mapped, and the set has a ring all the same. */
	child = fork();
	if (!child)
		_exit(refuse_call(SYS_MMAP, ENOMEM) ||
		      devepoll_events_ring(set, c, 1, 1) != -ENOMEM);
	EXPECT_EQ(0, reap(child));
	fd = add_trusted(set);
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, devepoll_events_wait(set, &event, 1, 0));
}

TEST_HARNESS_MAIN
