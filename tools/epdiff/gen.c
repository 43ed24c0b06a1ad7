// SPDX-License-Identifier: GPL-2.0
/* Random operations, chosen according to the state of the world. */
#include <string.h>
#include <sys/epoll.h>

#include "gen.h"
#include "lockstep.h"

#define NOF(array)	(sizeof(array) / sizeof((array)[0]))

/* How often each verb is chosen in a world without a character. */
static const unsigned int usual[OP_VERBS] = {
	[OP_MAKE] = 24, [OP_CLOSE] = 12, [OP_DUP] = 16, [OP_WRITE] = 150,
	[OP_FILL] = 16, [OP_READ] = 90, [OP_DRAIN] = 40, [OP_URGENT] = 12,
	[OP_SHUT] = 10, [OP_RESET] = 2, [OP_ADD] = 120, [OP_MOD] = 90,
	[OP_DEL] = 40, [OP_ODD] = 5, [OP_WAIT] = 300, [OP_ROUNDS] = 20,
	[OP_FAULT] = 8, [OP_ASK] = 16, [OP_RENEW] = 1, [OP_FORK] = 1,
	[OP_OTHER] = 24,
};

static const uint32_t masks[] = {
	EPOLLIN, EPOLLIN, EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT,
	EPOLLIN | EPOLLOUT, EPOLLIN | EPOLLRDHUP, EPOLLIN | EPOLLPRI, 0,
	EPOLLOUT | EPOLLERR, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI,
	EPOLLHUP, EPOLLRDHUP, EPOLLPRI, EPOLLRDNORM, EPOLLWRNORM,
	EPOLLWRBAND | EPOLLRDBAND, EPOLLRDNORM | EPOLLWRNORM | EPOLLMSG,
};

static bool without_verb[OP_VERBS];
static bool without_kind[FILE_KINDS];
static bool without_nest, without_exclusive, without_bits, without_hold;

bool gen_without(const char *word)
{
	static const struct {
		const char *word;
		bool *flag;
	} flags[] = {
		{ "nest", &without_nest }, { "exclusive", &without_exclusive },
		{ "bits", &without_bits }, { "hold", &without_hold },
	};
	size_t i;

	for (i = 0; i < NOF(flags); i++) {
		if (!strcmp(word, flags[i].word))
			return *flags[i].flag = true;
	}
	if (op_find(word) >= 0)
		return without_verb[op_find(word)] = true;
	if (file_kind_find(word) >= 0)
		return without_kind[file_kind_find(word)] = true;
	return false;
}

static void choose_weights(struct gen *gen)
{
	static const unsigned int factors[] = { 0, 1, 2, 2, 2, 4, 8 };
	int i;

	gen->total = 0;
	for (i = 0; i < OP_VERBS; i++) {
		unsigned int factor = factors[rng_below(&gen->rng,
							NOF(factors))];

		/* Without these there is nothing to compare. */
		if (!factor && (i == OP_MAKE || i == OP_ADD || i == OP_WAIT))
			factor = 1;
		gen->weights[i] = without_verb[i] ? 0 : usual[i] * factor;
		/* Nested sets and this can't be combined. */
		if (i == OP_OTHER && !gen->other)
			gen->weights[i] = 0;
		gen->total += gen->weights[i];
	}
}

static void choose_kinds(struct gen *gen)
{
	int kind;

	gen->nkinds = 0;
	for (kind = 0; kind < FILE_KINDS; kind++) {
		unsigned int rare = kind < FILE_KINDS_POLLABLE ? 2 : 5;

		if (!without_kind[kind] && rng_once_in(&gen->rng, rare))
			gen->kinds[gen->nkinds++] = kind;
	}
	if (!gen->nkinds)
		gen->kinds[gen->nkinds++] = FILE_STREAM;
}

void gen_begin(struct gen *gen, struct world *w, uint64_t seed)
{
	struct rng *rng = &gen->rng;

	rng_seed(rng, seed);
	gen->other = rng_once_in(rng, 4);
	choose_weights(gen);
	choose_kinds(gen);
	gen->slots = 2 + rng_below(rng, SLOTS - 1);
	gen->sets = 1 + rng_below(rng, 3);
	gen->edge = rng_below(rng, 17);
	gen->nest = 0;
	if (!without_nest && !gen->other && rng_once_in(rng, 3)) {
		gen->sets = 2 + rng_below(rng, SETS - 1);
		gen->nest = 1 + rng_below(rng, 6);
	}
	gen->share = rng_once_in(rng, 12);
	gen->small = rng_below(rng, 17);
	w->seed = seed;
	w->nops = 100 + rng_below(rng, 900);
}

static unsigned int any_verb(struct gen *gen)
{
	unsigned int at = rng_below(&gen->rng, gen->total), verb = 0;

	while (at >= gen->weights[verb])
		at -= gen->weights[verb++];
	return verb;
}

/* A slot that is open, nearly always. */
static unsigned int open_slot(struct gen *gen, struct world *w)
{
	unsigned int slot = 0, tries;

	for (tries = 0; tries < 8; tries++) {
		slot = rng_below(&gen->rng, gen->slots);
		if (slot_is_open(w, slot) || rng_once_in(&gen->rng, 40))
			break;
	}
	return slot;
}

