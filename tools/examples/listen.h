/* SPDX-License-Identifier: GPL-2.0 */
/* How the servers of this tree listen. */
#ifndef EXAMPLES_LISTEN_H
#define EXAMPLES_LISTEN_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <sys/socket.h>

/**
 * listen_at() - listen at a port of 127.0.0.1
 * @port: in: the port, 0 for any; out: the port
 * @backlog: how many connections may wait to be accepted
 * @bufsize: of the sockets' buffers, 0 for the kernel's choice; with small ones
 *	writes block soon, which tests need
 *
 * Ends the program with a message if this fails.
 *
 * Return: the socket, which is non-blocking.
 */
static inline int listen_at(int *port, int backlog, int bufsize)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(*port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	const int one = 1;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bufsize &&
	    (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bufsize, sizeof(int)) ||
	     setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bufsize, sizeof(int))))
		err(1, "socket buffers of %d bytes", bufsize);
	if (bind(fd, (struct sockaddr *)&addr, len) || listen(fd, backlog) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len))
		err(1, "can't listen at port %d", *port);
	*port = ntohs(addr.sin_port);
	return fd;
}

#endif /* EXAMPLES_LISTEN_H */
