// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that do to the ring what they must not do: they lose what is theirs,
 * and nothing else happens.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"

#define SLOTS		8
#define FILES		16
#define SCRIBBLERS	2

static long run_ms(void)
{
	const char *seconds = getenv("DEVEPOLL_RING_SECONDS");

	return seconds ? atol(seconds) * 1000 : 500;
}

FIXTURE(ring_hostile) {
	struct ring ring;
	struct consumer me;
	int events[FILES];
	atomic_bool over;
};

FIXTURE_SETUP(ring_hostile)
{
	int i;

	ASSERT_EQ(0, ring_open(&self->ring, 2, SLOTS))
		TH_LOG("no ring here");
	consumer_init(&self->me, &self->ring, 0);
	for (i = 0; i < FILES; i++) {
		self->events[i] = ring_add_eventfd(&self->ring);
		ASSERT_LE(0, self->events[i]);
	}
	atomic_store(&self->over, false);
}

FIXTURE_TEARDOWN(ring_hostile)
{
	ring_close(&self->ring);
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Words that are right, nearly right, and wrong. */
static uint64_t some_word(uint64_t *state)
{
	uint64_t r = random_next(state);

	switch (r >> 60) {
	case 0:
		return r;
	case 1:
		return ~0ULL;
	case 2:
		return (r & 3) << DEVEPOLL_RING_SET_SHIFT | 0x7fffffff;
	case 3:
		return (r & 0xffff) << DEVEPOLL_RING_SET_SHIFT | (r >> 32 & 15);
	case 4:
		return DEVEPOLL_RING_ASK;
	default:
		return (r & 3) << DEVEPOLL_RING_SET_SHIFT | (r >> 32 & 15) |
		       (r >> 40 & 1 ? DEVEPOLL_RING_ASK : 0);
	}
}

struct scribbler {
	struct task task;
	struct ring *ring;
	atomic_bool *over;
	uint64_t state;
};

static long scribble(void *arg)
{
	struct scribbler *s = arg;
	atomic_ullong *word = s->ring->word;
	long n = 0;

	do {
		switch (random_next(&s->state) >> 62) {
		case 0:
			atomic_store(word, some_word(&s->state));
			break;
		case 1:
			atomic_exchange(word, some_word(&s->state));
			break;
		case 2:
			atomic_fetch_add(word, some_word(&s->state));
			break;
		default:
			/* Half of it: torn for whoever reads the whole. */
			((volatile uint16_t *)word)[n & 3] = n;
		}
		n++;
	} while (!atomic_load_explicit(s->over, memory_order_relaxed));
	return n;
}

/* What a set goes through meanwhile; a few of everything. */
static void use_ring(struct ring *ring, int *events, uint64_t *state)
{
	struct epoll_event out[4];
	uint64_t r = random_next(state);
	int i = r % FILES, fd = events[i];

	switch (r >> 32 & 15) {
	case 0:
		close(fd);
		events[i] = ring_add_eventfd(ring);
		break;
	case 1:
		ring_mod(ring, fd, EPOLLIN | (r & 64 ? EPOLLONESHOT : 0));
		break;
	case 2:
		eset_mod(&ring->set, fd, EPOLLIN);
		break;
	case 3:
		eset_del(&ring->set, fd);
		ring_ctl(ring, DEVEPOLL_ADD, fd, EPOLLIN | EPOLLET,
			 DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED, fd);
		break;
	case 4:
		eset_wait(&ring->set, out, 4, 0);
		break;
	case 5:
		poll_now(ring->set.fd, POLLIN);
		break;
	case 6:
		ring_wait(ring, 0);
		break;
	case 7:
		ring_wait_min(ring, 1, 2);
		break;
	case 8:
		eset_del(&ring->set, fd);
		ring_add(ring, fd, EPOLLIN);
		break;
	case 9:
		/* Whoever's slot set that is. */
		consumer_wait(&(struct consumer){ .ring = ring,
						  .spare = r & 3 }, 0);
		break;
	default:
		eventfd_post(fd);
	}
}

TEST_F(ring_hostile, scribbling_over_the_word_loses_its_own_events_alone)
{
	struct scribbler s[SCRIBBLERS];
	uint64_t state = now_ns() | 1, end;
	struct consumer fresh;
	int i, event;

	TH_LOG("seed %llu", (unsigned long long)state);
	end = now_ns() + run_ms() * NSEC_PER_MSEC;
	for (i = 0; i < SCRIBBLERS; i++) {
		s[i] = (struct scribbler){
			.ring = &self->ring,
			.over = &self->over,
			.state = state + i + 1,
		};
		ASSERT_EQ(0, task_start(&s[i].task, scribble, &s[i]));
	}
	while (now_ns() < end)
		use_ring(&self->ring, self->events, &state);
	atomic_store(&self->over, true);
	for (i = 0; i < SCRIBBLERS; i++)
		EXPECT_LT(0, task_join(&s[i].task));

	/* Once it is honest again everything is as before. */
	for (i = 0; i < FILES; i++)
		close(self->events[i]);
	while (eset_drain(&self->ring.set) > 0)
		;
	atomic_store(self->ring.word, 0);
	consumer_init(&fresh, &self->ring, 0);
	event = ring_add_eventfd(&self->ring);
	ASSERT_LE(0, event);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, eventfd_post(event));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&fresh, event));
	}
}

