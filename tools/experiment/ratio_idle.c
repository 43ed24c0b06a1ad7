// SPDX-License-Identifier: GPL-2.0
/*
 * The idle clients of the experiment and of the demo: connections that send no
 * request.
 *
 * Each line of standard input is the desired number of open connections.  When
 * they are open, the program prints the number.  At the end of input it exits
 * with an error unless the server has kept all of them.  Source addresses are
 * 127.0.1.1 and up, because one address does not have 60000 ports.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"

#define PER_ADDRESS	20000
#define SOURCE_FIRST	0x7f000101	/* 127.0.1.1 */
#define NR_MOST		1000000

static int fds[NR_MOST];

static const char half[] = "GET /1 HTTP/1.1\r\nHost: ";

static struct {
	int port;
	bool half;
} want = { .port = 8080 };

static int open_one(long i)
{
	struct sockaddr_in from = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(SOURCE_FIRST + i / PER_ADDRESS),
	};
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(want.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	/* No TIME_WAIT at the end, which would answer later connections. */
	struct linger none = { .l_onoff = 1 };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket %ld", i);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	/* The port is chosen at connect(), where both ends are known. */
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)))
		err(1, "bind to %s", inet_ntoa(from.sin_addr));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		err(1, "connection %ld to port %d", i, want.port);
	if (want.half && send(fd, half, strlen(half), MSG_NOSIGNAL) < 0)
		err(1, "send");
	return fd;
}

static bool is_open(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static const struct arg args[] = {
	ARG_NUMBER("port", "P", "port of the server on 127.0.0.1 (default: 8080)",
		   &want.port, 1, 65535),
	ARG_FLAG("half", "send half a request on each connection", &want.half),
	{ }
};

static const char about[] =
"Reads the desired number of connections from standard input, line by line, and\n"
"prints each number when that many connections are open.  At its end, all have\n"
"to be open still.\n";

int main(int argc, char **argv)
{
	long i, n, kept = 0, open = 0;
	char line[64];

	args_done(argc, args_read(argc, argv, args, "ratio_idle [OPTION...]",
				  about), 0, 0);
	/* Where it can't be raised so far, socket() says when it ends. */
	limit_files(NR_MOST + 100);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		n = number_of("standard input", line, 0, NR_MOST);
		for (; open < n; open++)
			fds[open] = open_one(open);
		printf("%ld\n", open);
		fflush(stdout);
	}
	for (i = 0; i < open; i++)
		kept += is_open(fds[i]);
	if (kept != open)
		errx(1, "%ld of %ld connections are still open", kept, open);
	return 0;
}
