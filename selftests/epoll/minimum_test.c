// SPDX-License-Identifier: GPL-2.0
/* Waits for a minimum number of events. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define FILES	5
#define FOREVER	DEVEPOLL_FOREVER
#define SECONDS	1000000000LL

/* One wait in a thread of its own. */
struct sleeper {
	int (*request)(int fd, unsigned long request, void *arg);
	int fd;
	struct devepoll_wait_args args;
	struct devepoll_event out[FILES + 1];
	struct task task;
};

static long sleeper_syscall(const struct sleeper *sleeper)
{
	return sleeper->request == dep_request ?
		SYS_ioctl : eset_devepoll_fadvise.wait_syscall;
}

static long sleeper_call(void *arg)
{
	struct sleeper *sleeper = arg;

	return sleeper->request(sleeper->fd, DEVEPOLL_WAIT, &sleeper->args);
}

static void sleeper_set(struct sleeper *sleeper, unsigned int min, int64_t ns)
{
	memset(sleeper->out, 0xa5, sizeof(sleeper->out));
	sleeper->args = (struct devepoll_wait_args){
		.events = address_of(sleeper->out),
		.max_events = FILES + 1,
		.min_events = min,
		.timeout = ns,
	};
}

/* Starts it and waits until it sleeps; 0 or -errno. */
static int sleeper_start(struct sleeper *sleeper, unsigned int min, int64_t ns)
{
	sleeper_set(sleeper, min, ns);
	return task_start(&sleeper->task, sleeper_call, sleeper) ?:
	       task_await_sleep(&sleeper->task, sleeper_syscall(sleeper));
}

/* Is it still asleep, or again? */
static bool sleeps_on(struct sleeper *sleeper)
{
	return !await_sleep(sleeper->task.tid, sleeper_syscall(sleeper)) &&
	       !atomic_load(&sleeper->task.done);
}

/* And was never awake since it was started? */
static bool slept_on(struct sleeper *sleeper)
{
	return sleeps_on(sleeper) && task_undisturbed(&sleeper->task);
}

FIXTURE(minimum) {
	struct eset set;
	int events[FILES];
	struct sleeper sleeper;
	struct sleeper other;
};

FIXTURE_VARIANT(minimum) {
	int (*request)(int fd, unsigned long request, void *arg);
	uint32_t mode;
};

FIXTURE_VARIANT_ADD(minimum, level_by_ioctl) {
	.request = dep_request,
	.mode = EPOLLIN,
};

FIXTURE_VARIANT_ADD(minimum, edge_by_ioctl) {
	.request = dep_request,
	.mode = EPOLLIN | EPOLLET,
};

FIXTURE_VARIANT_ADD(minimum, edge_by_fadvise) {
	.request = dep_request_by_fadvise,
	.mode = EPOLLIN | EPOLLET,
};

FIXTURE_SETUP(minimum)
{
	int i;

	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	self->sleeper.request = variant->request;
	self->sleeper.fd = self->set.fd;
	self->other = self->sleeper;
	for (i = 0; i < FILES; i++) {
		self->events[i] = eventfd_new();
		ASSERT_LE(0, self->events[i]);
		ASSERT_EQ(0, eset_add(&self->set, self->events[i],
				      variant->mode));
	}
}

FIXTURE_TEARDOWN(minimum)
{
	eset_close(&self->set);
}

TEST_F(minimum, of_0_and_1_are_the_same)
{
	unsigned int min;

	for (min = 0; min < 2; min++) {
		ASSERT_EQ(0, sleeper_start(&self->sleeper, min, FOREVER));
		ASSERT_EQ(0, eventfd_post(self->events[min]));
		ASSERT_EQ(1, task_join(&self->sleeper.task));
		EXPECT_EQ(self->events[min], self->sleeper.out[0].data);
		ASSERT_EQ(0, eventfd_take(self->events[min]));
	}
}

TEST_F(minimum, that_is_lowest_is_met_first)
{
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, FOREVER));
	ASSERT_EQ(0, sleeper_start(&self->other, 2, FOREVER));
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	EXPECT_TRUE(sleeps_on(&self->other));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	EXPECT_EQ(2, task_join(&self->other.task));
	EXPECT_TRUE(sleeps_on(&self->sleeper));
	ASSERT_EQ(0, eventfd_post(self->events[2]));
	ASSERT_EQ(0, eventfd_post(self->events[3]));
	ASSERT_EQ(0, eventfd_post(self->events[4]));
	EXPECT_LE(3, task_join(&self->sleeper.task));
}

