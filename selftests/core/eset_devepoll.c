// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the extended interface over /dev/epoll, three ways into it, and
 * its requests one by one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/eset.h"

/* Threads and children that wait into one mapping at the same time. */
#define SLOTS		32
#define SLOT_EVENTS	1024
#define EVENTS_SIZE	(SLOTS * SLOT_EVENTS * sizeof(struct devepoll_event))

/* A 32-bit program gives each 64-bit argument as two. */
#ifdef SYS_fadvise64_64
#define SYS_FADVISE		SYS_fadvise64_64
#define fadvise_entry(fd, a, b, request)				\
	syscall(SYS_FADVISE, fd, (uint32_t)(a), (uint32_t)((a) >> 32),	\
		(uint32_t)(b), (uint32_t)((b) >> 32), request)
#else
#define SYS_FADVISE		SYS_fadvise64
#define fadvise_entry(fd, a, b, request)				\
	syscall(SYS_FADVISE, fd, a, b, request)
#endif

static int negated(long ret)
{
	return ret < 0 ? -errno : ret;
}

int dep_request(int fd, unsigned long request, void *arg)
{
	return negated(ioctl(fd, request, arg));
}

int dep_request_by_fadvise(int fd, unsigned long request, void *arg)
{
	return negated(fadvise_entry(fd, address_of(arg), 0ULL, request));
}

int dep_fadvise(int fd, uint64_t offset, uint64_t length, unsigned int request)
{
	return negated(fadvise_entry(fd, offset, length, request));
}

int dep_epoll_ctl(int fd, int op, int member, struct epoll_event *event)
{
	return negated(fadvise_entry(fd, address_of(event), (uint64_t)member,
				     DEVEPOLL_EPOLL_CTL(op)));
}

int dep_epoll_wait(int fd, struct epoll_event *out, int max, int ms)
{
	return negated(fadvise_entry(fd, address_of(out),
				     DEVEPOLL_EPOLL_WAIT_LEN(max, ms),
				     DEVEPOLL_EPOLL_WAIT));
}

int dep_take(int fd, uint64_t at, unsigned int max, int ms)
{
	return negated(fadvise_entry(fd, at, DEVEPOLL_EPOLL_WAIT_LEN(max, ms),
				     DEVEPOLL_TAKE));
}

int dep_changes(int fd, struct devepoll_change *changes, unsigned int nr,
		uint32_t *failed)
{
	struct devepoll_ctl ctl = {
		.changes = address_of(changes),
		.nr = nr,
		.change_size = sizeof(*changes),
		.nr_failed = -1,
	};
	int ret = dep_request(fd, DEVEPOLL_CTL, &ctl);

	*failed = ctl.nr_failed;
	return ret;
}

int dep_change(int fd, const struct devepoll_change *change)
{
	struct devepoll_change copy = *change;
	uint32_t failed;
	int ret;

	copy.result = 0x5a5a5a5a;
	ret = dep_changes(fd, &copy, 1, &failed);
	if (ret < 0)
		return ret;
	if (ret != 1 || failed != !!copy.result)
		return -EPROTO;
	return copy.result;
}

long count_asks(const struct eset *set)
{
	struct devepoll_stats stats = { .asks = ~0ULL };
	int ret = dep_request(set->fd, DEVEPOLL_STATS, &stats);

	return ret ?: (long)stats.asks;
}

int dep_wait(int fd, struct devepoll_event *out, int max, int ms)
{
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = max,
		.timeout = ms < 0 ? DEVEPOLL_FOREVER : ms * 1000000LL,
	};

	memset(out, 0xa5, max * sizeof(*out));
	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

struct devepoll_event *dep_map_events(int fd, size_t size)
{
	return mmap(NULL, size, PROT_READ, MAP_SHARED, fd,
		    DEVEPOLL_MAP_EVENTS);
}

static int device_adopt(struct eset *set, int fd)
{
	set->fd = fd;
	return 0;
}

static int device_open(struct eset *set)
{
	int fd = dep_open();

	return fd < 0 ? fd : set->ops->adopt(set, fd);
}

static void device_close(struct eset *set)
{
	if (set->map)
		munmap(set->map, EVENTS_SIZE);
	if (set->slots)
		munmap((void *)set->slots, sizeof(*set->slots));
	if (set->fd >= 0)
		close(set->fd);
	*set = (struct eset){ .ops = set->ops, .fd = -1 };
}

