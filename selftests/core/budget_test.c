// SPDX-License-Identifier: GPL-2.0
/*
 * What one event may cost the machine, whatever sets an unprivileged user has
 * built: the time that it takes from a real-time task on the processor where it
 * happens, and from another user's task on another processor.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/budget.h"
#include "core/eset.h"

/* Epoll sets around all sets, and around these, as many as epoll permits. */
#define INNER		8
#define OUTER_EACH	62
#define OUTMOST		100
#define OUTER		(INNER * OUTER_EACH + OUTMOST)

/* A set that has more pollers is left to a worker. */
#define MANY_POLLERS	(INNER + 1)
#define MANY_SETS	1024

#define MOST_SETS	4096
#define FDS		(MOST_SETS + OUTER + 100)

/* How long two users share the machine, and a processor of it. */
#define SHARE_NS	(1000 * NSEC_PER_MSEC)
#define BESIDE_NS	(1000 * NSEC_PER_MSEC)

/* An epoll set around others; its fd or -errno. */
static int epoll_around(const int *fds, int nr)
{
	int i, epoll = epoll_create1(EPOLL_CLOEXEC);

	for (i = 0; i < nr && epoll >= 0; i++) {
		struct epoll_event event = {
			.events = EPOLLIN,
			.data.fd = fds[i],
		};

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event)) {
			int err = -errno;

			close(epoll);
			return err;
		}
	}
	return epoll < 0 ? -errno : epoll;
}

/* How many members of an epoll set have reported, at most @most. */
static int told(int epoll, int most)
{
	struct epoll_event *out = calloc(most, sizeof(*out));
	int n = epoll_wait(epoll, out, most, 0);

	free(out);
	return n;
}

FIXTURE(budget) {
	int event;
	int nr_sets;
	int sets[MOST_SETS];
	int inner[MANY_POLLERS];
	int nr_outer;
	int outer[OUTER];
};

FIXTURE_SETUP(budget)
{
	if (raise_fd_limit(FDS))
		SKIP(return, "no %d open files", FDS);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, pin_to_cpu(0));
}

FIXTURE_TEARDOWN(budget)
{
}

typedef FIXTURE_DATA(budget) budget_data;

/* Makes sets of the device that watch the event, up to @nr of them. */
static int add_sets(budget_data *self, int nr_inner, int nr)
{
	struct epoll_event event = { .events = EPOLLIN };
	int i, set, ret = 0;

	while (self->nr_sets < nr && !ret) {
		set = dep_open();
		if (set < 0)
			return set;
		ret = dep_epoll_ctl(set, EPOLL_CTL_ADD, self->event, &event);
		event.data.fd = set;
		for (i = 0; i < nr_inner && !ret; i++)
			ret = epoll_ctl(self->inner[i], EPOLL_CTL_ADD, set,
					&event) ? -errno : 0;
		self->sets[self->nr_sets++] = set;
	}
	return ret;
}

/* Epoll sets around each of the inner ones, and some around one of these. */
static int add_outer(budget_data *self)
{
	int i, ret = 0;

	while (self->nr_outer < OUTER && ret >= 0) {
		i = self->nr_outer / OUTER_EACH;
		ret = epoll_around(i < INNER ? &self->inner[i] :
					       &self->outer[0], 1);
		self->outer[self->nr_outer++] = ret;
	}
	return ret < 0 ? ret : 0;
}

/* Have all sets around been told? */
static bool all_told(budget_data *self, int nr_inner)
{
	int i;

	for (i = 0; i < nr_inner; i++) {
		if (told(self->inner[i], self->nr_sets) != self->nr_sets)
			return false;
	}
	for (i = 0; i < self->nr_outer; i++) {
		if (told(self->outer[i], 1) != 1)
			return false;
	}
	return true;
}

TEST_F(budget, of_one_event_does_not_grow_with_the_sets_that_watch)
{
	static const int rows[] = { 64, 512, 2000, 4096 };
	struct cost cost;
	unsigned int i;

	for (i = 0; i < INNER; i++) {
		self->inner[i] = epoll_around(NULL, 0);
		ASSERT_LE(0, self->inner[i]);
	}
	ASSERT_EQ(0, add_outer(self));
	ASSERT_EQ(0, measure(self->event, &cost));
	EXPECT_CHEAP(cost, 0);
	ASSERT_EQ(0, eventfd_take(self->event));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (slowness() > 1 && rows[i] > 512)
			break;
		ASSERT_EQ(0, add_sets(self, INNER, rows[i]));
		EXPECT_EQ(0, told(self->inner[0], 1));
		ASSERT_EQ(0, measure(self->event, &cost));
		EXPECT_CHEAP(cost, rows[i]);
		EXPECT_TRUE(await(all_told(self, INNER)));
		ASSERT_EQ(0, eventfd_take(self->event));
		/* None of them has anything to report then. */
		EXPECT_TRUE(await(told(self->inner[0], 1) == 0));
	}
}

