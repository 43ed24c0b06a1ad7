// SPDX-License-Identifier: GPL-2.0
/*
 * A user of epoll as it was on 2 November 2002: events in an array.
 */
#define DEVEPOLL_2002 2
#include "devepoll_2002.h"

#include "library/lib2002.h"

static int wait_for_events(int epfd, struct pollfd *out, int room, int timeout)
{
	return epoll_wait(epfd, out, room, timeout);
}

const struct form second_form = {
	.create = epoll_create,
	.ctl = epoll_ctl,
	.wait = wait_for_events,
};
