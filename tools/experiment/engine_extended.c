// SPDX-License-Identifier: GPL-2.0
/*
 * The engine on the extended interface of /dev/epoll: changes in the same call
 * as the wait, edges with DEVEPOLL_TRUST, and mapped events.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "engine.h"
#include "refused.h"

/* At most so many changes are deferred until the next wait. */
#define BATCH	1024

struct engine_set {
	int fd;
	struct devepoll_part part;
	struct pollfd *ready;
	unsigned int nr_changes;
	struct devepoll_change changes[BATCH];
	struct refused refused;
};

static struct engine_set *open_set(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));
	int err;

	if (!set)
		goto err_memory;
	set->ready = calloc(maxfds, sizeof(*set->ready));
	if (!set->ready)
		goto err_memory;
	set->fd = devepoll_events_open(0);
	if (set->fd < 0) {
		engine_why(why, -set->fd, "/dev/epoll");
		goto err_set;
	}
	err = devepoll_events_map(set->fd, &set->part, 1, maxfds);
	if (err) {
		engine_why(why, -err, "mmap of /dev/epoll");
		close(set->fd);
		goto err_set;
	}
	return set;

err_memory:
	engine_why(why, ENOMEM, "a set");
err_set:
	if (set)
		free(set->ready);
	free(set);
	return NULL;
}

static void close_set(struct engine_set *set)
{
	devepoll_events_unmap(&set->part, 1);
	close(set->fd);
	free(set->ready);
	free(set);
}

static void find_refused(struct engine_set *set, unsigned int tried)
{
	unsigned int i;

	for (i = 0; i < set->nr_changes; i++)
		if (i >= tried || set->changes[i].result)
			refused_add(&set->refused, set->changes[i].fd);
}

static void make_changes(struct engine_set *set)
{
	unsigned int failed;
	int tried = devepoll_events_update(set->fd, set->changes,
					   set->nr_changes, &failed);

	if (tried != (int)set->nr_changes || failed)
		find_refused(set, tried < 0 ? 0 : tried);
	set->nr_changes = 0;
}

static int keep(struct engine_set *set, int op, int fd, short events)
{
	if (set->nr_changes == BATCH)
		make_changes(set);
	set->changes[set->nr_changes++] = (struct devepoll_change){
		.op = op,
		.flags = DEVEPOLL_TRUST,
		.fd = fd,
		.events = events | EPOLLET,
		.data = fd,
	};
	return 0;
}

static int add(struct engine_set *set, int fd, short events)
{
	return keep(set, DEVEPOLL_ADD, fd, events);
}

static int change(struct engine_set *set, int fd, short events)
{
	return keep(set, DEVEPOLL_MOD, fd, events);
}

/* Not deferred: the fd must leave the set before it is closed. */
static int remove_fd(struct engine_set *set, int fd)
{
	struct devepoll_change del = { .op = DEVEPOLL_DEL, .fd = fd };
	int ret;

	if (set->nr_changes)
		make_changes(set);
	refused_forget(&set->refused, fd);
	ret = devepoll_events_update(set->fd, &del, 1, NULL);
	return ret < 0 ? ret : del.result;
}

static int change_and_wait(struct engine_set *set, int64_t timeout)
{
	struct devepoll_wait_args args = {
		.events = set->part.offset,
		.max_events = set->part.max_events,
		.timeout = timeout,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};
	int nr;

	if (set->nr_changes) {
		args.changes = (uintptr_t)set->changes;
		args.nr_changes = set->nr_changes;
		args.change_size = sizeof(set->changes[0]);
	}
	nr = devepoll_events_harvest(set->fd, &args);
	if (args.nr_tried != args.nr_changes || args.nr_failed)
		find_refused(set, args.nr_tried);
	set->nr_changes = 0;
	return nr;
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	int64_t ns = timeout < 0 ? DEVEPOLL_FOREVER : timeout * 1000000LL;
	int i, nr;

	if (set->refused.nr)
		return refused_tell(&set->refused, events);
	if (set->nr_changes)
		nr = change_and_wait(set, ns);
	else
		nr = devepoll_events_take(&set->part, ns);
	for (i = 0; i < nr; i++) {
		set->ready[i].fd = set->part.events[i].data;
		set->ready[i].revents = set->part.events[i].events;
	}
	*events = set->ready;
	return nr;
}

const struct engine engine_extended = {
	.name = "extended",
	.what = "/dev/epoll, extended: one call, trusted edges, mapped events",
	ENGINE_OPERATIONS,
};
