// SPDX-License-Identifier: GPL-2.0
/* The caches of a processor: see cache.h. */
#include <stdlib.h>
#include <string.h>

#include "cache.h"

static size_t bytes_of(const struct cache *cache)
{
	return (size_t)cache->sets * cache->ways * sizeof(*cache->lines);
}

static uint64_t *set_of(const struct cache *cache, uint64_t line)
{
	return cache->lines + (size_t)(line & (cache->sets - 1)) * cache->ways;
}

void cache_make(struct cache *cache, uint32_t size, uint32_t ways)
{
	cache->ways = ways;
	cache->sets = (size >> LINE_SHIFT) / ways;
	cache->lines = malloc(bytes_of(cache));
	if (!cache->lines)
		abort();
	cache_empty(cache);
}

void cache_empty(struct cache *cache)
{
	memset(cache->lines, 0, bytes_of(cache));
}

bool cache_use(struct cache *cache, uint64_t line)
{
	/* No line is 0. */
	uint64_t *set = set_of(cache, line), key = line + 1;
	uint32_t way;
	bool there;

	if (set[0] == key)
		return true;
	for (way = 0; way < cache->ways - 1; way++)
		if (set[way] == key)
			break;
	there = set[way] == key;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = key;
	return there;
}

void cache_drop(struct cache *cache, uint64_t line)
{
	uint64_t *set = set_of(cache, line);
	uint32_t way;

	for (way = 0; way < cache->ways; way++)
		if (set[way] == line + 1)
			set[way] = 0;
}
