// SPDX-License-Identifier: GPL-2.0
/*
 * Several threads that sleep on one set: an event wakes as many of them as find
 * work, and one that gets no processor holds the others up for no long time.
 */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "epoll/files.h"

#define THREADS		4

FILES_FIXTURE(wake)

/* One wake-up of a file that has a number for each waiting thread. */
TEST_F(wake, wakes_as_many_threads_as_find_work)
{
	struct ewaiter waiters[THREADS];
	int i, j, duplicate;

	for (i = 0; i < THREADS; i++) {
		duplicate = dup(self->events[0]);
		ASSERT_LE(0, duplicate);
		ASSERT_EQ(0, eset_add(&self->set, duplicate,
				      EPOLLIN | EPOLLET));
	}
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, ewaiter_launch(&waiters[i], &self->set, 1, -1));
		ASSERT_EQ(0, await_sleep(waiters[i].task.tid,
					 self->set.ops->wait_syscall));
	}
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(1, ewaiter_join(&waiters[i]));
		EXPECT_EQ(EPOLLIN, waiters[i].out[0].events);
		for (j = 0; j < i; j++)
			EXPECT_NE(waiters[j].out[0].data.u64,
				  waiters[i].out[0].data.u64);
	}
	EXPECT_EQ(0, eset_drain(&self->set));
}

/* Which threads have been woken, of those that share a CPU with this one. */
static int count_woken(const struct eset *set, struct ewaiter *waiters)
{
	int i, woken = 0;

	for (i = 0; i < THREADS; i++)
		woken += !sleeps_in(waiters[i].task.tid,
				    set->ops->wait_syscall);
	return woken;
}

/*
 * Each takes @max.  Real-time priority keeps this thread from being preempted,
 * so that no woken thread has run yet.  They are woken from *@start on.
 */
static int post_to_crew(struct eset *set, const int *files, int nr, int max,
			struct ewaiter *waiters, uint64_t *start)
{
	struct sched_param fifo = { .sched_priority = 1 }, none = {};
	int i, woken, ret = pin_to_cpu(0);

	for (i = 0; i < THREADS && !ret; i++)
		ret = ewaiter_launch(&waiters[i], set, max, -1) ?:
		      task_await_sleep(&waiters[i].task,
				       set->ops->wait_syscall);
	if (ret || sched_setscheduler(0, SCHED_FIFO, &fifo))
		return ret ?: -errno;
	*start = now_ns();
	for (i = 0; i < nr && !ret; i++)
		ret = eventfd_post(files[i]);
	woken = count_woken(set, waiters);
	if (sched_setscheduler(0, SCHED_OTHER, &none))
		return -errno;
	return ret ?: woken;
}

TEST_F(wake, wakes_at_once_as_many_threads_as_have_room)
{
	struct ewaiter waiters[THREADS];
	int i, woken, taken = 0;
	uint64_t start;
	bool quick;

	if (geteuid())
		SKIP(return, "not root");
	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN | EPOLLET));
	woken = post_to_crew(&self->set, self->events, 3, 1, waiters, &start);
	EXPECT_LE(3, woken);
	if (!may_be_given_up(start))
		EXPECT_EQ(3, woken);
	ASSERT_TRUE(await(ewaiters_done(waiters, THREADS) == 3));
	quick = !may_be_given_up(start);
	/*
	 * Nor are there more later, unless those are late.  With epoll, a
	 * thread that leaves something wakes the next.
	 */
	for (i = 0; i < THREADS; i++)
		if (quick && slowness() == 1 &&
		    eset_has(&self->set, TAKES_TURNS) &&
		    !atomic_load(&waiters[i].task.done))
			EXPECT_TRUE(task_undisturbed(&waiters[i].task));
	ASSERT_EQ(0, eventfd_post(self->events[3]));
	for (i = 0; i < THREADS; i++)
		taken += ewaiter_join(&waiters[i]);
	EXPECT_EQ(4, taken);
}

/* In-tree epoll wakes one for each event; all but the first find nothing. */
TEST_F(wake, wakes_one_thread_that_has_room_for_all)
{
	struct ewaiter waiters[THREADS];
	int i, done, woken, takes_turns;
	uint64_t start;

	if (geteuid())
		SKIP(return, "not root");
	takes_turns = eset_has(&self->set, TAKES_TURNS);
	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN | EPOLLET));
	woken = post_to_crew(&self->set, self->events, 3, FILES, waiters,
			     &start);
	EXPECT_LE(1, woken);
	if (!may_be_given_up(start))
		EXPECT_EQ(takes_turns ? 1 : 3, woken);
	ASSERT_TRUE(await(ewaiters_done(waiters, THREADS) == 1));
	for (done = 1; done < THREADS; done++) {
		ASSERT_EQ(0, eventfd_post(self->events[0]));
		ASSERT_TRUE(await(ewaiters_done(waiters, THREADS) > done));
	}
	for (i = 0; i < THREADS; i++)
		EXPECT_LT(0, ewaiter_join(&waiters[i]));
}

