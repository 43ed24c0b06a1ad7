// SPDX-License-Identifier: GPL-2.0
/* /dev/poll: what both faces have in common, and in what they differ. */
#include <errno.h>
#include <fcntl.h>
#include <linux/devepoll.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "devpoll.h"
#include "helpers.h"

#define SUN_POLLREMOVE 0x0800

TEST(request_numbers_are_those_of_their_time)
{
	EXPECT_EQ(0x80045001, (unsigned int)DP_ALLOC);
	EXPECT_EQ(sizeof(long) == 8 ? 0xc0105002 : 0xc00c5002,
		  (unsigned int)DP_POLL);
	EXPECT_EQ(0xc00c5002, (unsigned int)DP_POLL32);
	EXPECT_EQ(0x5003, (unsigned int)DP_FREE);
	EXPECT_EQ(0xc0085004, (unsigned int)DP_ISPOLLED);
	EXPECT_EQ(0xd001, DP_SOLARIS_POLL);
	EXPECT_EQ(0xd002, DP_SOLARIS_ISPOLLED);
	EXPECT_EQ(0xd003, DP_SOLARIS_PPOLL);
	EXPECT_EQ(0x0800, DP_SOLARIS_POLLREMOVE);
	EXPECT_EQ(32, sizeof(struct dvpoll_solaris));
	EXPECT_EQ(16, sizeof(struct dvpoll_solaris32));
	EXPECT_EQ(12, sizeof(struct dvpoll32));
}

TEST(node_is_a_misc_device_that_is_open_to_all)
{
	struct stat st;

	ASSERT_EQ(0, stat(DP_NODE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(10, major(st.st_rdev));
	EXPECT_NE(124, minor(st.st_rdev));
	EXPECT_EQ(0666, st.st_mode & 07777);
}

TEST(set_shows_the_flags_of_any_node)
{
	int set = open("/dev/poll", O_RDWR | O_CLOEXEC);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, set);
	ASSERT_LE(0, null);
	EXPECT_EQ(syscall(SYS_fcntl, null, F_GETFL),
		  syscall(SYS_fcntl, set, F_GETFL));
	close(set);
	close(null);
}

TEST(the_first_request_tells_what_the_writes_before_it_meant)
{
	enum dp_face face;
	int fds[2], fd;

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	ASSERT_EQ(0, put_byte(fds[1]));
	for (face = DP_LINUX; face <= DP_SOLARIS; face++) {
		ASSERT_LE(0, (fd = dp_open()));
		EXPECT_EQ(8, dp_set(fd, fds[0], POLLIN));
		EXPECT_EQ(8, dp_set(fd, fds[0], POLLOUT));
		EXPECT_EQ(face == DP_LINUX ? POLLOUT : POLLIN | POLLOUT,
			  dp_wait_one(face, fd, fds[0], 0));
		EXPECT_EQ(0, close(fd));
	}
	close(fds[0]);
	close(fds[1]);
}

TEST(closed_before_the_first_request_is_told_to_solaris_alone)
{
	enum dp_face face;
	int event, fd;

	for (face = DP_LINUX; face <= DP_SOLARIS; face++) {
		ASSERT_LE(0, (event = eventfd_new()));
		ASSERT_LE(0, (fd = dp_open()));
		EXPECT_EQ(8, dp_set(fd, event, POLLIN));
		EXPECT_EQ(0, close(event));
		EXPECT_EQ(face == DP_LINUX ? 0 : POLLNVAL,
			  dp_wait_one(face, fd, event, 0));
		EXPECT_EQ(0, close(fd));
	}
}

FIXTURE(devpoll) {
	enum dp_face face;
	int fd;
	int fds[2];
	int next;
};

FIXTURE_VARIANT(devpoll) {
	enum dp_face face;
};

FIXTURE_VARIANT_ADD(devpoll, linux) { .face = DP_LINUX };
FIXTURE_VARIANT_ADD(devpoll, solaris) { .face = DP_SOLARIS };

FIXTURE_SETUP(devpoll)
{
	self->next = next_fd();
	self->face = variant->face;
	ASSERT_LE(0, (self->fd = dp_open()));
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	/* Now the face is known. */
	ASSERT_EQ(0, dp_wait_one(self->face, self->fd, -1, 0));
}

FIXTURE_TEARDOWN(devpoll)
{
	EXPECT_EQ(0, close(self->fd));
	close(self->fds[0]);
	close(self->fds[1]);
	EXPECT_EQ(self->next, next_fd());
}

TEST_F(devpoll, ready_fd_is_reported_until_it_is_read)
{
	int i;

	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLIN));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, self->fds[0], 0));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(POLLIN, dp_wait_one(self->face, self->fd,
					      self->fds[0], -1));
	ASSERT_EQ(0, take_byte(self->fds[0]));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, self->fds[0], 0));
}

