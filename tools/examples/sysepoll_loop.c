// SPDX-License-Identifier: GPL-2.0
/*
 * The same small HTTP server on sys_epoll, for comparison with classic_loop.c.
 */
#include <err.h>
#include <errno.h>
#include <sys/epoll.h>

#include "http.h"
#include "server.h"

#define EVENTS_MAX	1024

static struct loop_stats stats;

static int epfd;

static int watch(int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events | EPOLLET };

	ev.data.fd = fd;
	stats.changes++;
	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev);
}

static void drive(int fd)
{
	if (http_drive(fd) == HTTP_CLOSE)
		http_close(fd);
}

static void accept_all(int listen_fd)
{
	int fd;

	while ((fd = http_accept(listen_fd)) >= 0) {
		if (watch(fd, EPOLLIN | EPOLLOUT)) {
			warn("fd %d can't be watched", fd);
			http_close(fd);
		}
	}
}

static void loop(const struct server *srv)
{
	static struct epoll_event events[EVENTS_MAX];

	for (;;) {
		int i, n = epoll_wait(epfd, events, EVENTS_MAX, -1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err(1, "epoll_wait");
		stats.waits++;
		stats.events += n;

		for (i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd == srv->stop_fd)
				return;
			if (fd == srv->listen_fd)
				accept_all(fd);
			else
				drive(fd);
		}
	}
}

int main(int argc, char **argv)
{
	struct server srv;

	server_start(&srv, argc, argv);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epfd < 0)
		err(1, "epoll_create1");
	if (watch(srv.listen_fd, EPOLLIN) || watch(srv.stop_fd, EPOLLIN))
		err(1, "can't watch the listening socket");
	server_ready(&srv);
	loop(&srv);
	server_report("sys_epoll", &stats);
	return 0;
}
