// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The life of an instance: open, grow, close.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "internal.h"

static int open_node(const char *path, unsigned int flags)
{
	int oflags = O_RDWR | O_NOCTTY;
	int fd;

	if (!(flags & DEVEPOLL_NO_CLOEXEC))
		oflags |= O_CLOEXEC;

	fd = open(path ? path : DEVEPOLL_NODE, oflags);
	if (fd < 0 && errno == ENOENT && !path)
		fd = open(DEVEPOLL_NODE_MISC, oflags);
	return fd < 0 ? -errno : fd;
}

static int map_results(struct devepoll *set)
{
	size_t size = EP_MAP_SIZE(set->capacity);
	void *map;

	map = mmap(NULL, size, PROT_READ, MAP_SHARED, set->fd, 0);
	if (map == MAP_FAILED)
		return -errno;

	set->map = map;
	set->map_size = size;
	return 0;
}

static void unmap_results(struct devepoll *set)
{
	if (set->map)
		munmap(set->map, set->map_size);
	set->map = NULL;
}

int devepoll_open(struct devepoll **setp, const char *path, int capacity,
		  unsigned int flags)
{
	struct devepoll *set;
	int err;

	if (!setp)
		return -EINVAL;
	*setp = NULL;
	if (flags & ~DEVEPOLL_NO_CLOEXEC)
		return -EINVAL;

	set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;

	set->fd = open_node(path, flags);
	if (set->fd < 0) {
		err = set->fd;
		goto err_free;
	}

	if (ioctl(set->fd, EP_ALLOC, capacity) < 0) {
		err = -errno;
		goto err_close;
	}
	set->capacity = capacity;

	err = map_results(set);
	if (err)
		goto err_close;

	*setp = set;
	return 0;

err_close:
	close(set->fd);
err_free:
	free(set);
	return err;
}

int devepoll_alloc(struct devepoll *set, int capacity)
{
	int err = 0;
	int ret;

	if (!set || capacity < 1)
		return -EINVAL;
	if (capacity <= set->capacity && set->map)
		return 0;

	/* The device refuses to grow an instance that is mapped. */
	unmap_results(set);
	if (ioctl(set->fd, EP_ALLOC, capacity) < 0)
		err = -errno;
	else if (capacity > set->capacity)
		set->capacity = capacity;

	ret = map_results(set);
	return err ? err : ret;
}

int devepoll_close(struct devepoll *set)
{
	int err = 0;

	if (!set)
		return 0;

	unmap_results(set);
	if (close(set->fd) < 0)
		err = -errno;
	free(set);
	return err;
}

int devepoll_detach(struct devepoll *set)
{
	int fd;

	if (!set)
		return -EINVAL;

	fd = set->fd;
	unmap_results(set);
	free(set);
	return fd;
}

int devepoll_capacity(const struct devepoll *set)
{
	return set ? set->capacity : -EINVAL;
}

int devepoll_fd(const struct devepoll *set)
{
	return set ? set->fd : -EINVAL;
}
