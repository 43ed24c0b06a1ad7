/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the files of the preload library share: calls of epoll by number.
 */
#ifndef DEVEPOLL_PRELOAD_H
#define DEVEPOLL_PRELOAD_H

#include <errno.h>

#include "internal.h"

DEVEPOLL_HIDDEN long devepoll_preload_create(int flags);
DEVEPOLL_HIDDEN long devepoll_preload_call(long nr, long a, long b, long c,
					   long d, long e, long f);

/* Return from a system call in the same way as the C library. */
static inline long preload_result(long ret)
{
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = -ret;
	return -1;
}

#endif /* DEVEPOLL_PRELOAD_H */
