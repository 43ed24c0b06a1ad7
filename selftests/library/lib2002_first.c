// SPDX-License-Identifier: GPL-2.0
/*
 * A user of epoll as it was on 20 October 2002: events in the mapping.
 */
#define DEVEPOLL_2002 1
#include "devepoll_2002.h"

/* A program of today includes this by some other header; it does no harm. */
#include <sys/epoll.h>

#include "library/lib2002.h"

static int wait_and_copy(int epfd, struct pollfd *out, int room, int timeout)
{
	struct pollfd const *events;
	int i, nfds;

	nfds = epoll_wait(epfd, &events, timeout);
	for (i = 0; i < nfds && i < room; i++)
		out[i] = events[i];
	return nfds;
}

const struct form first_form = {
	.create = epoll_create,
	.ctl = epoll_ctl,
	.wait = wait_and_copy,
	.wait_in_place = epoll_wait,
};
