/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on instances, made on both sides and compared.
 */
#ifndef EPDIFF_LOCKSTEP_H
#define EPDIFF_LOCKSTEP_H

#include "world.h"

/* The most results of one wait. */
#define EVENTS_MOST	64

/* OP_ADD, OP_MOD, OP_DEL. */
void change_play(struct world *w, const struct op *op);

/* OP_ODD. */
void change_play_odd(struct world *w, const struct op *op);

/* Makes the changes that are held back, if there are any. */
void change_flush(struct world *w);

/* Whether changes of this set are held back. */
bool change_holds(unsigned int set);

/*
 * Makes the changes that are held back and waits, in one call of the device.
 * Return: as engine.wait
 */
int change_flush_and_wait(struct world *w, struct epoll_event *out, int max,
			  unsigned int entry);

/* OP_WAIT, OP_ROUNDS, OP_FAULT, OP_ASK. */
void wait_play(struct world *w, const struct op *op);
void wait_play_rounds(struct world *w, const struct op *op);
void wait_play_fault(struct world *w, const struct op *op);
void wait_play_ask(struct world *w, const struct op *op);

#endif /* EPDIFF_LOCKSTEP_H */
