// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * _Fork() of the preload library, which does what its handlers of
 * pthread_atfork() do for fork(2).  No fork does both: fork(2) calls the C
 * library's own _Fork(), not this one.
 */
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "entry.h"
#include "preload/keep.h"
#include "preload/next.h"
#include "preload/ring.h"

/* For a call before the constructor of this library has run. */
static pid_t fork_by_call(void)
{
	return syscall_result(raw_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0));
}

/* A signal handler may call this, so it makes only system calls. */
pid_t _Fork(void)
{
	pid_t (*next)(void) = devepoll_preload_next.fork;
	pid_t pid;

	devepoll_preload_ring_before_fork();
	pid = next ? next() : fork_by_call();
	if (!pid) {
		devepoll_preload_ring_in_child();
		devepoll_preload_become_keeper();
	}
	return pid;
}
