// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The extended interface: changes with results, waits, and the mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devepoll_events.h"

#include "entry.h"

#define NS_PER_MS	1000000

int devepoll_events_open(unsigned int flags)
{
	if (flags & ~DEVEPOLL_NO_CLOEXEC)
		return -EINVAL;
	return devepoll_entry_open(flags & DEVEPOLL_NO_CLOEXEC ? 0 : O_CLOEXEC,
				   NULL);
}

int devepoll_events_request(int fd, unsigned int request, void *arg)
{
	/* The fadvise entry does not take the ioctls that epoll has as well. */
	if (_IOC_TYPE(request) != EP_IOC_MAGIC)
		return raw_call(SYS_ioctl, fd, request, (long)arg, 0, 0, 0);
	return devepoll_entry_request(fd, request, arg);
}

int devepoll_events_update(int fd, struct devepoll_change *changes,
			   unsigned int nr_changes, unsigned int *nr_failed)
{
	struct devepoll_ctl ctl = {
		.changes = (uintptr_t)changes,
		.nr = nr_changes,
		.change_size = sizeof(*changes),
	};
	int ret = devepoll_entry_request(fd, DEVEPOLL_CTL, &ctl);

	if (nr_failed)
		*nr_failed = ret < 0 ? nr_changes :
				       ctl.nr_failed + (nr_changes - ret);
	return ret;
}

int devepoll_events_change(int fd, unsigned int op, int target, uint32_t events,
			   unsigned int flags, uint64_t data)
{
	struct devepoll_change change = {
		.op = op,
		.flags = flags,
		.fd = target,
		.events = events,
		.data = data,
	};

	if (op < DEVEPOLL_ADD || op > DEVEPOLL_MOD || flags > UINT16_MAX)
		return -EINVAL;
	return devepoll_entry_make(fd, &change);
}

int devepoll_events_wait(int fd, struct devepoll_event *events,
			 unsigned int max_events, int64_t timeout)
{
	return devepoll_events_update_wait(fd, NULL, 0, NULL, events,
					   max_events, timeout);
}

int devepoll_events_update_wait(int fd, struct devepoll_change *changes,
				unsigned int nr_changes,
				unsigned int *nr_failed,
				struct devepoll_event *events,
				unsigned int max_events, int64_t timeout)
{
	struct devepoll_wait_args args = {
		.events = (uintptr_t)events,
		.max_events = max_events,
		.timeout = timeout,
	};
	int ret;

	if (nr_changes) {
		args.changes = (uintptr_t)changes;
		args.nr_changes = nr_changes;
		args.change_size = sizeof(*changes);
	}
	ret = devepoll_entry_request(fd, DEVEPOLL_WAIT, &args);

	if (nr_failed)
		*nr_failed = args.nr_failed + (nr_changes - args.nr_tried);
	return ret;
}

int devepoll_events_features(int fd, struct devepoll_features *features)
{
	return devepoll_entry_request(fd, DEVEPOLL_FEATURES, features);
}

/* The size of the whole mapping in bytes, or 0 if it would be too large. */
static size_t map_size(unsigned int nr_parts, unsigned int max_events)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size;

	if (__builtin_mul_overflow(sizeof(struct devepoll_event), nr_parts,
				   &size) ||
	    __builtin_mul_overflow(size, max_events, &size) ||
	    __builtin_add_overflow(size, page - 1, &size))
		return 0;
	return size / page * page;
}

int devepoll_events_map(int fd, struct devepoll_part *parts,
			unsigned int nr_parts, unsigned int max_events)
{
	size_t size = map_size(nr_parts, max_events);
	const struct devepoll_event *map;
	struct devepoll_stats stats;
	unsigned int i;
	int err;

	if (!parts)
		return -EFAULT;
	if (!size)
		return -EINVAL;

	/* mmap(2) of another file could succeed as well. */
	err = devepoll_events_stats(fd, &stats);
	if (err)
		return err;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, DEVEPOLL_MAP_EVENTS);
	if (map == MAP_FAILED)
		return -errno;

	for (i = 0; i < nr_parts; i++) {
		size_t first = (size_t)i * max_events;

		parts[i] = (struct devepoll_part) {
			.events = map + first,
			.max_events = max_events,
			.fd = fd,
			.offset = first * sizeof(*map),
		};
	}
	return 0;
}

void devepoll_events_unmap(struct devepoll_part *parts, unsigned int nr_parts)
{
	if (parts && nr_parts)
		munmap((void *)parts[0].events,
		       map_size(nr_parts, parts[0].max_events));
}

/* By DEVEPOLL_WAIT: of any module, with any timeout. */
static __attribute__((noinline)) int take_long(const struct devepoll_part *part,
					       int64_t timeout)
{
	struct devepoll_wait_args args = {
		.events = part->offset,
		.max_events = part->max_events,
		.timeout = timeout,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};

	return devepoll_entry_request(part->fd, DEVEPOLL_WAIT, &args);
}

/* @ms: as for DEVEPOLL_TAKE; @timeout: the same in nanoseconds */
static inline int take(const struct devepoll_part *part, int ms,
		       int64_t timeout)
{
	long ret = fadvise_entry(part->fd, (void *)(uintptr_t)part->offset,
				 DEVEPOLL_EPOLL_WAIT_LEN(part->max_events, ms),
				 DEVEPOLL_TAKE);

	/* After another error, nothing has happened yet. */
	return ret >= 0 || ret == -EINTR ? ret : take_long(part, timeout);
}

/* With a timeout in nanoseconds, which is perhaps not one of DEVEPOLL_TAKE. */
static __attribute__((noinline)) int
take_timed(const struct devepoll_part *part, int64_t timeout)
{
	int64_t ms = timeout / NS_PER_MS;

	if (timeout % NS_PER_MS || ms > INT_MAX)
		return take_long(part, timeout);
	return take(part, ms, timeout);
}

int devepoll_events_take(const struct devepoll_part *part, int64_t timeout)
{
	if (!part)
		return -EINVAL;
	if (timeout > 0)
		return take_timed(part, timeout);
	return take(part, timeout < 0 ? -1 : 0, timeout);
}
