// SPDX-License-Identifier: GPL-2.0
/*
 * Signal sets under stress: children with sets of all kinds, for files to which
 * the parent keeps posting, are killed or exit at any moment.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/onesig.h"

#define STRESS_FILES	24
#define STRESS_SETS	4

static int stress_fds[STRESS_FILES];
static int stress_sets[STRESS_SETS];

static int stress_fd(unsigned int *seed)
{
	return stress_fds[rand_r(seed) % STRESS_FILES];
}

static int stress_set(unsigned int *seed)
{
	return stress_sets[rand_r(seed) % STRESS_SETS];
}

/* A set of the calling thread, which is then left alone. */
static void stress_own(unsigned int *seed)
{
	int set = onesig_open(ONESIG_SIGNAL + rand_r(seed) % 3,
			      rand_r(seed) & DEVEPOLL_SIGNAL_THREAD);
	int i;

	for (i = 0; i < 8; i++) {
		int fd = stress_fd(seed);

		dep_write_one(set, fd, POLLIN | POLLOUT);
		eventfd_post(fd);
	}
	if (rand_r(seed) % 2)
		close(set);
}

static long stress_brief(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	stress_own(&seed);
	return 0;
}

static void stress_step(unsigned int *seed)
{
	int copy, pipes[2];
	struct task task;
	siginfo_t info;

	switch (rand_r(seed) % 10) {
	case 0:
	case 1:
		dep_write_one(stress_set(seed), stress_fd(seed), POLLIN);
		break;
	case 2:
		dep_write_one(stress_set(seed), stress_fd(seed), POLLREMOVE);
		break;
	case 3:
	case 4:
		onesig_take(ONESIG_SIGNAL + rand_r(seed) % 3, &info, 0);
		break;
	case 5:
		copy = eventfd_new();
		dep_write_one(stress_set(seed), copy, POLLIN | POLLOUT);
		eventfd_post(copy);
		close(copy);
		break;
	case 6:
		stress_own(seed);
		break;
	case 7:
		/* A hang-up: the worker polls the file while it is closed. */
		if (!pipe_pair(pipes)) {
			dep_write_one(stress_set(seed), pipes[0], POLLIN);
			close(pipes[1]);
			close(pipes[0]);
		}
		break;
	case 8:
		eventfd_take(stress_fd(seed));
		break;
	case 9:
		if (rand_r(seed) % 4 == 0 &&
		    !task_start(&task, stress_brief,
				(void *)(uintptr_t)rand_r(seed)))
			task_join(&task);
		break;
	}
}

static long stress_run(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	for (;;)
		stress_step(&seed);
	return 0;
}

static void stress_child(unsigned int seed)
{
	struct task task;
	int i;

	for (i = 0; i < 3; i++)
		close(onesig_open(ONESIG_SIGNAL + i, 0));
	/* The parent's sets signal this process from now on. */
	for (i = 0; i < STRESS_SETS; i++)
		onesig_begin(stress_sets[i], ONESIG_SIGNAL + i % 3,
			     i & DEVEPOLL_SIGNAL_THREAD);
	task_start(&task, stress_run, (void *)(uintptr_t)(seed + 1));
	for (i = 0; i < 2000; i++)
		stress_step(&seed);
	switch (seed % 3) {
	case 0:
		_exit(0);
	case 1:
		execl("/bin/true", "true", NULL);
		_exit(0);
	}
	stress_run((void *)(uintptr_t)seed);
}

static void stress_parent(unsigned int *seed, uint64_t end)
{
	while (now_ns() < end) {
		eventfd_post(stress_fd(seed));
		if (rand_r(seed) % 8 == 0)
			dep_write_one(stress_set(seed), stress_fd(seed),
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
	for (i = 0; i < STRESS_FILES; i++)
		ASSERT_LE(0, stress_fds[i] = eventfd_new());
	do {
		for (i = 0; i < STRESS_SETS; i++)
			ASSERT_LE(0, stress_sets[i] = dep_open());
		for (j = 0; j < 2; j++) {
			child[j] = fork();
			ASSERT_LE(0, child[j]);
			if (!child[j])
				stress_child(seed + j);
		}
		stress_parent(&seed, now_ns() + (20 + rand_r(&seed) % 200) *
			     NSEC_PER_MSEC);
		for (j = 0; j < 2; j++) {
			kill(child[j], SIGKILL);
			if (rand_r(&seed) % 2)
				stress_parent(&seed, now_ns() +
					     5 * NSEC_PER_MSEC);
		}
		for (i = 0; rand_r(&seed) % 2 && i < STRESS_SETS; i++) {
			close(stress_sets[i]);
			stress_sets[i] = -1;
		}
		for (j = 0; j < 2; j++)
			ASSERT_EQ(child[j], waitpid(child[j], &status, 0));
		for (i = 0; i < STRESS_SETS; i++)
			close(stress_sets[i]);
		for (i = 0; i < STRESS_FILES; i++)
			eventfd_take(stress_fds[i]);
		rounds++;
	} while (now_ns() < end);
	TH_LOG("%u rounds", rounds);
	EXPECT_LE(3, rounds);
}

TEST_HARNESS_MAIN
