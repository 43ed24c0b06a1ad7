/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One operation of a sequence, as data and as a line of text.
 *
 * An operation contains everything that it needs.  An operation that can't be
 * made (on an empty slot, or on a slot that can't be written) does nothing, so
 * any part of a sequence is a valid sequence.  Shrinking depends on this.
 */
#ifndef EPDIFF_OP_H
#define EPDIFF_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Slots are numbers of fds that sequences use; sets are on both sides.  What
 * is added to a set is a target: a slot or, after the slots, a set.
 */
enum { SLOTS = 20, SETS = 7, TARGETS = SLOTS + SETS };

/* The bits of events that epoll_ctl(2) knows. */
#define EVENT_NVAL	0x20u
#define EVENTS_KNOWN \
	(EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP | EVENT_NVAL | \
	 EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM | EPOLLWRBAND | EPOLLMSG | \
	 EPOLLRDHUP | EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET)

enum verb {
	OP_MAKE,	/* a new file in slot fd, its other end in slot to */
	OP_CLOSE,
	OP_DUP,		/* slot fd to slot to, over what is there */
	OP_WRITE,
	OP_FILL,	/* write until no more goes in */
	OP_READ,
	OP_DRAIN,	/* read until no more comes out */
	OP_URGENT,
	OP_SHUT,
	OP_RESET,	/* close a TCP socket so that the peer gets a RST */
	OP_ADD,
	OP_MOD,
	OP_DEL,
	OP_ODD,		/* epoll_ctl() with wrong arguments */
	OP_WAIT,
	OP_ROUNDS,	/* wait with a small limit until all have come */
	OP_FAULT,	/* wait into memory that ends too early */
	OP_ASK,		/* poll() of the set */
	OP_RENEW,	/* close a set, and make a new one */
	OP_FORK,	/* a child does the next operations */
	OP_OTHER,	/* a process with a table of its own does them */
	OP_VERBS,
};

/* What is wrong with the arguments of OP_ODD. */
enum odd {
	ODD_VERB, ODD_VERB_ZERO, ODD_NO_EVENT_ADD, ODD_NO_EVENT_MOD,
	ODD_NO_EVENT_DEL, ODD_FD_NEGATIVE, ODD_FD_HUGE, ODD_SELF, ODDS,
};

/**
 * struct op - one operation
 * @verb: enum verb
 * @set: the set
 * @fd: the target, or the slot
 * @to: the other slot of OP_MAKE and OP_DUP
 * @entry: by which call the device is asked
 * @hold: make this change in one call with the next one
 * @first: the side that is asked first
 * @ms: time-out of a wait
 * @events: EPOLL* bits
 * @data: part of the user data
 * @n: bytes, results, operations, or which: a kind of file, what is odd
 */
struct op {
	uint8_t verb;
	uint8_t set;
	uint8_t fd;
	uint8_t to;
	uint8_t entry;
	uint8_t hold;
	uint8_t first;
	uint8_t ms;
	uint32_t events;
	uint32_t data;
	int32_t n;
};

/**
 * op_name() - the word for a verb
 * @verb: enum verb
 *
 * Return: the word, or NULL for none
 */
const char *op_name(unsigned int verb);

/**
 * op_find() - the verb of a word
 * @name: the word
 *
 * Return: enum verb, or -1
 */
int op_find(const char *name);

/**
 * op_print() - write an operation as a line
 * @out: where to
 * @op: the operation
 */
void op_print(FILE *out, const struct op *op);

/**
 * op_parse() - read what op_print() wrote
 * @line: the line; it is cut into words
 * @op: out: the operation
 *
 * Return: 1; 0 for a line without an operation; -1 for one that is not
 * understood
 */
int op_parse(char *line, struct op *op);

/**
 * op_simpler() - make one thing of an operation simpler
 * @op: the operation
 * @way: which thing, from 0 on
 *
 * Return: 1 if @op was changed, 0 if @way does not apply, -1 if there are no
 * more ways
 */
int op_simpler(struct op *op, unsigned int way);

/* Events as text, "IN|ET"; @size of 128 is enough. */
const char *events_text(uint32_t events, char *text, size_t size);

#endif /* EPDIFF_OP_H */
