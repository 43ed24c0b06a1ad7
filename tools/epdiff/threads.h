/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several threads that wait on one instance of each side.
 */
#ifndef EPDIFF_THREADS_H
#define EPDIFF_THREADS_H

#include <stdint.h>

#include "engine.h"

/**
 * threads_play() - play rounds with threads
 * @sides: the two engines
 * @seed: where the choices come from; the timing is not the same again
 * @ops: stop after so many events were posted
 * @until: or at this time, in seconds of CLOCK_MONOTONIC; 0: never
 *
 * Prints what it did, and the first difference.
 *
 * Return: whether there was none
 */
bool threads_play(const struct engine *const sides[2], uint64_t seed,
		  int64_t ops, double until);

#endif /* EPDIFF_THREADS_H */
