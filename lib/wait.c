// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Waiting for events.
 */
#include <errno.h>
#include <poll.h>

#include <linux/devepoll.h>

#include "entry.h"

/* By ioctl(2): of any module, and for all errors. */
static __attribute__((noinline)) int
wait_long(const struct devepoll *set, struct devepoll_cursor *cursor,
	  struct evpoll *evp)
{
	long nr = raw_call(SYS_ioctl, set->fd, EP_POLL, (long)evp, 0, 0, 0);

	cursor->next = NULL;
	cursor->end = NULL;
	if (nr > 0) {
		cursor->next = (const void *)(set->map + evp->ep_resoff);
		cursor->end = cursor->next + nr;
	}
	return nr;
}

int devepoll_wait(struct devepoll *set, struct devepoll_cursor *cursor,
		  int timeout)
{
	struct evpoll evp;
	long nr;

	if (!cursor)
		return -EINVAL;
	if (!set || !set->map) {
		nr = -EINVAL;
		goto out_empty;
	}

	/* The kernel reads nothing else. */
	evp.ep_timeout = timeout;
	nr = fadvise_entry(set->fd, &evp, 0, EP_POLL);
	if (nr > 0) {
		cursor->next = (const void *)(set->map + evp.ep_resoff);
		cursor->end = cursor->next + nr;
		return nr;
	}
	/* After another error, nothing has happened yet. */
	if (nr < 0 && nr != -EINTR)
		return wait_long(set, cursor, &evp);
out_empty:
	cursor->next = NULL;
	cursor->end = NULL;
	return nr;
}
