// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pthread_cancel() of the preload library.  The only thread of a process can be
 * canceled by nobody but itself, so its waits need not look whether it was, as
 * long as it has not called this function.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "preload.h"

static int (*_Atomic of_libc)(pthread_t thread);

/*
 * Before the program runs: dlsym(3) takes a lock, which a thread may hold that
 * waits for the one to be canceled.
 */
static __attribute__((constructor)) void find_it(void)
{
	of_libc = dlsym(RTLD_NEXT, "pthread_cancel");
}

int pthread_cancel(pthread_t thread)
{
	/* Other constructors may call this first. */
	if (!of_libc)
		find_it();
	if (!of_libc)
		return ENOSYS;
	atomic_store_explicit(&devepoll_preload_cancels, true,
			      memory_order_relaxed);
	return of_libc(thread);
}
