// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of /dev/poll in either face: what they refuse, what a fault leaves,
 * which face they choose, and who is told.
 */
#include <errno.h>
#include <linux/devepoll.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "devpoll/devpoll_faces.h"

TEST_F(devpoll, bad_writes_are_refused)
{
	struct pollfd entries[2] = {
		{ .fd = self->fds[0], .events = POLLIN },
		{ .fd = self->fds[1], .events = POLLIN },
	};
	const size_t bad[] = { 1, 7, 9, 15 };
	struct pollfd entry;
	void *nowhere;
	size_t i;

	nowhere = mmap(NULL, getpagesize(), PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(nowhere != MAP_FAILED);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, dp_write(self->fd, entries, bad[i]));
	EXPECT_EQ(0, dp_write(self->fd, entries, 0));
	EXPECT_EQ(-EFAULT, dp_write(self->fd, nowhere, 8));
	EXPECT_EQ(0, munmap(nowhere, getpagesize()));
	for (i = 0; i < 2; i++) {
		entry.fd = self->fds[i];
		EXPECT_EQ(0, dp_ispolled(self->face, self->fd, &entry));
	}
}

/* Programs for Solaris write in this way. */
TEST_F(devpoll, pwrite_writes_too)
{
	struct pollfd entry = { .fd = self->fds[0], .events = POLLOUT };

	EXPECT_EQ(8, pwrite(self->fd, &entry, sizeof(entry), 0));
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, self->fd, self->fds[0], 0));
	entry.events = POLLREMOVE;
	EXPECT_EQ(8, pwrite(self->fd, &entry, sizeof(entry), 4096));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, self->fds[0], 0));
	errno = 0;
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
}

/* All batches of the kernel that come before the fault count. */
TEST_F(devpoll, write_that_meets_a_fault_tells_what_it_did)
{
	size_t page = getpagesize(), nr = page / sizeof(struct pollfd), i;
	struct pollfd *map, entry = { .fd = self->fds[0] };
	long ret;

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(0, munmap((char *)map + page, page));
	for (i = 0; i < nr; i++)
		map[i] = (struct pollfd){ self->fds[0], POLLIN, 0 };
	ret = dp_write(self->fd, map, 2 * page);
	EXPECT_EQ((long)page, ret);
	EXPECT_EQ(1, dp_ispolled(self->face, self->fd, &entry));
	EXPECT_EQ(0, munmap(map, page));
}

/* Wherever in a batch the fault is. */
TEST_F(devpoll, write_applies_what_stands_before_a_fault)
{
	size_t page = getpagesize(), left, i;
	struct pollfd entry;
	char *map;

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(0, munmap(map + page, page));
	for (left = 1; left <= 3; left++) {
		struct pollfd *entries = (struct pollfd *)(map + page) - left;

		for (i = 0; i < left; i++)
			entries[i] = (struct pollfd){ self->fds[0], POLLIN, 0 };
		EXPECT_EQ((long)(left * sizeof(entry)),
			  dp_write(self->fd, entries, 8 * sizeof(entry)));
		entry.fd = self->fds[0];
		EXPECT_EQ(1, dp_ispolled(self->face, self->fd, &entry));
		EXPECT_EQ(8, dp_set(self->fd, self->fds[0], POLLREMOVE));
	}
	/* Half an entry is not an entry. */
	EXPECT_EQ(-EFAULT, dp_write(self->fd, map + page - 4, 8));
	EXPECT_EQ(0, munmap(map, page));
}

TEST_F(devpoll, what_can_not_be_watched_ends_the_write)
{
	struct pollfd entries[3] = {
		{ .fd = self->fds[0], .events = POLLOUT },
		{ .events = POLLIN },
		{ .fd = self->fds[1], .events = POLLOUT },
	};
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_LE(0, epoll);
	entries[1].fd = epoll;
	EXPECT_EQ(8, dp_write(self->fd, entries, sizeof(entries)));
	EXPECT_EQ(-ELOOP, dp_write(self->fd, entries + 1, 16));
	EXPECT_EQ(-EINVAL, dp_set(self->fd, self->fd, POLLIN));
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, self->fd, self->fds[0], 0));
	close(epoll);
}

TEST_F(devpoll, bad_waits_are_refused)
{
	struct pollfd out[2];
	void *nowhere = (void *)(uintptr_t)1;
	unsigned long request = self->face == DP_LINUX ? DP_POLL :
				DP_SOLARIS_POLL;

	EXPECT_EQ(-EFAULT, dp_ioctl(self->fd, request, NULL));
	EXPECT_EQ(-EFAULT, dp_ioctl(self->fd, request, nowhere));
	EXPECT_EQ(-EINVAL, dp_wait(self->face, self->fd, out, 0, 0));
	EXPECT_EQ(-EINVAL, dp_wait(self->face, self->fd, out, -1, 0));
	EXPECT_EQ(-EINVAL, dp_wait(self->face, self->fd, out, -2147483647, 0));
	EXPECT_EQ(self->face == DP_LINUX ? -EINVAL : -EFAULT,
		  dp_wait(self->face, self->fd, NULL, 1, 0));
	EXPECT_EQ(0, dp_wait(self->face, self->fd, out, 2147483647, 0));
}

