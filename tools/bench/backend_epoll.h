/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of the benchmark with epoll's three calls.  A file that
 * includes this defines call_create1, call_ctl and call_wait first: a table of
 * them would add an indirect call to each, and the benchmark counts
 * instructions.
 */
#ifndef BENCH_BACKEND_EPOLL_H
#define BENCH_BACKEND_EPOLL_H

#include "backend.h"

#include <err.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct set {
	int fd;
	int nfds;
	struct epoll_event *events;
};

#ifndef call_close
#define call_close	close
#endif

static struct set *set_open(int nfds)
{
	struct set *set = calloc(1, sizeof(*set));

	if (!set)
		err(1, "calloc");
	set->nfds = nfds;
	set->events = calloc(nfds, sizeof(*set->events));
	set->fd = call_create1(EPOLL_CLOEXEC);
	if (!set->events || set->fd < 0)
		err(1, "epoll_create1");
	return set;
}

static void set_close(struct set *set)
{
	call_close(set->fd);
	free(set->events);
	free(set);
}

static inline bool change(struct set *set, int op, const int *fds, int n,
			  unsigned int events)
{
	bool ok = true;
	int i;

	for (i = 0; i < n; i++) {
		struct epoll_event ev = { .events = events };

		ev.data.fd = fds[i];
		if (call_ctl(set->fd, op, fds[i], &ev))
			ok = false;
	}
	return ok;
}

static bool set_add(struct set *set, const int *fds, int n)
{
	return change(set, EPOLL_CTL_ADD, fds, n, EPOLLIN | EPOLLET);
}

static bool set_modify(struct set *set, const int *fds, int n)
{
	return change(set, EPOLL_CTL_MOD, fds, n,
		      EPOLLIN | EPOLLHUP | EPOLLET);
}

static inline bool set_add_level(struct set *set, const int *fds, int n)
{
	return change(set, EPOLL_CTL_ADD, fds, n, EPOLLIN);
}

static inline bool set_modify_level(struct set *set, const int *fds, int n)
{
	return change(set, EPOLL_CTL_MOD, fds, n, EPOLLIN | EPOLLHUP);
}

static bool set_remove(struct set *set, const int *fds, int n)
{
	return change(set, EPOLL_CTL_DEL, fds, n, 0);
}

static int set_wait(struct set *set, int timeout)
{
	int i, n = call_wait(set->fd, set->events, set->nfds, timeout);

	for (i = 0; i < n; i++)
		consume(set->events[i].data.fd, set->events[i].events);
	return n;
}

/* SET_OPERATIONS, level-triggered. */
#define LEVEL_OPERATIONS	\
	.level = true,		\
	.open = set_open,	\
	.close = set_close,	\
	.add = set_add_level,	\
	.modify = set_modify_level, \
	.remove = set_remove,	\
	.wait = set_wait

#endif /* BENCH_BACKEND_EPOLL_H */
