// SPDX-License-Identifier: GPL-2.0
/*
 * Asks an HTTP server on the loopback, and prints nanoseconds for a request, which
 * are instructions in a guest of tools/guest --icount.
 *
 * usage: rate PORT CONNECTIONS REQUESTS
 *
 * It writes a request to each connection, then reads the answers, by blocking
 * sockets.  With 0 connections, it makes one for each request.  A quarter of the
 * requests comes first and does not count.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../clock.h"
#include "../examples/number.h"
#include "hello.h"

#define REQUEST		"GET / HTTP/1.1\r\nHost: rate\r\n\r\n"
#define MAX_CONNECTIONS	1000

static struct sockaddr_in server = { .sin_family = AF_INET };

static int open_one(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket");
	/* The server may only be starting. */
	while (connect(fd, (struct sockaddr *)&server, sizeof(server))) {
		if (errno != ECONNREFUSED)
			err(1, "connect");
		usleep(10000);
	}
	return fd;
}

static void ask(int fd)
{
	if (write(fd, REQUEST, strlen(REQUEST)) != (ssize_t)strlen(REQUEST))
		err(1, "write");
}

static void check_answer(int fd)
{
	const size_t tail = strlen(HELLO_BODY);
	char answer[4096];
	size_t length = 0;
	ssize_t n;

	do {
		n = read(fd, answer + length, sizeof(answer) - length);
		if (n <= 0)
			err(1, "no answer");
		length += n;
	} while (length < tail ||
		 memcmp(answer + length - tail, HELLO_BODY, tail));
	if (memcmp(answer, "HTTP/1.1 200 ", 13))
		errx(1, "the answer is: %.*s", (int)length, answer);
}

static void run(int *fds, int connections, long requests)
{
	int i;

	while (requests > 0) {
		if (!connections)
			fds[0] = open_one();
		for (i = 0; i < connections || !i; i++)
			ask(fds[i]);
		for (i = 0; i < connections || !i; i++)
			check_answer(fds[i]);
		requests -= i;
		if (!connections)
			close(fds[0]);
	}
}

int main(int argc, char **argv)
{
	int fds[MAX_CONNECTIONS], connections, i;
	long requests;
	int64_t begin;

	if (argc != 4)
		errx(2, "usage: rate PORT CONNECTIONS REQUESTS");
	server.sin_port = htons(number_of("PORT", argv[1], 1, 65535));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	connections = number_of("CONNECTIONS", argv[2], 0, MAX_CONNECTIONS);
	requests = number_of("REQUESTS", argv[3], 4, 1000000000);
	if (connections && requests % connections)
		errx(2, "REQUESTS is no multiple of CONNECTIONS");
	for (i = 0; i < connections; i++)
		fds[i] = open_one();
	run(fds, connections, requests / 4);
	begin = now_ns();
	run(fds, connections, requests);
	printf("%lld\n", (long long)(now_ns() - begin) / requests);
	return 0;
}