TEST_F(devpoll, fault_in_the_results_loses_nothing)
{
	struct pollfd *map;

	map = mmap(NULL, getpagesize(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	ASSERT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLOUT));
	EXPECT_EQ(-EFAULT, dp_wait(self->face, self->fd, map, 1, 0));
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, self->fd, self->fds[0], 0));
	EXPECT_EQ(0, munmap(map, getpagesize()));
}

/* The kernel meets the page that is not there in the midst of a batch. */
TEST_F(devpoll, each_result_comes_once_where_memory_is_made_as_it_goes)
{
	enum { NR = 10, FIRST = 1000, ROOM = 32 };
	size_t page = getpagesize();
	int at, i, n, times[NR];
	struct pollfd *out;
	char *map;

	for (i = 0; i < NR; i++) {
		/* Ready in either face: open, or not valid. */
		if (self->face == DP_LINUX)
			ASSERT_EQ(FIRST + i, dup2(self->fds[0], FIRST + i));
		ASSERT_EQ(8, dp_set(self->fd, FIRST + i, POLLOUT));
	}
	for (at = 0; at <= NR; at++) {
		map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_TRUE(map != MAP_FAILED);
		out = (struct pollfd *)(map + page) - at;
		n = dp_wait(self->face, self->fd, out,
			    at & 1 ? ROOM : NR, 0);
		EXPECT_EQ(NR, n);
		memset(times, 0, sizeof(times));
		for (i = 0; i < n; i++) {
			ASSERT_LE(FIRST, out[i].fd);
			ASSERT_GT(FIRST + NR, out[i].fd);
			times[out[i].fd - FIRST]++;
		}
		for (i = 0; i < NR; i++)
			EXPECT_EQ(1, times[i]);
		ASSERT_EQ(0, munmap(map, 2 * page));
	}
	for (i = 0; i < NR; i++)
		close(FIRST + i);
}

TEST_F(devpoll, a_wait_is_not_over_early)
{
	uint64_t begin = now_ns();

	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, -1, 30));
	EXPECT_LE(30 * NSEC_PER_MSEC, now_ns() - begin);
}

TEST_F(devpoll, the_other_face_is_refused)
{
	enum dp_face other = self->face == DP_LINUX ? DP_SOLARIS : DP_LINUX;
	struct pollfd entry = { .fd = self->fds[0] };

	EXPECT_EQ(-EBUSY, dp_wait(other, self->fd, &entry, 1, 0));
	EXPECT_EQ(-EBUSY, dp_ispolled(other, self->fd, &entry));
	if (self->face == DP_LINUX)
		return;
	EXPECT_EQ(-EBUSY, dp_ioctl(self->fd, DP_ALLOC, (void *)10));
	EXPECT_EQ(-EBUSY, dp_ioctl(self->fd, DP_FREE, NULL));
}

/* Of a set that has no face yet. */
TEST_F(devpoll, a_request_that_fails_chooses_no_face)
{
	enum dp_face other = self->face == DP_LINUX ? DP_SOLARIS : DP_LINUX;
	const long page = getpagesize();
	void *nowhere = mmap(NULL, page, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pollfd entry = { .fd = self->fds[0] };
	int fd = dp_open();

	ASSERT_LE(0, fd);
	ASSERT_TRUE(nowhere != MAP_FAILED);
	ASSERT_EQ(8, dp_set(fd, self->fds[0], POLLOUT));
	EXPECT_EQ(-EINVAL, dp_ioctl(fd, DP_ALLOC, NULL));
	EXPECT_EQ(-EINVAL, dp_ioctl(fd, DP_FREE, NULL));
	EXPECT_EQ(-EFAULT, dp_ioctl(fd, DP_POLL, NULL));
	EXPECT_EQ(-EFAULT, dp_ioctl(fd, DP_SOLARIS_POLL, NULL));
	EXPECT_EQ(-EFAULT, dp_ispolled(other, fd, nowhere));
	EXPECT_EQ(-EINVAL, dp_wait(other, fd, &entry, 0, 0));
	EXPECT_EQ(other == DP_LINUX ? -EINVAL : -EFAULT,
		  dp_wait(other, fd, NULL, 1, 0));
	EXPECT_EQ(-EFAULT, dp_wait(other, fd, nowhere, 1, 0));
	ASSERT_EQ(0, mprotect(nowhere, page, PROT_READ));
	EXPECT_EQ(-EFAULT, dp_wait(other, fd, nowhere, 1, 0));
	/* Either is still possible: so this request chooses now. */
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, fd, self->fds[0], 0));
	EXPECT_EQ(-EBUSY, dp_wait(other, fd, &entry, 1, 0));
	EXPECT_EQ(0, munmap(nowhere, page));
	EXPECT_EQ(0, close(fd));
}

