// SPDX-License-Identifier: GPL-2.0
/*
 * Signal sets and the lives of their recipients: threads, children, programs
 * that are executed, processes that are killed; and signals of other senders.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/onesig.h"

/* A thread that has a set of its own and takes its signals. */
struct owner {
	struct task task;
	int fds[2];
	atomic_int set;
	atomic_bool end;
};

static long own_set(void *arg)
{
	struct owner *owner = arg;
	siginfo_t info;
	int set, ret;

	set = onesig_with_pipe(ONESIG_SIGNAL, owner->fds,
			       DEVEPOLL_SIGNAL_THREAD);
	owner->set = set;
	if (set < 0)
		return set;
	while (!owner->end)
		pause_briefly();
	ret = onesig_take(ONESIG_SIGNAL, &info, 0);
	return ret < 0 ? ret : info.si_fd;
}

TEST(a_thread_is_told_and_no_other)
{
	struct owner owner = { .set = 0 };
	siginfo_t info;

	NEEDS_THREADS();
	/* Blocked here too, so that it would stay pending if it came here. */
	close(onesig_open(ONESIG_SIGNAL, 0));
	ASSERT_EQ(0, task_start(&owner.task, own_set, &owner));
	ASSERT_TRUE(await(owner.set));
	ASSERT_LT(0, owner.set);
	ASSERT_EQ(0, put_byte(owner.fds[1]));
	EXPECT_EQ(-EAGAIN, onesig_take(ONESIG_SIGNAL, &info, 0));
	owner.end = true;
	EXPECT_EQ(owner.fds[0], task_join(&owner.task));
	/* The thread has gone, the process has not. */
	ASSERT_EQ(0, put_byte(owner.fds[1]));
	EXPECT_EQ(-EAGAIN, onesig_take(ONESIG_SIGNAL, &info, 0));
	close(owner.set);
}

static long own_set_and_leave(void *arg)
{
	struct owner *owner = arg;

	owner->set = onesig_with_pipe(ONESIG_SIGNAL, owner->fds,
				      DEVEPOLL_SIGNAL_THREAD);
	/* Its siginfo is pending when the thread ends. */
	return owner->set < 0 ? owner->set : put_byte(owner->fds[1]);
}

TEST(a_thread_can_end_with_a_signal_waiting)
{
	struct owner owner = { .set = 0 };
	int i;

	NEEDS_THREADS();
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, task_start(&owner.task, own_set_and_leave,
					&owner));
		/* In three cases: before, after and without a file left. */
		if (i % 3 == 0) {
			ASSERT_TRUE(await(owner.task.done));
			ASSERT_EQ(8, dep_write_one(owner.set, owner.fds[0],
						   POLLREMOVE));
		}
		ASSERT_EQ(0, task_join(&owner.task));
		ASSERT_EQ(0, put_byte(owner.fds[1]));
		if (i % 3 == 1)
			close(owner.set);
		close(owner.fds[0]);
		close(owner.fds[1]);
		if (i % 3 != 1)
			close(owner.set);
	}
}

TEST(a_child_is_not_told_by_its_parents_set)
{
	siginfo_t info;
	int set, fds[2];
	pid_t child;

	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int event = eventfd_new();

		/* Its own file too: the set signals the parent. */
		if (put_byte(fds[1]) || eventfd_post(event) ||
		    dep_write_one(set, event, POLLIN) != 8 ||
		    onesig_take(ONESIG_SIGNAL, &info, 0) != -EAGAIN)
			_exit(1);
		fcntl(fds[0], F_DUPFD, 100);
		_exit(0);
	}
	ASSERT_EQ(0, reap(child));
	/* The eventfd went with the child. */
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fds[0]));
	EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
}

