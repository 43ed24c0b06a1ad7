// SPDX-License-Identifier: GPL-2.0
/*
 * The active clients of the experiment: a number of connections and of answers.
 *
 * In each round, every connection sends one request, and then the program reads
 * every answer, so that the server always has work and no clock runs idle.  The
 * result is the total cost: that of the server, the kernel and the clients.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../bench/sample.h"
#include "../clock.h"
#include "args.h"

static const char request[] = "GET /1 HTTP/1.1\r\nHost: experiment\r\n\r\n";

static struct {
	int port;
	int conns;
	int answers;
	int warm;
} want = { .port = 8080, .conns = 10, .answers = 40000, .warm = 30 };

static struct series series;

static int connect_one(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(want.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval patience = { .tv_sec = 600 };
	/* No TIME_WAIT at the end, which would answer later connections. */
	struct linger none = { .l_onoff = 1 };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "port %d: is the server up?", want.port);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	/* A server that lost a request must not keep us for ever. */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static void ask(int fd)
{
	ssize_t size = sizeof(request) - 1;

	if (send(fd, request, size, MSG_NOSIGNAL) != size)
		err(1, "send");
}

/* How long the whole answer is, or 0 if its head is not complete yet. */
static size_t answer_size(char *text, size_t len)
{
	static const char field[] = "\r\nContent-Length:";
	char *body, *at;

	text[len] = 0;
	body = strstr(text, "\r\n\r\n");
	if (!body)
		return 0;
	if (strncmp(text, "HTTP/1.1 200 ", 13))
		errx(1, "unexpected answer: %.40s", text);
	at = strcasestr(text, field);
	if (!at || at > body)
		errx(1, "an answer has no length");
	return body + 4 - text + strtoul(at + sizeof(field) - 1, NULL, 10);
}

static void read_answer(int fd)
{
	static char text[65536];
	size_t size = 0, len = 0;
	ssize_t n;

	while (!size || len < size) {
		if (len == sizeof(text) - 1)
			errx(1, "an answer of more than %zu bytes", len);
		n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
		if (n < 0 && errno == EAGAIN)
			errx(1, "no answer in ten minutes: a request was lost");
		if (n < 0)
			err(1, "recv");
		if (!n)
			errx(1, "the server closed after %zu bytes", len);
		len += n;
		if (!size)
			size = answer_size(text, len);
	}
	if (len != size)
		errx(1, "%zu bytes more than the answer", len - size);
}

/* The time of other work on the machine is left out by the median round. */
static long run_round(const int *fds, long n)
{
	long i;

	for (i = 0; i < n; i++)
		ask(fds[i]);
	for (i = 0; i < n; i++)
		read_answer(fds[i]);
	return n;
}

static void run(const int *fds)
{
	double seconds;
	long i, n = 0;

	for (i = 0; i < want.warm; i++)
		run_round(fds, want.conns);
	series_clear(&series);
	seconds = now_seconds();
	while (n < want.answers) {
		series_begin(&series);
		n += run_round(fds, want.conns);
		series_end(&series);
	}
	seconds = now_seconds() - seconds;
	printf("{\"answers\": %ld, \"seconds\": %.6f, ", n, seconds);
	printf("\"per_answer\": %.1f, \"exact\": %s}\n",
	       series_median(&series) / want.conns,
	       counter_is_exact() ? "true" : "false");
}

static const struct arg args[] = {
	ARG_NUMBER("port", "P", "port of the server on 127.0.0.1 (default: 8080)",
		   &want.port, 1, 65535),
	ARG_NUMBER("conns", "N", "number of connections (default: 10)",
		   &want.conns, 1, 100000),
	ARG_NUMBER("answers", "N", "total number of answers (default: 40000)",
		   &want.answers, 1, 1 << 30),
	ARG_NUMBER("warm", "N", "rounds at the beginning that do not count\n"
		   "(default: 30)", &want.warm, 0, 1000),
	{ }
};

static const char about[] =
"Prints a line of JSON.  per_answer is that of the median round, in ticks of the\n"
"time stamp counter, which are instructions if exact is true.\n";

int main(int argc, char **argv)
{
	int i, *fds;

	args_done(argc, args_read(argc, argv, args, "ratio_active [OPTION...]",
				  about), 0, 0);
	fds = calloc(want.conns, sizeof(*fds));
	if (!fds)
		err(1, "calloc");
	counter_calibrate();
	for (i = 0; i < want.conns; i++)
		fds[i] = connect_one();
	run(fds);
	return 0;
}