/* Sets whose fd is exclusive, and no waiter in any of them. */
TEST_F(budget, of_one_event_does_not_grow_with_exclusive_fds)
{
	int i, set, nr_sets = slowness() > 1 ? 512 : MOST_SETS;
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	struct cost cost;

	for (i = 0; i < nr_sets; i++) {
		set = dep_open();
		ASSERT_LE(0, set);
		ASSERT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, self->event,
					   &event));
	}
	ASSERT_EQ(0, measure(self->event, &cost));
	EXPECT_CHEAP(cost, nr_sets);
}

#define CHAIN		4
#define ROUNDS		10
#define COSTLY_SETS	64

/*
 * An event that takes the interrupt longer than it may, and one of another file
 * that goes through a chain of sets while the interrupt's time is used up;
 * nothing of normal priority runs in between.  Returns how many events the last
 * set of the chain reports, or -errno.
 */
static int post_both(int costly, int single, int last)
{
	struct sched_param normal = { 0 }, real_time = { .sched_priority = 50 };
	struct epoll_event out;
	int ret;

	if (sched_setscheduler(0, SCHED_FIFO, &real_time))
		return -errno;
	ret = eventfd_post(costly) ?: eventfd_post(single) ?:
	      dep_epoll_wait(last, &out, 1, 0);
	sched_setscheduler(0, SCHED_OTHER, &normal);
	return ret;
}

TEST_F(budget, of_many_sets_does_not_make_a_chain_of_others_late)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int chain[CHAIN], single, i;

	for (i = 0; i < INNER; i++) {
		self->inner[i] = epoll_around(NULL, 0);
		ASSERT_LE(0, self->inner[i]);
	}
	ASSERT_EQ(0, add_outer(self));
	ASSERT_EQ(0, add_sets(self, INNER, COSTLY_SETS));
	single = eventfd_new();
	ASSERT_LE(0, single);
	for (i = 0; i < CHAIN; i++) {
		chain[i] = dep_open();
		ASSERT_LE(0, chain[i]);
		ASSERT_EQ(0, dep_epoll_ctl(chain[i], EPOLL_CTL_ADD,
					   i ? chain[i - 1] : single, &event));
	}
	for (i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(1, post_both(self->event, single, chain[CHAIN - 1]))
			TH_LOG("round %d", i);
		EXPECT_TRUE(await(all_told(self, INNER)));
		ASSERT_EQ(0, eventfd_take(self->event));
		EXPECT_TRUE(await(told(self->inner[0], 1) == 0));
	}
}

/* Posts all the time, on the processor of its parent. */
static int annoy(int event, atomic_bool *stop)
{
	while (!atomic_load(stop)) {
		if (eventfd_post(event))
			return 1;
	}
	return 0;
}

static uint64_t used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000ULL + used.tv_nsec;
}

/* Computes on a processor; returns the share it got, in percent. */
static int compute(atomic_bool *stop, int cpu, uint64_t ns)
{
	uint64_t start, past, used;

	if (setuid(65534) || pin_to_cpu(cpu))
		return 0;
	used = used_ns();
	start = now_ns();
	do {
		past = now_ns() - start;
	} while (past < ns);
	used = used_ns() - used;
	atomic_store(stop, true);
	/* The two clocks may differ if the emulator was held up. */
	return used < past ? used * 100 / past : 100;
}

/* The other user's share of his processor, in percent; or -ECHILD. */
static int share_beside(int event, atomic_bool *stop)
{
	pid_t annoyer, victim;
	int share;

	atomic_store(stop, false);
	victim = fork();
	if (!victim)
		_exit(compute(stop, 1, SHARE_NS));
	annoyer = fork();
	if (!annoyer)
		_exit(setuid(1000) || annoy(event, stop));
	share = reap(victim);
	atomic_store(stop, true);
	return reap(annoyer) || share > 100 ? -ECHILD : share;
}

/*
 * If the emulator is held up, who runs at that time has used it; so one of
 * several tries counts.
 */
#define TRIES		3
#define SHARE_LEAST	80

TEST_F(budget, is_not_paid_by_another_user_on_his_own_processor)
{
	atomic_bool *stop;
	int i, share = 0;

	if (cpus_online() < 2)
		SKIP(return, "one processor");
	stop = mmap(NULL, sizeof(*stop), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, stop);
	for (i = 0; i < MANY_POLLERS; i++) {
		self->inner[i] = epoll_around(NULL, 0);
		ASSERT_LE(0, self->inner[i]);
	}
	ASSERT_EQ(0, add_sets(self, MANY_POLLERS, MANY_SETS));
	for (i = 0; i < TRIES && share < SHARE_LEAST; i++) {
		share = share_beside(self->event, stop);
		ASSERT_LE(0, share);
		TH_LOG("the other user has %d %% of his processor", share);
	}
	EXPECT_LE(SHARE_LEAST, share);
	EXPECT_TRUE(await(all_told(self, MANY_POLLERS)));
}

/*
 * Sets in sets: each of a level watches all of the level below, and those of the
 * first level watch the event.  So one event goes through as many paths as the
 * numbers of sets multiply to.  An unprivileged user builds them, writes now and
 * then, and sleeps.
 */
