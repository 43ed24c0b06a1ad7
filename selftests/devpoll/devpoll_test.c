// SPDX-License-Identifier: GPL-2.0
/* /dev/poll: what both faces report, and in what they differ. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "devpoll/devpoll_faces.h"

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

TEST_HARNESS_MAIN
