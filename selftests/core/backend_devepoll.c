// SPDX-License-Identifier: GPL-2.0
/*
 * The table of operations over /dev/epoll, and its calls one by one.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/backend.h"

static int negated(long ret)
{
	return ret < 0 ? -errno : ret;
}

int dep_open(void)
{
	return negated(open("/dev/epoll", O_RDWR | O_CLOEXEC));
}

int dep_alloc(int fd, long n)
{
	return negated(ioctl(fd, EP_ALLOC, n));
}

int dep_free(int fd)
{
	return negated(ioctl(fd, EP_FREE));
}

int dep_ispolled(int fd, struct pollfd *pfd)
{
	return negated(ioctl(fd, EP_ISPOLLED, pfd));
}

int dep_poll(int fd, struct evpoll *evp)
{
	return negated(ioctl(fd, EP_POLL, evp));
}

int dep_write(int fd, const struct pollfd *pfds, int n)
{
	return negated(write(fd, pfds, n * sizeof(*pfds)));
}

int dep_write_one(int fd, int member, short events)
{
	struct pollfd pfd = { .fd = member, .events = events, .revents = -1 };

	return dep_write(fd, &pfd, 1);
}

char *dep_map(int fd, size_t size)
{
	return mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
}

static int device_open(struct set *set, unsigned int room)
{
	int ret = dep_open();

	if (ret < 0)
		return ret;
	set->fd = ret;
	ret = dep_alloc(set->fd, room);
	if (ret < 0)
		goto err_close;
	set->map_size = EP_MAP_SIZE(room);
	set->map = dep_map(set->fd, set->map_size);
	if (set->map == MAP_FAILED) {
		ret = -errno;
		goto err_close;
	}
	return 0;

err_close:
	close(set->fd);
	set->ops = NULL;
	return ret;
}

static int device_change(struct set *set, int fd, short events)
{
	int ret = dep_write_one(set->fd, fd, events);

	if (ret < 0)
		return ret;
	return ret == sizeof(struct pollfd) ? 0 : -EPERM;
}

static int device_remove(struct set *set, int fd)
{
	return device_change(set, fd, POLLREMOVE);
}

static int device_has(struct set *set, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = -1, .revents = -1 };

	return dep_ispolled(set->fd, &pfd);
}

static int device_wait(struct set *set, struct pollfd *out, int room, int ms)
{
	struct evpoll evp = { .ep_timeout = ms, .ep_resoff = -1UL };
	int n = dep_poll(set->fd, &evp);

	memset(out, 0xa5, room * sizeof(*out));
	if (n <= 0)
		return n;
	if (n > room || evp.ep_resoff + n * sizeof(*out) > set->map_size)
		return -EOVERFLOW;
	set->resoff = evp.ep_resoff;
	memcpy(out, set->map + evp.ep_resoff, n * sizeof(*out));
	return n;
}

static void device_close(struct set *set)
{
	if (set->map)
		munmap(set->map, set->map_size);
	set->map = NULL;
	if (set->fd >= 0)
		close(set->fd);
	set->fd = -1;
}

const struct backend backend_devepoll = {
	.name		= "/dev/epoll",
	.traits		= KEEPS_WHAT_WAS_POSTED | MOVES_LAST_SLOT |
			  WAKES_IN_ORDER | REMOVES_WHAT_IS_GONE,
	.wait_syscall	= SYS_ioctl,
	.open		= device_open,
	.add		= device_change,
	.change		= device_change,
	.remove		= device_remove,
	.has		= device_has,
	.wait		= device_wait,
	.close		= device_close,
};
