/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What an fd number last referred to.  This only decides which call is tried
 * first, so several numbers may share an element, and stores may be lost.  And
 * whether any number has referred to the device.
 */
#ifndef DEVEPOLL_PRELOAD_GUESS_H
#define DEVEPOLL_PRELOAD_GUESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "internal.h"

enum found {
	FOUND_NOTHING,		/* or nothing can be found out */
	FOUND_DEVICE,
	FOUND_EPOLL,
};

#define PRELOAD_GUESSES	1024

extern DEVEPOLL_HIDDEN
atomic_uchar devepoll_preload_guesses[PRELOAD_GUESSES];

/* The process has, or had, an instance of the device. */
extern DEVEPOLL_HIDDEN atomic_bool devepoll_preload_sets_expected;

static inline atomic_uchar *preload_guess_place(int epfd)
{
	return &devepoll_preload_guesses[(unsigned int)epfd % PRELOAD_GUESSES];
}

static inline enum found preload_guess(int epfd)
{
	return atomic_load_explicit(preload_guess_place(epfd),
				    memory_order_relaxed);
}

static inline void preload_set_guess(int epfd, enum found found)
{
	atomic_store_explicit(preload_guess_place(epfd), found,
			      memory_order_relaxed);
}

DEVEPOLL_HIDDEN enum found devepoll_preload_find_out(int epfd);
DEVEPOLL_HIDDEN enum found devepoll_preload_correct(int epfd, enum found found,
						    long ret);

/* The guess, or what there is to be found out. */
static inline enum found preload_found(int epfd)
{
	enum found found = preload_guess(epfd);

	if (__builtin_expect(found == FOUND_NOTHING, 0))
		found = devepoll_preload_find_out(epfd);
	return found;
}

/* If not, no ring of io_uring can contain an entry for the device. */
static inline bool preload_sets_expected(void)
{
	return atomic_load_explicit(&devepoll_preload_sets_expected,
				    memory_order_relaxed);
}

/* It was opened here, inherited over execve(2), or received by a socket. */
static inline void preload_found_device(int epfd)
{
	atomic_store_explicit(&devepoll_preload_sets_expected, true,
			      memory_order_relaxed);
	preload_set_guess(epfd, FOUND_DEVICE);
}

#endif /* DEVEPOLL_PRELOAD_GUESS_H */
