/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libdevepoll: the extended interface of /dev/epoll, beyond epoll's calls.
 */
#ifndef DEVEPOLL_EVENTS_H
#define DEVEPOLL_EVENTS_H

#include <stdint.h>

#include <linux/devepoll.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: events
 *
 * A set is a plain descriptor here, of devepoll_events_open() or of
 * devepoll_epoll_create1(): the calls of both headers work on it, side by side,
 * also when it was inherited, duplicated or received.  close(2) closes it.
 *
 * The structs are those of linux/devepoll.h, events are the EPOLL* bits of
 * sys/epoll.h.  Every request is made through the short door.
 *
 * All functions return a negative errno when they fail and leave errno itself
 * undefined.  All may be called from any thread at any time, any number of
 * waits on one set among them: each event goes to one of them.  They are no
 * cancellation points, since a thread would be cancelled with events in its
 * hands.
 *
 * For a descriptor that is not open all give -EBADF, for one that is not the
 * device -ENOTTY, for a set of the interface of 2001 -EBUSY.
 */

/* Flag of devepoll_events_open(): let the descriptor survive execve(2). */
#ifndef DEVEPOLL_NO_CLOEXEC
#define DEVEPOLL_NO_CLOEXEC	0x1U
#endif

/**
 * devepoll_events_open() - make a set
 * @flags: 0 or DEVEPOLL_NO_CLOEXEC
 *
 * Return: its descriptor, or
 * -EINVAL: @flags has an unknown bit;
 * -ENOENT: there is no node;
 * -EACCES: the node's mode forbids reading or writing;
 * -ENODEV, -ENXIO: the node is there, but the module is not loaded;
 * -ENOTTY: the node is not the device, or the module is too old;
 * -EMFILE, -ENFILE: no descriptor is free;
 * -ENOMEM: no memory.
 */
int devepoll_events_open(unsigned int flags);

/**
 * devepoll_events_request() - make a request of the device, of whatever kind
 * @fd: the set
 * @request: DEVEPOLL_CTL, DEVEPOLL_WAIT, DEVEPOLL_STATS, DEVEPOLL_SIGNAL,
 *	EP_POLL...
 * @arg: its argument
 *
 * For what the other functions have no parameter for.  Since the size of the
 * argument is part of the request, a program that was built with newer headers
 * than the library gets what it asks for.
 *
 * Return: what linux/devepoll.h says of the request, with errors as a negative
 * errno.
 */
int devepoll_events_request(int fd, unsigned int request, void *arg);

/**
 * devepoll_events_update() - add, change and remove many fds at once
 * @fd: the set
 * @changes: the changes, made in their order; the result of each is filled in
 * @nr_changes: how many there are
 * @nr_failed: out: how many have a result other than 0 or were not tried; NULL
 *	where the caller does not want to know
 *
 * Return: how many were tried: all of them, unless the memory of the next could
 * not be read and written; or, where none was,
 * -EFAULT: the first could not be;
 * -EINVAL: @nr_changes is 0 or above DEVEPOLL_MAX_CHANGES.
 */
int devepoll_events_update(int fd, struct devepoll_change *changes,
			   unsigned int nr_changes, unsigned int *nr_failed);

/**
 * devepoll_events_wait() - sleep until there are events, and take them
 * @fd: the set
 * @events: out: the events
 * @max_events: for how many there is room, at least 1
 * @timeout: nanoseconds to wait at least; 0 does not sleep, a negative one
 *	waits without limit
 *
 * Return: the number of events, 0 where the time was over before there was one;
 * or
 * -EFAULT: @events can't be written (no event is lost);
 * -EINVAL: @max_events is 0 or above DEVEPOLL_MAX_EVENTS;
 * -EINTR: a signal came before an event did; the call is never restarted.
 */
int devepoll_events_wait(int fd, struct devepoll_event *events,
			 unsigned int max_events, int64_t timeout);

