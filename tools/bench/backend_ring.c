// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark on /dev/epoll with a ring, from which the
 * library takes events without a call.
 */
#include <err.h>

#include <devepoll_events.h>

struct set {
	int fd;
	struct devepoll_consumer consumer;
	struct devepoll_change *changes;
};

#include "backend_extended.h"

static struct set *set_open(int nfds)
{
	struct set *set = set_new(nfds);

	if (devepoll_events_ring(set->fd, &set->consumer, 1, nfds))
		errx(1, "a ring of %d slots", nfds);
	return set;
}

static void set_close(struct set *set)
{
	devepoll_events_ring_unmap(&set->consumer, 1);
	set_free(set);
}

static int set_wait(struct set *set, int timeout)
{
	int64_t ns = timeout < 0 ? DEVEPOLL_FOREVER : timeout * 1000000LL;
	int n = devepoll_events_consume(&set->consumer, ns);
	struct devepoll_event event;

	if (n <= 0)
		return n;
	while (devepoll_events_next(&set->consumer, &event))
		consume(event.data, event.events);
	return n;
}

const struct backend backend_ring = {
	.name = "/dev/epoll, ring",
	.not_inherited = true,
	SET_OPERATIONS,
};

const struct backend backend_ring_told = {
	.name = "/dev/epoll, ring, with fds that report their close",
	.not_inherited = true,
	TOLD_OPERATIONS,
};
