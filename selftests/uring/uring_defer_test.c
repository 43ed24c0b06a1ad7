// SPDX-License-Identifier: GPL-2.0
/*
 * Waits of rings whose completions come only when their task enters: they keep
 * no event from waiters that can come.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_ring.h"

/* Even if the relay has to pass an event on, it takes no longer. */
#define AT_ONCE_NS	(200 * NSEC_PER_MSEC)

FIXTURE(uring_defer) {
	struct ring ring;
	struct eset set;
	int event;
	struct devepoll_event out[1];
	struct devepoll_wait_args args;
};

FIXTURE_SETUP(uring_defer)
{
	NEEDS_WAITS();
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll));
	ASSERT_EQ(0, ring_open(&self->ring, &ring_deferred));
	self->args = wait_args(self->out, 1, -1);
}

FIXTURE_TEARDOWN(uring_defer)
{
	ring_close(&self->ring);
	eset_close(&self->set);
}

/* How long it takes a sleeping thread to get the event, or -errno. */
static int64_t post_to(struct ewaiter *waiter, int event)
{
	uint64_t start = now_ns();
	int ret = eventfd_post(event);

	if (!ret && !await(atomic_load(&waiter->task.done)))
		ret = -ETIMEDOUT;
	return ret ?: (int64_t)(now_ns() - start);
}

/*
 * The module asks the kernel's own state whether the task waits in the ring.
 * If a kernel keeps that in another way, the relay still passes the event on,
 * but never before this.  So one that is earlier is proof enough; on a busy
 * machine, it may take many rounds.
 */
#define BY_RELAY_NS	(8 * NSEC_PER_MSEC)
#define ACCOUNT_ROUNDS	40

TEST_F(uring_defer, leaves_events_to_a_thread_while_its_task_is_elsewhere)
{
	const int64_t most = slowness() == 1 ? BY_RELAY_NS : AT_ONCE_NS;
	int64_t took, least = INT64_MAX;
	struct ewaiter waiter;
	int i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, ring_request(&self->ring, self->set.fd, DEVEPOLL_WAIT,
				  &self->args, 1));
	for (i = 0; i < ACCOUNT_ROUNDS && least >= most; i++) {
		ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
		took = post_to(&waiter, self->event);
		TH_LOG("the thread has it after %ld us", (long)took / 1000);
		EXPECT_LE(0, took);
		EXPECT_EQ(1, ewaiter_join(&waiter));
		if (took < least)
			least = took;
		/* The relay would remember that it waited for this one. */
		ring_close(&self->ring);
		ASSERT_EQ(0, ring_open(&self->ring, &ring_deferred));
		ASSERT_EQ(0, ring_request(&self->ring, self->set.fd,
					  DEVEPOLL_WAIT, &self->args, 1));
	}
	EXPECT_GT(most, least);
	/* It still exists, and takes the next event. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
}

TEST_F(uring_defer, leaves_exclusive_events_to_another_set)
{
	const uint32_t events = EPOLLIN | EPOLLET | EPOLLEXCLUSIVE;
	struct ewaiter waiter;
	struct eset other;
	int i, late = 0;
	int64_t took;

	ASSERT_EQ(0, eset_open(&other, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&self->set, self->event, events));
	ASSERT_EQ(0, eset_add(&other, self->event, events));
	for (i = 0; i < 3; i++) {
		/* Each takes its turn, so the ring is first once. */
		ASSERT_EQ(0, ring_request(&self->ring, self->set.fd,
					  DEVEPOLL_WAIT, &self->args, i));
		ASSERT_EQ(0, ewaiter_start(&waiter, &other, -1));
		took = post_to(&waiter, self->event);
		EXPECT_LE(0, took);
		late += took >= (int64_t)AT_ONCE_NS;
		EXPECT_EQ(1, ewaiter_join(&waiter));
	}
	/* The emulator may be held up once. */
	EXPECT_GE(1, late);
	eset_close(&other);
}

/* Waits in a ring of its own, inside the kernel. */
struct enterer {
	struct eset set;
	struct task task;
};

static long enter(void *arg)
{
	struct enterer *enterer = arg;
	struct devepoll_event out[1];
	struct devepoll_wait_args args = wait_args(out, 1, -1);
	struct ring ring;
	long ret;

	ret = ring_open(&ring, &ring_deferred);
	if (ret)
		return ret;
	ret = ring_request(&ring, enterer->set.fd, DEVEPOLL_WAIT, &args, 1);
	ret = ret ?: ring_result(&ring, 1);
	ring_close(&ring);
	return ret;
}

TEST_F(uring_defer, takes_its_turn_while_its_task_waits_in_it)
{
	struct enterer enterer = { .set = self->set };
	struct ewaiter waiter;
	bool undisturbed;
	uint64_t start;

	/* On one CPU, none is given up because its own is held up. */
	ASSERT_EQ(0, pin_to_cpu(0));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, task_start(&enterer.task, enter, &enterer));
	ASSERT_EQ(0, await_sleep(enterer.task.tid, __NR_io_uring_enter));
	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	start = now_ns();
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&enterer.task));
	undisturbed = task_undisturbed(&waiter.task);
	EXPECT_TRUE(undisturbed || may_be_given_up(start));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ewaiter_join(&waiter));
}

/*
 * Another user's rings, whose task does not enter, wait for many sets: each of
 * these is checked again and again.
 */
