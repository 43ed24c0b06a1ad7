/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Playing a world: its operations, one after the other.
 */
#ifndef EPDIFF_PLAY_H
#define EPDIFF_PLAY_H

#include "world.h"

/**
 * world_play() - do all operations, until a difference is found
 * @w: the world, with its operations
 * @next: makes the operation at @w->at before it is played; NULL if they are
 *	there already
 * @arg: for @next
 */
void world_play(struct world *w,
		void (*next)(struct world *w, struct op *op, void *arg),
		void *arg);

#endif /* EPDIFF_PLAY_H */
