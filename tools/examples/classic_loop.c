// SPDX-License-Identifier: GPL-2.0
/*
 * A small HTTP server on /dev/epoll, in the style of a program of 2001.
 *
 * The whole interface is open, EP_ALLOC, mmap, write and EP_POLL.  The server
 * collects changes and makes them with one write() before each wait, and reads
 * the result of a wait in the mapping.  Events are edge-triggered: after each
 * one, the server reads or writes until it gets EAGAIN.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "http.h"
#include "server.h"

static struct loop_stats stats;

static int kdpfd;			/* the device */
static char *map;			/* its two page sets */
static struct pollfd *changes;		/* to be written before the next wait */
static int nchanges;
static int maxchanges;

static void change(int fd, short events)
{
	if (nchanges == maxchanges) {
		maxchanges = maxchanges ? 2 * maxchanges : 1024;
		changes = realloc(changes, maxchanges * sizeof(*changes));
		if (!changes)
			err(1, "no memory for %d changes", maxchanges);
	}
	changes[nchanges++] = (struct pollfd){ .fd = fd, .events = events };
}

/* The device reports POLLERR and POLLHUP only if they are requested. */
static void watch(int fd)
{
	change(fd, POLLIN | POLLOUT | POLLERR | POLLHUP);
}

static void drive(int fd)
{
	if (http_drive(fd) != HTTP_CLOSE)
		return;
	change(fd, POLLREMOVE);
	http_close(fd);
}

/* A short count does not say which entries failed: query each. */
static void drop_failed(void)
{
	int i;

	for (i = 0; i < nchanges; i++) {
		struct pollfd pfd = { .fd = changes[i].fd };

		if (changes[i].events == POLLREMOVE)
			continue;
		if (ioctl(kdpfd, EP_ISPOLLED, &pfd) == 1)
			continue;
		warnx("fd %d can't be watched", pfd.fd);
		changes[i].events = POLLREMOVE;
		http_close(pfd.fd);
	}
}

/*
 * The device of 2001 did not report what was ready before an fd was added.  The
 * server therefore tries each new fd once after adding it: either the fd gets
 * an event later, or its data is found here.
 */
static void make_changes(void)
{
	ssize_t size;
	int i, made;

	while (nchanges) {
		size = nchanges * sizeof(*changes);
		stats.changes++;
		if (write(kdpfd, changes, size) != size)
			drop_failed();

		/* drive() adds at most one: it overwrites no unread one. */
		made = nchanges;
		nchanges = 0;
		for (i = 0; i < made; i++) {
			struct pollfd pfd = changes[i];

			if (pfd.events != POLLREMOVE)
				drive(pfd.fd);
		}
	}
}

static void accept_all(int listen_fd)
{
	int fd;

	while ((fd = http_accept(listen_fd)) >= 0)
		watch(fd);
}

static void open_device(const struct server *srv)
{
	kdpfd = open(srv->device, O_RDWR | O_CLOEXEC);
	if (kdpfd < 0)
		err(1, "%s", srv->device);
	if (ioctl(kdpfd, EP_ALLOC, srv->maxfds))
		err(1, "EP_ALLOC of %d", srv->maxfds);
	map = mmap(NULL, EP_MAP_SIZE(srv->maxfds), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE, kdpfd, 0);
	if (map == MAP_FAILED)
		err(1, "mmap of %s", srv->device);
}

static void watch_own(const struct server *srv)
{
	struct pollfd own[] = {
		{ .fd = srv->listen_fd, .events = POLLIN },
		{ .fd = srv->stop_fd, .events = POLLIN },
	};

	if (write(kdpfd, own, sizeof(own)) != sizeof(own))
		errx(1, "can't watch the listening socket");
}

static void loop(const struct server *srv)
{
	struct evpoll evp = { .ep_timeout = -1 };

	accept_all(srv->listen_fd);
	for (;;) {
		struct pollfd *pfd;
		int i, n;

		make_changes();
		n = ioctl(kdpfd, EP_POLL, &evp);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err(1, "EP_POLL");
		stats.waits++;
		stats.events += n;

		pfd = (struct pollfd *)(map + evp.ep_resoff);
		for (i = 0; i < n; i++) {
			if (pfd[i].fd == srv->stop_fd)
				return;
			if (pfd[i].fd == srv->listen_fd)
				accept_all(srv->listen_fd);
			else
				drive(pfd[i].fd);
		}
	}
}

int main(int argc, char **argv)
{
	struct server srv;

	server_start(&srv, argc, argv);
	open_device(&srv);
	watch_own(&srv);
	server_ready(&srv);
	loop(&srv);
	server_report("/dev/epoll", &stats);
	return 0;
}
