// SPDX-License-Identifier: GPL-2.0
/*
 * The table of operations over the kernel's epoll, edge-triggered.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/backend.h"

static int sys_open(struct set *set, unsigned int room)
{
	set->fd = epoll_create1(EPOLL_CLOEXEC);
	return set->fd < 0 ? -errno : 0;
}

static int sys_ctl(struct set *set, int op, int fd, short events)
{
	struct epoll_event event = {
		.events = (unsigned short)events | EPOLLET,
		.data.fd = fd,
	};

	return epoll_ctl(set->fd, op, fd, &event) < 0 ? -errno : 0;
}

static int sys_add(struct set *set, int fd, short events)
{
	return sys_ctl(set, EPOLL_CTL_ADD, fd, events);
}

static int sys_change(struct set *set, int fd, short events)
{
	return sys_ctl(set, EPOLL_CTL_MOD, fd, events);
}

static int sys_remove(struct set *set, int fd)
{
	return sys_ctl(set, EPOLL_CTL_DEL, fd, 0);
}

static int sys_has(struct set *set, int fd)
{
	char path[64], line[256];
	int tfd, ret = 0;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set->fd);
	info = fopen(path, "re");
	if (!info)
		return -errno;
	while (fgets(line, sizeof(line), info))
		if (sscanf(line, "tfd: %d", &tfd) == 1 && tfd == fd)
			ret = 1;
	fclose(info);
	return ret;
}

static int sys_wait(struct set *set, struct pollfd *out, int room, int ms)
{
	struct epoll_event *events = calloc(room, sizeof(*events));
	int i, n;

	if (!events)
		return -ENOMEM;
	n = epoll_pwait(set->fd, events, room, ms, NULL);
	if (n < 0)
		n = -errno;
	memset(out, 0xa5, room * sizeof(*out));
	for (i = 0; i < n; i++) {
		out[i].fd = events[i].data.fd;
		out[i].events = 0;
		out[i].revents = events[i].events;
	}
	free(events);
	return n;
}

static void sys_close(struct set *set)
{
	if (set->fd >= 0)
		close(set->fd);
	set->fd = -1;
}

const struct backend backend_sysepoll = {
	.name		= "epoll",
	.traits		= ADDS_ERR_AND_HUP | REPORTS_ON_CHANGE | NESTS,
	.wait_syscall	= SYS_epoll_pwait,
	.open		= sys_open,
	.add		= sys_add,
	.change		= sys_change,
	.remove		= sys_remove,
	.has		= sys_has,
	.wait		= sys_wait,
	.close		= sys_close,
};
