// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are closed while they are watched, and numbers that are reused.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/closing.h"

TEST_F(closing, takes_the_file_out_of_the_set)
{
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	EXPECT_EQ(0, set_drain(&self->set));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

TEST_F(closing, takes_the_pending_event_along)
{
	struct pollfd out[8];
	int i, n, events[5];

	for (i = 0; i < 5; i++) {
		events[i] = eventfd_new();
		ASSERT_LE(0, events[i]);
		ASSERT_EQ(0, set_add(&self->set, events[i], POLLIN));
		ASSERT_EQ(0, eventfd_post(events[i]));
	}
	ASSERT_EQ(0, close(events[4]));
	ASSERT_EQ(0, close(events[1]));
	n = set_wait(&self->set, out, 8, 0);
	ASSERT_EQ(3, n);
	EXPECT_EQ(events[0], out[0].fd);
	for (i = 0; i < 5; i++)
		EXPECT_EQ(i == 1 || i == 4 ? 0 : POLLIN,
			  event_of(out, n, events[i]));
}

TEST_F(closing, of_all_leaves_nothing_pending)
{
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(closing, waits_for_the_last_duplicate)
{
	int duplicate = dup(self->fds[0]);

	ASSERT_LE(0, duplicate);
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(0, close(duplicate));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(closing, of_one_of_two_watched_numbers_leaves_both_to_the_file)
{
	int duplicate = dup(self->fds[0]);
	struct pollfd out[4];

	ASSERT_LE(0, duplicate);
	ASSERT_EQ(0, set_add(&self->set, duplicate, POLLIN));
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(2, set_wait(&self->set, out, 4, 0));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(0, close(duplicate));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	EXPECT_EQ(0, set_has(&self->set, duplicate));
	EXPECT_EQ(0, set_drain(&self->set));
}

/* A child that keeps all present fds until the parent closes or writes *go. */
static pid_t start_holder(int *go)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		close(fds[1]);
		_exit(take_byte(fds[0]) == 0 ? 0 : 1);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

TEST_F(closing, waits_for_the_exit_of_another_process)
{
	int go;
	pid_t pid = start_holder(&go);

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
	ASSERT_EQ(0, put_byte(go));
	ASSERT_EQ(0, reap(pid));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(closing, happens_when_the_holder_is_killed)
{
	int go;
	pid_t pid = start_holder(&go);

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(128 + SIGKILL, reap(pid));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(closing, happens_when_the_holder_executes_a_program)
{
	int go[2], status;
	pid_t pid;

	ASSERT_EQ(0, pipe2(go, O_CLOEXEC));
	/* Later, the last reader may be gone. */
	ASSERT_EQ(0, put_byte(self->fds[1]));
	pid = fork();
	if (!pid) {
		/* It lives until the other end of its input closes. */
		dup2(go[0], STDIN_FILENO);
		execl("/bin/cat", "cat", NULL);
		_exit(127);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_TRUE(await(set_has(&self->set, self->fds[0]) == 0));
	EXPECT_EQ(0, set_drain(&self->set));
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	ASSERT_EQ(0, close(go[1]));
	EXPECT_EQ(0, reap(pid));
}

TEST_F(closing, waits_for_a_file_in_flight)
{
	int sockets[2], received;

	ASSERT_EQ(0, unix_pair(sockets, SOCK_STREAM));
	ASSERT_EQ(0, send_fd(sockets[1], self->fds[0]));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
	received = receive_fd(sockets[0]);
	ASSERT_LE(0, received);
	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(0, close(received));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(closing, happens_to_a_file_in_flight_that_never_arrives)
{
	int sockets[2];

	ASSERT_EQ(0, unix_pair(sockets, SOCK_STREAM));
	ASSERT_EQ(0, send_fd(sockets[1], self->fds[0]));
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
	ASSERT_EQ(0, close(sockets[1]));
	ASSERT_EQ(0, close(sockets[0]));
	EXPECT_TRUE(await(set_has(&self->set, self->fds[0]) == 0));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(closing, of_a_range_takes_them_all_out)
{
	int i, fds[20];

	for (i = 0; i < 20; i++) {
		fds[i] = fcntl(self->fds[0], F_DUPFD_CLOEXEC, 500);
		ASSERT_LE(500, fds[i]);
		ASSERT_EQ(0, set_add(&self->set, fds[i], POLLIN));
	}
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(0, syscall(SYS_close_range, fds[0], fds[19], 0));
	for (i = 0; i < 20; i++)
		EXPECT_EQ(0, set_has(&self->set, fds[i]));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	if (self->set.ops == &backend_devepoll)
		EXPECT_EQ(0, set_items(&self->set));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(closing, by_dup2_over_the_number_takes_the_old_file_out)
{
	int event = eventfd_new();

	ASSERT_LE(0, event);
	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(self->fds[0], dup2(event, self->fds[0]));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, set_add(&self->set, self->fds[0], POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closing, frees_the_number_for_another_file)
{
	int i, event, number = self->fds[0];

	ASSERT_EQ(0, put_byte(self->fds[1]));
	ASSERT_EQ(0, close(number));
	for (i = 0; i < 20; i++) {
		event = eventfd_new();
		ASSERT_EQ(number, event);
		EXPECT_EQ(0, set_has(&self->set, event));
		if (i & 1)
			ASSERT_EQ(0, eventfd_post(event));
		ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
		EXPECT_EQ(i & 1 ? POLLIN : -ENOMSG,
			  set_wait_one(&self->set, event, 0));
		ASSERT_EQ(0, eventfd_post(event));
		if (i & 2)
			EXPECT_EQ(POLLIN, set_wait_one(&self->set, event, 0));
		ASSERT_EQ(0, close(event));
	}
	EXPECT_EQ(0, set_drain(&self->set));
}

/* Epoll can't do this: a write goes by what the number names now. */
DEVEPOLL_FIXTURE(number, 100)

TEST_F(number, that_names_another_file_is_a_new_item)
{
	int old[2], other[2], kept;

	ASSERT_EQ(0, unix_pair(old, SOCK_STREAM));
	ASSERT_EQ(0, unix_pair(other, SOCK_STREAM));
	kept = dup(old[0]);
	ASSERT_LE(0, kept);
	ASSERT_EQ(0, set_add(&self->set, old[0], POLLIN));
	ASSERT_EQ(0, put_byte(old[1]));
	ASSERT_EQ(0, put_byte(other[1]));
	ASSERT_EQ(old[0], dup2(other[0], old[0]));
	EXPECT_EQ(1, set_has(&self->set, old[0]));

	/* Registered again: the old file's event goes, the new one's comes. */
	ASSERT_EQ(0, set_add(&self->set, old[0], POLLIN | POLLOUT));
	EXPECT_EQ(POLLIN | POLLOUT, set_wait_one(&self->set, old[0], 0));
	ASSERT_EQ(0, put_byte(old[1]));
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, put_byte(other[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, old[0], 0) & POLLIN);

	/* The old file's last close does not affect the new item. */
	ASSERT_EQ(0, close(kept));
	EXPECT_EQ(1, set_has(&self->set, old[0]));
	ASSERT_EQ(0, put_byte(other[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, old[0], 0) & POLLIN);
}

TEST_F(number, of_a_closed_file_is_removed_without_complaint)
{
	int event = eventfd_new();

	ASSERT_LE(0, event);
	ASSERT_EQ(0, set_add(&self->set, event, POLLIN));
	ASSERT_EQ(0, close(event));
	EXPECT_EQ(8, dep_write_one(self->set.fd, event, POLLREMOVE));
	EXPECT_EQ(8, dep_write_one(self->set.fd, event, POLLREMOVE));
}

TEST_HARNESS_MAIN
