// SPDX-License-Identifier: GPL-2.0
/* In-tree epoll as a side. */
#include <errno.h>
#include <string.h>

#include "engine.h"

static int sys_open(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

static int sys_ctl(int set, int op, int fd, struct epoll_event *ev,
		   unsigned int entry)
{
	(void)entry;
	return epoll_ctl(set, op, fd, ev) ? -errno : 0;
}

static int sys_wait(int set, struct epoll_event *out, int max, int ms,
		    unsigned int entry)
{
	int n = epoll_wait(set, out, max, ms);

	(void)entry;
	return n < 0 ? -errno : n;
}

static int sys_wait_raw(int set, struct epoll_event *out, int max,
			unsigned int entry)
{
	return sys_wait(set, out, max, 0, entry);
}

const struct engine engine_epoll = {
	.name = "epoll",
	.open = sys_open,
	.ctl = sys_ctl,
	.wait = sys_wait,
	.wait_raw = sys_wait_raw,
};

const struct engine *engine_find(const char *name)
{
	int i;

	if (!strcmp(name, engine_epoll.name))
		return &engine_epoll;
	if (!strcmp(name, engine_device.name))
		return &engine_device;
	for (i = 0; i < engines_faulty_nr; i++) {
		if (!strcmp(name, engines_faulty[i].name))
			return &engines_faulty[i];
	}
	return NULL;
}
