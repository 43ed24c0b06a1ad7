/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The members of struct devepoll, and what the files of the library share.
 */
#ifndef DEVEPOLL_INTERNAL_H
#define DEVEPOLL_INTERNAL_H

#include <stddef.h>

#include "devepoll.h"

/*
 * devepoll_open(), devepoll_alloc() and devepoll_close() write to this
 * structure.  They must not run at the same time as any other call, so the
 * other functions read it without a lock.
 */
struct devepoll {
	int fd;
	int capacity;		/* as passed to the last EP_ALLOC */
	char *map;		/* NULL if mapping it again failed */
	size_t map_size;	/* in bytes */
};

/**
 * struct devepoll_probe - the means to find out why an fd was refused
 * @set: the instance that refused it
 * @epfd: an epoll instance of our own, or a negative errno
 */
struct devepoll_probe {
	const struct devepoll *set;
	int epfd;
};

#define DEVEPOLL_HIDDEN __attribute__((visibility("hidden")))

DEVEPOLL_HIDDEN void devepoll_probe_begin(struct devepoll_probe *probe,
					  const struct devepoll *set);
DEVEPOLL_HIDDEN void devepoll_probe_end(struct devepoll_probe *probe);
DEVEPOLL_HIDDEN int devepoll_probe_fd(const struct devepoll_probe *probe,
				      int fd);

#endif /* DEVEPOLL_INTERNAL_H */
