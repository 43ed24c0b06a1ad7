// SPDX-License-Identifier: GPL-2.0
/* The paths of a wake-up from a file to outer instances. */
#include "ways.h"

/* Sets in sets are this deep at most, for both sides. */
#define LENGTHS		5

/*
 * How many paths of each length a file may have in epoll; of the shortest, any
 * number.  If both sides are epoll, each has half of them.
 */
static const unsigned int most[LENGTHS] = {
	0, 500 / 2, 100 / 2, 50 / 2, 10 / 2,
};

/*
 * Counts the paths from a set to the outermost ones.  A path that is too long,
 * as in a cycle, does not count: it is refused for that.
 */
static void count_ways(const struct world *w, unsigned int set,
		       unsigned int length, unsigned int *ways)
{
	bool is_outermost = true;
	unsigned int outer;

	for (outer = 0; outer < SETS; outer++) {
		if (!w->members[outer][SLOTS + set].in)
			continue;
		is_outermost = false;
		if (length + 1 < LENGTHS)
			count_ways(w, outer, length + 1, ways);
	}
	if (is_outermost)
		ways[length]++;
}

static bool file_has_too_many(const struct world *w, int file)
{
	unsigned int ways[LENGTHS] = { 0 }, set, slot, length;

	for (slot = 0; slot < SLOTS; slot++) {
		if (w->slots[slot] != file)
			continue;
		for (set = 0; set < SETS; set++) {
			if (w->members[set][slot].in)
				count_ways(w, set, 0, ways);
		}
	}
	for (length = 1; length < LENGTHS; length++) {
		if (ways[length] > most[length])
			return true;
	}
	return false;
}

static bool has_sets_in_sets(const struct world *w)
{
	unsigned int set, inner;

	for (set = 0; set < SETS; set++) {
		for (inner = SLOTS; inner < TARGETS; inner++) {
			if (w->members[set][inner].in)
				return true;
		}
	}
	return false;
}

bool ways_are_too_many(struct world *w, const struct op *op)
{
	struct member *m = &w->members[op->set][op->fd];
	bool too_many = false;
	int file;

	/* If there is OP_OTHER, no sets are nested. */
	if (op->verb != OP_ADD || own.is_other || m->in ||
	    (op->fd < SLOTS && !has_sets_in_sets(w)))
		return false;
	m->in = true;
	for (file = 0; file < SLOTS && !too_many; file++)
		too_many = w->files[file].refs && file_has_too_many(w, file);
	m->in = false;
	return too_many;
}
