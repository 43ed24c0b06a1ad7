// SPDX-License-Identifier: GPL-2.0
/*
 * Many threads on one set: which are woken, what each gets, and changes that
 * race with waits, events and closes.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define WAITERS 6

/* How long a race goes on. */
#define RACE_NS (400 * NSEC_PER_MSEC)
/* A slow kernel gets as far in its own time. */
#define LEAST_ROUNDS 20

FIXTURE(threads) {
	struct set set;
	int event;
};

BACKEND_VARIANTS(threads);

FIXTURE_SETUP(threads)
{
	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 600));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
}

FIXTURE_TEARDOWN(threads)
{
	set_close(&self->set);
}

static int count_done(struct waiter *waiters, int *last)
{
	int i, n = 0;

	for (i = 0; i < WAITERS; i++) {
		if (atomic_load(&waiters[i].task.done)) {
			*last = i;
			n++;
		}
	}
	return n;
}

TEST_F(threads, that_wait_are_woken_one_for_one_event)
{
	struct waiter waiters[WAITERS];
	bool quick = true, joined[WAITERS] = {};
	int i, last = -1, woken;
	uint64_t start;

	for (i = 0; i < WAITERS; i++)
		ASSERT_EQ(0, waiter_start(&waiters[i], &self->set, -1));
	for (woken = 1; woken <= WAITERS; woken++) {
		start = now_ns();
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_TRUE(await(count_done(waiters, &last) == woken));
		quick = quick && !may_be_given_up(start);
		for (i = 0; i < WAITERS; i++) {
			if (!atomic_load(&waiters[i].task.done)) {
				EXPECT_TRUE(!quick ||
					    task_undisturbed(&waiters[i].task))
					TH_LOG("waiter %d", i);
			} else if (!joined[i]) {
				joined[i] = true;
				EXPECT_EQ(1, waiter_join(&waiters[i]));
				EXPECT_EQ(self->event, waiters[i].out[0].fd);
			}
		}
		if (quick && has_trait(&self->set, WAKES_IN_ORDER))
			EXPECT_EQ(woken - 1, last);
	}
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(threads, that_time_out_leave_the_others_asleep)
{
	struct waiter brief, patient;

	ASSERT_EQ(0, waiter_start(&patient, &self->set, -1));
	ASSERT_EQ(0, waiter_launch(&brief, &self->set, 20));
	EXPECT_EQ(0, waiter_join(&brief));
	EXPECT_TRUE(task_undisturbed(&patient.task));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, waiter_join(&patient));
}

/*
 * Consumers and a producer: every post must be read.  Each consumer reads all
 * files, since another consumer may get a file's event before it has looked.
 */
enum { FLOW_FILES = 8, FLOW_CONSUMERS = 4 };

struct flow {
	struct set set;
	int fds[FLOW_FILES];
	atomic_ulong read;
	atomic_bool stop;
};

struct consumer {
	struct flow *flow;
	int ms;
	struct task task;
};

static long consume(void *arg)
{
	struct consumer *consumer = arg;
	struct flow *flow = consumer->flow;
	struct set set = flow->set;
	struct pollfd out[WAITER_ROOM];
	uint64_t value;
	int i, n;

	while (!atomic_load(&flow->stop)) {
		n = set_wait(&set, out, WAITER_ROOM, consumer->ms);
		if (n == 0 || n == -EINTR)
			continue;
		if (n < 0)
			return n;
		for (i = 0; i < FLOW_FILES; i++)
			if (read(flow->fds[i], &value, sizeof(value)) > 0)
				atomic_fetch_add(&flow->read, value);
	}
	return 0;
}

static int flow_start(struct flow *flow, struct consumer *consumers,
		      const int *times, int n)
{
	int i, ret = 0;

	for (i = 0; i < FLOW_FILES && !ret; i++) {
		flow->fds[i] = eventfd_new();
		ret = set_add(&flow->set, flow->fds[i], POLLIN);
	}
	for (i = 0; i < n && !ret; i++) {
		consumers[i].flow = flow;
		consumers[i].ms = times[i];
		ret = task_start(&consumers[i].task, consume, &consumers[i]);
	}
	return ret;
}