/* What the test program does when it executes itself: see below. */
static long after_exec(const char *how)
{
	int set, in, out;

	if (sscanf(how, "%d %d %d", &set, &in, &out) != 3)
		return 2;
	if (onesig_band(ONESIG_SIGNAL, in) != POLLIN)
		return 3;
	if (put_byte(out) || onesig_band(ONESIG_SIGNAL, in) != POLLIN)
		return 4;
	if (put_byte(out) || !await(signal_is_waiting(ONESIG_SIGNAL) == 1))
		return 5;
	if (dep_write_one(set, in, POLLREMOVE) != 8 ||
	    signal_is_waiting(ONESIG_SIGNAL))
		return 6;
	return 0;
}

static void __attribute__((constructor)) maybe_after_exec(void)
{
	const char *how = getenv("ONESIG_AFTER_EXEC");

	if (how)
		_exit(after_exec(how));
}

/* From any thread: this one stays, the others end. */
static long call_exec(void *arg)
{
	uint32_t flags = *(uint32_t *)arg;
	char how[64];
	int set, fds[2];

	set = onesig_with_pipe(ONESIG_SIGNAL, fds, flags);
	if (set < 0 || put_byte(fds[1]))
		_exit(1);
	fcntl(set, F_SETFD, 0);
	fcntl(fds[0], F_SETFD, 0);
	fcntl(fds[1], F_SETFD, 0);
	snprintf(how, sizeof(how), "%d %d %d", set, fds[0], fds[1]);
	setenv("ONESIG_AFTER_EXEC", how, 1);
	execl("/proc/self/exe", "onesig_life_test", NULL);
	_exit(1);
}

FIXTURE(onesig_exec) {
};

FIXTURE_VARIANT(onesig_exec) {
	uint32_t flags;
	bool by_thread;
};

FIXTURE_VARIANT_ADD(onesig_exec, process) {
};

FIXTURE_VARIANT_ADD(onesig_exec, thread) {
	.flags = DEVEPOLL_SIGNAL_THREAD,
};

/* The thread takes the place and the number of its leader. */
FIXTURE_VARIANT_ADD(onesig_exec, process_by_thread) {
	.by_thread = true,
};

FIXTURE_VARIANT_ADD(onesig_exec, thread_by_thread) {
	.flags = DEVEPOLL_SIGNAL_THREAD,
	.by_thread = true,
};

FIXTURE_SETUP(onesig_exec)
{
}

FIXTURE_TEARDOWN(onesig_exec)
{
}

TEST_F(onesig_exec, keeps_what_waits_and_what_comes)
{
	uint32_t flags = variant->flags;
	struct task task;
	pid_t child;

	NEEDS_THREADS();
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (!variant->by_thread)
			call_exec(&flags);
		close(onesig_open(ONESIG_SIGNAL, 0));
		if (!task_start(&task, call_exec, &flags))
			task_join(&task);
		_exit(1);
	}
	EXPECT_EQ(0, reap(child));
}

/* The parent has the set and the files too, so they outlive the child. */
#define KILLED_FILES	64

