// SPDX-License-Identifier: GPL-2.0
/*
 * The same small HTTP server with libdevepoll: classic_loop.c without its
 * book-keeping.
 *
 * The server collects new connections and adds them with one call before each
 * wait.  The call reports which of them failed, and why.  What a connection is
 * already ready for is reported as an event, and a connection that is closed
 * leaves the interest list by itself.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <devepoll.h>

#include "http.h"
#include "server.h"

#define MAX_CHANGES	1024

static struct loop_stats stats;

static struct devepoll *set;
static struct pollfd changes[MAX_CHANGES];
static size_t nchanges;

static void make_changes(void)
{
	struct devepoll_failure failures[MAX_CHANGES];
	int i, failed;

	if (!nchanges)
		return;
	stats.changes++;
	failed = devepoll_update(set, changes, nchanges, failures, MAX_CHANGES);
	if (failed < 0)
		errx(1, "devepoll_update: %s", strerror(-failed));

	for (i = 0; i < failed; i++) {
		int fd = changes[failures[i].index].fd;

		warnx("fd %d can't be watched: %s", fd,
		      strerror(-failures[i].error));
		http_close(fd);
	}
	nchanges = 0;
}

static void watch(int fd)
{
	if (nchanges == MAX_CHANGES)
		make_changes();
	changes[nchanges++] = (struct pollfd){
		.fd = fd,
		.events = POLLIN | POLLOUT | POLLERR | POLLHUP,
	};
}

static void accept_all(int listen_fd)
{
	int fd;

	while ((fd = http_accept(listen_fd)) >= 0)
		watch(fd);
}

static void loop(const struct server *srv)
{
	const struct pollfd *event;
	struct devepoll_cursor cursor;
	int n;

	for (;;) {
		make_changes();
		n = devepoll_wait(set, &cursor, -1);
		if (n == -EINTR)
			continue;
		if (n < 0)
			errx(1, "devepoll_wait: %s", strerror(-n));
		stats.waits++;
		stats.events += n;

		while ((event = devepoll_next(&cursor))) {
			int fd = event->fd;

			if (fd == srv->stop_fd)
				return;
			if (fd == srv->listen_fd)
				accept_all(fd);
			else if (http_drive(fd) == HTTP_CLOSE)
				http_close(fd);
		}
	}
}

static void open_set(const struct server *srv)
{
	int ret = devepoll_open(&set, srv->device, srv->maxfds, 0);

	if (ret < 0)
		errx(1, "%s: %s", srv->device, strerror(-ret));
	ret = devepoll_add(set, srv->listen_fd, POLLIN);
	if (!ret)
		ret = devepoll_add(set, srv->stop_fd, POLLIN);
	if (ret < 0)
		errx(1, "can't watch the listening socket: %s", strerror(-ret));
}

int main(int argc, char **argv)
{
	struct server srv;

	server_start(&srv, argc, argv);
	open_set(&srv);
	server_ready(&srv);
	loop(&srv);
	devepoll_close(set);
	server_report("libdevepoll", &stats);
	return 0;
}
