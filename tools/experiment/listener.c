// SPDX-License-Identifier: GPL-2.0
/*
 * The listening socket of ephttpd.
 */
#define _GNU_SOURCE
#include "listener.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "accept_again.h"
#include "loop.h"

static int spare_fd = -1;	/* given up for a moment when fds run out */

void listener_init(void)
{
	spare_fd = open_spare();
	if (spare_fd < 0)
		err(1, "/dev/null");
}

static void set_option(int fd, int option, int value)
{
	if (setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value)))
		err(1, "setsockopt");
}

int listener_open(int *port, int bufsize)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(*port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err(1, "socket");
	set_option(fd, SO_REUSEADDR, 1);
	if (bufsize) {
		set_option(fd, SO_SNDBUF, bufsize);
		set_option(fd, SO_RCVBUF, bufsize);
	}
	if (bind(fd, (struct sockaddr *)&addr, len)) {
		if (errno == EADDRINUSE)
			errx(1, "port %d is in use: choose another with --port",
			     *port);
		err(1, "bind to port %d", *port);
	}
	if (listen(fd, SOMAXCONN))
		err(1, "listen at port %d", *port);
	if (getsockname(fd, (struct sockaddr *)&addr, &len))
		err(1, "getsockname");
	*port = ntohs(addr.sin_port);
	return fd;
}

int listener_accept(int listen_fd, int maxfds)
{
	for (;;) {
		int fd = accept4(listen_fd, NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0 && fd < maxfds)
			return fd;
		if (fd >= 0) {
			loop_counts.refused++;
			close(fd);
		} else if (!accept_again(listen_fd, &spare_fd,
					 &loop_counts.refused)) {
			return -1;
		}
	}
}