/* Who is woken counts first, and another one may be faster. */
TEST_F(minimum, that_is_equal_is_met_for_one_at_a_time)
{
	struct sleeper *first = &self->sleeper, *second = &self->other;

	if (!(variant->mode & EPOLLET))
		SKIP(return, "what the first has taken stays ready");
	ASSERT_EQ(0, sleeper_start(first, 2, FOREVER));
	ASSERT_EQ(0, sleeper_start(second, 2, FOREVER));
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	ASSERT_TRUE(await(atomic_load(&first->task.done) ||
			  atomic_load(&second->task.done)));
	if (!atomic_load(&first->task.done)) {
		first = &self->other;
		second = &self->sleeper;
	}
	EXPECT_EQ(2, task_join(&first->task));
	EXPECT_TRUE(sleeps_on(second));
	ASSERT_EQ(0, eventfd_post(self->events[2]));
	ASSERT_EQ(0, eventfd_post(self->events[3]));
	EXPECT_EQ(2, task_join(&second->task));
}

TEST_F(minimum, is_slept_for)
{
	int i;

	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, FOREVER));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, eventfd_post(self->events[i]));
		EXPECT_TRUE(sleeps_on(&self->sleeper));
	}
	/* The same fd again does not count twice. */
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	EXPECT_TRUE(sleeps_on(&self->sleeper));
	ASSERT_EQ(0, eventfd_post(self->events[4]));
	ASSERT_EQ(3, task_join(&self->sleeper.task));
	EXPECT_EQ(self->events[0], self->sleeper.out[0].data);
	EXPECT_EQ(self->events[1], self->sleeper.out[1].data);
	EXPECT_EQ(self->events[4], self->sleeper.out[2].data);
}

TEST_F(minimum, that_is_not_reached_wakes_nobody)
{
	int i;

	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, FOREVER));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, eventfd_post(self->events[i]));
		EXPECT_TRUE(slept_on(&self->sleeper));
	}
	ASSERT_EQ(0, eventfd_post(self->events[2]));
	EXPECT_EQ(3, task_join(&self->sleeper.task));
}

TEST_F(minimum, that_is_not_reached_leaves_an_exclusive_event_to_others)
{
	const uint32_t exclusive = variant->mode | EPOLLEXCLUSIVE;
	struct ewaiter waiter;
	int i, event;
	struct eset other;

	ASSERT_LE(0, (event = eventfd_new()));
	ASSERT_EQ(0, eset_open(&other, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&self->set, event, exclusive));
	ASSERT_EQ(0, eset_add(&other, event, exclusive));
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, FOREVER));
	ASSERT_EQ(0, ewaiter_start(&waiter, &other, -1));
	ASSERT_EQ(0, eventfd_post(event));
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_TRUE(slept_on(&self->sleeper));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, eventfd_post(self->events[i]));
	EXPECT_EQ(3, task_join(&self->sleeper.task));
	eset_close(&other);
}

TEST_F(minimum, that_is_there_is_not_slept_for)
{
	int i;

	for (i = 0; i < FILES; i++)
		ASSERT_EQ(0, eventfd_post(self->events[i]));
	sleeper_set(&self->sleeper, FILES, FOREVER);
	EXPECT_EQ(FILES, sleeper_call(&self->sleeper));
}

TEST_F(minimum, is_not_met_by_what_is_over)
{
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 2, FOREVER));
	ASSERT_EQ(0, eventfd_take(self->events[0]));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	EXPECT_TRUE(sleeps_on(&self->sleeper));
	ASSERT_EQ(0, eventfd_post(self->events[2]));
	ASSERT_EQ(2, task_join(&self->sleeper.task));
	EXPECT_EQ(self->events[1], self->sleeper.out[0].data);
	EXPECT_EQ(self->events[2], self->sleeper.out[1].data);
}

TEST_F(minimum, is_not_met_by_what_is_removed)
{
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 2, FOREVER));
	ASSERT_EQ(0, eset_del(&self->set, self->events[0]));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	EXPECT_TRUE(sleeps_on(&self->sleeper));
	ASSERT_EQ(0, close(self->events[1]));
	ASSERT_EQ(0, eventfd_post(self->events[2]));
	EXPECT_TRUE(sleeps_on(&self->sleeper));
	ASSERT_EQ(0, eventfd_post(self->events[3]));
	EXPECT_EQ(2, task_join(&self->sleeper.task));
}

TEST_F(minimum, is_given_up_when_the_time_is_over)
{
	uint64_t start = now_ns();

	ASSERT_EQ(0, eventfd_post(self->events[3]));
	sleeper_set(&self->sleeper, 2, 20 * NSEC_PER_MSEC);
	EXPECT_EQ(1, sleeper_call(&self->sleeper));
	EXPECT_LE(20 * NSEC_PER_MSEC, now_ns() - start);
	EXPECT_EQ(self->events[3], self->sleeper.out[0].data);
	ASSERT_EQ(0, eventfd_take(self->events[3]));
	sleeper_set(&self->sleeper, 2, 20 * NSEC_PER_MSEC);
	EXPECT_EQ(0, sleeper_call(&self->sleeper));
}

