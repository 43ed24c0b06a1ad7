// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are closed while they are watched, numbers that are reused, and
 * sets that are closed before their files.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "helpers.h"

FIXTURE(closing) {
	struct set set;
	int fds[2];	/* the first is in the set */
};

FIXTURE_VARIANT(closing) {
	const struct backend *ops;
};

FIXTURE_VARIANT_ADD(closing, devepoll) {
	.ops = &backend_devepoll,
};

FIXTURE_VARIANT_ADD(closing, sysepoll) {
	.ops = &backend_sysepoll,
};

FIXTURE_SETUP(closing)
{
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 600));
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	ASSERT_EQ(0, set_add(&self->set, self->fds[0], POLLIN));
}

FIXTURE_TEARDOWN(closing)
{
	set_close(&self->set);
}

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
	pid = fork();
	if (!pid) {
		/* It lives until the other end of its input closes. */
		dup2(go[0], STDIN_FILENO);
		execl("/bin/cat", "cat", NULL);
		_exit(127);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, put_byte(self->fds[1]));
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

TEST_F(closing, is_not_held_up_by_the_set)
{
	char byte;
	int pipes[2], tcp[2];

	ASSERT_EQ(0, pipe_pair(pipes));
	ASSERT_EQ(0, tcp_pair(tcp));
	ASSERT_EQ(0, set_add(&self->set, pipes[1], POLLOUT | POLLERR));
	ASSERT_EQ(0, set_add(&self->set, tcp[0], POLLIN | POLLHUP));
	set_drain(&self->set);
	ASSERT_EQ(0, close(pipes[1]));
	EXPECT_EQ(0, read(pipes[0], &byte, 1));
	ASSERT_EQ(0, close(tcp[0]));
	EXPECT_TRUE(await(read(tcp[1], &byte, 1) == 0));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(0, read(self->fds[1], &byte, 1));
}

TEST_F(closing, of_a_file_takes_it_out_of_every_set)
{
	struct set sets[4];
	int i;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, set_open(&sets[i], self->set.ops, 10));
		ASSERT_EQ(0, set_add(&sets[i], self->fds[0], POLLIN));
	}
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&sets[0], self->fds[0], 0));
	ASSERT_EQ(0, close(self->fds[0]));
	EXPECT_EQ(0, set_has(&self->set, self->fds[0]));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, set_has(&sets[i], self->fds[0]));
		EXPECT_EQ(0, set_drain(&sets[i]));
		set_close(&sets[i]);
	}
}

TEST_F(closing, of_one_set_leaves_the_file_to_the_others)
{
	struct set sets[3];
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, set_open(&sets[i], self->set.ops, 10));
		ASSERT_EQ(0, set_add(&sets[i], self->fds[0], POLLIN));
	}
	ASSERT_EQ(0, put_byte(self->fds[1]));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(POLLIN, set_wait_one(&sets[i], self->fds[0], 0));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));

	ASSERT_EQ(0, set_remove(&sets[1], self->fds[0]));
	set_close(&sets[0]);
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(0, set_drain(&sets[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&sets[2], self->fds[0], 0));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
	set_close(&sets[1]);
	set_close(&sets[2]);
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closing, of_the_set_first_harms_no_file)
{
	ASSERT_EQ(0, put_byte(self->fds[1]));
	set_close(&self->set);
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, poll_now(self->fds[0], POLLIN));
	ASSERT_EQ(0, close(self->fds[0]));
	ASSERT_EQ(0, close(self->fds[1]));
}

TEST_F(closing, of_the_set_by_a_child_leaves_it_to_the_parent)
{
	pid_t pid = fork();

	if (!pid) {
		set_close(&self->set);
		_exit(0);
	}
	ASSERT_EQ(0, reap(pid));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closing, of_the_set_leaves_a_waiter_its_event)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, close(self->set.fd));
	self->set.fd = -1;
	EXPECT_TRUE(waiter_undisturbed(&waiter));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(self->fds[0], waiter.out[0].fd);
}

TEST_F(closing, of_the_set_in_flight_comes_with_its_arrival_undone)
{
	int sockets[2];

	ASSERT_EQ(0, unix_pair(sockets, SOCK_STREAM));
	ASSERT_EQ(0, send_fd(sockets[1], self->set.fd));
	ASSERT_EQ(0, close(self->set.fd));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	self->set.fd = receive_fd(sockets[0]);
	ASSERT_LE(0, self->set.fd);
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
}

TEST_F(closing, by_exit_needs_no_care)
{
	struct set set;
	int i, fds[2];
	pid_t pid = fork();

	if (!pid) {
		if (set_open(&set, variant->ops, 600))
			_exit(1);
		for (i = 0; i < 200; i++)
			if (unix_pair(fds, SOCK_STREAM) ||
			    set_add(&set, fds[0], POLLIN) ||
			    set_add(&self->set, fds[0], POLLIN) ||
			    put_byte(fds[1]))
				_exit(2);
		_exit(0);
	}
	ASSERT_EQ(0, reap(pid));
	EXPECT_EQ(0, set_drain(&self->set));
	EXPECT_EQ(1, set_has(&self->set, self->fds[0]));
}

TEST_F(closing, by_sigkill_during_the_wait_needs_no_care)
{
	pid_t pid = fork();

	if (!pid)
		_exit(set_wait_one(&self->set, self->fds[0], -1));
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, await_sleep(pid, self->set.ops->wait_syscall));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(128 + SIGKILL, reap(pid));
	ASSERT_EQ(0, put_byte(self->fds[1]));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->fds[0], 0));
}

/* A signalfd wakes through its adder's signals, which go with the adder. */
TEST_F(closing, of_the_wait_queue_before_the_file_is_survived)
{
	sigset_t mask;
	int signals;
	pid_t pid;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	ASSERT_LE(0, signals);
	pid = fork();
	if (!pid)
		_exit(set_add(&self->set, signals, POLLIN) ? 1 : 0);
	ASSERT_EQ(0, reap(pid));
	EXPECT_EQ(1, set_has(&self->set, signals));
	ASSERT_EQ(0, kill(getpid(), SIGUSR1));
	set_drain(&self->set);
	ASSERT_EQ(0, set_remove(&self->set, signals));
	ASSERT_EQ(0, set_add(&self->set, signals, POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, signals, 0));
	ASSERT_EQ(0, close(signals));
	EXPECT_EQ(0, set_has(&self->set, signals));
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