/* More sets than one event wakes sleepers of before the write returns. */
#define MANY_SETS	80

TEST_F(wake, wakes_who_sleep_in_some_of_very_many_sets)
{
	struct eset sets[MANY_SETS];
	struct ewaiter waiters[THREADS];
	int i;

	for (i = 0; i < MANY_SETS; i++) {
		ASSERT_EQ(0, eset_open(&sets[i], variant->ops));
		ASSERT_EQ(0, eset_add(&sets[i], self->events[0],
				      EPOLLIN | EPOLLET));
	}
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, ewaiter_start(&waiters[i],
					   &sets[i * (MANY_SETS - 1) /
						 (THREADS - 1)], -1));
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(1, ewaiter_join(&waiters[i]))
			TH_LOG("waiter %d", i);
	for (i = 0; i < MANY_SETS; i++)
		eset_close(&sets[i]);
}

/* Keeps all other tasks from its processor. */
struct hog {
	atomic_bool runs;
	atomic_bool stop;
};

#define HOG_NS		(700 * NSEC_PER_MSEC)
#define PASSED_NS	(500 * NSEC_PER_MSEC)

static long hog_main(void *arg)
{
	struct sched_param fifo = { .sched_priority = 1 };
	uint64_t end = now_ns() + HOG_NS;
	struct hog *hog = arg;
	int ret = pin_to_cpu(0);

	if (ret || sched_setscheduler(0, SCHED_FIFO, &fifo))
		return ret ?: -errno;
	atomic_store(&hog->runs, true);
	while (!atomic_load(&hog->stop) && now_ns() < end)
		;
	return 0;
}

/*
 * How long it takes until the other of two threads has an event that a thread
 * without a processor was woken for; HOG_NS if that one has run; or -errno.
 */
static int64_t time_to_pass(struct eset *set, const int *events, int nr)
{
	struct ewaiter starved, other;
	struct hog hog = {};
	struct task task;
	uint64_t start;
	int64_t took;
	int i, ret;

	ret = pin_to_cpu(0) ?: ewaiter_start(&starved, set, -1);
	ret = ret ?: pin_to_cpu(1) ?: ewaiter_start(&other, set, -1);
	ret = ret ?: task_start(&task, hog_main, &hog);
	if (ret || !await(atomic_load(&hog.runs)))
		return ret ?: -ETIMEDOUT;
	start = now_ns();
	for (i = 0; i < nr && !ret; i++)
		ret = eventfd_post(events[i]);
	if (ret || !await(atomic_load(&other.task.done) ||
			  atomic_load(&starved.task.done)))
		return ret ?: -ETIMEDOUT;
	took = atomic_load(&starved.task.done) ? HOG_NS : now_ns() - start;
	atomic_store(&hog.stop, true);
	/* Whoever has nothing sleeps on. */
	ret = task_join(&task) ?: eventfd_post(events[FILES - 1]);
	if (ewaiter_join(&other) < 1 || ewaiter_join(&starved) < 1)
		return -EPROTO;
	for (i = 0; i < FILES; i++)
		eventfd_take(events[i]);
	eset_drain(set);
	return ret ?: took;
}

/* The emulator may be held up while the hog runs. */
#define TRIES		3

/*
 * Of two sleeping threads, one shares its processor with the hog.  In-tree
 * epoll wakes one for each event, so there it takes two.
 */
TEST_F(wake, passes_on_what_a_thread_without_a_processor_was_woken_for)
{
	int64_t took = HOG_NS;
	int i, nr;

	if (geteuid())
		SKIP(return, "not root");
	nr = eset_has(&self->set, TAKES_TURNS) ? 1 : 2;
	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN | EPOLLET));
	for (i = 0; i < TRIES && took >= (int64_t)PASSED_NS; i++) {
		took = time_to_pass(&self->set, self->events, nr);
		ASSERT_LE(0, took);
		TH_LOG("the other thread has it after %ld us",
		       (long)took / 1000);
	}
	if (slowness() == 1)
		EXPECT_GT((int64_t)PASSED_NS, took);
}

/* More than are woken in an interrupt. */
#define POLLERS		20

struct poster {
	struct hog hog;
	int event;
};

