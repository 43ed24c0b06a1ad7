// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands, in processes that are killed at any moment.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_end.h"

#define KILL_SECONDS	4
#define ALWAYS_READY	30

/* What the processes share that are killed at any moment. */
struct killed {
	int set;
	int event;
	/* Another set, with this many fds that are always ready. */
	int full;
	unsigned int seed;
	atomic_ulong waits;
};

static long wait_in_rings(void *arg)
{
	struct killed *k = arg;
	unsigned int seed = k->seed;
	struct devepoll_event out[2 * ALWAYS_READY];
	struct devepoll_wait_args args;
	struct io_uring_cqe cqe;
	struct ring ring;
	bool full;
	int i;

	for (;;) {
		if (ring_open(&ring, &ring_plain))
			_exit(1);
		for (i = rand_r(&seed) % 16; i >= 0; i--) {
			full = rand_r(&seed) % 4 == 0;
			args = wait_args(out, 2 * ALWAYS_READY, -1);
			args.min_events = rand_r(&seed) % 2;
			if (full)
				args.min_events = rand_r(&seed) %
						  (2 * ALWAYS_READY);
			if (rand_r(&seed) % 4 == 0)
				args.timeout = rand_r(&seed) % 1000000;
			ring_request(&ring, full ? k->full : k->set,
				     DEVEPOLL_WAIT, &args, i);
			atomic_fetch_add(&k->waits, 1);
			if (rand_r(&seed) % 2)
				ring_peek(&ring, &cqe);
		}
		ring_close(&ring);
	}
}

static long fire(void *arg)
{
	struct killed *k = arg;

	while (!eventfd_post(k->event))
		;
	return 0;
}

static void child_be_killed(struct killed *k)
{
	struct devepoll_event out[2];
	struct task tasks[2];

	if (task_start(&tasks[0], wait_in_rings, k) ||
	    task_start(&tasks[1], fire, k))
		_exit(1);
	for (;;)
		dep_wait(k->set, out, 2, 1);
}

static int full_set(void)
{
	struct devepoll_change add = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN, .data = 43,
	};
	int i, ret, set = dep_open();

	for (i = 0; set >= 0 && i < ALWAYS_READY; i++) {
		add.fd = eventfd_new();
		ret = eventfd_post(add.fd) ?: dep_change(set, &add);
		if (ret)
			return ret;
	}
	return set;
}

/* Random times, so that the signal meets every place; nothing hangs on them. */
static void sleep_us(unsigned int us)
{
	const struct timespec time = { .tv_nsec = us * 1000L };

	nanosleep(&time, NULL);
}

TEST_F(uring_end, may_come_at_any_moment)
{
	uint64_t until = now_ns() + KILL_SECONDS * 1000000000ULL;
	unsigned int seed = time(NULL), rounds = 0;
	struct devepoll_event out[2];
	struct killed *k;
	pid_t pid;

	TH_LOG("seed %u", seed);
	k = mmap(NULL, sizeof(*k), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, k);
	k->set = self->set;
	k->event = self->event;
	k->full = full_set();
	ASSERT_LT(0, k->full);
	while (now_ns() < until) {
		k->seed = rand_r(&seed);
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			child_be_killed(k);
		sleep_us(rand_r(&seed) % (20000 * slowness()));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(128 + SIGKILL, reap(pid));
		/* What it left is there, and no other waiter is before us. */
		dep_wait(self->set, out, 2, 0);
		ASSERT_TRUE(event_comes_through(self->set, self->event))
			TH_LOG("round %u", rounds);
		rounds++;
	}
	TH_LOG("%u processes killed, %lu waits", rounds,
	       atomic_load(&k->waits));
	EXPECT_LT(0, atomic_load(&k->waits));
	close(k->full);
	munmap(k, sizeof(*k));
	ring_close(&self->ring);
}

TEST_HARNESS_MAIN
