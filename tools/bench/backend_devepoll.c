// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark on /dev/epoll with the 2001 interface: by
 * system calls, and waiting by the library.
 */
#include "backend.h"

#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include <devepoll.h>

struct set {
	int fd;
	char *map;
	size_t map_size;
	struct devepoll *devepoll;	/* the library's; it has the mapping */
	struct pollfd *changes;
};

static struct set *set_new(int nfds)
{
	struct set *set = calloc(1, sizeof(*set));

	if (!set)
		err(1, "calloc");
	set->changes = calloc(nfds, sizeof(*set->changes));
	if (!set->changes)
		err(1, "calloc");
	return set;
}

static struct set *set_open(int nfds)
{
	struct set *set = set_new(nfds);

	set->map_size = EP_MAP_SIZE(nfds);
	set->fd = open("/dev/epoll", O_RDWR | O_CLOEXEC);
	if (set->fd < 0)
		err(1, "/dev/epoll");
	if (ioctl(set->fd, EP_ALLOC, nfds))
		err(1, "EP_ALLOC of %d", nfds);
	set->map = mmap(NULL, set->map_size, PROT_READ, MAP_PRIVATE, set->fd,
			0);
	if (set->map == MAP_FAILED)
		err(1, "mmap of %zu bytes", set->map_size);
	return set;
}

static void set_close(struct set *set)
{
	munmap(set->map, set->map_size);
	close(set->fd);
	free(set->changes);
	free(set);
}

static inline bool change(struct set *set, const int *fds, int n, short events)
{
	ssize_t size = n * sizeof(struct pollfd);
	int i;

	for (i = 0; i < n; i++) {
		set->changes[i].fd = fds[i];
		set->changes[i].events = events;
	}
	return write(set->fd, set->changes, size) == size;
}

static bool set_add(struct set *set, const int *fds, int n)
{
	return change(set, fds, n, POLLIN);
}

static bool set_modify(struct set *set, const int *fds, int n)
{
	return change(set, fds, n, POLLIN | POLLHUP);
}

static bool set_remove(struct set *set, const int *fds, int n)
{
	return change(set, fds, n, POLLREMOVE);
}

static int set_wait(struct set *set, int timeout)
{
	struct evpoll evp = { .ep_timeout = timeout };
	int i, n = ioctl(set->fd, EP_POLL, &evp);
	const struct pollfd *pfd;

	pfd = (const struct pollfd *)(set->map + evp.ep_resoff);
	for (i = 0; i < n; i++)
		consume(pfd[i].fd, pfd[i].revents);
	return n;
}

const struct backend backend_devepoll = {
	.name = "/dev/epoll",
	SET_OPERATIONS,
};

static struct set *library_open(int nfds)
{
	struct set *set = set_new(nfds);

	if (devepoll_open(&set->devepoll, NULL, nfds, 0))
		errx(1, "no set of %d fds", nfds);
	set->fd = devepoll_fd(set->devepoll);
	return set;
}

static void library_close(struct set *set)
{
	devepoll_close(set->devepoll);
	free(set->changes);
	free(set);
}

static int library_wait(struct set *set, int timeout)
{
	struct devepoll_cursor cursor;
	int n = devepoll_wait(set->devepoll, &cursor, timeout);
	const struct pollfd *event;

	while ((event = devepoll_next(&cursor)))
		consume(event->fd, event->revents);
	return n;
}

const struct backend backend_library = {
	.name = "/dev/epoll, waits by the library",
	.open = library_open,
	.close = library_close,
	.add = set_add,
	.modify = set_modify,
	.remove = set_remove,
	.wait = library_wait,
};