TEST_F(devpoll, result_has_fd_events_and_revents)
{
	struct pollfd out[2];

	memset(out, 0x5a, sizeof(out));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLIN | POLLOUT));
	ASSERT_EQ(1, dp_wait(self->face, self->fd, out, 2, 0));
	EXPECT_EQ(self->fds[0], out[0].fd);
	EXPECT_EQ(POLLIN | POLLOUT, out[0].events);
	EXPECT_EQ(POLLOUT, out[0].revents);
	EXPECT_EQ(0x5a5a5a5a, out[1].fd);
}

TEST_F(devpoll, second_write_replaces_or_adds)
{
	bool adds = self->face == DP_SOLARIS;

	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLIN));
	ASSERT_EQ(POLLIN, dp_wait_one(self->face, self->fd, self->fds[0], 0));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLOUT));
	EXPECT_EQ(adds ? POLLIN | POLLOUT : POLLOUT,
		  dp_wait_one(self->face, self->fd, self->fds[0], 0));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], 0));
	EXPECT_EQ(adds ? POLLIN | POLLOUT : 0,
		  dp_wait_one(self->face, self->fd, self->fds[0], 0));
}

TEST_F(devpoll, removed_and_written_again_starts_anew)
{
	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLIN));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLREMOVE));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLOUT));
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, self->fd, self->fds[0], 0));
}

TEST_F(devpoll, either_pollremove_removes)
{
	const short bits[] = { 0x1000, SUN_POLLREMOVE, 0x1000 | POLLIN };
	struct pollfd entry = { .fd = self->fds[0] };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLOUT));
		EXPECT_EQ(1, dp_ispolled(self->face, self->fd, &entry));
		EXPECT_EQ(8, dp_set(self->fd, self->fds[0], bits[i]));
		EXPECT_EQ(0, dp_ispolled(self->face, self->fd, &entry));
		EXPECT_EQ(0, dp_wait_one(self->face, self->fd, -1, 0));
		/* Removing an fd that is not there succeeds, too. */
		EXPECT_EQ(8, dp_set(self->fd, self->fds[0], bits[i]));
	}
}

TEST_F(devpoll, error_and_hang_up_need_not_be_asked_for)
{
	int fds[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(8, dp_set(self->fd, fds[0], 0));
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], 0));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, -1, 0));
	EXPECT_EQ(0, close(fds[1]));
	EXPECT_EQ(poll_now(fds[0], 0),
		  dp_wait_one(self->face, self->fd, fds[0], 0));
	EXPECT_EQ(POLLHUP, poll_now(fds[0], 0));
	close(fds[0]);
	EXPECT_EQ(8, dp_set(self->fd, fds[0], POLLREMOVE));

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(8, dp_set(self->fd, fds[1], 0));
	EXPECT_EQ(0, close(fds[0]));
	EXPECT_EQ(POLLERR, dp_wait_one(self->face, self->fd, fds[1], 0));
	EXPECT_EQ(8, dp_set(self->fd, fds[1], POLLREMOVE));
	close(fds[1]);
}

TEST_F(devpoll, ispolled_tells_what_is_asked_for)
{
	struct pollfd entry = { .fd = self->fds[0], 0x5a, 0x5a };
	bool sun = self->face == DP_SOLARIS;

	EXPECT_EQ(0, dp_ispolled(self->face, self->fd, &entry));
	EXPECT_EQ(0x5a, entry.events);
	EXPECT_EQ(0x5a, entry.revents);
	ASSERT_EQ(8, dp_set(self->fd, self->fds[0], POLLIN | POLLPRI));
	EXPECT_EQ(1, dp_ispolled(self->face, self->fd, &entry));
	EXPECT_EQ(self->fds[0], entry.fd);
	EXPECT_EQ(sun ? 0 : POLLIN | POLLPRI, entry.events);
	EXPECT_EQ(sun ? POLLIN | POLLPRI : 0, entry.revents);
	entry.fd = -1;
	EXPECT_EQ(0, dp_ispolled(self->face, self->fd, &entry));
	EXPECT_EQ(-EFAULT, dp_ispolled(self->face, self->fd, NULL));
}

TEST_F(devpoll, closed_fd_is_forgotten_or_not_valid)
{
	bool sun = self->face == DP_SOLARIS;
	struct pollfd entry;
	int i, event;

	ASSERT_LE(0, (event = eventfd_new()));
	ASSERT_EQ(8, dp_set(self->fd, event, POLLIN));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, event, 0));
	EXPECT_EQ(0, close(event));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(sun ? POLLNVAL : 0,
			  dp_wait_one(self->face, self->fd, event, 0));
	entry.fd = event;
	EXPECT_EQ(sun, dp_ispolled(self->face, self->fd, &entry));
	EXPECT_EQ(8, dp_set(self->fd, event, POLLREMOVE));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, event, 0));
}

