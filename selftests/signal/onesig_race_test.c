// SPDX-License-Identifier: GPL-2.0
/*
 * Signal sets while two things happen at once: posting and taking, sending and
 * removing, closing and reaping.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/onesig.h"

#define POSTERS		3
#define POSTED_FILES	16

struct posting {
	int fds[POSTED_FILES];
	unsigned int times;
	unsigned int seed;
};

static long call_post(void *arg)
{
	struct posting *posting = arg;
	unsigned int i;

	for (i = 0; i < posting->times; i++) {
		int nr = rand_r(&posting->seed) % POSTED_FILES;
		int err = eventfd_post(posting->fds[nr]);

		if (err)
			return err;
	}
	return 0;
}

/* What was written to the fd since it was read; 0 if nothing. */
static uint64_t read_count(int fd)
{
	uint64_t count = 0;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/*
 * A reader that reads at each signal until nothing is left must see everything:
 * an event after the read makes a signal of its own.
 */
TEST(nothing_is_lost_while_many_post_and_one_takes)
{
	struct task tasks[POSTERS];
	struct posting postings[POSTERS];
	uint64_t got = 0, all;
	siginfo_t info;
	int set, i, j, ret;

	NEEDS_THREADS();
	set = onesig_open(ONESIG_SIGNAL, 0);
	ASSERT_LE(0, set);
	postings[0].times = 20000 / slowness();
	all = POSTERS * postings[0].times;
	for (i = 0; i < POSTED_FILES; i++) {
		postings[0].fds[i] = eventfd_new();
		ASSERT_EQ(8, dep_write_one(set, postings[0].fds[i], POLLIN));
	}
	for (j = 0; j < POSTERS; j++) {
		postings[j] = postings[0];
		postings[j].seed = j + 1;
		ASSERT_EQ(0, task_start(&tasks[j], call_post, &postings[j]));
	}
	while (got < all) {
		ret = onesig_take(ONESIG_SIGNAL, &info, SOON_MS);
		ASSERT_EQ(ONESIG_SIGNAL, ret) {
			TH_LOG("%llu of %llu", (unsigned long long)got,
			       (unsigned long long)all);
		}
		ASSERT_EQ(POLLIN, info.si_band);
		got += read_count(info.si_fd);
	}
	EXPECT_EQ(all, got);
	for (j = 0; j < POSTERS; j++)
		EXPECT_EQ(0, task_join(&tasks[j]));
}

/* Posts one file until it is told to end. */
struct poster {
	int fd;
	atomic_bool stop;
};

static long post_for_ever(void *arg)
{
	struct poster *poster = arg;
	int err = 0;

	if (pin_to_cpu(0))
		return -errno;
	while (!err && !atomic_load(&poster->stop))
		err = eventfd_post(poster->fd);
	return err;
}

/* How long fds are removed while their signals are on the way. */
#define REMOVE_NS	(3000 * NSEC_PER_MSEC)
/* How long one that is sent after the removal may take to come. */
#define LATE_MS		1

TEST(no_signal_comes_of_an_fd_that_was_removed)
{
	struct poster poster = { .fd = eventfd_new() };
	uint64_t end = now_ns() + REMOVE_NS;
	struct task task;
	siginfo_t info;
	int set;

	NEEDS_THREADS();
	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	set = onesig_open(ONESIG_SIGNAL, 0);
	ASSERT_LE(0, set);
	ASSERT_EQ(0, task_start(&task, post_for_ever, &poster));
	ASSERT_EQ(0, pin_to_cpu(1));
	while (now_ns() < end) {
		ASSERT_EQ(8, dep_write_one(set, poster.fd, POLLIN));
		/* One has been sent, and others are. */
		ASSERT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, poster.fd));
		ASSERT_EQ(8, dep_write_one(set, poster.fd, POLLREMOVE));
		/* A late one would pass for the first of the next round. */
		ASSERT_EQ(-EAGAIN, onesig_take(ONESIG_SIGNAL, &info, LATE_MS));
	}
	atomic_store(&poster.stop, true);
	EXPECT_EQ(0, task_join(&task));
	EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
	close(set);
}

/* A process with so many signals in its queue; they go when it is reaped. */
#define REAPED_FILES	500
#define REAPS		20

/* Closes a set when it is told, and says how long that took. */
struct closer {
	int set;
	atomic_bool start;
};

static long call_close(void *arg)
{
	struct closer *closer = arg;
	uint64_t began;

	if (pin_to_cpu(1))
		return -errno;
	while (!atomic_load(&closer->start))
		;
	began = now_ns();
	if (close(closer->set))
		return -errno;
	return now_ns() - began;
}

/* A child that the set signals of each fd, and that waits to be killed. */
static pid_t child_with_signals(int set, const int *fds)
{
	int i, pipes[2];
	pid_t child;
	char byte;

	if (pipe(pipes))
		return -errno;
	child = fork();
	if (!child) {
		close(onesig_open(ONESIG_SIGNAL, 0));
		if (onesig_begin(set, ONESIG_SIGNAL, 0))
			_exit(1);
		for (i = 0; i < REAPED_FILES; i++)
			if (dep_write_one(set, fds[i], POLLIN) != 8)
				_exit(1);
		put_byte(pipes[1]);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		child = -EPROTO;
	close(pipes[0]);
	return child;
}

/* What one call leaves to send, a worker sends some time later. */
static bool has_sent(int set, uint64_t signals)
{
	struct devepoll_stats stats;

	return !dep_request(set, DEVEPOLL_STATS, &stats) &&
	       stats.events == signals;
}

/*
 * The one who reaps it empties the queue after nobody can find the process any
 * more, while the close frees what is in it: from the other end, so they meet.
 */
TEST(a_process_may_be_reaped_while_its_set_is_closed)
{
	struct closer closer = { };
	uint64_t until, took = 0;
	int fds[REAPED_FILES], i, round;
	struct task task;
	siginfo_t info;
	pid_t child;
	long ret;

	NEEDS_THREADS();
	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	ASSERT_EQ(0, pin_to_cpu(0));
	for (i = 0; i < REAPED_FILES; i++)
		ASSERT_LE(0, fds[i] = eventfd_new());
	for (round = 0; round < REAPS; round++) {
		closer.set = dep_open();
		ASSERT_LE(0, closer.set);
		child = child_with_signals(closer.set, fds);
		ASSERT_LT(0, child);
		for (i = REAPED_FILES - 1; i >= 0; i--)
			ASSERT_EQ(0, eventfd_post(fds[i]));
		ASSERT_TRUE(await(has_sent(closer.set, REAPED_FILES)));
		ASSERT_EQ(0, kill(child, SIGKILL));
		ASSERT_EQ(0, waitid(P_PID, child, &info, WEXITED | WNOWAIT));
		atomic_store(&closer.start, false);
		ASSERT_EQ(0, task_start(&task, call_close, &closer));
		atomic_store(&closer.start, true);
		/* Another moment of the close in each round. */
		until = now_ns() + took * round / REAPS;
		while (now_ns() < until)
			;
		EXPECT_EQ(128 + SIGKILL, reap(child));
		ret = task_join(&task);
		ASSERT_LT(0, ret);
		took = ret;
		for (i = 0; i < REAPED_FILES; i++)
			eventfd_take(fds[i]);
	}
	for (i = 0; i < REAPED_FILES; i++)
		close(fds[i]);
}

TEST_HARNESS_MAIN
