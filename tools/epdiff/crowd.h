/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that post to files, and threads that wait for them on both sides.
 */
#ifndef EPDIFF_CROWD_H
#define EPDIFF_CROWD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "rng.h"

/*
 * A thread that counts events may lag by some rounds, so each round has
 * counters of its own.
 */
enum { ROUNDS_KEPT = 8 };

enum { FILES = 24, WAITERS = 6, PRODUCERS = 2, POSTS_MOST = 4 };

enum mode { MODE_ONESHOT, MODE_EDGE, MODE_EXCLUSIVE, MODE_REMOVED, MODES };

/**
 * struct posted - a file of a round
 * @kind: enum file_kind
 * @mode: how it is watched
 * @rfd: where it is read
 * @wfd: where it is written
 * @posts: how often it is posted to in this round
 */
struct posted {
	unsigned int kind;
	enum mode mode;
	int rfd;
	int wfd;
	unsigned int posts;
};

/**
 * struct told - what a side was told of a file
 * @times: how often
 * @events: all that it was told
 */
struct told {
	atomic_uint times;
	atomic_uint events;
};

struct waiter {
	struct crowd *crowd;
	pthread_t thread;
	int side;
	int set;
	struct rng rng;
};

struct producer {
	struct crowd *crowd;
	pthread_t thread;
	int which;
};

/**
 * struct crowd - the threads, their files and what they were told
 * @sides: the engines
 * @sets: two of each side; the second has the exclusive files alone
 * @stop: what ends the waiters
 * @files: the files
 * @told: what a side was told of a file, in each of the last rounds
 * @round: the round
 * @begin: the producers start
 * @end: the producers are done
 * @over: there are no more rounds
 * @bad: a waiter's wait failed with this
 * @waiters: those that wait
 * @producers: those that post
 */
struct crowd {
	const struct engine *sides[2];
	int sets[2][2];
	int stop;
	struct posted files[FILES];
	struct told told[ROUNDS_KEPT][2][FILES];
	atomic_uint round;
	pthread_barrier_t begin;
	pthread_barrier_t end;
	atomic_bool over;
	atomic_int bad;
	struct waiter waiters[WAITERS];
	struct producer producers[PRODUCERS];
};

/* Opens files and sets, and starts the threads. */
void crowd_begin(struct crowd *c, uint64_t seed, struct rng *rng);

/*
 * Ends the threads; after a difference without those that may sleep for ever,
 * and with all left open.
 */
void crowd_end(struct crowd *c, bool good);

/* Whether a side watches a file. */
bool crowd_watches(const struct crowd *c, int side, int file);

static inline struct told *crowd_told(struct crowd *c, int side, int file)
{
	return &c->told[atomic_load(&c->round) % ROUNDS_KEPT][side][file];
}

/* Makes ready for a round.  The data say which it is. */
void crowd_arm(struct crowd *c, struct rng *rng);

/* Lets the producers post, and waits until they have. */
void crowd_post(struct crowd *c);

/*
 * Reads what was posted, and forgets what is pending still.  Return: whether
 * nothing is ready then.
 */
bool crowd_drain(struct crowd *c);

#endif /* EPDIFF_CROWD_H */
