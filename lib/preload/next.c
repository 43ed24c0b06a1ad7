// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Finds the functions that the preload library replaces, and also calls.
 */
#include <dlfcn.h>

#include "preload/next.h"

#ifdef __LP64__
#define EPOLL_PWAIT2	"epoll_pwait2"
#else
#define EPOLL_PWAIT2	"__epoll_pwait2_time64"
#endif

struct preload_next devepoll_preload_next;

/**
 * devepoll_preload_find_next() - find the functions
 *
 * This happens before the program runs: dlsym(3) takes a lock, which a thread
 * may hold that waits for the caller, and a signal handler can't call it.
 */
void devepoll_preload_find_next(void)
{
	struct preload_next *next = &devepoll_preload_next;

	next->close = dlsym(RTLD_NEXT, "close");
	next->close_range = dlsym(RTLD_NEXT, "close_range");
	next->closefrom = dlsym(RTLD_NEXT, "closefrom");
	next->dup2 = dlsym(RTLD_NEXT, "dup2");
	next->dup3 = dlsym(RTLD_NEXT, "dup3");
	next->fork = dlsym(RTLD_NEXT, "_Fork");
	next->epoll_wait = dlsym(RTLD_NEXT, "epoll_wait");
	next->epoll_pwait = dlsym(RTLD_NEXT, "epoll_pwait");
	next->epoll_pwait2 = dlsym(RTLD_NEXT, EPOLL_PWAIT2);
	next->pthread_cancel = dlsym(RTLD_NEXT, "pthread_cancel");
	/* The program shall not find an error that is not its own. */
	dlerror();
}

static __attribute__((constructor)) void begin(void)
{
	devepoll_preload_find_next();
}
