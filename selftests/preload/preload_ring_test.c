// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so with DEVEPOLL_RING=1: this program calls epoll, and
 * takes events of edge-triggered fds without a system call.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "preload/preload_ring.h"

TEST_F(preload_ring, edge_is_taken_without_a_call)
{
	struct epoll_event *out = self->out;
	int i;

	/* The first wait of a thread with an array is a call. */
	ASSERT_EQ(0, eventfd_post(self->edge));
	ASSERT_EQ(1, epoll_wait(self->set, out, NR, -1));
	ASSERT_EQ(0, refuse_requests());
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, epoll_wait(self->set, out, NR, 0));
		ASSERT_EQ(0, eventfd_post(self->edge));
		ASSERT_EQ(1, epoll_wait(self->set, out, NR, -1));
		EXPECT_EQ(EPOLLIN, out[0].events);
		EXPECT_EQ(self->edge, out[0].data.fd);
		ASSERT_EQ(0, eventfd_post(self->edge));
		ASSERT_EQ(1, epoll_pwait(self->set, out, NR, -1, NULL));
		ASSERT_EQ(0, eventfd_post(self->edge));
		ASSERT_EQ(1, epoll_pwait2(self->set, out, NR, NULL, NULL));
	}
	/* A wait that would have to sleep shows that there are no others. */
	EXPECT_EQ(-1, epoll_wait(self->set, out, NR, -1));
	EXPECT_EQ(EPERM, errno);
}

TEST_F(preload_ring, array_that_can_not_be_written_loses_nothing)
{
	size_t page = sysconf(_SC_PAGESIZE);
	/* The compiler must not see the first. */
	struct epoll_event *volatile nowhere = NULL;
	struct epoll_event *end;
	char *map;
	int i;

	map = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(0, mprotect(map + page, page, PROT_NONE));
	end = (struct epoll_event *)(map + page);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->edge));
		EXPECT_EQ(-1, epoll_wait(self->set, nowhere, NR, 0));
		EXPECT_EQ(EFAULT, errno);
		EXPECT_EQ(-1, epoll_wait(self->set, end, NR, 0));
		EXPECT_EQ(EFAULT, errno);
		EXPECT_EQ(1, epoll_wait(self->set, end - 1, NR, 0));
	}
	/* Only the second event has no room. */
	ASSERT_EQ(0, eventfd_post(self->edge));
	ASSERT_LE(0, add_eventfd(self->set, EPOLLOUT | EPOLLET));
	EXPECT_EQ(1, epoll_wait(self->set, end - 1, NR, 0));
	EXPECT_EQ(1, epoll_wait(self->set, end - 1, NR, 0));
	EXPECT_EQ(0, epoll_wait(self->set, end - 1, NR, 0));
	ASSERT_EQ(0, munmap(map, 3 * page));
}

/* Also if there is no event: epoll checks the array first. */
TEST_F(preload_ring, array_that_is_no_memory_fails_as_with_epoll)
{
	static const struct {
		uintptr_t at;
		int nr;
	} arrays[] = {
		{ 0, 1 }, { 4096, 1 },
#ifdef __LP64__
		{ 0xffff888000000000, 1 }, { 0x8000000000000000, 1 },
		{ 0x7ffffffff000, 1 }, { 0x7ffffffff000 - 12, 1 },
		{ 0x7ffffffff000 - 12, 2 }, { 0x7ffffffff000 - 24, 2 },
		{ 1UL << 48, 1 }, { (1UL << 48) - 12, 2 },
		{ UINTPTR_MAX, 1 }, { UINTPTR_MAX - 11, 1 },
#endif
	};
	int real = epoll_by_libc(), want, want_errno;
	unsigned int i;

	ASSERT_LE(0, real);
	/* This array is known to be one. */
	ASSERT_EQ(0, eventfd_post(self->edge));
	ASSERT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
	for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		struct epoll_event *volatile out = (void *)arrays[i].at;

		errno = 0;
		want = syscall(SYS_epoll_pwait, real, out, arrays[i].nr, 0,
			       NULL, 8L);
		want_errno = errno;
		errno = 0;
		EXPECT_EQ(want, epoll_wait(self->set, out, arrays[i].nr, 0))
			TH_LOG("array %u", i);
		EXPECT_EQ(want_errno, errno);
		errno = 0;
		EXPECT_EQ(want, epoll_pwait2(self->set, out, arrays[i].nr,
					     &(struct timespec){ 0 }, NULL));
		EXPECT_EQ(want_errno, errno);
	}
	close(real);
}

TEST_F(preload_ring, wait_sleeps_until_an_event)
{
	uint64_t begin = now_ns();

	EXPECT_EQ(0, epoll_wait(self->set, self->out, NR, 20));
	EXPECT_LE(20 * NSEC_PER_MSEC, now_ns() - begin);
	ASSERT_EQ(0, eventfd_post(self->edge));
	EXPECT_EQ(1, epoll_wait(self->set, self->out, NR, 20));
	EXPECT_EQ(-ENOMSG, ready(self->set));
}

