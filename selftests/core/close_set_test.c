// SPDX-License-Identifier: GPL-2.0
/*
 * Sets that are closed, before or after their files, or end with a process.
 */
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/closing.h"

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

/* The memory of a file's first watch is where its other watches meet. */
TEST_F(closing, of_the_first_set_leaves_its_files_to_the_second)
{
	int files[64], others[128], i;
	struct set second, third;

	ASSERT_EQ(0, set_open(&second, self->set.ops, 200));
	ASSERT_EQ(0, set_open(&third, self->set.ops, 200));
	for (i = 0; i < 64; i++) {
		files[i] = eventfd_new();
		ASSERT_EQ(0, set_add(&self->set, files[i], POLLIN));
		ASSERT_EQ(0, set_add(&second, files[i], POLLIN));
	}
	/* Some leave before their set, and the others with it. */
	for (i = 0; i < 32; i++)
		ASSERT_EQ(0, set_remove(&self->set, files[i]));
	set_close(&self->set);

	/* These get all memory that became free. */
	for (i = 0; i < 128; i++) {
		others[i] = eventfd_new();
		ASSERT_EQ(0, set_add(&third, others[i], POLLIN));
	}
	for (i = 0; i < 64; i++) {
		ASSERT_EQ(0, eventfd_post(files[i]));
		EXPECT_EQ(POLLIN, set_wait_one(&second, files[i], 0));
	}
	EXPECT_EQ(0, set_drain(&third));

	for (i = 0; i < 32; i++)
		EXPECT_EQ(0, set_remove(&second, files[i]));
	for (i = 32; i < 64; i++)
		EXPECT_EQ(0, close(files[i]));
	EXPECT_EQ(0, set_drain(&second));
	for (i = 0; i < 128; i++) {
		ASSERT_EQ(0, eventfd_post(others[i]));
		EXPECT_EQ(POLLIN, set_wait_one(&third, others[i], 0));
	}
	set_close(&second);
	set_close(&third);
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
	EXPECT_TRUE(task_undisturbed(&waiter.task));
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

TEST_HARNESS_MAIN
