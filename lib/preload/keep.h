/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A descriptor of the device that the preload library keeps, so that it can
 * make instances where the node has no path any more.
 */
#ifndef DEVEPOLL_PRELOAD_KEEP_H
#define DEVEPOLL_PRELOAD_KEEP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "internal.h"

/* Its number, or -1 without one. */
extern DEVEPOLL_HIDDEN atomic_int devepoll_preload_kept;

DEVEPOLL_HIDDEN void devepoll_preload_become_keeper(void);
DEVEPOLL_HIDDEN long devepoll_preload_keep_create(int flags, long err);
DEVEPOLL_HIDDEN int devepoll_preload_keep_find(unsigned int first,
					       unsigned int last);
DEVEPOLL_HIDDEN bool devepoll_preload_keep_move(int fd);
DEVEPOLL_HIDDEN void devepoll_preload_keep_moved(int fd);

/* May the number be ours? */
static inline bool preload_may_keep(int fd)
{
	const int kept = atomic_load_explicit(&devepoll_preload_kept,
					      memory_order_relaxed);

	return __builtin_expect(fd == kept, 0);
}

#endif /* DEVEPOLL_PRELOAD_KEEP_H */
