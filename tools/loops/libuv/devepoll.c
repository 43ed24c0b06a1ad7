// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Loops of libuv on /dev/epoll.  libuv.patch has linux.c call these functions,
 * which get NULL in place of their first argument from a loop on epoll.
 *
 * What a turn of the loop adds and changes goes into an array, and the wait makes
 * the changes.  An fd that is closed leaves the set by itself.  One that the loop
 * has stopped to watch and that stays open is removed with the next wait after
 * an event.
 */
#include "uv.h"
#include "internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <devepoll_epoll.h>
#include <devepoll_events.h>

/* More of them than this in a turn take another call. */
#define MAX_PENDING	256
/* The result of a change that was not tried. */
#define UNTRIED		1
#define NS_OF_MS	INT64_C(1000000)

struct uv__devepoll {
	int fd;
	unsigned int nr_pending;
	struct devepoll_change pending[MAX_PENDING];
};

/* Returns the fd, or -1: then the loop uses epoll. */
int uv__devepoll_open(struct uv__devepoll **set)
{
	const char *wanted = getenv("UV_USE_DEVEPOLL");

	if (wanted && !strcmp(wanted, "0"))
		return -1;
	*set = uv__calloc(1, sizeof(**set));
	if (!*set)
		return -1;
	(*set)->fd = devepoll_events_open(0);
	if ((*set)->fd >= 0)
		return (*set)->fd;
	uv__devepoll_free(set);
	return -1;
}

/* The loop closes the fd. */
void uv__devepoll_free(struct uv__devepoll **set)
{
	uv__free(*set);
	*set = NULL;
}

/*
 * Leaves the changes that are to be tried again.  No other can fail that libuv
 * would do something about: it has tried the file before.
 */
static void settle(struct uv__devepoll *set)
{
	unsigned int i, nr = set->nr_pending;

	set->nr_pending = 0;
	for (i = 0; i < nr; i++) {
		struct devepoll_change *change = &set->pending[i];

		if (change->result == -EEXIST)
			change->op = DEVEPOLL_MOD;
		else if (change->result == -ENOENT &&
			 change->op == DEVEPOLL_MOD)
			change->op = DEVEPOLL_ADD;
		else if (change->result != UNTRIED)
			continue;
		change->result = UNTRIED;
		set->pending[set->nr_pending++] = *change;
	}
}

/* As epoll_ctl(2), at the next wait. */
void uv__devepoll_change(struct uv__devepoll *set, int op, int fd,
			 uint32_t events)
{
	while (set->nr_pending == MAX_PENDING) {
		devepoll_events_update(set->fd, set->pending, set->nr_pending,
				       NULL);
		settle(set);
	}
	set->pending[set->nr_pending++] = (struct devepoll_change){
		.op = op,
		.fd = fd,
		.events = events,
		.result = UNTRIED,
		.data = (uint32_t)fd,
	};
}

/* At once, for a file that may not be one to watch; the set may be epoll's. */
int uv__devepoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	int ret = devepoll_epoll_ctl(set, op, fd, event);

	return ret && errno == EINVAL ? epoll_ctl(set, op, fd, event) : ret;
}

/*
 * As epoll_pwait(2), after the pending changes.  A call with a change that fails
 * does not sleep, and is made again.
 */
int uv__devepoll_wait(struct uv__devepoll *set, struct epoll_event *events,
		      int max_events, int ms, const sigset_t *mask)
{
	struct devepoll_wait_args args;
	unsigned int nr;
	int n;

	do {
		nr = set->nr_pending;
		args = (struct devepoll_wait_args){
			.events = (uintptr_t)events,
			.max_events = max_events,
			.timeout = ms < 0 ? DEVEPOLL_FOREVER : ms * NS_OF_MS,
			.sigmask = (uintptr_t)mask,
			.sigsetsize = mask ? 8 : 0,
			.flags = DEVEPOLL_WAIT_EPOLL,
		};
		if (nr) {
			args.changes = (uintptr_t)set->pending;
			args.nr_changes = nr;
			args.change_size = sizeof(*set->pending);
		}
		n = devepoll_events_harvest(set->fd, &args);
		settle(set);
	} while (!n && (args.nr_failed || args.nr_tried < nr));
	if (n >= 0)
		return n;
	errno = -n;
	return -1;
}