static int mapped_adopt(struct eset *set, int fd)
{
	void *p = dep_map_events(fd, EVENTS_SIZE);
	int err;

	set->fd = fd;
	if (p == MAP_FAILED)
		goto err_close;
	set->map = p;
	p = mmap(NULL, sizeof(*set->slots), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		goto err_close;
	set->slots = p;
	return 0;

err_close:
	err = -errno;
	device_close(set);
	return err;
}

static int device_ctl(struct eset *set, int op, int fd, uint32_t events,
		      uint64_t data)
{
	struct devepoll_change change = {
		.op = op,
		.fd = fd,
		.events = events,
		.data = data,
	};

	return dep_change(set->fd, &change);
}

static int fadvise_ctl(struct eset *set, int op, int fd, uint32_t events,
		       uint64_t data)
{
	struct epoll_event event = { .events = events, .data.u64 = data };

	return dep_epoll_ctl(set->fd, op, fd, &event);
}

static void set_times(struct devepoll_wait_args *args,
		      const struct timespec *timeout, const sigset_t *mask)
{
	args->timeout = timeout ? timeout->tv_sec * 1000000000LL +
				  timeout->tv_nsec : DEVEPOLL_FOREVER;
	args->sigmask = address_of(mask);
	args->sigsetsize = mask ? 8 : 0;
}

/* As epoll_wait(2) gives them; @n is what the wait returned. */
static int convert(struct epoll_event *out, int max,
		   const struct devepoll_event *events, int n)
{
	int i;

	if (n > 0 && n > max)
		return -EOVERFLOW;
	for (i = 0; i < n; i++) {
		out[i].events = events[i].events;
		out[i].data.u64 = events[i].data;
	}
	return n;
}

static int device_pwait2(struct eset *set, struct epoll_event *out, int max,
			 const struct timespec *timeout, const sigset_t *mask)
{
	struct devepoll_wait_args args = { .max_events = max };
	struct devepoll_event *events;
	int n;

	events = calloc(max > 0 ? max : 1, sizeof(*events));
	if (!events)
		return -ENOMEM;
	args.events = address_of(events);
	set_times(&args, timeout, mask);
	n = convert(out, max, events,
		    dep_request(set->fd, DEVEPOLL_WAIT, &args));
	free(events);
	return n;
}

static int fadvise_pwait2(struct eset *set, struct epoll_event *out, int max,
			  const struct timespec *timeout, const sigset_t *mask)
{
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = max,
		.flags = DEVEPOLL_WAIT_EPOLL,
	};

	set_times(&args, timeout, mask);
	return dep_request_by_fadvise(set->fd, DEVEPOLL_WAIT, &args);
}

static int slot_take(struct eset *set)
{
	unsigned int used = atomic_load(set->slots);
	int slot;

	do {
		slot = __builtin_ffs(~used) - 1;
		if (slot < 0)
			return -EBUSY;
	} while (!atomic_compare_exchange_weak(set->slots, &used,
					       used | 1U << slot));
	return slot;
}

static int mapped_pwait2(struct eset *set, struct epoll_event *out, int max,
			 const struct timespec *timeout, const sigset_t *mask)
{
	struct devepoll_wait_args args = {
		.max_events = max > SLOT_EVENTS ? SLOT_EVENTS : max,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};
	int n, slot = slot_take(set);

	if (slot < 0)
		return slot;
	args.events = slot * SLOT_EVENTS * sizeof(struct devepoll_event);
	set_times(&args, timeout, mask);
	n = convert(out, max, set->map + slot * SLOT_EVENTS,
		    dep_request(set->fd, DEVEPOLL_WAIT, &args));
	atomic_fetch_and(set->slots, ~(1U << slot));
	return n;
}

static int wait_by_pwait2(struct eset *set, struct epoll_event *out, int max,
			  int ms)
{
	struct timespec timeout = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000L,
	};

	return set->ops->pwait2(set, out, max, ms < 0 ? NULL : &timeout, NULL);
}

static int fadvise_wait(struct eset *set, struct epoll_event *out, int max,
			int ms)
{
	return dep_epoll_wait(set->fd, out, max, ms);
}

/* By DEVEPOLL_TAKE, unless the fadvise entry is off. */
static int mapped_wait(struct eset *set, struct epoll_event *out, int max,
		       int ms)
{
	unsigned int most = max > SLOT_EVENTS ? SLOT_EVENTS : max;
	int n, slot = slot_take(set);

	if (slot < 0)
		return slot;
	n = dep_take(set->fd,
		     slot * SLOT_EVENTS * sizeof(struct devepoll_event), most,
		     ms);
	n = convert(out, max, set->map + slot * SLOT_EVENTS, n);
	atomic_fetch_and(set->slots, ~(1U << slot));
	return n == -EINVAL ? wait_by_pwait2(set, out, max, ms) : n;
}

const struct eset_ops eset_devepoll = {
	.name		= "/dev/epoll",
	.traits		= TAKES_TURNS | KEEPS_ANSWERS | SHARES_QUEUES,
	.wait_syscall	= SYS_ioctl,
	.pwait2_syscall	= SYS_ioctl,
	.open		= device_open,
	.adopt		= device_adopt,
	.ctl		= device_ctl,
	.wait		= wait_by_pwait2,
	.pwait2		= device_pwait2,
	.close		= device_close,
};

const struct eset_ops eset_devepoll_fadvise = {
	.name		= "/dev/epoll by fadvise",
	.traits		= TAKES_TURNS | KEEPS_ANSWERS | SHARES_QUEUES,
	.wait_syscall	= SYS_FADVISE,
	.pwait2_syscall	= SYS_FADVISE,
	.open		= device_open,
	.adopt		= device_adopt,
	.ctl		= fadvise_ctl,
	.wait		= fadvise_wait,
	.pwait2		= fadvise_pwait2,
	.close		= device_close,
};

const struct eset_ops eset_devepoll_mapped = {
	.name		= "/dev/epoll into its mapping",
	.traits		= TAKES_TURNS | KEEPS_ANSWERS | SHARES_QUEUES,
	.wait_syscall	= SYS_FADVISE,
	.pwait2_syscall	= SYS_ioctl,
	.open		= device_open,
	.adopt		= mapped_adopt,
	.ctl		= device_ctl,
	.wait		= mapped_wait,
	.pwait2		= mapped_pwait2,
	.close		= device_close,
};
