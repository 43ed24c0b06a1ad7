// SPDX-License-Identifier: GPL-2.0
/*
 * Several threads that take events out of one set: each event goes to one of
 * them, and none is lost.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "epoll/files.h"

/* How long a race goes on, and how far a slow kernel gets in that time. */
#define RACE_NS		(300 * NSEC_PER_MSEC)
#define LEAST_ROUNDS	20

#define THREADS		4

FILES_FIXTURE(share)

/* Threads that take events all the time, each into a count of its own. */
struct crew {
	struct eset set;
	const int *files;
	int max;
	int threads;
	/* ready when they shall end */
	int end;
	/* what is done with an event; true if it counts */
	bool (*handle)(struct crew *crew, uint64_t file);
	atomic_ulong taken[FILES];
	atomic_int busy[FILES];
	atomic_int clashes;
	struct task tasks[THREADS];
};

/* They wait for ever: looking from time to time would find missed events. */
static long crew_main(void *arg)
{
	struct crew *crew = arg;
	struct epoll_event out[FILES];
	bool over = false;
	int i, n;

	while (!over) {
		n = eset_wait(&crew->set, out, crew->max, -1);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			if (out[i].data.u64 > FILES)
				return -EBADMSG;
			if (out[i].data.u64 == FILES)
				over = true;
			else if (crew->handle(crew, out[i].data.u64))
				atomic_fetch_add(&crew->taken[out[i].data.u64],
						 1);
		}
	}
	return 0;
}

static int crew_start(struct crew *crew, int threads)
{
	int i, ret;

	/* Races need two. */
	if (cpus_online() < 2)
		return -ENODEV;
	crew->threads = threads;
	crew->end = eventfd_new();
	ret = eset_ctl(&crew->set, EPOLL_CTL_ADD, crew->end, EPOLLIN, FILES);
	for (i = 0; i < threads && !ret; i++)
		ret = task_start(&crew->tasks[i], crew_main, crew);
	return ret;
}

static long crew_join(struct crew *crew)
{
	long ret = eventfd_post(crew->end);
	int i;

	for (i = 0; i < crew->threads; i++)
		ret = ret ?: task_join(&crew->tasks[i]);
	return ret;
}

static bool all_taken(struct crew *crew, unsigned long each)
{
	int i;

	for (i = 0; i < FILES; i++)
		if (atomic_load(&crew->taken[i]) < each)
			return false;
	return true;
}

/* Makes all files ready again and again, and returns how often. */
static unsigned long crew_play(struct __test_metadata *_metadata,
			       struct crew *crew)
{
	unsigned long round;
	uint64_t end;

	ASSERT_EQ(0, crew_start(crew, THREADS));
	end = now_ns() + RACE_NS;
	for (round = 1; round <= LEAST_ROUNDS || now_ns() < end; round++) {
		ASSERT_EQ(0, post_all(crew->files));
		ASSERT_TRUE(await(all_taken(crew, round)))
			TH_LOG("an event was lost in round %lu", round);
	}
	EXPECT_EQ(0, crew_join(crew));
	return round - 1;
}

static bool just_count(struct crew *crew, uint64_t file)
{
	return true;
}

/* Looks all the time, so that it goes on while the other thread still runs. */
static bool await_at_once(struct crew *crew, uint64_t file, unsigned long count)
{
	uint64_t end = now_ns() + 10000 * NSEC_PER_MSEC * slowness();

	while (atomic_load(&crew->taken[file]) < count) {
		if (now_ns() > end)
			return false;
	}
	return true;
}

/*
 * The next event comes while the thread is about to sleep, somewhere between
 * its last look and the queue, and no other thread is there to take it.
 */
TEST_F(share, leaves_no_lone_thread_asleep)
{
	struct crew crew = {
		.set = self->set, .handle = just_count, .max = FILES,
	};
	volatile unsigned int delay;
	unsigned long round;
	uint64_t end;

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, crew_start(&crew, 1));
	end = now_ns() + RACE_NS;
	for (round = 1; round <= LEAST_ROUNDS || now_ns() < end; round++) {
		ASSERT_EQ(0, eventfd_post(self->events[0]));
		ASSERT_TRUE(await_at_once(&crew, 0, round))
			TH_LOG("an event was lost in round %lu", round);
		for (delay = round * 7 % 101; delay; delay--)
			;
	}
	EXPECT_EQ(0, crew_join(&crew));
	EXPECT_EQ(round - 1, atomic_load(&crew.taken[0]));
}

