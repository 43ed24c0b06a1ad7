/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The paths of a wake-up from a file to outer instances, which epoll limits.
 */
#ifndef EPDIFF_WAYS_H
#define EPDIFF_WAYS_H

#include "world.h"

/* Whether epoll may refuse an ADD, with EINVAL, for the paths it would make. */
bool ways_are_too_many(struct world *w, const struct op *op);

#endif /* EPDIFF_WAYS_H */
