// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Finds out what an fd number refers to, and learns from what calls return.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "entry.h"
#include "preload/guess.h"

atomic_uchar devepoll_preload_guesses[PRELOAD_GUESSES];
atomic_bool devepoll_preload_sets_expected;

/**
 * devepoll_preload_find_out() - find out what a number refers to now
 * @epfd: the number
 *
 * Return: FOUND_NOTHING if it is not open, or if a filter of system calls makes
 * it impossible to find out.
 */
enum found devepoll_preload_find_out(int epfd)
{
	long err = devepoll_entry_find_out(epfd);

	if (!err) {
		preload_found_device(epfd);
		return FOUND_DEVICE;
	}
	preload_set_guess(epfd, err == -ENOTTY ? FOUND_EPOLL : FOUND_NOTHING);
	return err == -ENOTTY ? FOUND_EPOLL : FOUND_NOTHING;
}

/**
 * devepoll_preload_correct() - learn from the result of a call of epoll
 * @epfd: the instance
 * @found: what it was taken for; not FOUND_DEVICE
 * @ret: what the call returned
 *
 * Return: FOUND_DEVICE if epoll failed because the file is the device.  Then
 * the error is EINVAL, unless the fd of a change is closed or does not support
 * polling, which epoll checks first.
 */
enum found devepoll_preload_correct(int epfd, enum found found, long ret)
{
	/* If a filter lets nobody ask, this is the only way to know. */
	if (found == FOUND_NOTHING && ret >= 0)
		preload_set_guess(epfd, FOUND_EPOLL);
	if (found == FOUND_NOTHING ||
	    (ret != -EINVAL && ret != -EBADF && ret != -EPERM))
		return FOUND_EPOLL;
	return devepoll_preload_find_out(epfd);
}