TEST_F(share, gives_each_edge_to_one_of_several_threads)
{
	struct crew crew = {
		.set = self->set,
		.files = self->events,
		.handle = just_count,
		.max = 3,
	};
	unsigned long rounds;
	int i;

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN | EPOLLET));
	rounds = crew_play(_metadata, &crew);
	for (i = 0; i < FILES; i++) {
		EXPECT_EQ(rounds, atomic_load(&crew.taken[i]))
			TH_LOG("file %d", i);
	}
}

static bool read_it(struct crew *crew, uint64_t file)
{
	return eventfd_take(crew->files[file]) == 0;
}

TEST_F(share, under_level_loses_nothing_to_several_threads)
{
	struct crew crew = {
		.set = self->set,
		.files = self->events,
		.handle = read_it,
		.max = 2,
	};

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	crew_play(_metadata, &crew);
}

static bool read_and_arm(struct crew *crew, uint64_t file)
{
	bool took;

	if (atomic_exchange(&crew->busy[file], 1))
		atomic_fetch_add(&crew->clashes, 1);
	took = eventfd_take(crew->files[file]) == 0;
	sched_yield();
	atomic_store(&crew->busy[file], 0);
	eset_ctl(&crew->set, EPOLL_CTL_MOD, crew->files[file],
		 EPOLLIN | EPOLLONESHOT, file);
	return took;
}

TEST_F(share, gives_a_one_shot_to_no_two_threads_at_once)
{
	struct crew crew = {
		.set = self->set,
		.files = self->events,
		.handle = read_and_arm,
		.max = 2,
	};

	ASSERT_EQ(0, add_all(&self->set, self->events,
			     EPOLLIN | EPOLLONESHOT));
	crew_play(_metadata, &crew);
	EXPECT_EQ(0, atomic_load(&crew.clashes));
}

/* A thread that looks while another one takes must not find nothing. */
struct looker {
	struct eset set;
	bool (*sees)(struct eset *set);
	atomic_bool stop;
	long misses;
};

static bool sees_by_poll(struct eset *set)
{
	return poll_now(set->fd, POLLIN);
}

static bool sees_by_wait(struct eset *set)
{
	struct epoll_event out[FILES];

	return eset_wait(set, out, FILES, 0) > 0;
}

static long look(void *arg)
{
	struct looker *looker = arg;

	while (!atomic_load(&looker->stop))
		if (!looker->sees(&looker->set))
			looker->misses++;
	return looker->misses;
}

/* How often the set looked empty, or -errno. */
static long look_and_wait(struct looker *looker)
{
	uint64_t end = now_ns() + RACE_NS;
	struct epoll_event out[FILES];
	struct task task;
	int n;

	n = task_start(&task, look, looker);
	while (n >= 0 && now_ns() < end)
		n = eset_wait(&looker->set, out, FILES, 0);
	atomic_store(&looker->stop, true);
	return task_join(&task) ?: n < 0 ? n : 0;
}

TEST_F(share, leaves_a_ready_set_readable_to_poll)
{
	struct looker looker = { .set = self->set, .sees = sees_by_poll };

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	ASSERT_EQ(0, post_all(self->events));
	EXPECT_EQ(0, look_and_wait(&looker));
}

/* In-tree epoll returns nothing here, for a moment, on older kernels. */
TEST_F(share, leaves_what_is_ready_to_other_threads)
{
	struct looker looker = { .set = self->set, .sees = sees_by_wait };

	if (self->set.ops == &eset_sysepoll)
		SKIP(return, "epoll does so only of late");
	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	ASSERT_EQ(0, post_all(self->events));
	EXPECT_EQ(0, look_and_wait(&looker));
}

TEST_HARNESS_MAIN
