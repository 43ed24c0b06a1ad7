/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Playing worlds in child processes, so that no world can hang or kill the
 * fuzzer, and each replay starts from a clean state.
 */
#ifndef EPDIFF_RUN_H
#define EPDIFF_RUN_H

#include <stdint.h>

#include "gen.h"
#include "world.h"

enum outcome {
	RUN_SAME,	/* both sides did the same */
	RUN_DIFFERS,
	RUN_HANGS,
	RUN_DIES,
};

/**
 * struct run - what the fuzzer shares with its children
 * @world: the world that is being played
 * @gen: the generator
 * @seed: of the next world
 * @ops_left: operations to do
 * @until: when to stop, in seconds of CLOCK_MONOTONIC; 0: never
 */
struct run {
	struct world world;
	struct gen gen;
	uint64_t seed;
	int64_t ops_left;
	double until;
};

/* Shared memory for one; ends the process if there is none. */
struct run *run_new(const struct engine *const sides[2]);

/**
 * run_random() - play random worlds in a child
 * @run: the run; what is left to do is counted down
 *
 * Return: enum outcome, with a verdict in the world unless RUN_SAME
 */
enum outcome run_random(struct run *run);

/**
 * run_ops() - play a sequence in a child
 * @run: the run
 * @ops: the sequence; may be that of @run
 * @n: its length
 *
 * Return: as run_random()
 */
enum outcome run_ops(struct run *run, const struct op *ops, unsigned int n);

/**
 * shrink() - remove from the world's sequence what the difference does not need
 * @run: the run, after run_random() or run_ops() have found one
 * @outcome: what is to be kept
 * @seconds: how long it may take
 *
 * The verdict is that of the last sequence that was tried and kept.
 */
void shrink(struct run *run, enum outcome outcome, double seconds);

#endif /* EPDIFF_RUN_H */
