/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The intended differences between the device and epoll, one row each.
 *
 * They do not exclude anything from the comparison.  For some, the epoll side
 * makes a call to do what the device does by itself.  For others, the row says
 * exactly which other result the device may have, and when.  For the rest, the
 * fuzzer does not make an operation after which the states of the two sides
 * would differ.
 */
#ifndef EPDIFF_INTENDED_H
#define EPDIFF_INTENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"

struct world;

enum intended {
	INTENDED_STALE,
	INTENDED_STALE_DEL,
	INTENDED_STALE_NESTED,
	INTENDED_STALE_FORKED,
	INTENDED_REVIVED,
	INTENDED_FOREIGN,
	INTENDED_EPOLL_MEMBER,
	INTENDED_SET_KEY,
	INTENDED_SET_MOD,
	INTENDED_SET_LATE,
	INTENDED_WAYS,
	INTENDED_UNKNOWN_BITS,
	INTENDED_KEPT,
	INTENDED_NR,
};

/**
 * struct intended_row - one intended difference
 * @name: the word for it
 * @row: what stands in the first column of Documentation/differences.rst
 * @why: how it is dealt with here
 */
struct intended_row {
	const char *name;
	const char *row;
	const char *why;
};

extern const struct intended_row intended_rows[INTENDED_NR];

/* A number that was added is about to be closed while its file lives on. */
void intended_close(struct world *w, unsigned int slot);

/* A child is about to be made. */
void intended_fork(struct world *w);

/* A number is about to name the file of this serial. */
void intended_open(struct world *w, unsigned int slot, uint32_t serial);

/* The file of this serial is gone. */
void intended_gone(struct world *w, uint32_t serial);

/* An operation is about to be made that may poll and hand out nothing. */
void intended_ask(struct world *w, const struct op *op);

/* An operation is done: what the device leaves to later is waited for. */
void intended_settle(struct world *w);

/**
 * struct change - a change and what became of it on one side
 * @op: the operation
 * @stale: the device may have had this number stale
 * @is_epoll: the target is an in-tree epoll file
 * @result: of the reference side, 0 or -errno
 */
struct change {
	struct op op;
	bool stale;
	bool is_epoll;
	int result;
};

/*
 * Turns a change into one that both sides treat alike.  Return: the change to
 * make, @op or one in @other; or NULL if there is none.
 */
const struct op *intended_change(struct world *w, const struct op *op,
				 struct op *other);

/* The reference side has made a change: makes its state that of the device. */
void intended_made(struct world *w, struct change *change);

/* A MOD has been made in a set, which may be in others; @depth is 0. */
void intended_modified(struct world *w, unsigned int set, unsigned int depth);

/* Whether the device's result is one that it may have. */
bool intended_result(struct world *w, const struct change *change, int result);

#endif /* EPDIFF_INTENDED_H */
