// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Waiting for events.
 */
#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <linux/devepoll.h>

#include "internal.h"

int devepoll_wait(struct devepoll *set, struct devepoll_cursor *cursor,
		  int timeout)
{
	struct evpoll evp = { .ep_timeout = timeout };
	int nr;

	if (!cursor)
		return -EINVAL;
	cursor->next = NULL;
	cursor->end = NULL;
	if (!set || !set->map)
		return -EINVAL;

	nr = ioctl(set->fd, EP_POLL, &evp);
	if (nr < 0)
		return -errno;
	if (nr > 0) {
		cursor->next = (const void *)(set->map + evp.ep_resoff);
		cursor->end = cursor->next + nr;
	}
	return nr;
}
