/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the caches of a processor: sets of lines of 64 bytes, of which the
 * least recently used one goes first.
 */
#ifndef CYCLES_CACHE_H
#define CYCLES_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"

struct cache {
	/* A power of two */
	uint32_t sets;
	uint32_t ways;
	/* The lines of each set, the most recently used one first; 0: none */
	uint64_t *lines;
};

/* Ends the program if there is no memory. */
void cache_make(struct cache *cache, uint32_t size, uint32_t ways);
void cache_empty(struct cache *cache);

/* Looks a line up, which is the most recently used one now.  Was it there? */
bool cache_use(struct cache *cache, uint64_t line);

/* Another processor has written to the line. */
void cache_drop(struct cache *cache, uint64_t line);

#endif /* CYCLES_CACHE_H */
