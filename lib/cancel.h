/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Cancellation of waits, as for epoll_wait(2) before glibc 2.41.  Since then,
 * glibc recognizes its own system calls by their address in glibc, which no
 * other library can do.
 */
#ifndef DEVEPOLL_CANCEL_H
#define DEVEPOLL_CANCEL_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/single_threaded.h>

#define CANCEL_TYPE_KEPT	(-1)

/*
 * From here to cancel_end(), the thread can be canceled at any instruction if
 * the call can sleep and there is another thread that could cancel it.  The
 * code in between must not hold any resource.  Otherwise, the thread can be
 * canceled only here.
 */
static inline int cancel_begin(bool sleeps)
{
	int type;

	if (!sleeps || __libc_single_threaded) {
		pthread_testcancel();
		return CANCEL_TYPE_KEPT;
	}
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	return type;
}

static inline void cancel_end(int type)
{
	if (type != CANCEL_TYPE_KEPT)
		pthread_setcanceltype(type, NULL);
}

#endif /* DEVEPOLL_CANCEL_H */
