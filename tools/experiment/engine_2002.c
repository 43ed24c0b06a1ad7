// SPDX-License-Identifier: GPL-2.0
/*
 * The engines on the first two forms of epoll, of October and November 2002, as
 * the header of the library provides them.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <devepoll_2002.h>

#include "engine.h"

struct engine_set {
	int fd;
	struct pollfd got[DEVEPOLL_NOV2002_BATCH];
};

static struct engine_set *open_form(char why[ENGINE_WHY], int fd)
{
	struct engine_set *set;

	if (fd < 0) {
		engine_why(why, errno, "/dev/epoll");
		return NULL;
	}
	set = calloc(1, sizeof(*set));
	if (set) {
		set->fd = fd;
		return set;
	}
	engine_why(why, errno, "a set");
	close(fd);
	return NULL;
}

static struct engine_set *oct_open(int maxfds, char why[ENGINE_WHY])
{
	return open_form(why, devepoll_oct2002_create(maxfds));
}

static struct engine_set *nov_open(int maxfds, char why[ENGINE_WHY])
{
	return open_form(why, devepoll_nov2002_create(maxfds));
}

static void close_set(struct engine_set *set)
{
	close(set->fd);
	free(set);
}

/* Neither form reported errors and hang-ups unless asked for. */
#define EVENTS(events)	((events) | POLLERR | POLLHUP)

static int oct_add(struct engine_set *set, int fd, short events)
{
	return devepoll_oct2002_ctl(set->fd, EP_CTL_ADD, fd,
				    EVENTS(events)) ? -errno : 0;
}

static int oct_change(struct engine_set *set, int fd, short events)
{
	return devepoll_oct2002_ctl(set->fd, EP_CTL_MOD, fd,
				    EVENTS(events)) ? -errno : 0;
}

static int oct_remove(struct engine_set *set, int fd)
{
	return devepoll_oct2002_ctl(set->fd, EP_CTL_DEL, fd, 0) ? -errno : 0;
}

static int oct_wait(struct engine_set *set, const struct pollfd **events,
		    int timeout)
{
	int nr = devepoll_oct2002_wait(set->fd, events, timeout);

	return nr < 0 ? -errno : nr;
}

static int nov_add(struct engine_set *set, int fd, short events)
{
	return devepoll_nov2002_ctl(set->fd, EP_CTL_ADD, fd,
				    EVENTS(events)) ? -errno : 0;
}

static int nov_change(struct engine_set *set, int fd, short events)
{
	return devepoll_nov2002_ctl(set->fd, EP_CTL_MOD, fd,
				    EVENTS(events)) ? -errno : 0;
}

static int nov_remove(struct engine_set *set, int fd)
{
	return devepoll_nov2002_ctl(set->fd, EP_CTL_DEL, fd, 0) ? -errno : 0;
}

static int nov_wait(struct engine_set *set, const struct pollfd **events,
		    int timeout)
{
	int nr = devepoll_nov2002_wait(set->fd, set->got,
				       DEVEPOLL_NOV2002_BATCH, timeout);

	*events = set->got;
	return nr < 0 ? -errno : nr;
}

const struct engine engine_oct2002 = {
	.name = "epoll2002-1",
	.what = "epoll as of 20 October 2002, events in the mapping",
	.open = oct_open,
	.close = close_set,
	.add = oct_add,
	.change = oct_change,
	.remove = oct_remove,
	.wait = oct_wait,
};

const struct engine engine_nov2002 = {
	.name = "epoll2002-2",
	.what = "epoll as of 2 November 2002, events copied",
	.open = nov_open,
	.close = close_set,
	.add = nov_add,
	.change = nov_change,
	.remove = nov_remove,
	.wait = nov_wait,
};
