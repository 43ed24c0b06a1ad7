// SPDX-License-Identifier: GPL-2.0
/*
 * Signal sets and the lives of those they tell: threads, children, programs
 * that are executed, processes that are killed; and what a set refuses.
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

#include "onesig.h"

/* A signal set of the caller with one pipe; the set, or -errno. */
static int set_with_pipe(int fds[2], uint32_t flags)
{
	int set = onesig_open(ONESIG_SIGNAL, flags);
	int err;

	if (set < 0)
		return set;
	err = pipe_pair(fds);
	if (!err && dep_write_one(set, fds[0], POLLIN) != 8)
		err = -EPROTO;
	return err ? err : set;
}

/* A thread that has a set of its own and takes what it tells. */
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

	set = set_with_pipe(owner->fds, DEVEPOLL_SIGNAL_THREAD);
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
	/* Blocked here too, so that it would wait if it came here. */
	close(onesig_open(ONESIG_SIGNAL, 0));
	ASSERT_EQ(0, task_start(&owner.task, own_set, &owner));
	ASSERT_TRUE(await(owner.set));
	ASSERT_LT(0, owner.set);
	ASSERT_EQ(0, put_byte(owner.fds[1]));
	EXPECT_EQ(-EAGAIN, onesig_take(ONESIG_SIGNAL, &info, 0));
	owner.end = true;
	EXPECT_EQ(owner.fds[0], task_join(&owner.task));
	/* It is gone, the process is not. */
	ASSERT_EQ(0, put_byte(owner.fds[1]));
	EXPECT_EQ(-EAGAIN, onesig_take(ONESIG_SIGNAL, &info, 0));
	close(owner.set);
}

static long own_set_and_leave(void *arg)
{
	struct owner *owner = arg;

	owner->set = set_with_pipe(owner->fds, DEVEPOLL_SIGNAL_THREAD);
	/* Its siginfo waits when the thread ends. */
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
		/* From three sides: before, after and with no file left. */
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

	set = set_with_pipe(fds, 0);
	ASSERT_LE(0, set);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int event = eventfd_new();

		/* Its own file too: the set tells who made it one. */
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
	if (put_byte(out) || !signal_is_waiting(ONESIG_SIGNAL))
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

/* From whatever thread: it stays, the others end. */
static long call_exec(void *arg)
{
	uint32_t flags = *(uint32_t *)arg;
	char how[64];
	int set, fds[2];

	set = set_with_pipe(fds, flags);
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

/* The parent has set and files too, so they outlive the child. */
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
	/* Made by a user, told to root once the process is root's again. */
	ASSERT_EQ(0, syscall(SYS_setresuid, 1000, 1000, 0));
	set = set_with_pipe(fds, 0);
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

TEST(what_is_no_signal_is_refused)
{
	static const int bad[] = {
		0, -1, 65, 1 << 30, SIGKILL, SIGSTOP, SIGCONT, SIGTSTP, SIGTTIN,
		SIGTTOU, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS,
	};
	struct {
		struct devepoll_signal args;
		uint64_t more;
	} large = { .args.signo = ONESIG_SIGNAL, .more = 1 };
	unsigned long request = DEVEPOLL_SIGNAL + (8UL << 16);
	int set = dep_open();
	size_t i;

	ASSERT_LE(0, set);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(-EINVAL, onesig_begin(set, bad[i], 0)) {
			TH_LOG("signal %d", bad[i]);
		}
	EXPECT_EQ(-EINVAL, onesig_begin(set, ONESIG_SIGNAL, 2));
	EXPECT_EQ(-EINVAL, onesig_begin(set, ONESIG_SIGNAL, 1U << 31));
	EXPECT_EQ(-EFAULT, dep_request(set, DEVEPOLL_SIGNAL, (void *)8));
	EXPECT_EQ(-E2BIG, dep_request(set, request, &large));
	EXPECT_EQ(-ENOTTY, dep_request(set, DEVEPOLL_SIGNAL - (4UL << 16),
				       &large));
	/* None of them has made it a signal set. */
	EXPECT_EQ(0, dep_alloc(set, 10));
	close(set);

	set = dep_open();
	large.more = 0;
	EXPECT_EQ(0, dep_request(set, request, &large));
	EXPECT_EQ(-EBUSY, onesig_begin(set, ONESIG_SIGNAL, 0));
	close(set);

	/* The other way in. */
	set = dep_open();
	EXPECT_EQ(0, dep_request_by_door(set, DEVEPOLL_SIGNAL, &large));
	EXPECT_EQ(-EBUSY, onesig_begin(set, ONESIG_SIGNAL, 0));
	close(set);
}

TEST(a_set_is_one_thing_for_good)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.events = EPOLLIN,
	};
	struct evpoll evp = { .ep_timeout = 0 };
	struct devepoll_event out;
	struct epoll_event epoll_out;
	int fds[2], set, other;

	set = set_with_pipe(fds, 0);
	ASSERT_LE(0, set);
	EXPECT_EQ(-EBUSY, dep_alloc(set, 10));
	EXPECT_EQ(-EBUSY, dep_poll(set, &evp));
	EXPECT_EQ(-EBUSY, dep_free(set));
	EXPECT_EQ(-EBUSY, dep_wait(set, &out, 1, 0));
	EXPECT_EQ(-EBUSY, dep_epoll_wait(set, &epoll_out, 1, 0));
	EXPECT_EQ(MAP_FAILED, (void *)dep_map(set, EP_MAP_SIZE(1)));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(MAP_FAILED, (void *)dep_map_events(set, getpagesize()));
	EXPECT_EQ(EBUSY, errno);
	/* It is never readable itself. */
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(0, poll_now(set, POLLIN));
	/* Nor can it have a set in it. */
	other = dep_open();
	EXPECT_EQ(0, dep_write_one(set, other, POLLIN));
	change.fd = other;
	EXPECT_EQ(-ELOOP, dep_change(set, &change));
	close(other);

	other = dep_open();
	change.fd = fds[0];
	ASSERT_EQ(0, dep_change(other, &change));
	EXPECT_EQ(-EBUSY, onesig_begin(other, ONESIG_SIGNAL, 0));
	close(other);
	other = dep_open();
	ASSERT_EQ(0, dep_alloc(other, 10));
	EXPECT_EQ(-EBUSY, onesig_begin(other, ONESIG_SIGNAL, 0));
}