TEST_F(devpoll, fd_that_is_not_open_is_tolerated)
{
	const int number = 300;

	EXPECT_EQ(8, dp_set(self->fd, number, POLLIN));
	EXPECT_EQ(self->face == DP_SOLARIS ? POLLNVAL : 0,
		  dp_wait_one(self->face, self->fd, number, 0));
	/* Once it is open a write names the file. */
	ASSERT_EQ(number, dup2(self->fds[0], number));
	EXPECT_EQ(8, dp_set(self->fd, number, POLLOUT));
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, self->fd, number, 0));
	EXPECT_EQ(8, dp_set(self->fd, number, POLLREMOVE));
	EXPECT_EQ(0, close(number));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, number, 0));
}

TEST_F(devpoll, numbers_that_can_not_be_open_are_passed_over)
{
	const struct pollfd entries[] = {
		{ .fd = -1, .events = POLLIN },
		{ .fd = -2147483647, .events = POLLREMOVE },
		{ .fd = 2147483647, .events = POLLIN },
		{ .fd = getdtablesize(), .events = POLLIN },
		{ .fd = self->fds[0], .events = POLLOUT },
	};

	EXPECT_EQ(sizeof(entries),
		  dp_write(self->fd, entries, sizeof(entries)));
	EXPECT_EQ(POLLOUT, dp_wait_one(self->face, self->fd, self->fds[0], 0));
}

TEST_F(devpoll, number_of_another_file_says_nothing_of_it)
{
	int other, event;

	ASSERT_LE(0, (event = eventfd_new()));
	ASSERT_LE(0, (other = eventfd_new()));
	ASSERT_EQ(0, eventfd_post(other));
	ASSERT_EQ(8, dp_set(self->fd, event, POLLIN));
	ASSERT_EQ(event, dup2(other, event));
	EXPECT_EQ(self->face == DP_SOLARIS ? POLLNVAL : 0,
		  dp_wait_one(self->face, self->fd, event, 0));
	EXPECT_EQ(8, dp_set(self->fd, event, POLLIN));
	EXPECT_EQ(POLLIN, dp_wait_one(self->face, self->fd, event, 0));
	EXPECT_EQ(8, dp_set(self->fd, event, POLLREMOVE));
	close(event);
	close(other);
}

TEST_F(devpoll, closed_number_whose_file_lives_on_is_not_reported_as_ready)
{
	int event, copy;

	ASSERT_LE(0, (event = eventfd_new()));
	ASSERT_LE(0, (copy = dup(event)));
	ASSERT_EQ(8, dp_set(self->fd, event, POLLIN));
	EXPECT_EQ(0, close(event));
	ASSERT_EQ(0, eventfd_post(copy));
	EXPECT_EQ(self->face == DP_SOLARIS ? POLLNVAL : 0,
		  dp_wait_one(self->face, self->fd, event, 0));
	EXPECT_EQ(8, dp_set(self->fd, event, POLLREMOVE));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, event, 0));
	close(copy);
}

TEST_F(devpoll, what_did_not_fit_comes_next)
{
	struct pollfd out[2];
	int events[5], seen[5] = { 0 };
	int i, j, k;

	for (i = 0; i < 5; i++) {
		ASSERT_LE(0, (events[i] = eventfd_new()));
		ASSERT_EQ(0, eventfd_post(events[i]));
		ASSERT_EQ(8, dp_set(self->fd, events[i], POLLIN));
	}
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(2, dp_wait(self->face, self->fd, out, 2, 0));
		for (j = 0; j < 2; j++)
			for (k = 0; k < 5; k++)
				seen[k] += out[j].fd == events[k];
	}
	for (k = 0; k < 5; k++) {
		EXPECT_EQ(2, seen[k]);
		EXPECT_EQ(8, dp_set(self->fd, events[k], POLLREMOVE));
		close(events[k]);
	}
}

TEST_F(devpoll, files_that_poll_knows_as_always_ready_are)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	short all = POLLIN | POLLOUT;

	ASSERT_LE(0, file);
	EXPECT_EQ(all, poll_now(file, all));
	EXPECT_EQ(8, dp_set(self->fd, file, all));
	EXPECT_EQ(all, dp_wait_one(self->face, self->fd, file, -1));
	EXPECT_EQ(all, dp_wait_one(self->face, self->fd, file, -1));
	EXPECT_EQ(8, dp_set(self->fd, file, POLLREMOVE));
	EXPECT_EQ(0, dp_wait_one(self->face, self->fd, file, 0));
	close(file);
}

TEST_F(devpoll, file_that_can_not_be_polled_counts_as_not_open)
{
	int file = open("/", O_PATH | O_CLOEXEC);

	ASSERT_LE(0, file);
	EXPECT_EQ(POLLNVAL, poll_now(file, POLLIN));
	EXPECT_EQ(8, dp_set(self->fd, file, POLLIN));
	EXPECT_EQ(self->face == DP_SOLARIS ? POLLNVAL : 0,
		  dp_wait_one(self->face, self->fd, file, 0));
	EXPECT_EQ(8, dp_set(self->fd, file, POLLREMOVE));
	close(file);
}

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