/* Ends them by an fd of its own; returns what they returned. */
static long flow_end(struct flow *flow, struct consumer *consumers, int n,
		     int end)
{
	long ret = 0;
	int i;

	atomic_store(&flow->stop, true);
	for (i = 0; i < n && !ret; i++) {
		if (!await(eventfd_post(end) == 0 &&
			   atomic_load(&consumers[i].task.done)))
			return -ETIMEDOUT;
		ret = task_join(&consumers[i].task);
	}
	return ret;
}

static void ignore(int sig)
{
}

/* Some time out, and all are interrupted now and then. */
TEST_F(threads, that_consume_lose_no_event)
{
	static const int times[FLOW_CONSUMERS] = { -1, 1, -1, 2 };
	struct flow flow = { .set = self->set };
	struct consumer consumers[FLOW_CONSUMERS];
	unsigned long posted = 0;
	uint64_t end;
	int i;

	signal(SIGUSR1, ignore);
	ASSERT_EQ(0, flow_start(&flow, consumers, times, FLOW_CONSUMERS));
	end = now_ns() + RACE_NS;
	while (now_ns() < end) {
		for (i = 0; i < FLOW_FILES; i++, posted++)
			ASSERT_EQ(0, eventfd_post(flow.fds[i]));
		/* In bursts, each of which must be noticed in time. */
		if (posted % 32)
			continue;
		i = posted / 32 % FLOW_CONSUMERS;
		ASSERT_EQ(0, pthread_kill(consumers[i].task.thread, SIGUSR1));
		ASSERT_TRUE(await(atomic_load(&flow.read) == posted))
			TH_LOG("%lu of %lu posts were read",
			       atomic_load(&flow.read), posted);
	}
	EXPECT_TRUE(await(atomic_load(&flow.read) == posted));
	EXPECT_LT(0, posted);
	EXPECT_EQ(0, flow_end(&flow, consumers, FLOW_CONSUMERS, self->event));
}

/*
 * Only an event wakes these threads, so an event that is slept through stays
 * unread.  The next one comes as soon as the last was read.
 */
TEST_F(threads, that_wait_for_ever_sleep_through_no_event)
{
	static const int times[FLOW_CONSUMERS] = { -1, -1, -1, -1 };
	struct consumer consumers[FLOW_CONSUMERS];
	volatile unsigned int delay;
	struct flow flow;
	uint64_t end, late;
	unsigned long n;
	int crew;

	for (crew = 1; crew <= FLOW_CONSUMERS; crew += FLOW_CONSUMERS - 1) {
		flow = (struct flow){ .set = self->set };
		ASSERT_EQ(0, flow_start(&flow, consumers, times, crew));
		end = now_ns() + RACE_NS;
		late = end + 10000 * NSEC_PER_MSEC * slowness();
		for (n = 1; n <= LEAST_ROUNDS || now_ns() < end; n++) {
			ASSERT_EQ(0, eventfd_post(flow.fds[n % FLOW_FILES]));
			while (atomic_load(&flow.read) < n)
				ASSERT_GT(late, now_ns())
					TH_LOG("event %lu of %d", n, crew);
			for (delay = n * 7 % 101; delay; delay--)
				;
		}
		EXPECT_EQ(0, flow_end(&flow, consumers, crew, self->event));
	}
}

/* A thread that makes files ready until it is told to stop. */
struct poster {
	int fd;
	atomic_bool stop;
	struct task task;
};

static long post_all_the_time(void *arg)
{
	struct poster *poster = arg;

	while (!atomic_load(&poster->stop)) {
		if (put_byte(poster->fd) == -EPIPE)
			sched_yield();
	}
	return 0;
}

TEST_F(threads, that_post_reach_no_removed_fd)
{
	struct poster poster = {};
	char buffer[4096];
	uint64_t end;
	int fds[2], n;

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	poster.fd = fds[1];
	ASSERT_EQ(0, task_start(&poster.task, post_all_the_time, &poster));
	end = now_ns() + RACE_NS;
	for (n = 0; n < LEAST_ROUNDS || now_ns() < end; n++) {
		ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
		if (n & 1)
			set_drain(&self->set);
		/* Room for the poster, which may be as fast as we are. */
		ASSERT_LE(-1, read(fds[0], buffer, sizeof(buffer)));
		ASSERT_EQ(0, set_remove(&self->set, fds[0]));
		ASSERT_EQ(0, set_drain(&self->set));
	}
	atomic_store(&poster.stop, true);
	EXPECT_EQ(0, task_join(&poster.task));
}

