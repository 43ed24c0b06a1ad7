// SPDX-License-Identifier: GPL-2.0
/*
 * Cycles of sets, which can't be made, and how deep sets may nest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* How long a race goes on. */
#define RACE_NS		(500 * NSEC_PER_MSEC)

/* How many sets may form a chain; and one more. */
#define DEPTH		5
#define SETS		(2 * DEPTH)

/* How many edges between sets are searched for a cycle. */
#define EDGES		1024

FIXTURE(cycle) {
	struct eset sets[SETS];
	int event;
};

ESET_VARIANTS(cycle);

FIXTURE_SETUP(cycle)
{
	ASSERT_EQ(0, esets_open(self->sets, SETS, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(cycle)
{
	esets_close(self->sets, SETS);
}

static int put_in(struct eset *outer, struct eset *inner)
{
	return eset_add(outer, inner->fd, EPOLLIN);
}

static int take_out(struct eset *outer, struct eset *inner)
{
	return eset_del(outer, inner->fd);
}

/* Puts each of @n sets into the next one, the innermost first. */
static int build_up(struct eset *sets, int n)
{
	int i, ret = 0;

	for (i = 1; i < n && !ret; i++)
		ret = put_in(&sets[i], &sets[i - 1]);
	return ret;
}

/* The same, the outermost first. */
static int build_down(struct eset *sets, int n)
{
	int i, ret = 0;

	for (i = n - 1; i > 0 && !ret; i--)
		ret = put_in(&sets[i], &sets[i - 1]);
	return ret;
}

TEST_F(cycle, of_a_set_and_itself_is_refused)
{
	int duplicate = dup(self->sets[0].fd);

	EXPECT_EQ(-EINVAL, put_in(&self->sets[0], &self->sets[0]));
	EXPECT_EQ(-EINVAL, eset_add(&self->sets[0], duplicate, EPOLLIN));
	ASSERT_EQ(0, close(duplicate));
}

TEST_F(cycle, of_any_length_is_refused)
{
	int n, i;

	for (n = 2; n <= DEPTH; n++) {
		ASSERT_EQ(0, build_up(self->sets, n));
		EXPECT_EQ(-ELOOP, put_in(&self->sets[0], &self->sets[n - 1]))
			TH_LOG("cycle of %d", n);
		EXPECT_EQ(-ENOENT, take_out(&self->sets[0],
					    &self->sets[n - 1]));
		/* What was there works as before. */
		ASSERT_EQ(0, eset_add(&self->sets[0], self->event, EPOLLIN));
		ASSERT_EQ(0, eventfd_post(self->event));
		for (i = 0; i < n; i++)
			EXPECT_EQ(1, eset_drain(&self->sets[i]));
		ASSERT_EQ(0, eventfd_take(self->event));
		ASSERT_EQ(0, eset_del(&self->sets[0], self->event));
		for (i = 1; i < n; i++)
			ASSERT_EQ(0, take_out(&self->sets[i],
					      &self->sets[i - 1]));
	}
}

TEST_F(cycle, through_each_of_the_sets_is_refused)
{
	int inner, outer;

	ASSERT_EQ(0, build_down(self->sets, DEPTH));
	for (inner = 0; inner < DEPTH; inner++)
		for (outer = 0; outer <= inner; outer++)
			EXPECT_EQ(inner == outer ? -EINVAL : -ELOOP,
				  put_in(&self->sets[outer],
					 &self->sets[inner]));
}

TEST_F(cycle, through_a_duplicate_is_refused)
{
	int duplicate = dup(self->sets[1].fd);

	ASSERT_LE(0, duplicate);
	ASSERT_EQ(0, put_in(&self->sets[1], &self->sets[0]));
	EXPECT_EQ(-ELOOP, eset_add(&self->sets[0], duplicate, EPOLLIN));
	ASSERT_EQ(0, close(duplicate));
}

TEST_F(cycle, is_possible_to_turn_round)
{
	int i;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, put_in(&self->sets[i & 1],
				    &self->sets[!(i & 1)]));
		ASSERT_EQ(-ELOOP, put_in(&self->sets[!(i & 1)],
					 &self->sets[i & 1]));
		ASSERT_EQ(0, take_out(&self->sets[i & 1],
				      &self->sets[!(i & 1)]));
	}
	ASSERT_EQ(0, put_in(&self->sets[0], &self->sets[1]));
	eset_close(&self->sets[0]);
	ASSERT_EQ(0, eset_open(&self->sets[0], variant->ops));
	EXPECT_EQ(0, put_in(&self->sets[1], &self->sets[0]));
}

TEST_F(cycle, is_not_what_two_ways_make)
{
	struct eset *s = self->sets;

	ASSERT_EQ(0, put_in(&s[3], &s[1]));
	ASSERT_EQ(0, put_in(&s[3], &s[2]));
	ASSERT_EQ(0, put_in(&s[1], &s[0]));
	ASSERT_EQ(0, put_in(&s[2], &s[0]));
	EXPECT_EQ(0, put_in(&s[3], &s[0]));
	ASSERT_EQ(0, eset_add(&s[0], self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(3, eset_drain(&s[3]));
	EXPECT_EQ(-ELOOP, put_in(&s[0], &s[3]));
}

/* So many sets on each level make more ways than may be looked at. */
#define WIDTH		11
#define LEVELS		(DEPTH - 1)

TEST_F(cycle, is_not_what_many_ways_make)
{
	struct eset levels[LEVELS][WIDTH];
	int level, i, j;

	for (level = 0; level < LEVELS; level++) {
		for (i = 0; i < WIDTH; i++)
			ASSERT_EQ(0, eset_open(&levels[level][i],
					       variant->ops));
	}
	for (level = 1; level < LEVELS; level++) {
		for (i = 0; i < WIDTH * WIDTH; i++)
			ASSERT_EQ(0, put_in(&levels[level][i / WIDTH],
					    &levels[level - 1][i % WIDTH]))
				TH_LOG("level %d, edge %d", level, i);
	}
	for (i = 0; i < WIDTH; i++)
		EXPECT_EQ(0, put_in(&self->sets[0], &levels[LEVELS - 1][i]));
	for (level = 0; level < LEVELS; level++) {
		for (j = 0; j < WIDTH; j++)
			EXPECT_EQ(-ELOOP, put_in(&levels[level][j],
						 &self->sets[0]));
	}
}

TEST_F(cycle, apart_sets_nest_so_deep_and_no_deeper)
{
	struct eset *s = self->sets;

	ASSERT_EQ(0, eset_add(&s[0], self->event, EPOLLIN));
	ASSERT_EQ(0, build_up(s, DEPTH));
	EXPECT_EQ(-ELOOP, put_in(&s[DEPTH], &s[DEPTH - 1]));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&s[DEPTH - 1], s[DEPTH - 2].fd, 0));
	EXPECT_EQ(0, eset_drain(&s[DEPTH]));
	/* If it is less deep, it fits. */
	EXPECT_EQ(0, put_in(&s[DEPTH], &s[DEPTH - 2]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&s[DEPTH], s[DEPTH - 2].fd, 0));
}

TEST_F(cycle, apart_a_new_innermost_set_counts_as_well)
{
	struct eset *s = self->sets;

	ASSERT_EQ(0, build_down(s, DEPTH));
	EXPECT_EQ(-ELOOP, put_in(&s[0], &s[DEPTH]));
}

TEST_F(cycle, apart_chains_that_are_joined_count_together)
{
	struct eset *s = self->sets;
	int below;

	for (below = 1; below < DEPTH; below++) {
		int above = DEPTH - below, i;

		ASSERT_EQ(0, build_up(s, below));
		ASSERT_EQ(0, build_up(s + DEPTH, above + 1));
		/* One set too many, and as many as are allowed. */
		EXPECT_EQ(-ELOOP, put_in(&s[DEPTH], &s[below - 1]))
			TH_LOG("%d below", below);
		EXPECT_EQ(0, put_in(&s[DEPTH + 1], &s[below - 1]));
		ASSERT_EQ(0, take_out(&s[DEPTH + 1], &s[below - 1]));
		for (i = 1; i < below; i++)
			ASSERT_EQ(0, take_out(&s[i], &s[i - 1]));
		for (i = 1; i <= above; i++)
			ASSERT_EQ(0, take_out(&s[DEPTH + i],
					      &s[DEPTH + i - 1]));
	}
}

/* In-tree epoll looks at all of them, however long that takes. */
TEST_F(cycle, is_feared_where_there_are_too_many_sets_to_look_at)
{
	struct eset *inner = &self->sets[0], *outer = &self->sets[1], leaf;
	int i, error;

	error = eset_has(inner, TAKES_TURNS) ? -ELOOP : 0;
	ASSERT_EQ(0, raise_fd_limit(EDGES + 100));
	for (i = 0; i < EDGES; i++) {
		ASSERT_EQ(0, eset_open(&leaf, inner->ops));
		ASSERT_EQ(0, put_in(inner, &leaf));
	}
	EXPECT_EQ(0, put_in(outer, inner));
	EXPECT_EQ(0, take_out(outer, inner));
	ASSERT_EQ(0, eset_open(&leaf, inner->ops));
	ASSERT_EQ(0, put_in(inner, &leaf));
	EXPECT_EQ(error, put_in(outer, inner));
	EXPECT_EQ(error ? -ENOENT : 0, take_out(outer, inner));
	ASSERT_EQ(0, take_out(inner, &leaf));
	EXPECT_EQ(0, put_in(outer, inner));
}

/* Some threads, each of which puts one set into the next at the same time. */
struct closer {
	struct eset *outer;
	struct eset *inner;
	atomic_int *ready;
	int all;
	struct task task;
};

static long close_cycle(void *arg)
{
	struct closer *closer = arg;

	atomic_fetch_add(closer->ready, 1);
	while (atomic_load(closer->ready) < closer->all)
		;
	return put_in(closer->outer, closer->inner);
}

/* How many of the edges of a cycle of @n sets were made; or -errno. */
static int race_for_cycle(struct eset *sets, int n)
{
	struct closer closers[DEPTH];
	atomic_int ready = 0;
	int i, won = 0, bad = 0;
	long ret, rets[DEPTH];

	for (i = 0; i < n; i++) {
		closers[i] = (struct closer){
			.outer = &sets[i],
			.inner = &sets[(i + 1) % n],
			.ready = &ready,
			.all = n,
		};
		ret = task_start(&closers[i].task, close_cycle, &closers[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < n; i++)
		rets[i] = task_join(&closers[i].task);
	for (i = 0; i < n; i++) {
		if (rets[i] && rets[i] != -ELOOP)
			bad = rets[i];
		if (!rets[i]) {
			won++;
			take_out(&sets[i], &sets[(i + 1) % n]);
		}
	}
	return bad ?: won;
}

TEST_F(cycle, is_not_closed_by_threads_at_once)
{
	uint64_t end = now_ns() + 2 * RACE_NS;
	int n, rounds;

	ASSERT_LE(2, cpus_online()) TH_LOG("races need two CPUs");
	for (rounds = 0; rounds < 100 || now_ns() < end; rounds++) {
		n = 2 + rounds % (DEPTH - 1);
		if (rounds & 1)
			n = 2;
		ASSERT_EQ(n - 1, race_for_cycle(self->sets, n))
			TH_LOG("round %d, cycle of %d", rounds, n);
	}
}

/* Edges come and go at random while events travel: it only has to end. */
struct chaos {
	struct eset *sets;
	unsigned int seed;
	atomic_bool *stop;
	struct task task;
};

static long make_chaos(void *arg)
{
	struct chaos *chaos = arg;
	struct epoll_event out[4];
	long made = 0;

	while (!made || !atomic_load(chaos->stop)) {
		struct eset *one = &chaos->sets[rand_r(&chaos->seed) % DEPTH];
		struct eset *two = &chaos->sets[rand_r(&chaos->seed) % DEPTH];

		switch (rand_r(&chaos->seed) % 4) {
		case 0:
		case 1:
			made += !eset_add(one, two->fd, EPOLLIN |
					  (made & 1 ? EPOLLET : 0));
			break;
		case 2:
			take_out(one, two);
			break;
		case 3:
			eset_wait(one, out, 4, 0);
			break;
		}
	}
	return made;
}

TEST_F(cycle, is_not_made_by_chance)
{
	struct chaos chaos[3];
	struct epoll_event out[4];
	atomic_bool stop = false;
	uint64_t end;
	int i;

	for (i = 0; i < DEPTH; i++)
		ASSERT_EQ(0, eset_add(&self->sets[i], self->event, EPOLLIN));
	for (i = 0; i < 3; i++) {
		chaos[i] = (struct chaos){
			.sets = self->sets, .seed = 4711 + i, .stop = &stop,
		};
		ASSERT_EQ(0, task_start(&chaos[i].task, make_chaos,
					&chaos[i]));
	}
	end = now_ns() + RACE_NS;
	while (now_ns() < end) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_LE(0, eset_wait(&self->sets[0], out, 4, 0));
		ASSERT_EQ(0, eventfd_take(self->event));
	}
	atomic_store(&stop, true);
	for (i = 0; i < 3; i++)
		EXPECT_LT(0, task_join(&chaos[i].task));
	for (i = 0; i < DEPTH; i++)
		EXPECT_EQ(0, eset_drain(&self->sets[i]));
}

TEST_HARNESS_MAIN