/**
 * devepoll_events_update_wait() - make changes, then wait, in one call
 * @fd: the set
 * @changes: as for devepoll_events_update()
 * @nr_changes: how many there are; with 0 the call is devepoll_events_wait()
 * @nr_failed: as for devepoll_events_update(), also after an error
 * @events: as for devepoll_events_wait()
 * @max_events: as for devepoll_events_wait()
 * @timeout: as for devepoll_events_wait()
 *
 * If not all changes took effect, the call returns what is ready without
 * waiting.
 *
 * Return: as devepoll_events_wait(), or
 * -EINVAL: also where @nr_changes is above DEVEPOLL_MAX_CHANGES.
 */
int devepoll_events_update_wait(int fd, struct devepoll_change *changes,
				unsigned int nr_changes,
				unsigned int *nr_failed,
				struct devepoll_event *events,
				unsigned int max_events, int64_t timeout);

/**
 * devepoll_events_harvest() - wait, with all that a wait can be told
 * @fd: the set
 * @args: in and out: see linux/devepoll.h: at least so many events, a point in
 *	time instead of a time-out, a signal mask, changes, results as epoll has
 *	them or in the mapping
 *
 * Return: the number of events, or a negative errno, as linux/devepoll.h says.
 */
static inline int devepoll_events_harvest(int fd,
					  struct devepoll_wait_args *args)
{
	return devepoll_events_request(fd, DEVEPOLL_WAIT, args);
}

/**
 * struct devepoll_part - a part of a set's mapping, for one thread
 * @events: where the events of devepoll_events_take() are, read-only
 * @max_events: how many fit
 * @fd: the set
 * @offset: where the part begins in the mapping, in bytes: what belongs into
 *	the events of struct devepoll_wait_args with DEVEPOLL_WAIT_MAPPED
 */
struct devepoll_part {
	const struct devepoll_event *events;
	unsigned int max_events;
	int fd;
	uint64_t offset;
};

/**
 * devepoll_events_map() - map a set's events, a part for each thread
 * @fd: the set
 * @parts: out: the parts, of equal size
 * @nr_parts: how many there are, at least 1
 * @max_events: how many events each shall hold, at least 1
 *
 * The memory is the device's, so that no fault can meet a wait, and is the same
 * for all who map the set.  Its size is settled by the first who does: others
 * ask for as many events, rounded up to whole pages.
 *
 * Return: 0, or
 * -EINVAL: @nr_parts or @max_events is 0, or they are too many, or not as many
 * as in the first mapping of the set;
 * -ENOMEM: no memory, or RLIMIT_MEMLOCK or the cgroup forbids it;
 * -EFAULT: @parts is NULL.
 */
int devepoll_events_map(int fd, struct devepoll_part *parts,
			unsigned int nr_parts, unsigned int max_events);

/**
 * devepoll_events_unmap() - undo devepoll_events_map()
 * @parts: from devepoll_events_map(), not in use by any thread; NULL does
 *	nothing
 * @nr_parts: as given to devepoll_events_map()
 *
 * To be called before or after the set is closed.
 */
void devepoll_events_unmap(struct devepoll_part *parts, unsigned int nr_parts);

/**
 * devepoll_events_take() - sleep until there are events, and take them, mapped
 * @part: the caller's part, where the events are from now on, until its next
 *	call
 * @timeout: as for devepoll_events_wait()
 *
 * Return: as devepoll_events_wait(), or
 * -EINVAL: @part is NULL, or the set has no such part.
 */
int devepoll_events_take(const struct devepoll_part *part, int64_t timeout);

/**
 * devepoll_events_stats() - tell what a set has seen
 * @fd: the set, of either interface
 * @stats: out: the counters
 *
 * Return: 0, or
 * -EFAULT: @stats can't be written.
 */
static inline int devepoll_events_stats(int fd, struct devepoll_stats *stats)
{
	return devepoll_events_request(fd, DEVEPOLL_STATS, stats);
}

/**
 * devepoll_events_features() - tell what the module can, and its limits
 * @fd: any open of the device
 * @features: out: see linux/devepoll.h; what the module does not know is 0
 *
 * Return: 0, or
 * -EFAULT: @features can't be written.
 */
int devepoll_events_features(int fd, struct devepoll_features *features);

#ifdef __cplusplus
}
#endif

#endif /* DEVEPOLL_EVENTS_H */