/* A slot to be made or overwritten: one that is free, mostly. */
static unsigned int free_slot(struct gen *gen, struct world *w)
{
	unsigned int slot = 0, tries;

	for (tries = 0; tries < 4; tries++) {
		slot = rng_below(&gen->rng, gen->slots);
		if (!slot_is_open(w, slot) || rng_once_in(&gen->rng, 10))
			break;
	}
	return slot;
}

/* A set; in most worlds none that is in another one already. */
static unsigned int any_set(struct gen *gen, struct world *w, unsigned int set)
{
	unsigned int target = SLOTS + rng_below(&gen->rng, gen->sets), outer;

	for (outer = 0; outer < SETS && !gen->share; outer++) {
		if (outer != set && w->members[outer][target].in)
			return open_slot(gen, w);
	}
	return target;
}

static unsigned int any_target(struct gen *gen, struct world *w, bool is_in,
			       unsigned int set)
{
	unsigned int target = 0, tries;

	for (tries = 0; tries < 10; tries++) {
		if (rng_below(&gen->rng, 16) < gen->nest)
			target = any_set(gen, w, set);
		else
			target = open_slot(gen, w);
		if (world_member(w, set, target)->in == is_in ||
		    rng_once_in(&gen->rng, 12))
			break;
	}
	return target;
}

static uint32_t any_events(struct gen *gen, bool is_add)
{
	struct rng *rng = &gen->rng;
	uint32_t events = masks[rng_below(rng, NOF(masks))];

	if (rng_once_in(rng, 16))
		events = rng_next(rng) & 0x27ff;
	if (rng_below(rng, 16) < gen->edge)
		events |= EPOLLET;
	if (rng_once_in(rng, 5))
		events |= EPOLLONESHOT;
	if (!without_exclusive && rng_once_in(rng, is_add ? 12 : 60)) {
		events |= EPOLLEXCLUSIVE;
		if (!rng_once_in(rng, 4))
			events &= EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP |
				  EPOLLET | EPOLLEXCLUSIVE;
	}
	if (rng_once_in(rng, 40))
		events |= EPOLLWAKEUP;
	if (!without_bits && rng_once_in(rng, 400))
		events |= 1u << rng_below(rng, 28);
	return events;
}

static int any_limit(struct gen *gen)
{
	struct rng *rng = &gen->rng;

	if (rng_once_in(rng, 60))
		return -1 - (int)rng_below(rng, 4);
	if (rng_below(rng, 16) < gen->small)
		return 1 + rng_below(rng, rng_once_in(rng, 2) ? 2 : 6);
	return EVENTS_MOST;
}

static unsigned int any_entry(struct gen *gen)
{
	/* The mapping is made anew each time, which takes long. */
	unsigned int entries = rng_once_in(&gen->rng, 20) ? ENTRIES :
							     ENTRY_MAPPED;

	return rng_below(&gen->rng, entries);
}

static void gen_change(struct gen *gen, struct world *w, struct op *op)
{
	op->fd = any_target(gen, w, op->verb != OP_ADD, op->set);
	if (op->verb != OP_DEL) {
		op->events = any_events(gen, op->verb == OP_ADD);
		op->data = rng_next(&gen->rng) >> 32;
	}
	op->hold = !without_hold && rng_once_in(&gen->rng, 6);
}

static void gen_verb(struct gen *gen, struct world *w, struct op *op)
{
	struct rng *rng = &gen->rng;

	switch (op->verb) {
	case OP_MAKE:
		op->fd = free_slot(gen, w);
		op->to = free_slot(gen, w);
		op->n = gen->kinds[rng_below(rng, gen->nkinds)];
		break;
	case OP_DUP:
		op->fd = open_slot(gen, w);
		op->to = free_slot(gen, w);
		break;
	case OP_ADD:
	case OP_MOD:
	case OP_DEL:
		gen_change(gen, w, op);
		break;
	case OP_ODD:
		op->fd = rng_below(rng, TARGETS);
		op->events = any_events(gen, true);
		op->n = rng_below(rng, ODDS);
		break;
	case OP_WAIT:
		op->n = any_limit(gen);
		op->ms = rng_once_in(rng, 200);
		break;
	case OP_ROUNDS:
	case OP_FAULT:
		op->n = rng_below(rng, 8);
		break;
	case OP_FORK:
	case OP_OTHER:
		op->n = 1 + rng_below(rng, 16);
		break;
	default:
		op->fd = open_slot(gen, w);
		op->n = rng_below(rng, 256);
	}
}

void gen_next(struct world *w, struct op *op, void *arg)
{
	struct gen *gen = arg;

	memset(op, 0, sizeof(*op));
	op->verb = any_verb(gen);
	op->set = rng_below(&gen->rng, gen->sets);
	op->first = rng_below(&gen->rng, 2);
	op->entry = any_entry(gen);
	/* At last nothing may be left that one side has and the other not. */
	if (w->at + gen->sets >= w->nops) {
		op->verb = OP_WAIT;
		op->set = w->nops - 1 - w->at;
		op->n = EVENTS_MOST;
		return;
	}
	gen_verb(gen, w, op);
}