TEST_F(ring_hostile, every_word_is_survived)
{
	static const uint64_t words[] = {
		0, 1, SLOTS, SLOTS + 1, DEVEPOLL_RING_COUNT, DEVEPOLL_RING_ASK,
		~0U, 1ULL << 32, 2ULL << 32 | 1, 3ULL << 32, ~0ULL << 32, ~0ULL,
		1ULL << 63, 0xdeadbeefcafef00d,
	};
	struct epoll_event out[FILES];
	struct consumer c;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		for (j = 0; j < 6; j++) {
			ASSERT_EQ(0, eventfd_post(self->events[0]));
			atomic_store(self->ring.word, words[i]);
			if (j == 0)
				ASSERT_EQ(0, eventfd_post(self->events[0]));
			if (j == 1)
				ASSERT_LE(0, ring_wait(&self->ring, 0));
			if (j == 2)
				ASSERT_LE(0, eset_wait(&self->ring.set, out,
						       FILES, 0));
			if (j == 3)
				ASSERT_EQ(0, ring_mod(&self->ring,
						      self->events[0],
						      EPOLLIN));
			if (j == 4)
				poll_now(self->ring.set.fd, POLLIN);
			ASSERT_EQ(0, eventfd_post(self->events[1]));
		}
		atomic_store(self->ring.word, 1ULL << 32);
		consumer_init(&c, &self->ring, 1);
		ASSERT_EQ(0, eventfd_post(self->events[2]));
		ASSERT_EQ(EPOLLIN, consumer_take_one(&c, self->events[2]));
	}
}

static long post_events(void *arg)
{
	struct scribbler *s = arg;
	long n = 0;

	/* Of its own: none is watched by two threads. */
	do {
		eventfd_post(s->state);
		n++;
	} while (!atomic_load_explicit(s->over, memory_order_relaxed));
	return n;
}

TEST_F(ring_hostile, unmapping_while_events_are_posted_harms_nothing)
{
	struct scribbler s = {
		.over = &self->over,
		.state = self->events[0],
	};
	uint64_t end = now_ns() + run_ms() * NSEC_PER_MSEC;

	ASSERT_EQ(0, task_start(&s.task, post_events, &s));
	while (now_ns() < end) {
		void *word = ring_map_word(self->ring.set.fd);
		void *slots = ring_map_slots(self->ring.set.fd, 2, SLOTS);

		ASSERT_NE(MAP_FAILED, word);
		ASSERT_NE(MAP_FAILED, slots);
		(void)*(volatile uint64_t *)word;
		(void)*(volatile uint64_t *)slots;
		madvise(slots, getpagesize(), MADV_DONTNEED);
		madvise(word, getpagesize(), MADV_DONTNEED);
		munmap(word, getpagesize());
		munmap(slots, ring_slots_size(2, SLOTS));
	}
	atomic_store(&self->over, true);
	EXPECT_LT(0, task_join(&s.task));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->events[0]));
}

TEST_F(ring_hostile, the_mapping_keeps_what_it_shows)
{
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	ASSERT_EQ(0, close(self->ring.set.fd));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	EXPECT_EQ(2, consumer_take(&self->me));
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->events[0]));
	ring_unmap(&self->ring);
	/* Now nobody has the set. */
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	self->ring.set.ops = NULL;
}

TEST_F(ring_hostile, two_mappings_are_one_ring)
{
	struct ring again = self->ring;
	struct consumer c;

	again.word = ring_map_word(again.set.fd);
	again.sets = ring_map_slots(again.set.fd, 2, SLOTS);
	ASSERT_NE(MAP_FAILED, again.word);
	ASSERT_NE(MAP_FAILED, again.sets);
	consumer_init(&c, &again, 1);
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&c, self->events[0]));
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_EQ(0, eventfd_post(self->events[1]));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->events[1]));
	ring_unmap(&again);
}

/* A child that maps the ring anew is one more consumer. */
TEST_F(ring_hostile, a_child_that_takes_gets_events_of_its_parent)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, eventfd_post(self->events[0]));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct ring own = self->ring;
		struct consumer c;

		own.word = ring_map_word(own.set.fd);
		own.sets = ring_map_slots(own.set.fd, 2, SLOTS);
		consumer_init(&c, &own, 1);
		_exit(consumer_take_one(&c, self->events[0]) != EPOLLIN);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, consumer_take(&self->me));
	ASSERT_EQ(0, eventfd_post(self->events[0]));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, self->events[0]));
}

/* A child that scribbles, and is killed while it does. */
TEST_F(ring_hostile, a_process_that_is_killed_leaves_the_set_in_order)
{
	uint64_t state = now_ns() | 1, end;
	int i, status;

	for (i = 0; i < 5; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid) {
			struct ring own = self->ring;
			struct scribbler s = { .ring = &own,
					       .over = &self->over,
					       .state = state + i };

			own.word = ring_map_word(own.set.fd);
			_exit(scribble(&s));
		}
		end = now_ns() + run_ms() * NSEC_PER_MSEC / 10;
		while (now_ns() < end)
			use_ring(&self->ring, self->events, &state);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
	for (i = 0; i < FILES; i++)
		close(self->events[i]);
	while (eset_drain(&self->ring.set) > 0)
		;
	EXPECT_EQ(0, eset_drain(&self->ring.set));
}

TEST_HARNESS_MAIN
