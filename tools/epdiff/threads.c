// SPDX-License-Identifier: GPL-2.0
/*
 * Several threads that wait on one instance of each side, and the results that
 * are well-defined in this case.
 *
 * In each round, two producers post to the files while threads of both sides
 * sleep in waits without a timeout.  Whatever the timing, each side must report
 * a file
 *
 *   once, if it is one-shot;
 *   at least once, and at most as often as a producer posted to it, if it is
 *   edge-triggered;
 *   at least once over two instances together, and at most twice as often as a
 *   producer posted to it, if it is exclusive; the other side does not watch
 *   such a file, because a wake-up is for one instance of both sides;
 *   never, if it was removed before a producer posted to it.
 *
 * If an event is missing after a long wait, this is a difference.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "crowd.h"
#include "file.h"
#include "run.h"
#include "threads.h"

#define ROUNDS		50
#define BOUND_SECONDS	20

static const char *const mode_names[MODES] = {
	"one-shot", "edge", "exclusive", "removed",
};

/* Whether a side has been told of a file, if it must. */
static bool is_told(struct crowd *c, int side, int file)
{
	return !c->files[file].posts || !crowd_watches(c, side, file) ||
	       atomic_load(&crowd_told(c, side, file)->times);
}

static bool all_are_told(struct crowd *c)
{
	int i;

	for (i = 0; i < FILES; i++) {
		if (!is_told(c, 0, i) || !is_told(c, 1, i))
			return false;
	}
	return true;
}

static unsigned int told_at_most(const struct crowd *c, int side, int file)
{
	const struct posted *f = &c->files[file];

	if (!crowd_watches(c, side, file))
		return 0;
	switch (f->mode) {
	case MODE_ONESHOT:
		return !!f->posts;
	case MODE_EXCLUSIVE:
		return 2 * f->posts;
	default:
		return f->posts;
	}
}

static bool judge_file(struct crowd *c, int side, int file)
{
	const struct posted *f = &c->files[file];
	struct told *told = crowd_told(c, side, file);
	unsigned int events = atomic_load(&told->events);
	unsigned int times = atomic_load(&told->times);

	if (is_told(c, side, file) && times <= told_at_most(c, side, file) &&
	    !(events & ~EPOLLIN))
		return true;
	printf("# %s: %s %s %d was posted to %u times, told of %u times: %#x\n",
	       c->sides[side]->name, mode_names[f->mode],
	       file_kind_name(f->kind), file, f->posts, times, events);
	return false;
}

/* One round.  Return: whether all was as it must be. */
static bool play_round(struct crowd *c, struct rng *rng)
{
	static const struct timespec pause = { .tv_nsec = 100000 };
	double until;
	bool good;
	int i;

	/* Should a call never return, the signal ends this process. */
	alarm(4 * BOUND_SECONDS);
	crowd_arm(c, rng);
	crowd_post(c);
	until = now_seconds() + BOUND_SECONDS;
	while (!all_are_told(c) && !atomic_load(&c->bad) &&
	       now_seconds() < until)
		nanosleep(&pause, NULL);
	/* Before judging, so that what comes too often has come. */
	good = crowd_drain(c);
	for (i = 0; i < FILES; i++)
		good = judge_file(c, 0, i) && judge_file(c, 1, i) && good;
	if (atomic_load(&c->bad)) {
		printf("# a wait without a time-out gives %d\n",
		       atomic_load(&c->bad));
		good = false;
	}
	return good;
}

/* Some rounds with the same files.  Return: whether they went well. */
static bool play_rounds(const struct engine *const sides[2], uint64_t seed,
			int64_t *ops)
{
	struct crowd c = { .sides = { sides[0], sides[1] } };
	int rounds = ROUNDS, i;
	bool good = true;
	struct rng rng;

	rng_seed(&rng, seed);
	crowd_begin(&c, seed, &rng);
	while (good && rounds--) {
		good = play_round(&c, &rng);
		for (i = 0; i < FILES; i++)
			*ops += c.files[i].posts;
	}
	crowd_end(&c, good);
	return good;
}

bool threads_play(const struct engine *const sides[2], uint64_t seed,
		  int64_t ops, double until)
{
	uint64_t first = seed;
	int64_t done = 0;
	bool good = true;

	while (good && done < ops && !(until && now_seconds() > until)) {
		good = play_rounds(sides, seed, &done);
		if (!good)
			printf("# DIFFERENCE with threads, --threads --seed %llu\n",
			       (unsigned long long)seed);
		seed++;
	}
	printf("# %s:%s with threads: %lld events posted, seeds %llu to %llu\n",
	       sides[0]->name, sides[1]->name, (long long)done,
	       (unsigned long long)first, (unsigned long long)seed - 1);
	return good;
}
