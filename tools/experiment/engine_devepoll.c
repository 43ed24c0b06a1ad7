// SPDX-License-Identifier: GPL-2.0
/*
 * The engine on the 2001 interface of /dev/epoll: changes with write(2), and
 * events in the mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "deferred.h"
#include "engine.h"
#include "refused.h"

struct engine_set {
	int fd;
	int maxfds;
	char *map;
	struct deferred deferred;
	struct refused refused;
};

static struct engine_set *open_set(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = calloc(1, sizeof(*set));

	if (!set)
		return engine_give_up(NULL, -1, why, "a set");
	set->maxfds = maxfds;
	set->fd = open("/dev/epoll", O_RDWR | O_CLOEXEC);
	if (set->fd < 0)
		return engine_give_up(set, set->fd, why, "/dev/epoll");
	if (ioctl(set->fd, EP_ALLOC, maxfds))
		return engine_give_up(set, set->fd, why, "EP_ALLOC");
	set->map = mmap(NULL, EP_MAP_SIZE(maxfds), PROT_READ, MAP_PRIVATE,
			set->fd, 0);
	if (set->map == MAP_FAILED)
		return engine_give_up(set, set->fd, why, "mmap of /dev/epoll");
	return set;
}

static void close_set(struct engine_set *set)
{
	munmap(set->map, EP_MAP_SIZE(set->maxfds));
	close(set->fd);
	free(set);
}

/* A short count says how many entries failed, not which: query each. */
static void find_refused(struct engine_set *set)
{
	int i;

	for (i = 0; i < set->deferred.nr; i++) {
		struct pollfd pfd = { .fd = set->deferred.changes[i].fd };

		if (set->deferred.changes[i].events & POLLREMOVE)
			refused_forget(&set->refused, pfd.fd);
		else if (ioctl(set->fd, EP_ISPOLLED, &pfd) != 1)
			refused_add(&set->refused, pfd.fd);
	}
}

static void make_changes(struct engine_set *set)
{
	ssize_t size = set->deferred.nr * sizeof(*set->deferred.changes);

	if (size && write(set->fd, set->deferred.changes, size) != size)
		find_refused(set);
	set->deferred.nr = 0;
}

static int keep(struct engine_set *set, int fd, short events)
{
	if (set->deferred.nr == DEFERRED_MAX)
		make_changes(set);
	deferred_keep(&set->deferred, fd, events);
	return 0;
}

/* The device reports errors and hang-ups only if asked for. */
static int add(struct engine_set *set, int fd, short events)
{
	return keep(set, fd, events | POLLERR | POLLHUP);
}

static int remove_fd(struct engine_set *set, int fd)
{
	refused_forget(&set->refused, fd);
	return keep(set, fd, POLLREMOVE);
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	struct evpoll arg = { .ep_timeout = timeout };
	int nr;

	make_changes(set);
	if (set->refused.nr)
		return refused_tell(&set->refused, events);
	nr = ioctl(set->fd, EP_POLL, &arg);
	if (nr < 0)
		return -errno;
	if (nr)
		*events = (const struct pollfd *)(set->map + arg.ep_resoff);
	return nr;
}

const struct engine engine_devepoll = {
	.name = "devepoll",
	.what = "/dev/epoll as of 2001",
	.open = open_set,
	.close = close_set,
	.add = add,
	.change = add,
	.remove = remove_fd,
	.wait = wait_events,
};