TEST_F(preload_ring, level_is_reported_beside_it_until_the_file_is_read)
{
	int level = add_eventfd(self->set, EPOLLIN);
	int i;

	ASSERT_EQ(0, eventfd_post(level));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->edge));
		EXPECT_EQ(2, epoll_wait(self->set, self->out, NR, -1));
		EXPECT_EQ(level, ready(self->set));
	}
	ASSERT_EQ(0, eventfd_take(level));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	ASSERT_EQ(0, eventfd_post(self->edge));
	EXPECT_EQ(self->edge, ready(self->set));
	EXPECT_EQ(-ENOMSG, ready(self->set));
}

TEST_F(preload_ring, hang_up_that_names_nothing_is_reported)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, add(self->set, fds[0], EDGE));
	ASSERT_EQ(0, close(fds[1]));
	ASSERT_EQ(1, epoll_wait(self->set, self->out, NR, -1));
	EXPECT_EQ(EPOLLHUP, self->out[0].events);
	EXPECT_EQ(-ENOMSG, ready(self->set));
}

TEST_F(preload_ring, small_array_leaves_events_where_others_see_them)
{
	int outer = epoll_create1(0), fds[NR], seen = 0, i, fd;

	ASSERT_EQ(0, add(outer, self->set, EPOLLIN));
	for (i = 0; i < NR; i++) {
		fds[i] = add_eventfd(self->set, EDGE);
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	for (i = 0; i < NR; i++) {
		EXPECT_EQ(POLLIN, poll_now(self->set, POLLIN));
		EXPECT_EQ(self->set, ready(outer));
		fd = ready(self->set);
		ASSERT_LE(fds[0], fd);
		seen |= 1 << (fd - fds[0]);
	}
	EXPECT_EQ((1 << NR) - 1, seen);
	EXPECT_EQ(0, poll_now(self->set, POLLIN));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	EXPECT_EQ(-ENOMSG, ready(outer));
}

TEST_F(preload_ring, set_in_a_set_reports_an_edge)
{
	int outer = epoll_create1(0), i;

	ASSERT_EQ(0, add(outer, self->set, EDGE));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->edge));
		EXPECT_EQ(self->set, ready(outer));
		EXPECT_EQ(-ENOMSG, ready(outer));
		EXPECT_EQ(self->edge, ready(self->set));
	}
	/* What is over is not reported. */
	ASSERT_EQ(0, eventfd_post(self->edge));
	EXPECT_EQ(self->edge, ready(self->set));
	EXPECT_EQ(-ENOMSG, ready(outer));
}

TEST_F(preload_ring, wrong_arguments_fail_and_lose_nothing)
{
	const struct timespec bad = { .tv_nsec = 1000000000 };
	/* The compiler must not see them. */
	volatile int wrong[] = { 0, -1, INT32_MIN, INT32_MAX };
	int i;

	ASSERT_EQ(0, eventfd_post(self->edge));
	for (i = 0; i < 4; i++) {
		errno = 0;
		EXPECT_EQ(-1, epoll_wait(self->set, self->out, wrong[i], 0));
		EXPECT_EQ(EINVAL, errno);
	}
	errno = 0;
	EXPECT_EQ(-1, epoll_pwait2(self->set, self->out, 1, &bad, NULL));
	EXPECT_EQ(EINVAL, errno);
#ifdef __LP64__
	errno = 0;
	EXPECT_EQ(-1, epoll_pwait2(self->set, self->out, 1, (void *)8, NULL));
	EXPECT_EQ(EFAULT, errno);
#endif
	EXPECT_EQ(self->edge, ready(self->set));
	/* Also if there is none. */
	errno = 0;
	EXPECT_EQ(-1, epoll_wait(self->set, self->out, 0, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-EBADF, ready(-1));
	EXPECT_EQ(-EBADF, ready(self->set + 64));
}

TEST_F(preload_ring, one_shot_and_exclusive_fds_are_reported_as_ever)
{
	struct epoll_event again = { .events = EDGE | EPOLLONESHOT };
	int once = add_eventfd(self->set, EDGE | EPOLLONESHOT);
	int exclusive = add_eventfd(self->set, EDGE | EPOLLEXCLUSIVE);

	ASSERT_EQ(0, eventfd_post(once));
	EXPECT_EQ(once, ready(self->set));
	ASSERT_EQ(0, eventfd_post(once));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	again.data.fd = once;
	ASSERT_EQ(0, epoll_ctl(self->set, EPOLL_CTL_MOD, once, &again));
	EXPECT_EQ(once, ready(self->set));
	/* What is over when it is asked for is not reported. */
	ASSERT_EQ(0, epoll_ctl(self->set, EPOLL_CTL_MOD, once, &again));
	ASSERT_EQ(0, eventfd_take(once));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	ASSERT_EQ(0, eventfd_post(exclusive));
	EXPECT_EQ(exclusive, ready(self->set));
}

TEST_F(preload_ring, removed_and_closed_fds_are_not_reported)
{
	int other = add_eventfd(self->set, EDGE);

	ASSERT_EQ(0, eventfd_post(self->edge));
	ASSERT_EQ(0, epoll_ctl(self->set, EPOLL_CTL_DEL, self->edge, NULL));
	EXPECT_EQ(-ENOMSG, ready(self->set));
	ASSERT_EQ(0, eventfd_post(other));
	ASSERT_EQ(0, close(other));
	EXPECT_EQ(-ENOMSG, ready(self->set));
}

TEST_HARNESS_MAIN
