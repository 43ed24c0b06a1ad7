/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of the extended interface: in batches, edges with DEVEPOLL_TRUST.  A
 * file that includes this defines struct set, with the members @fd and
 * @changes, first.
 */
#ifndef BENCH_BACKEND_EXTENDED_H
#define BENCH_BACKEND_EXTENDED_H

#include "backend.h"

#include <err.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <devepoll_events.h>

/* A set that nothing is mapped of yet. */
static inline struct set *set_new(int nfds)
{
	struct set *set = calloc(1, sizeof(*set));

	if (!set)
		err(1, "calloc");
	set->changes = calloc(nfds, sizeof(*set->changes));
	set->fd = devepoll_events_open(0);
	if (!set->changes || set->fd < 0)
		errx(1, "no set");
	return set;
}

static inline void set_free(struct set *set)
{
	close(set->fd);
	free(set->changes);
	free(set);
}

static inline bool change(struct set *set, int op, const int *fds, int n,
			  unsigned int events, unsigned int flags)
{
	unsigned int failed;
	int i;

	if (n == 1)
		return !devepoll_events_change(set->fd, op, fds[0], events,
					       flags, fds[0]);
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

/* The same, of fds that report their close. */
static bool set_add_told(struct set *set, const int *fds, int n)
{
	return change(set, DEVEPOLL_ADD, fds, n, EPOLLIN | EPOLLET,
		      DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED);
}

static bool set_modify_told(struct set *set, const int *fds, int n)
{
	return change(set, DEVEPOLL_MOD, fds, n, EPOLLIN | EPOLLHUP | EPOLLET,
		      DEVEPOLL_TRUST | DEVEPOLL_TELL_CLOSED);
}

static bool set_remove(struct set *set, const int *fds, int n)
{
	return change(set, DEVEPOLL_DEL, fds, n, 0, 0);
}

/* SET_OPERATIONS, with fds that report their close. */
#define TOLD_OPERATIONS		\
	.tells_closed = true,	\
	.open = set_open,	\
	.close = set_close,	\
	.add = set_add_told,	\
	.modify = set_modify_told, \
	.remove = set_remove,	\
	.wait = set_wait

#endif /* BENCH_BACKEND_EXTENDED_H */
