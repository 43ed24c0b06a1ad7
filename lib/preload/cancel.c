// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pthread_cancel() of the preload library.  The only thread of a process can be
 * canceled by nobody but itself, so its waits need not look whether it was, as
 * long as it has not called this function.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "preload/call.h"
#include "preload/next.h"

int pthread_cancel(pthread_t thread)
{
	struct preload_next *next = &devepoll_preload_next;

	/* Other constructors may call this first. */
	if (!next->pthread_cancel)
		devepoll_preload_find_next();
	if (!next->pthread_cancel)
		return ENOSYS;
	atomic_store_explicit(&devepoll_preload_cancels, true,
			      memory_order_relaxed);
	return next->pthread_cancel(thread);
}
