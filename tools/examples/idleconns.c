// SPDX-License-Identifier: GPL-2.0
/*
 * Opens TCP connections and keeps them idle, like a crowd of slow clients.
 *
 * On SIGTERM, checks whether the server has kept all of them, and reports it.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "number.h"

static const char half[] = "GET / HTTP/1.1\r\nHost: idle\r\n";

static int open_one(int port, bool send_half)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket");
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "connect to port %d", port);
	if (send_half && send(fd, half, strlen(half), MSG_NOSIGNAL) < 0)
		err(1, "send");
	return fd;
}

static bool is_open(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void raise_limit(rlim_t need)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		err(1, "getrlimit");
	if (lim.rlim_cur >= need)
		return;
	lim.rlim_cur = need;
	if (lim.rlim_max < need)
		lim.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "the limit of open files is too low (%ld are needed)",
		    (long)need);
}

int main(int argc, char **argv)
{
	bool send_half = argc > 1 && !strcmp(argv[1], "-s");
	int i, n, port, kept, sig, *fds;
	sigset_t end;

	if (argc != 3 + send_half) {
		fprintf(stderr, "usage: idleconns [-s] N PORT\n"
				"-s  send half a request on each connection\n");
		return 2;
	}
	n = number_of("N", argv[argc - 2], 1, 1 << 20);
	port = number_of("PORT", argv[argc - 1], 1, 65535);

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigprocmask(SIG_BLOCK, &end, NULL);

	raise_limit(n + 16);
	fds = calloc(n, sizeof(*fds));
	if (!fds)
		err(1, "calloc");
	for (i = 0; i < n; i++)
		fds[i] = open_one(port, send_half);
	printf("%d connections open\n", n);
	fflush(stdout);

	sigwait(&end, &sig);
	for (i = 0, kept = 0; i < n; i++)
		kept += is_open(fds[i]);
	printf("%d of %d connections still open\n", kept, n);
	return kept != n;
}
