/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that are reproducible from the seed.
 */
#ifndef EPDIFF_RNG_H
#define EPDIFF_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline unsigned int rng_below(struct rng *rng, unsigned int limit)
{
	return (rng_next(rng) >> 16) % limit;
}

/* True once in @n times. */
static inline bool rng_once_in(struct rng *rng, unsigned int n)
{
	return rng_below(rng, n) == 0;
}

static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	rng->state = seed * 0x100000001b3 + 1;
	rng_next(rng);
}

#endif /* EPDIFF_RNG_H */
