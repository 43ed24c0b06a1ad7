// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are commands of io_uring, and that end because the ring, the
 * thread, the process or the set's fd goes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring_ring.h"

#define PENDING		3
#define RACES		300
#define ROUNDS		50
#define KILL_SECONDS	4
#define ALWAYS_READY	30

FIXTURE(uring_end) {
	struct ring ring;
	int set;
	int event;	/* in the set, edge-triggered */
	struct devepoll_event out[PENDING];
	struct devepoll_wait_args args[PENDING];
	long references;
};

static int set_with(int event)
{
	const struct devepoll_change add = {
		.op = DEVEPOLL_ADD,
		.fd = event,
		.events = EPOLLIN | EPOLLET,
		.data = 42,
	};
	int set = dep_open();

	return set < 0 ? set : dep_change(set, &add) ?: set;
}

FIXTURE_SETUP(uring_end)
{
	int i;

	/* A ring of an earlier program may still be ending. */
	await(module_references() == 0);
	self->references = module_references();
	ASSERT_EQ(0, ring_open(&self->ring, &ring_plain));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	self->set = set_with(self->event);
	ASSERT_LT(0, self->set);
	memset(self->out, 0xa5, sizeof(self->out));
	for (i = 0; i < PENDING; i++)
		self->args[i] = wait_args(&self->out[i], 1, -1);
	/* One of them has a timer. */
	self->args[1].timeout = 3600 * 1000000000LL;
}

FIXTURE_TEARDOWN(uring_end)
{
	close(self->set);
	EXPECT_TRUE(await(module_references() == self->references));
}

static int begin_waits(struct ring *ring, int set,
		       struct devepoll_wait_args *args)
{
	int i, ret = 0;

	for (i = 0; !ret && i < PENDING; i++)
		ret = ring_request(ring, set, DEVEPOLL_WAIT, &args[i], i);
	return ret;
}

/* Is the set as if nobody had ever waited on it? */
static bool event_comes_through(int set, int event)
{
	struct devepoll_event out[2];

	return !eventfd_post(event) && dep_wait(set, out, 2, 0) == 1 &&
	       out[0].data == 42 && dep_wait(set, out, 2, 0) == 0;
}

/* A ring ends its waits some time after its close. */
#define EXPECT_END(set, event) \
	EXPECT_TRUE(await(event_comes_through(set, event)))

TEST_F(uring_end, of_the_ring_ends_its_waits)
{
	NEEDS_WAITS();
	ASSERT_EQ(0, begin_waits(&self->ring, self->set, self->args));
	ASSERT_TRUE(ring_waits(&self->ring));
	ring_close(&self->ring);
	EXPECT_END(self->set, self->event);
}

TEST_F(uring_end, of_the_ring_leaves_events_to_others)
{
	struct devepoll_event out[2];
	struct ring ring;
	int i;

	NEEDS_WAITS();
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, ring_open(&ring, &ring_plain));
		ASSERT_EQ(0, begin_waits(&ring, self->set, self->args));
		ASSERT_TRUE(ring_waits(&ring));
		ring_close(&ring);
		/* From here on, though its waits may still be there. */
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, dep_wait(self->set, out, 2, 0));
		EXPECT_EQ(42, out[0].data);
	}
	ring_close(&self->ring);
}

TEST_F(uring_end, of_the_ring_leaves_other_rings_alone)
{
	struct ring other;

	NEEDS_WAITS();
	ASSERT_EQ(0, ring_open(&other, &ring_plain));
	ASSERT_EQ(0, ring_request(&other, self->set, DEVEPOLL_WAIT,
				  &self->args[0], 9));
	ASSERT_EQ(0, begin_waits(&self->ring, self->set, self->args));
	ASSERT_TRUE(ring_waits(&self->ring));
	ring_close(&self->ring);
	ASSERT_TRUE(ring_waits(&other));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&other, 9));
	ring_close(&other);
}

struct racer {
	atomic_int *start;
	int event;
};

static long post_when_told(void *arg)
{
	struct racer *racer = arg;

	while (!atomic_load(racer->start))
		;
	return eventfd_post(racer->event);
}

TEST_F(uring_end, of_the_ring_loses_no_event)
{
	atomic_int start;
	struct racer racer = { .start = &start, .event = self->event };
	struct devepoll_event out[2];
	struct task task;
	int i, taken, left = 0;

	NEEDS_WAITS();
	for (i = 0; i < RACES / slowness(); i++) {
		memset(self->out, 0xa5, sizeof(self->out));
		ASSERT_EQ(0, ring_request(&self->ring, self->set,
					  DEVEPOLL_WAIT, &self->args[i % 2],
					  i));
		atomic_init(&start, 0);
		ASSERT_EQ(0, task_start(&task, post_when_told, &racer));
		atomic_store(&start, 1);
		ring_close(&self->ring);
		ASSERT_EQ(0, task_join(&task));
		/* Either the wait got it, or it is there. */
		ASSERT_TRUE(await((taken = self->out[i % 2].data == 42) ||
				  (left = dep_wait(self->set, out, 2, 0))))
			TH_LOG("round %d", i);
		EXPECT_EQ(1, taken + left);
		left = 0;
		ASSERT_EQ(0, ring_open(&self->ring, &ring_plain));
	}
	ring_close(&self->ring);
}