TEST(changes_with_results_are_made_too)
{
	struct devepoll_change change = { .events = EPOLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	int set, fds[2], fd = eventfd_new();

	set = set_with_pipe(fds, 0);
	ASSERT_LE(0, set);
	change.fd = fd;
	change.op = DEVEPOLL_ADD;
	change.events = EPOLLIN | EPOLLET;
	EXPECT_EQ(0, dep_change(set, &change));
	EXPECT_EQ(-EEXIST, dep_change(set, &change));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fd));
	/* As epoll does, it tells what is ready. */
	change.op = DEVEPOLL_MOD;
	EXPECT_EQ(0, dep_change(set, &change));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fd));

	change.events = EPOLLIN | EPOLLONESHOT;
	EXPECT_EQ(-EINVAL, dep_change(set, &change));
	change.events = EPOLLIN | EPOLLEXCLUSIVE;
	EXPECT_EQ(-EINVAL, dep_change(set, &change));
	change.events = EPOLLIN;
	change.flags = DEVEPOLL_TELL_CLOSED;
	EXPECT_EQ(-EINVAL, dep_change(set, &change));
	change.flags = 0;

	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_EQ(1, signal_is_waiting(ONESIG_SIGNAL));
	change.op = DEVEPOLL_DEL;
	EXPECT_EQ(0, dep_change(set, &change));
	EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
	EXPECT_EQ(-ENOENT, dep_change(set, &change));

	EXPECT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fd));
	event.events = EPOLLIN | EPOLLONESHOT;
	EXPECT_EQ(-EINVAL, dep_epoll_ctl(set, EPOLL_CTL_MOD, fd, &event));
	EXPECT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_DEL, fd, &event));
}

TEST_HARNESS_MAIN
