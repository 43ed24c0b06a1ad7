// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark on /dev/epoll with the extended interface:
 * changes in batches, edges with DEVEPOLL_TRUST, and mapped events.
 */
#include <err.h>

#include <devepoll_events.h>

struct set {
	int fd;
	struct devepoll_part part;
	struct devepoll_change *changes;
};

#include "backend_extended.h"

static struct set *set_open(int nfds)
{
	struct set *set = set_new(nfds);

	if (devepoll_events_map(set->fd, &set->part, 1, nfds))
		errx(1, "mmap of %d events", nfds);
	return set;
}

static void set_close(struct set *set)
{
	devepoll_events_unmap(&set->part, 1);
	set_free(set);
}

static int set_wait(struct set *set, int timeout)
{
	int64_t ns = timeout < 0 ? DEVEPOLL_FOREVER : timeout * 1000000LL;
	int i, n = devepoll_events_take(&set->part, ns);

	for (i = 0; i < n; i++)
		consume(set->part.events[i].data, set->part.events[i].events);
	return n;
}

const struct backend backend_trusted = {
	.name = "/dev/epoll, trusted edges",
	SET_OPERATIONS,
};

const struct backend backend_told = {
	.name = "/dev/epoll, trusted edges that report their close",
	TOLD_OPERATIONS,
};