TEST_F(threads, that_post_reach_no_closed_file)
{
	struct poster poster = {};
	int fds[2], again[2], n;
	uint64_t end;

	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	poster.fd = fds[1];
	ASSERT_EQ(0, task_start(&poster.task, post_all_the_time, &poster));
	end = now_ns() + RACE_NS;
	for (n = 0; n < LEAST_ROUNDS || now_ns() < end; n++) {
		ASSERT_EQ(0, set_add(&self->set, fds[0], POLLIN));
		if (n & 1)
			sched_yield();
		ASSERT_EQ(0, close(fds[0]));
		ASSERT_EQ(0, set_drain(&self->set));
		ASSERT_EQ(0, set_has(&self->set, fds[0]));
		/* The poster's number gets a new pair under it. */
		ASSERT_EQ(0, unix_pair(again, SOCK_STREAM));
		ASSERT_EQ(fds[1], dup2(again[1], fds[1]));
		ASSERT_EQ(0, close(again[1]));
		fds[0] = again[0];
	}
	atomic_store(&poster.stop, true);
	EXPECT_EQ(0, task_join(&poster.task));
}

/* Changes by several threads at once, of the same numbers. */
enum { RACE_FILES = 16 };

struct race {
	struct set set;
	int fds[RACE_FILES];
	atomic_bool stop;
};

static long race_add_and_remove(void *arg)
{
	struct race *race = arg;
	struct set set = race->set;
	int i, ret;

	while (!atomic_load(&race->stop)) {
		for (i = 0; i < RACE_FILES; i++) {
			ret = set_add(&set, race->fds[i], POLLIN);
			if (ret && ret != -EEXIST)
				return ret;
		}
		for (i = 0; i < RACE_FILES; i++) {
			ret = set_remove(&set, race->fds[i]);
			if (ret && ret != -ENOENT)
				return ret;
		}
	}
	return 0;
}

static long race_wait(void *arg)
{
	struct race *race = arg;
	struct set set = race->set;
	struct pollfd out[WAITER_ROOM];
	int n;

	while (!atomic_load(&race->stop)) {
		n = set_wait(&set, out, WAITER_ROOM, 1);
		if (n < 0)
			return n;
	}
	return 0;
}

TEST_F(threads, that_change_and_wait_leave_a_sound_set)
{
	struct race race = { .set = self->set };
	struct task changers[2], waiters[2];
	struct pollfd out[RACE_FILES + 1];
	uint64_t end;
	int i;

	for (i = 0; i < RACE_FILES; i++) {
		race.fds[i] = eventfd_new();
		ASSERT_LE(0, race.fds[i]);
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, task_start(&changers[i], race_add_and_remove,
					&race));
		ASSERT_EQ(0, task_start(&waiters[i], race_wait, &race));
	}
	end = now_ns() + RACE_NS;
	for (i = 0; now_ns() < end; i++)
		ASSERT_EQ(0, eventfd_post(race.fds[i % RACE_FILES]));
	atomic_store(&race.stop, true);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, task_join(&changers[i]));
		EXPECT_EQ(0, task_join(&waiters[i]));
	}

	for (i = 0; i < RACE_FILES; i++) {
		set_remove(&self->set, race.fds[i]);
		eventfd_take(race.fds[i]);
	}
	EXPECT_EQ(0, set_drain(&self->set));
	for (i = 0; i < RACE_FILES; i++) {
		EXPECT_EQ(0, set_has(&self->set, race.fds[i]));
		EXPECT_EQ(0, set_add(&self->set, race.fds[i], POLLIN));
		ASSERT_EQ(0, eventfd_post(race.fds[i]));
	}
	ASSERT_EQ(RACE_FILES, set_wait(&self->set, out, RACE_FILES + 1, 0));
	for (i = 0; i < RACE_FILES; i++)
		EXPECT_EQ(race.fds[i], out[i].fd);
}

TEST_HARNESS_MAIN
