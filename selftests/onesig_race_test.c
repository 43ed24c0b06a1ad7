// SPDX-License-Identifier: GPL-2.0
/*
 * Signal sets while everything happens at once: sending, taking, removing,
 * closing, threads and processes that exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "onesig.h"

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

/*
 * The stress: children with sets of all kinds, for files to which the parent
 * keeps posting, are killed or exit at any moment.
 */
#define CHAOS_FILES	24
#define CHAOS_SETS	4

static int chaos_fds[CHAOS_FILES];
static int chaos_sets[CHAOS_SETS];

static int chaos_fd(unsigned int *seed)
{
	return chaos_fds[rand_r(seed) % CHAOS_FILES];
}

static int chaos_set(unsigned int *seed)
{
	return chaos_sets[rand_r(seed) % CHAOS_SETS];
}

/* A set of the calling thread, which is then left alone. */
static void chaos_own(unsigned int *seed)
{
	int set = onesig_open(ONESIG_SIGNAL + rand_r(seed) % 3,
			      rand_r(seed) & DEVEPOLL_SIGNAL_THREAD);
	int i;

	for (i = 0; i < 8; i++) {
		int fd = chaos_fd(seed);

		dep_write_one(set, fd, POLLIN | POLLOUT);
		eventfd_post(fd);
	}
	if (rand_r(seed) % 2)
		close(set);
}

static long chaos_brief(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	chaos_own(&seed);
	return 0;
}

static void chaos_step(unsigned int *seed)
{
	int copy, pipes[2];
	struct task task;
	siginfo_t info;

	switch (rand_r(seed) % 10) {
	case 0:
	case 1:
		dep_write_one(chaos_set(seed), chaos_fd(seed), POLLIN);
		break;
	case 2:
		dep_write_one(chaos_set(seed), chaos_fd(seed), POLLREMOVE);
		break;
	case 3:
	case 4:
		onesig_take(ONESIG_SIGNAL + rand_r(seed) % 3, &info, 0);
		break;
	case 5:
		copy = eventfd_new();
		dep_write_one(chaos_set(seed), copy, POLLIN | POLLOUT);
		eventfd_post(copy);
		close(copy);
		break;
	case 6:
		chaos_own(seed);
		break;
	case 7:
		/* A hang-up: the worker polls the file while it is closed. */
		if (!pipe_pair(pipes)) {
			dep_write_one(chaos_set(seed), pipes[0], POLLIN);
			close(pipes[1]);
			close(pipes[0]);
		}
		break;
	case 8:
		eventfd_take(chaos_fd(seed));
		break;
	case 9:
		if (rand_r(seed) % 4 == 0 &&
		    !task_start(&task, chaos_brief,
				(void *)(uintptr_t)rand_r(seed)))
			task_join(&task);
		break;
	}
}

static long chaos_run(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	for (;;)
		chaos_step(&seed);
	return 0;
}

static void chaos_child(unsigned int seed)
{
	struct task task;
	int i;

	for (i = 0; i < 3; i++)
		close(onesig_open(ONESIG_SIGNAL + i, 0));
	/* The parent's sets signal this process from now on. */
	for (i = 0; i < CHAOS_SETS; i++)
		onesig_begin(chaos_sets[i], ONESIG_SIGNAL + i % 3,
			     i & DEVEPOLL_SIGNAL_THREAD);
	task_start(&task, chaos_run, (void *)(uintptr_t)(seed + 1));
	for (i = 0; i < 2000; i++)
		chaos_step(&seed);
	switch (seed % 3) {
	case 0:
		_exit(0);
	case 1:
		execl("/bin/true", "true", NULL);
		_exit(0);
	}
	chaos_run((void *)(uintptr_t)seed);
}

static void chaos_parent(unsigned int *seed, uint64_t end)
{
	while (now_ns() < end) {
		eventfd_post(chaos_fd(seed));
		if (rand_r(seed) % 8 == 0)
			dep_write_one(chaos_set(seed), chaos_fd(seed),
				      rand_r(seed) % 2 ? POLLREMOVE : POLLIN);
	}
}

TEST(sets_survive_whatever_becomes_of_those_they_tell)
{
	unsigned int seed = now_ns(), rounds = 0;
	uint64_t end = now_ns() + 10000 * NSEC_PER_MSEC;
	int i, j, status;
	pid_t child[2];

	if (slowness() > 1)
		end += 20000 * NSEC_PER_MSEC;
	TH_LOG("seed %u", seed);
	for (i = 0; i < CHAOS_FILES; i++)
		ASSERT_LE(0, chaos_fds[i] = eventfd_new());
	do {
		for (i = 0; i < CHAOS_SETS; i++)
			ASSERT_LE(0, chaos_sets[i] = dep_open());
		for (j = 0; j < 2; j++) {
			child[j] = fork();
			ASSERT_LE(0, child[j]);
			if (!child[j])
				chaos_child(seed + j);
		}
		chaos_parent(&seed, now_ns() + (20 + rand_r(&seed) % 200) *
			     NSEC_PER_MSEC);
		for (j = 0; j < 2; j++) {
			kill(child[j], SIGKILL);
			if (rand_r(&seed) % 2)
				chaos_parent(&seed, now_ns() +
					     5 * NSEC_PER_MSEC);
		}
		for (i = 0; rand_r(&seed) % 2 && i < CHAOS_SETS; i++) {
			close(chaos_sets[i]);
			chaos_sets[i] = -1;
		}
		for (j = 0; j < 2; j++)
			ASSERT_EQ(child[j], waitpid(child[j], &status, 0));
		for (i = 0; i < CHAOS_SETS; i++)
			close(chaos_sets[i]);
		for (i = 0; i < CHAOS_FILES; i++)
			eventfd_take(chaos_fds[i]);
		rounds++;
	} while (now_ns() < end);
	TH_LOG("%u rounds", rounds);
	EXPECT_LE(3, rounds);
}

TEST_HARNESS_MAIN
