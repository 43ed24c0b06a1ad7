// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The interest list: single changes, batches of changes, and queries.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "internal.h"

/* The maximum number of entries of a write(2); the kernel cuts longer ones. */
#define MAX_CHANGES	(0x7ffff000 / sizeof(struct pollfd))

/**
 * struct last_entries - the last entry of each fd in an array of changes
 * @changes: the array
 * @slots: a hash table, by fd, of indices into the array, plus 1; 0 is free
 * @mask: the number of slots, a power of two greater than the length of the
 *	array, minus 1
 */
struct last_entries {
	const struct pollfd *changes;
	unsigned int *slots;
	size_t mask;
};

/* The slot of an fd, or the free slot where it belongs. */
static unsigned int *last_slot(const struct last_entries *last, int fd)
{
	size_t i = (unsigned int)fd * 2654435769U;

	for (;; i++) {
		unsigned int *slot = &last->slots[i & last->mask];

		if (!*slot || last->changes[*slot - 1].fd == fd)
			return slot;
	}
}

static int last_begin(struct last_entries *last, const struct pollfd *changes,
		      size_t nr)
{
	size_t size = 2;
	size_t i;

	while (size < 2 * nr)
		size *= 2;

	last->changes = changes;
	last->mask = size - 1;
	last->slots = calloc(size, sizeof(*last->slots));
	if (!last->slots)
		return -ENOMEM;

	for (i = 0; i < nr; i++)
		*last_slot(last, changes[i].fd) = i + 1;
	return 0;
}

static bool is_last(const struct last_entries *last, size_t i)
{
	return *last_slot(last, last->changes[i].fd) == i + 1;
}

static bool is_removal(const struct pollfd *change)
{
	return change->events & POLLREMOVE;
}

/*
 * Does the device consider the fd open?  F_GETSIG fails for the same fds,
 * including those opened with O_PATH, and has no side effect.
 */
static bool is_open(int fd)
{
	return fcntl(fd, F_GETSIG) >= 0 || errno != EBADF;
}

static bool adds_closed_fd(const struct pollfd *changes, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!is_removal(&changes[i]) && !is_open(changes[i].fd))
			return true;
	}
	return false;
}

/* The number of entries that took effect, or a negative errno. */
static ssize_t write_changes(const struct devepoll *set,
			     const struct pollfd *changes, size_t nr)
{
	ssize_t ret;

	do {
		ret = write(set->fd, changes, nr * sizeof(*changes));
	} while (ret < 0 && errno == EINTR);

	return ret < 0 ? -errno : ret / (ssize_t)sizeof(*changes);
}

/* The reason why an entry is not in effect now, or 0 if it is. */
static int entry_error(const struct devepoll_probe *probe,
		       const struct pollfd *change)
{
	const struct devepoll *set = probe->set;
	ssize_t ret;
	int err;

	/* The number was not in use until the probe got it. */
	if (change->fd == probe->epfd || !is_open(change->fd))
		return -EBADF;
	if (devepoll_query(set, change->fd) == (unsigned short)change->events)
		return 0;

	/* Later entries may have made room. */
	ret = write_changes(set, change, 1);
	if (ret)
		return ret < 0 ? ret : 0;
	err = devepoll_probe_fd(probe, change->fd);
	return err ? err : -ENOSPC;
}

static int name_failures(const struct devepoll *set,
			 const struct pollfd *changes, size_t nr,
			 struct devepoll_failure *failures, size_t max)
{
	struct devepoll_probe probe;
	struct last_entries last;
	size_t failed = 0;
	size_t i;
	int err;

	err = last_begin(&last, changes, nr);
	if (err)
		return err;
	devepoll_probe_begin(&probe, set);

	for (i = 0; i < nr; i++) {
		if (is_removal(&changes[i]) || !is_last(&last, i))
			continue;
		err = entry_error(&probe, &changes[i]);
		if (!err)
			continue;
		if (failed < max)
			failures[failed] = (struct devepoll_failure) {
				.index = i,
				.error = err,
			};
		failed++;
	}

	devepoll_probe_end(&probe);
	free(last.slots);
	return failed;
}

int devepoll_update(struct devepoll *set, const struct pollfd *changes,
		    size_t nr_changes, struct devepoll_failure *failures,
		    size_t max_failures)
{
	ssize_t done;

	if (!set || nr_changes > MAX_CHANGES)
		return -EINVAL;

	done = write_changes(set, changes, nr_changes);
	if (done < 0)
		return done;
	if (!failures)
		return nr_changes - done;
	if ((size_t)done == nr_changes && !adds_closed_fd(changes, nr_changes))
		return 0;
	return name_failures(set, changes, nr_changes, failures, max_failures);
}

int devepoll_add(struct devepoll *set, int fd, short events)
{
	struct pollfd change = { .fd = fd, .events = events };
	struct devepoll_failure failure;
	int ret;

	if (is_removal(&change))
		return -EINVAL;

	ret = devepoll_update(set, &change, 1, &failure, 1);
	return ret > 0 ? failure.error : ret;
}

int devepoll_change(struct devepoll *set, int fd, short events)
{
	int ret = devepoll_query(set, fd);

	return ret < 0 ? ret : devepoll_add(set, fd, events);
}

int devepoll_remove(struct devepoll *set, int fd)
{
	struct pollfd change = { .fd = fd, .events = POLLREMOVE };

	return devepoll_update(set, &change, 1, NULL, 0);
}

int devepoll_query(const struct devepoll *set, int fd)
{
	struct pollfd entry = { .fd = fd };
	int ret;

	if (!set)
		return -EINVAL;

	ret = ioctl(set->fd, EP_ISPOLLED, &entry);
	if (ret < 0)
		return -errno;
	return ret ? (unsigned short)entry.events : -ENOENT;
}
