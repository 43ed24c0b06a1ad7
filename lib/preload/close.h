/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * System calls that close fds, so that the preload library notices that an
 * instance with a ring is closed.
 */
#ifndef DEVEPOLL_PRELOAD_CLOSE_H
#define DEVEPOLL_PRELOAD_CLOSE_H

#include "internal.h"

DEVEPOLL_HIDDEN long devepoll_preload_close_call(long nr, long a, long b,
						 long c);

#endif /* DEVEPOLL_PRELOAD_CLOSE_H */
