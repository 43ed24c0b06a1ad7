// SPDX-License-Identifier: GPL-2.0
/* A minimum number of events, which goes and comes while a thread waits. */
#include <errno.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* How long a race goes on. */
#define RACE_NS	(1000 * NSEC_PER_MSEC)

/* A thread that waits for two once in each round. */
struct runner {
	int set;
	atomic_uint round;
	atomic_uint done;
	atomic_bool over;
};

static long run_rounds(void *arg)
{
	struct runner *runner = arg;
	struct devepoll_event out[2];
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = 2,
		.min_events = 2,
		.timeout = DEVEPOLL_FOREVER,
	};
	int ret;

	for (;;) {
		while (atomic_load(&runner->round) ==
		       atomic_load(&runner->done))
			if (atomic_load(&runner->over))
				return 0;
		ret = dep_request(runner->set, DEVEPOLL_WAIT, &args);
		if (ret < 1)
			return ret ?: -EPROTO;
		atomic_fetch_add(&runner->done, 1);
	}
}

/* Most often at once. */
static bool rounds_end(struct runner *runner)
{
	const unsigned int round = atomic_load(&runner->round);
	int tries;

	for (tries = 0; tries < 100000; tries++)
		if (atomic_load(&runner->done) == round)
			return true;
	return await(atomic_load(&runner->done) == round);
}

static void spin(unsigned int n)
{
	while (n--)
		asm volatile("" : : : "memory");
}

/* What it has counted goes, and comes again before it sleeps. */
TEST(minimum_that_goes_and_comes_is_not_slept_through)
{
	struct runner runner = {};
	unsigned int seed = now_ns();
	int i, events[2];
	struct eset set;
	struct task task;
	uint64_t end;

	NEEDS_THREADS();
	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	ASSERT_EQ(0, eset_open(&set, &eset_devepoll));
	for (i = 0; i < 2; i++) {
		ASSERT_LE(0, (events[i] = eventfd_new()));
		ASSERT_EQ(0, eset_add(&set, events[i], EPOLLIN));
	}
	runner.set = set.fd;
	ASSERT_EQ(0, task_start(&task, run_rounds, &runner));
	for (end = now_ns() + RACE_NS; now_ns() < end;) {
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, eventfd_post(events[i]));
		atomic_fetch_add(&runner.round, 1);
		spin(rand_r(&seed) % 4000);
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, eventfd_take(events[i]));
		spin(rand_r(&seed) % 1000);
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, eventfd_post(events[i]));
		ASSERT_TRUE(rounds_end(&runner))
			TH_LOG("round %u", atomic_load(&runner.round));
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, eventfd_take(events[i]));
	}
	atomic_store(&runner.over, true);
	ASSERT_EQ(0, task_join(&task));
	TH_LOG("%u rounds", atomic_load(&runner.round));
	eset_close(&set);
}

TEST_HARNESS_MAIN