TEST(a_process_can_be_killed_with_signals_waiting)
{
	int fds[KILLED_FILES], set, i, round, ready[2];
	struct pollfd out[KILLED_FILES];
	pid_t child;
	char byte;

	for (round = 0; round < 20; round++) {
		set = dep_open();
		ASSERT_LE(0, set);
		ASSERT_EQ(0, pipe(ready));
		for (i = 0; i < KILLED_FILES; i++) {
			fds[i] = eventfd_new();
			ASSERT_LE(0, fds[i]);
			out[i] = (struct pollfd){ fds[i], POLLIN, 0 };
		}
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			close(onesig_open(ONESIG_SIGNAL, 0));
			if (onesig_begin(set, ONESIG_SIGNAL, round & 1) ||
			    dep_write(set, out, KILLED_FILES) != sizeof(out) ||
			    write(ready[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		for (i = 0; i < KILLED_FILES; i++)
			ASSERT_EQ(0, eventfd_post(fds[i]));
		ASSERT_EQ(0, kill(child, SIGKILL));
		/* While it dies, when it is a zombie, and after that. */
		for (i = 0; i < KILLED_FILES; i++)
			ASSERT_EQ(0, eventfd_post(fds[i]));
		if (round & 2) {
			siginfo_t info;

			ASSERT_EQ(0, waitid(P_PID, child, &info,
					    WEXITED | WNOWAIT));
			ASSERT_EQ(0, eventfd_post(fds[0]));
			ASSERT_EQ(8, dep_write_one(set, fds[1], POLLREMOVE));
		}
		if (round & 4)
			close(set);
		ASSERT_EQ(128 + SIGKILL, reap(child));
		for (i = 0; i < KILLED_FILES; i++) {
			ASSERT_EQ(0, eventfd_post(fds[i]));
			close(fds[i]);
		}
		if (!(round & 4))
			close(set);
		close(ready[0]);
		close(ready[1]);
	}
}

TEST(another_users_process_is_not_told)
{
	int set, fds[2];

	if (geteuid())
		SKIP(return, "not root");
	/* Made by a user, sent to root once the process is root's again. */
	ASSERT_EQ(0, syscall(SYS_setresuid, 1000, 1000, 0));
	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fds[0]));
	ASSERT_EQ(0, syscall(SYS_setresuid, 0, 0, 0));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
	ASSERT_EQ(0, syscall(SYS_setresuid, 0, 1000, 0));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
}

/*
 * While a standard signal is pending, another one leaves no trace: signals of
 * other senders must not go with ours.
 */
TEST(what_others_sent_stays)
{
	int set, fds[2];
	siginfo_t info;
	pid_t child;

	set = onesig_with_pipe(SIGCHLD, fds, 0);
	ASSERT_LE(0, set);
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_TRUE(await(signal_is_waiting(SIGCHLD) == 1));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(0);
	ASSERT_EQ(0, reap(child));
	close(set);
	EXPECT_EQ(SIGCHLD, onesig_take(SIGCHLD, &info, 0));
	close(fds[0]);
	close(fds[1]);

	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, sigqueue(getpid(), ONESIG_SIGNAL, (union sigval){ 7 }));
	ASSERT_EQ(0, put_byte(fds[1]));
	close(set);
	EXPECT_EQ(ONESIG_SIGNAL, onesig_take(ONESIG_SIGNAL, &info, 0));
	EXPECT_EQ(SI_QUEUE, info.si_code);
	EXPECT_EQ(7, info.si_value.sival_int);
	EXPECT_EQ(-EAGAIN, onesig_take(ONESIG_SIGNAL, &info, 0));
}

/* Two sets that send the same signal to the same process. */
TEST(a_set_that_goes_leaves_those_of_others)
{
	int set[2], fds[2][2], extra[2], i, round;
	siginfo_t info;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < 2; i++) {
			set[i] = onesig_with_pipe(ONESIG_SIGNAL, fds[i], 0);
			ASSERT_LE(0, set[i]);
		}
		ASSERT_EQ(0, pipe_pair(extra));
		ASSERT_EQ(8, dep_write_one(set[0], extra[0], POLLIN));
		/* A signal that was taken no longer counts. */
		ASSERT_EQ(0, put_byte(extra[1]));
		ASSERT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, extra[0]));
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, put_byte(fds[i ^ (round & 1)][1]));
		close(set[0]);
		EXPECT_TRUE(await(signal_is_waiting(ONESIG_SIGNAL) == 1));
		if (round & 2) {
			EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL,
						      fds[1][0]));
			close(set[1]);
		} else {
			close(set[1]);
		}
		EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
		EXPECT_EQ(-EAGAIN, onesig_take(ONESIG_SIGNAL, &info, 0));
		for (i = 0; i < 2; i++) {
			close(fds[i][0]);
			close(fds[i][1]);
			close(extra[i]);
		}
	}
}

TEST_HARNESS_MAIN