#define LEVELS		4
#define WIDEST		128
#define LATTICE_UID	1000
#define LATTICE_LEAST	90
#define LATTICE_PAUSE_NS	(5 * NSEC_PER_MSEC)

FIXTURE(lattice) {
	atomic_int *state;
};

FIXTURE_VARIANT(lattice) {
	int nr[LEVELS];		/* sets of each level; 0: there is no level */
	int nr_device;		/* levels of device sets; the others are epoll */
};

FIXTURE_VARIANT_ADD(lattice, device) {
	.nr = { 1, 128, 128 }, .nr_device = 3,
};

FIXTURE_VARIANT_ADD(lattice, deep_device) {
	.nr = { 1, 30, 30, 30 }, .nr_device = 4,
};

FIXTURE_VARIANT_ADD(lattice, epoll) {
	.nr = { 128, 8, 60 }, .nr_device = 1,
};

FIXTURE_VARIANT_ADD(lattice, both) {
	.nr = { 1, 100, 8, 60 }, .nr_device = 2,
};

FIXTURE_SETUP(lattice)
{
	if (geteuid())
		SKIP(return, "needs root");
	ASSERT_EQ(0, raise_fd_limit(LEVELS * WIDEST + 100));
	ASSERT_EQ(0, pin_to_cpu(0));
	self->state = mmap(NULL, sizeof(*self->state), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->state);
}

FIXTURE_TEARDOWN(lattice)
{
}

/* A device set around others; its fd or -errno. */
static int device_around(const int *fds, int nr)
{
	int i, ret = 0, set = dep_open();

	for (i = 0; i < nr && set >= 0 && !ret; i++) {
		struct epoll_event event = {
			.events = EPOLLIN,
			.data.fd = fds[i],
		};

		ret = dep_epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event);
	}
	return ret ?: set;
}

static int build_lattice(int event, const int *nr, int nr_device)
{
	int level, i, nr_below = 1, below[WIDEST] = { event }, sets[WIDEST];

	for (level = 0; level < LEVELS && nr[level]; level++) {
		for (i = 0; i < nr[level]; i++) {
			sets[i] = level < nr_device ?
				  device_around(below, nr_below) :
				  epoll_around(below, nr_below);
			if (sets[i] < 0)
				return sets[i];
		}
		nr_below = nr[level];
		memcpy(below, sets, sizeof(sets));
	}
	return 0;
}

enum lattice_state {
	LATTICE_BUILT = 1,
	LATTICE_RUNS,
	LATTICE_ENDS,
};

/* Writes now and then while the other user computes on the same processor. */
static int use_lattice(atomic_int *state, const int *nr, int nr_device)
{
	const struct timespec pause = { .tv_nsec = LATTICE_PAUSE_NS };
	int ret, event = eventfd_new();

	if (event < 0 || setuid(LATTICE_UID))
		return 1;
	ret = build_lattice(event, nr, nr_device);
	atomic_store(state, LATTICE_BUILT);
	if (ret)
		return 2;
	await(atomic_load(state) != LATTICE_BUILT);
	while (atomic_load(state) == LATTICE_RUNS) {
		if (eventfd_post(event))
			return 3;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* What another user keeps of a processor, in percent; or -ECHILD. */
static int share_beside_lattice(int cpu)
{
	static atomic_bool done;
	pid_t victim = fork();

	if (!victim)
		_exit(compute(&done, cpu, BESIDE_NS));
	return reap(victim);
}

/* The user, at work on the first processor; its PID. */
static pid_t start_lattice(atomic_int *state, const int *nr, int nr_device)
{
	pid_t user = fork();

	if (!user)
		_exit(use_lattice(state, nr, nr_device));
	if (!await(atomic_load(state) == LATTICE_BUILT))
		return -ETIMEDOUT;
	atomic_store(state, LATTICE_RUNS);
	return user;
}

TEST_F(lattice, of_one_user_takes_little_from_another_on_his_processor)
{
	pid_t user = start_lattice(self->state, variant->nr,
				   variant->nr_device);
	int share;

	ASSERT_LT(0, user);
	share = share_beside_lattice(0);
	TH_LOG("the other user has %d %% of the processor", share);
	EXPECT_LT(0, share);
	/* Whoever runs while the emulator is held up has used that time. */
	if (counts_instructions())
		EXPECT_LE(LATTICE_LEAST, share);
	atomic_store(self->state, LATTICE_ENDS);
	EXPECT_EQ(0, reap(user));
}

/* Workers that go on with the work may run anywhere. */
TEST_F(lattice, of_one_user_takes_little_from_another_elsewhere)
{
	pid_t user;
	int i, share = 0;

	if (cpus_online() < 2)
		SKIP(return, "one processor");
	user = start_lattice(self->state, variant->nr, variant->nr_device);
	ASSERT_LT(0, user);
	for (i = 0; i < TRIES && share < LATTICE_LEAST; i++) {
		share = share_beside_lattice(1);
		TH_LOG("the other user has %d %% of his processor", share);
	}
	EXPECT_LE(LATTICE_LEAST, share);
	atomic_store(self->state, LATTICE_ENDS);
	EXPECT_EQ(0, reap(user));
}

TEST_HARNESS_MAIN