TEST_F(devpoll, requests_of_dev_epoll_are_none)
{
	const unsigned long unknown[] = {
		0, -1UL, TCGETS, DEVEPOLL_CTL, DEVEPOLL_WAIT, DEVEPOLL_STATS,
		EP_POLL32, 0xd000, 0xd004, _IO('P', 2), _IO('P', 5),
	};
	char argument[256];
	size_t i;

	memset(argument, 0, sizeof(argument));
	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		EXPECT_EQ(-ENOTTY, dp_ioctl(self->fd, unknown[i], argument))
			TH_LOG("request %#lx", unknown[i]);
	}
	EXPECT_EQ(-1, read(self->fd, argument, sizeof(argument)));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(devpoll, the_device_can_be_polled_itself)
{
	int outer;

	EXPECT_EQ(0, poll_now(self->fd, POLLIN));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLIN));
	EXPECT_EQ(0, poll_now(self->fd, POLLIN));
	ASSERT_LE(0, (outer = dp_open()));
	ASSERT_EQ(8, dp_set(outer, self->fd, POLLIN));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, poll_now(self->fd, POLLIN));
	EXPECT_EQ(POLLIN, dp_wait_one(self->face, outer, self->fd, -1));
	EXPECT_EQ(-ELOOP, dp_set(self->fd, outer, POLLIN));
	ASSERT_EQ(0, take_byte(self->fds[0]));
	EXPECT_EQ(0, poll_now(self->fd, POLLIN));
	EXPECT_EQ(0, dp_wait_one(self->face, outer, self->fd, 0));
	close(outer);
}

TEST_F(devpoll, a_child_shares_the_set)
{
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(dp_set(self->fd, self->fds[0], POLLOUT) == 8 ? 0 : 1);
	ASSERT_EQ(0, reap(child));
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, self->fd, self->fds[0], 0));
}

/* A thread in one DP_POLL. */
struct sleeper {
	struct task task;
	enum dp_face face;
	int fd;
	int watched;
	int ms;
};

static long sleeper_call(void *arg)
{
	struct sleeper *s = arg;

	return dp_wait_one(s->face, s->fd, s->watched, s->ms);
}

TEST_F(devpoll, every_thread_that_waits_is_told_of_a_level)
{
	struct sleeper s[3];
	int i;

	NEEDS_THREADS();
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLIN));
	for (i = 0; i < 3; i++) {
		s[i] = (struct sleeper){
			.face = self->face, .fd = self->fd,
			.watched = self->fds[0], .ms = -1,
		};
		ASSERT_EQ(0, task_start(&s[i].task, sleeper_call, &s[i]));
		ASSERT_EQ(0, await_sleep(s[i].task.tid, SYS_ioctl));
	}
	ASSERT_EQ(0, put_byte(self->fds[1]));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(POLLIN, task_join(&s[i].task));
}

TEST_F(devpoll, a_close_wakes_who_waits_in_the_solaris_face)
{
	struct sleeper s = { .face = self->face, .fd = self->fd, .ms = -1 };
	int event;

	if (self->face == DP_LINUX)
		SKIP(return, "the Linux face is not told");
	NEEDS_THREADS();
	ASSERT_LE(0, (event = eventfd_new()));
	s.watched = event;
	ASSERT_EQ(8, dp_set(self->fd, event, POLLIN));
	ASSERT_EQ(0, task_start(&s.task, sleeper_call, &s));
	ASSERT_EQ(0, await_sleep(s.task.tid, SYS_ioctl));
	EXPECT_EQ(0, close(event));
	EXPECT_EQ(POLLNVAL, task_join(&s.task));
}

static void on_signal(int nr)
{
}

TEST_F(devpoll, a_signal_ends_the_wait)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sleeper s = {
		.face = self->face, .fd = self->fd, .watched = -1, .ms = -1,
	};

	NEEDS_THREADS();
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, task_start(&s.task, sleeper_call, &s));
	ASSERT_EQ(0, await_sleep(s.task.tid, SYS_ioctl));
	ASSERT_EQ(0, pthread_kill(s.task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&s.task));
}

TEST(ppoll_lets_a_signal_in_that_is_blocked_outside)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked, none, now;
	struct pollfd out[1];
	struct sun_dvpoll sun = {
		.dp_fds = out, .dp_nfds = 1, .dp_timeout = 0,
	};
	int fd = dp_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &blocked, NULL));
	ASSERT_EQ(0, raise(SIGUSR1));
	EXPECT_EQ(0, dp_ioctl(fd, DP_SOLARIS_POLL, &sun));
	EXPECT_EQ(0, dp_ioctl(fd, DP_SOLARIS_PPOLL, &sun));
	sun.dp_setp = (sigset_t *)(uintptr_t)1;
	EXPECT_EQ(-EFAULT, dp_ioctl(fd, DP_SOLARIS_PPOLL, &sun));
	sun.dp_setp = &blocked;
	EXPECT_EQ(0, dp_ioctl(fd, DP_SOLARIS_PPOLL, &sun));
	sun.dp_setp = &none;
	sun.dp_timeout = -1;
	EXPECT_EQ(-EINTR, dp_ioctl(fd, DP_SOLARIS_PPOLL, &sun));
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, NULL, &now));
	EXPECT_EQ(1, sigismember(&now, SIGUSR1));
	close(fd);
}

TEST_HARNESS_MAIN