/* Posts, and then keeps its processor for itself. */
static long post_and_hog(void *arg)
{
	struct poster *poster = arg;
	struct sched_param fifo = { .sched_priority = 1 };
	int ret = pin_to_cpu(0);

	if (ret || sched_setscheduler(0, SCHED_FIFO, &fifo))
		return ret ?: -errno;
	ret = eventfd_post(poster->event);
	return ret ?: hog_main(&poster->hog);
}

static long poll_set(void *arg)
{
	struct pollfd pfd = { .fd = *(int *)arg, .events = POLLIN };

	return poll(&pfd, 1, -1);
}

static int tasks_done(struct task *tasks, int nr)
{
	int i, done = 0;

	for (i = 0; i < nr; i++)
		done += atomic_load(&tasks[i].done);
	return done;
}

/* How long it takes until all pollers are told; 0 if something failed. */
static uint64_t time_to_tell(struct eset *set, int event)
{
	struct poster poster = { .event = event };
	struct task tasks[POLLERS], task;
	uint64_t took;
	int i, bad = 0;

	for (i = 0; i < POLLERS; i++) {
		if (task_start(&tasks[i], poll_set, &set->fd) ||
		    await_sleep(tasks[i].tid, SYS_poll))
			return 0;
	}
	took = now_ns();
	if (task_start(&task, post_and_hog, &poster))
		return 0;
	bad += !await(tasks_done(tasks, POLLERS) == POLLERS);
	took = now_ns() - took;
	atomic_store(&poster.hog.stop, true);
	bad += task_join(&task) != 0;
	for (i = 0; i < POLLERS; i++)
		bad += task_join(&tasks[i]) != 1;
	return bad || eventfd_take(event) ? 0 : took;
}

/*
 * Half of what it takes if the telling waits for the hog.  On a busy machine,
 * under emulation, the telling thread itself waited 112 ms for its processor.
 */
#define TOLD_NS		(HOG_NS / 2)
/* With PREEMPT_RT the hog delays the telling for as long as it runs. */
#define TOLD_REALTIME_NS (2000 * NSEC_PER_MSEC)
#define TELL_TRIES	10

TEST_F(wake, tells_all_who_poll_it_though_its_processor_is_taken)
{
	uint64_t most = is_realtime() ? TOLD_REALTIME_NS : TOLD_NS;
	uint64_t took = most;
	int i;

	if (geteuid())
		SKIP(return, "not root");
	if (cpus_online() < 2)
		SKIP(return, "one processor");
	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	ASSERT_EQ(0, pin_to_cpu(1));
	for (i = 0; i < TELL_TRIES && took >= most; i++) {
		took = time_to_tell(&self->set, self->events[0]);
		ASSERT_NE(0, took);
		TH_LOG("the last one is told after %lu us",
		       (unsigned long)took / 1000);
	}
	if (slowness() == 1)
		EXPECT_GT(most, took);
}

static void wake_one_by_one(struct __test_metadata *_metadata,
			    struct eset *set, const int *events, uint32_t modes)
{
	struct ewaiter waiters[THREADS];
	bool quick = true;
	uint64_t start;
	int i, woken;

	ASSERT_EQ(0, add_all(set, events, EPOLLIN | modes));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, ewaiter_start(&waiters[i], set, -1));
	for (woken = 1; woken <= THREADS; woken++) {
		start = now_ns();
		ASSERT_EQ(0, eventfd_post(events[woken]));
		ASSERT_TRUE(await(ewaiters_done(waiters, THREADS) == woken));
		quick = quick && !may_be_given_up(start);
		for (i = 0; i < THREADS; i++)
			if (quick && !atomic_load(&waiters[i].task.done))
				EXPECT_TRUE(task_undisturbed(&waiters[i].task));
	}
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(1, ewaiter_join(&waiters[i]));
}

TEST_F(wake, wakes_one_thread_for_one_edge)
{
	wake_one_by_one(_metadata, &self->set, self->events, EPOLLET);
}

TEST_F(wake, wakes_one_thread_for_one_shot)
{
	wake_one_by_one(_metadata, &self->set, self->events, EPOLLONESHOT);
}

TEST_F(wake, wakes_all_threads_for_what_stays_ready)
{
	struct ewaiter waiters[THREADS];
	int i;

	ASSERT_EQ(0, add_all(&self->set, self->events, EPOLLIN));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, ewaiter_start(&waiters[i], &self->set, -1));
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	for (i = 0; i < THREADS; i++) {
		EXPECT_EQ(1, ewaiter_join(&waiters[i]));
		EXPECT_EQ(0, waiters[i].out[0].data.u64);
	}
}

TEST_HARNESS_MAIN
