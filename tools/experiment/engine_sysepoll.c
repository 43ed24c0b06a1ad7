// SPDX-License-Identifier: GPL-2.0
/*
 * The engines on epoll(7), level-triggered and edge-triggered.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine.h"

/* So many events are taken by one call. */
#define BATCH	1024

struct engine_set {
	int fd;
	unsigned int mode;
	struct epoll_event got[BATCH];
	struct pollfd ready[BATCH];
};

static struct engine_set *open_mode(char why[ENGINE_WHY], unsigned int mode)
{
	struct engine_set *set = malloc(sizeof(*set));

	if (!set) {
		engine_why(why, errno, "a set");
		return NULL;
	}
	set->mode = mode;
	set->fd = epoll_create1(EPOLL_CLOEXEC);
	if (set->fd >= 0)
		return set;
	engine_why(why, errno, "epoll_create1");
	free(set);
	return NULL;
}

static struct engine_set *open_level(int maxfds, char why[ENGINE_WHY])
{
	(void)maxfds;
	return open_mode(why, 0);
}

static struct engine_set *open_edge(int maxfds, char why[ENGINE_WHY])
{
	(void)maxfds;
	return open_mode(why, EPOLLET);
}

static void close_set(struct engine_set *set)
{
	close(set->fd);
	free(set);
}

static int control(struct engine_set *set, int op, int fd, short events)
{
	struct epoll_event event = {
		.events = events | set->mode,
		.data.fd = fd,
	};

	return epoll_ctl(set->fd, op, fd, &event) ? -errno : 0;
}

static int add(struct engine_set *set, int fd, short events)
{
	return control(set, EPOLL_CTL_ADD, fd, events);
}

static int change(struct engine_set *set, int fd, short events)
{
	return control(set, EPOLL_CTL_MOD, fd, events);
}

static int remove_fd(struct engine_set *set, int fd)
{
	return control(set, EPOLL_CTL_DEL, fd, 0);
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	int i, nr = epoll_wait(set->fd, set->got, BATCH, timeout);

	if (nr < 0)
		return -errno;
	for (i = 0; i < nr; i++) {
		set->ready[i].fd = set->got[i].data.fd;
		set->ready[i].revents = set->got[i].events;
	}
	*events = set->ready;
	return nr;
}

const struct engine engine_sysepoll = {
	.name = "epoll",
	.what = "epoll(7), level-triggered",
	.level = true,
	.open = open_level,
	.close = close_set,
	.add = add,
	.change = change,
	.remove = remove_fd,
	.wait = wait_events,
};

const struct engine engine_sysepoll_edge = {
	.name = "epoll-edge",
	.what = "epoll(7), edge-triggered",
	.open = open_edge,
	.close = close_set,
	.add = add,
	.change = change,
	.remove = remove_fd,
	.wait = wait_events,
};