#define CROWD_SETS	3500
#define CROWD_WAITS	10
#define CROWD_FILES	20
#define CROWD_TRIES	10

/* The time that the late waiter is given; it needs 19 ms, without lanes 351. */
#define LATE_NS		(250 * NSEC_PER_MSEC)
/* As long as its processor is taken from the first. */
#define HOG_NS		(700 * NSEC_PER_MSEC)

struct crowd {
	atomic_bool waits;
	atomic_bool go;
	atomic_bool posted;
	atomic_bool stop;
	atomic_bool hog;
};

/* Makes this many waits on one more set; 0 or -errno. */
static int crowd_wait(struct ring *ring, int event)
{
	static struct devepoll_event out[1];
	static struct devepoll_wait_args args;
	struct epoll_event in = { .events = EPOLLIN };
	int i, ret, set = dep_open();

	args = wait_args(out, 1, -1);
	if (set < 0)
		return set;
	ret = dep_epoll_ctl(set, EPOLL_CTL_ADD, event, &in);
	for (i = 0; i < CROWD_WAITS && !ret; i++) {
		if (!ring_prepare(ring, set, DEVEPOLL_WAIT, &args, 1))
			return -EBUSY;
	}
	return ret ?: ring_submit(ring);
}

static int crowd_main(struct crowd *crowd, unsigned int uid)
{
	int events[CROWD_FILES], i, ret = setuid(uid) ? -errno : 0;
	struct ring ring;

	ret = ret ?: pin_to_cpu(0);
	ret = ret ?: ring_open(&ring, &ring_deferred);
	for (i = 0; i < CROWD_FILES; i++)
		events[i] = eventfd_new();
	for (i = 0; i < CROWD_SETS && !ret; i++)
		ret = crowd_wait(&ring, events[i % CROWD_FILES]);
	atomic_store(&crowd->waits, true);
	while (!atomic_load(&crowd->go))
		pause_briefly();
	for (i = 0; i < CROWD_FILES && !ret; i++)
		ret = eventfd_post(events[i]);
	atomic_store(&crowd->posted, true);
	while (!atomic_load(&crowd->stop))
		pause_briefly();
	return !!ret;
}

static long hog_main(void *arg)
{
	struct sched_param fifo = { .sched_priority = 1 };
	uint64_t end = now_ns() + HOG_NS;
	struct crowd *crowd = arg;

	if (pin_to_cpu(1) || sched_setscheduler(0, SCHED_FIFO, &fifo))
		return -errno;
	atomic_store(&crowd->hog, true);
	while (!atomic_load(&crowd->stop) && now_ns() < end)
		;
	return 0;
}

/* How late the second of two threads gets what the first can't run for. */
static int64_t pass_on(struct eset *set, int event, struct crowd *crowd)
{
	struct ewaiter starved, other;
	struct task hog;
	uint64_t start;
	int64_t took;
	int ret;

	ret = pin_to_cpu(1) ?: ewaiter_start(&starved, set, -1);
	ret = ret ?: pin_to_cpu(0) ?: ewaiter_start(&other, set, -1);
	atomic_store(&crowd->go, true);
	if (ret || !await(atomic_load(&crowd->posted)))
		return ret ?: -ETIMEDOUT;
	ret = task_start(&hog, hog_main, crowd);
	if (ret || !await(atomic_load(&crowd->hog)))
		return ret ?: -ETIMEDOUT;
	start = now_ns();
	ret = eventfd_post(event);
	if (ret || !await(atomic_load(&other.task.done) ||
			  atomic_load(&starved.task.done)))
		return ret ?: -ETIMEDOUT;
	/* The hog may be at its end before it should. */
	took = atomic_load(&other.task.done) ? now_ns() - start : HOG_NS;
	atomic_store(&crowd->stop, true);
	ret = task_join(&hog);
	if (eventfd_post(event) || ewaiter_join(&other) != 1 ||
	    ewaiter_join(&starved) != 1)
		return -EPROTO;
	return ret ?: took;
}

TEST_F_TIMEOUT(uring_defer, of_another_user_make_nobody_late, 4 * TEST_SECONDS)
{
	int64_t took = LATE_NS;
	struct crowd *crowd;
	int i;

	if (geteuid() || cpus_online() < 2 || slowness() > 1 ||
	    raise_fd_limit(CROWD_SETS + 100))
		SKIP(return, "not root, one processor, or too slow");
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, crowd);
	/*
	 * Two users may share a lane by chance, and the emulator may be held up,
	 * but not each time.
	 */
	for (i = 0; i < CROWD_TRIES && took >= (int64_t)LATE_NS; i++) {
		pid_t child;

		memset(crowd, 0, sizeof(*crowd));
		child = fork();
		if (!child)
			_exit(crowd_main(crowd, 1000 + i));
		ASSERT_LT(0, child);
		/* Making so many waits takes as long as it takes. */
		while (!atomic_load(&crowd->waits))
			pause_briefly();
		took = pass_on(&self->set, self->event, crowd);
		EXPECT_EQ(0, reap(child));
		TH_LOG("the other thread has it after %ld us",
		       (long)took / 1000);
	}
	EXPECT_LE(0, took);
	EXPECT_GT((int64_t)LATE_NS, took);
}

TEST_HARNESS_MAIN
