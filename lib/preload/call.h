/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the files of the preload library share: calls of epoll by number.
 */
#ifndef DEVEPOLL_PRELOAD_H
#define DEVEPOLL_PRELOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/single_threaded.h>

#include "internal.h"

DEVEPOLL_HIDDEN long devepoll_preload_create(long nr, int arg);
DEVEPOLL_HIDDEN long devepoll_preload_call(long nr, long a, long b, long c,
					   long d, long e, long f);
DEVEPOLL_HIDDEN long devepoll_preload_on_device(long nr, long a, long b, long c,
						long d, long e, long f);

/* Has a thread of this process been canceled? */
extern DEVEPOLL_HIDDEN atomic_bool devepoll_preload_cancels;

/* Can nobody cancel the thread?  That of a process which has no other. */
static inline bool preload_is_uncanceled(void)
{
	return __libc_single_threaded &&
	       !atomic_load_explicit(&devepoll_preload_cancels,
				     memory_order_relaxed);
}

#endif /* DEVEPOLL_PRELOAD_H */
