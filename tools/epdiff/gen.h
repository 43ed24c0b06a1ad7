/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random operations, chosen according to the state of the world.
 */
#ifndef EPDIFF_GEN_H
#define EPDIFF_GEN_H

#include "world.h"

/**
 * struct gen - where operations come from
 * @rng: its random numbers
 * @weights: how often each verb is chosen
 * @total: the sum of them
 * @kinds: the kinds of files that this world has
 * @nkinds: how many
 * @slots: how many slots it uses
 * @sets: how many sets
 * @edge: of 16 items so many are edge-triggered
 * @nest: of 16 targets so many are sets
 * @share: a set may be in several others
 * @other: there is a process with a table of its own
 * @small: of 16 waits so many take only a few events
 *
 * It has to lie in shared memory, as the world does.
 */
struct gen {
	struct rng rng;
	unsigned int weights[OP_VERBS];
	unsigned int total;
	uint8_t kinds[FILE_KINDS];
	unsigned int nkinds;
	unsigned int slots;
	unsigned int sets;
	unsigned int edge;
	unsigned int nest;
	bool share;
	bool other;
	unsigned int small;
};

/**
 * gen_without() - leave something out from now on
 * @word: a verb, a kind of file, or "nest", "exclusive", "bits", "hold"
 *
 * Return: whether there is such a thing
 */
bool gen_without(const char *word);

/**
 * gen_begin() - choose what a world is like
 * @gen: out: the generator
 * @w: the world; its length is set
 * @seed: of this world
 */
void gen_begin(struct gen *gen, struct world *w, uint64_t seed);

/* Makes the operation at @w->at; for world_play(), with a struct gen. */
void gen_next(struct world *w, struct op *op, void *arg);

#endif /* EPDIFF_GEN_H */