TEST_F(minimum, is_not_waited_for_without_time)
{
	ASSERT_EQ(0, eventfd_post(self->events[3]));
	sleeper_set(&self->sleeper, FILES, 0);
	EXPECT_EQ(1, sleeper_call(&self->sleeper));
	ASSERT_EQ(0, eventfd_take(self->events[3]));
	sleeper_set(&self->sleeper, FILES, 0);
	EXPECT_EQ(0, sleeper_call(&self->sleeper));
}

static void handler(int sig)
{
}

TEST_F(minimum, is_given_up_for_a_signal)
{
	signal(SIGUSR1, handler);
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, FOREVER));
	ASSERT_EQ(0, pthread_kill(self->sleeper.task.thread, SIGUSR1));
	EXPECT_EQ(1, task_join(&self->sleeper.task));
	EXPECT_EQ(self->events[0], self->sleeper.out[0].data);
	ASSERT_EQ(0, eventfd_take(self->events[0]));
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, FOREVER));
	ASSERT_EQ(0, pthread_kill(self->sleeper.task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&self->sleeper.task));
}

TEST_F(minimum, holds_no_event_back_from_other_threads)
{
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, FOREVER));
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	sleeper_set(&self->other, 1, FOREVER);
	ASSERT_EQ(2, sleeper_call(&self->other));
	ASSERT_EQ(0, eventfd_take(self->events[0]));
	ASSERT_EQ(0, eventfd_take(self->events[1]));
	EXPECT_TRUE(sleeps_on(&self->sleeper));
	ASSERT_EQ(0, eventfd_post(self->events[2]));
	ASSERT_EQ(0, eventfd_post(self->events[3]));
	EXPECT_TRUE(sleeps_on(&self->sleeper));
	ASSERT_EQ(0, eventfd_post(self->events[4]));
	ASSERT_EQ(3, task_join(&self->sleeper.task));
	EXPECT_EQ(self->events[2], self->sleeper.out[0].data);
}

/* Whichever waits first, the one that wants less is not kept waiting. */
TEST_F(minimum, keeps_no_modest_thread_asleep)
{
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, sleeper_start(i ? &self->other : &self->sleeper,
					   i ? 1 : 4, FOREVER));
		ASSERT_EQ(0, sleeper_start(i ? &self->sleeper : &self->other,
					   i ? 4 : 1, FOREVER));
		ASSERT_EQ(0, eventfd_post(self->events[0]));
		ASSERT_EQ(1, task_join(&self->other.task));
		EXPECT_EQ(self->events[0], self->other.out[0].data);
		ASSERT_EQ(0, eventfd_take(self->events[0]));
		EXPECT_TRUE(sleeps_on(&self->sleeper));
		ASSERT_EQ(0, eventfd_post(self->events[1]));
		ASSERT_EQ(0, eventfd_post(self->events[2]));
		ASSERT_EQ(0, eventfd_post(self->events[3]));
		EXPECT_TRUE(sleeps_on(&self->sleeper));
		ASSERT_EQ(0, eventfd_post(self->events[4]));
		EXPECT_EQ(4, task_join(&self->sleeper.task));
		ASSERT_EQ(0, eventfd_take(self->events[1]));
		ASSERT_EQ(0, eventfd_take(self->events[2]));
		ASSERT_EQ(0, eventfd_take(self->events[3]));
		ASSERT_EQ(0, eventfd_take(self->events[4]));
	}
}

TEST_F(minimum, above_the_maximum_is_refused)
{
	int i;

	for (i = 0; i < FILES; i++)
		ASSERT_EQ(0, eventfd_post(self->events[i]));
	sleeper_set(&self->sleeper, FILES + 2, 0);
	EXPECT_EQ(-EINVAL, sleeper_call(&self->sleeper));
	sleeper_set(&self->sleeper, UINT32_MAX, 0);
	EXPECT_EQ(-EINVAL, sleeper_call(&self->sleeper));
	sleeper_set(&self->sleeper, FILES + 1, 0);
	EXPECT_EQ(FILES, sleeper_call(&self->sleeper));
}

TEST_F(minimum, is_met_by_a_batch_of_changes)
{
	struct devepoll_change changes[3];
	uint32_t failed;
	int i;

	for (i = 0; i < 3; i++)
		changes[i] = (struct devepoll_change){
			.op = DEVEPOLL_MOD,
			.fd = self->events[i],
			.events = EPOLLOUT,
		};
	ASSERT_EQ(0, sleeper_start(&self->sleeper, 3, 100 * SECONDS));
	ASSERT_EQ(3, dep_changes(self->set.fd, changes, 3, &failed));
	EXPECT_EQ(3, task_join(&self->sleeper.task));
}

TEST_HARNESS_MAIN
