/* SPDX-License-Identifier: GPL-2.0 */
/* What the clients have in common that test a server on this machine. */
#ifndef TOOLS_CLIENT_H
#define TOOLS_CLIENT_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Longer than any answer takes. */
#define PATIENCE_MS	20000

/* A connection, with buffers of these sizes, or of the usual size if 0. */
static inline int client_dial(int port, int receive, int send)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	if (receive)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof(int));
	if (send)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send, sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "connect to port %d", port);
	return fd;
}

/* Ends a connection with RST. */
static inline void client_reset(int fd)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

static inline bool client_say(int fd, const char *text, size_t len)
{
	return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len;
}

#endif /* TOOLS_CLIENT_H */
