/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world: files, two sides that watch them, and what is known about both.
 *
 * A world is in memory that several processes share: the child of OP_FORK,
 * which continues where its parent was; the process of OP_OTHER, which shares
 * only the instances; and the process that checks the outcome.  What belongs to
 * a single process, namely which of the numbers it has closed, is in struct
 * own.
 */
#ifndef EPDIFF_WORLD_H
#define EPDIFF_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "file.h"
#include "intended.h"
#include "op.h"
#include "rng.h"

/* What an item of OP_OTHER has in its data besides its slot. */
#define OTHER_DATA	64

/* The numbers of slots, and of the sets of side 0 and 1. */
#define SLOT_FD		100
#define SET_FD		140
#define SET_FD_STEP	16
/* What side 1 has in a slot whose file forgets. */
#define TWIN_FD		180
#define OPS_MOST	4096

/**
 * struct member - what is known of a target in a set
 * @in: it was added, and is there
 * @foreign: a child has added it, which is gone
 * @events: what it is asked for
 * @data: its user data
 * @stale: serial of a file whose number was closed while the file lived on;
 *	the device may still have it; 0: none
 */
struct member {
	bool in;
	bool foreign;
	uint32_t events;
	uint64_t data;
	uint32_t stale;
};

/**
 * struct verdict - the first difference
 * @found: there is one
 * @at: the operation
 * @text: both outcomes
 */
struct verdict {
	bool found;
	unsigned int at;
	char text[3072];
};

/**
 * struct tally - what was done, over all worlds
 * @ops: operations, by verb
 * @worlds: worlds
 * @changes: changes of which both results were compared
 * @waits: waits of which both results were compared
 * @fruitful: those of them that gave events
 * @events: the events of one side
 * @partial: waits that did not give all
 * @reordered: those of them in which the sides gave different ones
 * @rode: changes that rode on a wait
 * @intended: intended differences met, by number
 */
struct tally {
	uint64_t ops[OP_VERBS];
	uint64_t worlds;
	uint64_t changes;
	uint64_t waits;
	uint64_t fruitful;
	uint64_t events;
	uint64_t partial;
	uint64_t reordered;
	uint64_t rode;
	uint64_t intended[INTENDED_NR];
};

/**
 * struct world - all of it
 * @seed: where its operations come from
 * @sides: the two engines
 * @dev: which side follows the device, or -1 if none or both do
 * @ref: the other one, or 0
 * @files: a file has at least one slot
 * @slots: index of the file, or -1
 * @members: what is in the sets
 * @serials: the last serial given
 * @ops: the sequence
 * @nops: its length
 * @at: the operation that is being played
 * @verdict: the first difference
 * @news: a file that forgets may have something to tell
 * @tally: not cleared with the world
 */
struct world {
	uint64_t seed;
	const struct engine *sides[2];
	int dev;
	int ref;
	struct file files[SLOTS];
	int8_t slots[SLOTS];
	struct member members[SETS][TARGETS];
	uint32_t serials;
	struct op ops[OPS_MOST];
	unsigned int nops;
	unsigned int at;
	struct verdict verdict;
	bool news;
	struct tally tally;
};

/**
 * struct own - what belongs to this process alone
 * @is_child: of OP_FORK
 * @is_other: of OP_OTHER, whose slots name eventfds that it has made
 * @closed: slots that the child has closed, by bit; of OP_OTHER all
 * @twins: slots in which side 1 has an open file of its own, by bit
 * @added: targets that the child has added or changed, by set and bit
 * @made: slots that name an eventfd of OP_OTHER, by bit
 * @members: what OP_OTHER has in the sets
 */
struct own {
	bool is_child;
	bool is_other;
	uint32_t closed;
	uint32_t twins;
	uint32_t added[SETS];
	uint32_t made;
	struct member members[SETS][SLOTS];
};

extern struct own own;

/* Makes the sets; ends the process if that fails. */
void world_begin(struct world *w);

/* Closes everything. */
void world_end(struct world *w);

/* The number that a target has for a side. */
int target_fd(unsigned int target, int side);

static inline int set_fd(unsigned int set, int side)
{
	return target_fd(SLOTS + set, side);
}

/* The file of a slot that this process has open, or NULL. */
struct file *slot_file(struct world *w, unsigned int slot);

/* Whether a slot names anything in this process. */
bool slot_is_open(struct world *w, unsigned int slot);

/* What this process knows of a target in a set. */
struct member *world_member(struct world *w, unsigned int set,
			    unsigned int target);

/* Whether a set is in another one. */
bool set_is_member(const struct world *w, unsigned int set);

/* A number for the other end of a file, or -1. */
int peer_fd(struct world *w, const struct file *f);

static inline struct file *file_peer(struct world *w, const struct file *f)
{
	return &w->files[f->peer];
}

void world_make(struct world *w, unsigned int kind, unsigned int slot,
		unsigned int other);
void world_close(struct world *w, unsigned int slot, bool reset);
void world_dup(struct world *w, unsigned int slot, unsigned int to);
void world_renew(struct world *w, unsigned int set);

/* This process becomes that of OP_OTHER: it keeps nothing but the sets. */
void world_become_other(void);

/* Notes the first difference. */
[[gnu::format(printf, 2, 3)]]
void differ(struct world *w, const char *format, ...);

#endif /* EPDIFF_WORLD_H */
