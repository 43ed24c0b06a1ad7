/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Waits as the cancellation points that epoll_wait(2) is, or was before glibc
 * 2.41: since then it knows its own system calls by their place in it, which no
 * other library can have.
 */
#ifndef DEVEPOLL_CANCEL_H
#define DEVEPOLL_CANCEL_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/single_threaded.h>

#define CANCEL_TYPE_KEPT	(-1)

/*
 * From here to cancel_end() the thread can be cancelled at any instruction, if
 * the call can sleep and there is another thread that could do it; in between
 * nothing may be held.  Otherwise it can be here alone.
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