TEST_F(uring_end, of_the_fd_leaves_its_waits_alone)
{
	int set = self->set;

	NEEDS_WAITS();
	ASSERT_EQ(0, ring_request(&self->ring, set, DEVEPOLL_WAIT,
				  &self->args[0], 1));
	self->set = -1;
	ASSERT_EQ(0, close(set));
	EXPECT_EQ(self->references + 1, module_references());
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
	EXPECT_EQ(42, self->out[0].data);
	ring_close(&self->ring);
}

TEST_F(uring_end, of_the_module_waits_for_them)
{
	NEEDS_WAITS();
	if (geteuid())
		SKIP(return, "not root");
	ASSERT_EQ(0, begin_waits(&self->ring, self->set, self->args));
	ASSERT_EQ(0, close(self->set));
	self->set = -1;
	ASSERT_EQ(-1, syscall(SYS_delete_module, "devepoll", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_LT(self->references, module_references());
	ring_close(&self->ring);
	EXPECT_TRUE(await(module_references() == self->references));
}

struct submitter {
	struct ring *ring;
	int set;
	struct devepoll_wait_args *args;
};

static long submit(void *arg)
{
	struct submitter *s = arg;

	return begin_waits(s->ring, s->set, s->args);
}

/* No task takes events any more: a woken wait passes them on and ends. */
TEST_F(uring_end, of_the_thread_loses_no_event)
{
	struct submitter submitter = {
		.ring = &self->ring, .set = self->set, .args = self->args,
	};
	struct devepoll_event out[2];
	struct io_uring_cqe cqe;
	struct task task;
	int i;

	NEEDS_WAITS();
	ASSERT_EQ(0, task_start(&task, submit, &submitter));
	ASSERT_EQ(0, task_join(&task));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < PENDING; i++) {
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(-ECANCELED, cqe.res);
	}
	EXPECT_EQ(1, dep_wait(self->set, out, 2, 0));
	EXPECT_TRUE(event_comes_through(self->set, self->event));
	ring_close(&self->ring);
}

/* What becomes of the child, its waits pending. */
enum child_end {
	CHILD_EXITS,
	CHILD_IS_KILLED,
	CHILD_DIES_OF_ITSELF,
	CHILD_EXECUTES,
};

static void child_run(int set, enum child_end end, int told)
{
	struct devepoll_event out[PENDING];
	struct devepoll_wait_args args[PENDING];
	struct ring ring;
	int i;

	for (i = 0; i < PENDING; i++)
		args[i] = wait_args(&out[i], 1, -1);
	if (ring_open(&ring, &ring_plain) || begin_waits(&ring, set, args))
		_exit(1);
	/* If they can't be pending they must leave nothing behind. */
	if (kernel_can_wait() && !ring_waits(&ring))
		_exit(2);
	put_byte(told);
	switch (end) {
	case CHILD_EXITS:
		_exit(0);
	case CHILD_EXECUTES:
		execl("/bin/true", "true", NULL);
		_exit(3);
	case CHILD_DIES_OF_ITSELF:
		abort();
	default:
		pause();
	}
}

static int end_child(int set, enum child_end end)
{
	int fds[2], limit = 10000 * slowness();
	struct pollfd told;
	pid_t pid;

	if (pipe_pair(fds))
		return -errno;
	pid = fork();
	if (pid == 0)
		child_run(set, end, fds[1]);
	close(fds[1]);
	told = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	if (poll(&told, 1, limit) != 1)
		kill(pid, SIGTERM);
	else if (end == CHILD_IS_KILLED)
		kill(pid, SIGKILL);
	close(fds[0]);
	return reap(pid);
}

static const struct {
	enum child_end end;
	int status;
} ends[] = {
	{ CHILD_EXITS, 0 },
	{ CHILD_IS_KILLED, 128 + SIGKILL },
	{ CHILD_DIES_OF_ITSELF, 128 + SIGABRT },
	{ CHILD_EXECUTES, 0 },
};

TEST_F(uring_end, of_the_process_ends_its_waits)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		EXPECT_EQ(ends[i].status, end_child(self->set, ends[i].end))
			TH_LOG("end %u", i);
		EXPECT_TRUE(event_comes_through(self->set, self->event));
	}
	ring_close(&self->ring);
}

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
