// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark on /dev/epoll with the extended interface:
 * changes in batches, edges with DEVEPOLL_TRUST, and mapped events.
 */
#include "backend.h"

#include <err.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <devepoll_events.h>

struct set {
	int fd;
	struct devepoll_part part;
	struct devepoll_change *changes;
};

static struct set *set_open(int nfds)
{
	struct set *set = calloc(1, sizeof(*set));

	if (!set)
		err(1, "calloc");
	set->changes = calloc(nfds, sizeof(*set->changes));
	set->fd = devepoll_events_open(0);
	if (!set->changes || set->fd < 0)
		errx(1, "no set");
	if (devepoll_events_map(set->fd, &set->part, 1, nfds))
		errx(1, "mmap of %d events", nfds);
	return set;
}

static void set_close(struct set *set)
{
	devepoll_events_unmap(&set->part, 1);
	close(set->fd);
	free(set->changes);
	free(set);
}

static inline bool change(struct set *set, int op, const int *fds, int n,
			  unsigned int events, unsigned int flags)
{
	unsigned int failed;
	int i;

	for (i = 0; i < n; i++) {
		set->changes[i].op = op;
		set->changes[i].flags = flags;
		set->changes[i].fd = fds[i];
		set->changes[i].events = events;
		set->changes[i].data = fds[i];
	}
	return devepoll_events_update(set->fd, set->changes, n,
				      &failed) == n && !failed;
}

static bool set_add(struct set *set, const int *fds, int n)
{
	return change(set, DEVEPOLL_ADD, fds, n, EPOLLIN | EPOLLET,
		      DEVEPOLL_TRUST);
}

static bool set_modify(struct set *set, const int *fds, int n)
{
	return change(set, DEVEPOLL_MOD, fds, n, EPOLLIN | EPOLLHUP | EPOLLET,
		      DEVEPOLL_TRUST);
}

static bool set_remove(struct set *set, const int *fds, int n)
{
	return change(set, DEVEPOLL_DEL, fds, n, 0, 0);
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
	.open = set_open,
	.close = set_close,
	.add = set_add,
	.modify = set_modify,
	.remove = set_remove,
	.wait = set_wait,
};
