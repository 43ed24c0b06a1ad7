// SPDX-License-Identifier: GPL-2.0
/* The device as a side, through each of its interfaces for epoll's calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "engine.h"

#define MAP_BYTES	4096
#define MAP_EVENTS	((int)(MAP_BYTES / sizeof(struct devepoll_event)))
#define NS_PER_MS	1000000LL

/* Every request can be made with ioctl() or through the fadvise entry. */
static int request(int set, unsigned long cmd, void *arg, bool by_fadvise)
{
	int ret;

	if (by_fadvise)
		ret = syscall(SYS_fadvise64, set, arg, 0, cmd);
	else
		ret = ioctl(set, cmd, arg);
	return ret < 0 ? -errno : ret;
}

static int dev_open(void)
{
	return open("/dev/epoll", O_RDWR | O_CLOEXEC);
}

static int dev_change(int set, struct devepoll_change *changes, int n,
		      unsigned int entry)
{
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)changes,
		.nr = n,
		.change_size = sizeof(*changes),
	};

	return request(set, DEVEPOLL_CTL, &ctl, entry & 1);
}

static int ctl_as_epoll(int set, int op, int fd, struct epoll_event *ev)
{
	int ret = syscall(SYS_fadvise64, set, ev, (long)fd,
			  DEVEPOLL_EPOLL_CTL(op));

	return ret < 0 ? -errno : ret;
}

static int dev_ctl(int set, int op, int fd, struct epoll_event *ev,
		   unsigned int entry)
{
	struct devepoll_change change = {
		.op = op, .fd = fd, .result = 0x5a5a5a5a,
	};
	int ret;

	if (entry % 3 == ENTRY_EPOLL_CTL || (!ev && op != EPOLL_CTL_DEL))
		return ctl_as_epoll(set, op, fd, ev);
	if (op != EPOLL_CTL_DEL) {
		change.events = ev->events;
		change.data = ev->data.u64;
	}
	ret = dev_change(set, &change, 1, entry);
	if (ret != 1)
		return ret < 0 ? ret : -EPROTO;
	return change.result;
}

/* The address that an offset of the set's own mapping stands for. */
static void *mapping(int set)
{
	void *map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, set,
			 DEVEPOLL_MAP_EVENTS);

	return map == MAP_FAILED ? NULL : map;
}

static void copy_native(struct epoll_event *out,
			const struct devepoll_event *ev, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		out[i].events = ev[i].events;
		out[i].data.u64 = ev[i].data;
	}
}

static int wait_native(int set, struct devepoll_wait_args *args,
		       struct epoll_event *out, bool by_fadvise)
{
	struct devepoll_event *ev = calloc(args->max_events, sizeof(*ev));
	int n;

	args->events = (uintptr_t)ev;
	n = request(set, DEVEPOLL_WAIT, args, by_fadvise);
	copy_native(out, ev, n);
	free(ev);
	return n;
}

static int wait_mapped(int set, struct devepoll_wait_args *args,
		       struct epoll_event *out, bool by_fadvise)
{
	struct devepoll_event *ev = mapping(set);
	int n;

	if (!ev)
		return -errno;
	args->events = 0;
	args->flags |= DEVEPOLL_WAIT_MAPPED;
	n = request(set, DEVEPOLL_WAIT, args, by_fadvise);
	copy_native(out, ev, n);
	munmap(ev, MAP_BYTES);
	return n;
}

static int wait_args(int set, struct devepoll_wait_args *args,
		     struct epoll_event *out, unsigned int entry)
{
	bool by_fadvise = entry & 1;
	int max = args->max_events;

	if (max > 0 && max <= MAP_EVENTS) {
		if (entry >= ENTRY_MAPPED)
			return wait_mapped(set, args, out, by_fadvise);
		if (entry >= 4)
			return wait_native(set, args, out, by_fadvise);
	}
	args->events = (uintptr_t)out;
	args->flags |= DEVEPOLL_WAIT_EPOLL;
	return request(set, DEVEPOLL_WAIT, args, by_fadvise);
}

static int wait_as_epoll(int set, struct epoll_event *out, int max, int ms)
{
	int ret = syscall(SYS_fadvise64, set, out,
			  DEVEPOLL_EPOLL_WAIT_LEN(max, ms),
			  DEVEPOLL_EPOLL_WAIT);

	return ret < 0 ? -errno : ret;
}

static int dev_wait(int set, struct epoll_event *out, int max, int ms,
		    unsigned int entry)
{
	struct devepoll_wait_args args = {
		.max_events = max,
		.timeout = ms * NS_PER_MS,
	};

	if (entry == 2 || entry == 3)
		return wait_as_epoll(set, out, max, ms);
	return wait_args(set, &args, out, entry);
}

static int dev_wait_raw(int set, struct epoll_event *out, int max,
			unsigned int entry)
{
	return dev_wait(set, out, max, 0, entry & 3);
}

static int dev_change_wait(int set, struct devepoll_change *changes, int n,
			   struct epoll_event *out, int max, unsigned int entry)
{
	struct devepoll_wait_args args = {
		.max_events = max,
		.changes = n ? (uintptr_t)changes : 0,
		.nr_changes = n,
		.change_size = n ? sizeof(*changes) : 0,
	};
	int ret = wait_args(set, &args, out, entry);

	if (ret >= 0 && args.nr_tried != (unsigned int)n)
		return -EPROTO;
	return ret;
}

const struct engine engine_device = {
	.name = "device",
	.is_device = true,
	.open = dev_open,
	.ctl = dev_ctl,
	.change = dev_change,
	.wait = dev_wait,
	.wait_raw = dev_wait_raw,
	.change_wait = dev_change_wait,
};
