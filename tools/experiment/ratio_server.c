// SPDX-License-Identifier: GPL-2.0
/*
 * The server of the ratio experiment: one loop over one engine, and the same
 * short answer to every request, so that the engine is what is measured.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine.h"
#include "number.h"

#define BODY_MOST	32768

static const char end_of_request[] = "\r\n\r\n";

static const struct engine *engine;
static struct engine_set *set;
/* By fd: how much of end_of_request was seen last. */
static unsigned char *matched;
static long maxfds = 20000;
static int listener;
static char answer[BODY_MOST + 128];
static size_t answer_len;

static void answer_make(long body)
{
	answer_len = sprintf(answer, "HTTP/1.1 200 OK\r\n"
			     "Content-Length: %ld\r\n\r\n", body);
	memset(answer + answer_len, 'x', body);
	answer_len += body;
}

static int listen_at(int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int one = 1, fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, len))
		err(1, "port %d", port);
	if (listen(fd, 65535) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len))
		err(1, "listen");
	printf("port %d\n", ntohs(addr.sin_port));
	fflush(stdout);
	return fd;
}

static void drop(int fd)
{
	engine->remove(set, fd);
	close(fd);
}

/* How many requests end in @text. */
static int requests_in(int fd, const char *text, ssize_t len)
{
	unsigned char at = matched[fd];
	int n = 0;
	ssize_t i;

	for (i = 0; i < len; i++) {
		if (text[i] == end_of_request[at])
			at++;
		else
			at = text[i] == end_of_request[0];
		if (at == sizeof(end_of_request) - 1) {
			at = 0;
			n++;
		}
	}
	matched[fd] = at;
	return n;
}

static void serve(int fd)
{
	ssize_t len, size = answer_len;
	char text[4096];
	int n;

	for (;;) {
		len = recv(fd, text, sizeof(text), 0);
		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (len <= 0) {
			drop(fd);
			return;
		}
		for (n = requests_in(fd, text, len); n; n--) {
			/* Who does not read gets no more than the buffers. */
			if (send(fd, answer, size, MSG_NOSIGNAL) != size) {
				drop(fd);
				return;
			}
		}
		/* A short read has emptied it; more will be told. */
		if (len < (ssize_t)sizeof(text))
			return;
	}
}

static void accept_all(void)
{
	int ret, fd, one = 1;

	for (;;) {
		fd = accept4(listener, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && errno == ECONNABORTED)
			continue;
		if (fd < 0 && errno == EAGAIN)
			return;
		if (fd < 0)
			err(1, "accept");
		if (fd >= maxfds)
			errx(1, "more than --maxfds %ld", maxfds);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		matched[fd] = 0;
		ret = engine->add(set, fd, POLLIN);
		if (ret)
			errx(1, "%s: adding fd %d: %s", engine->name, fd,
			     strerror(-ret));
	}
}

static void loop(void)
{
	const struct pollfd *events;
	int i, n;

	for (;;) {
		n = engine->wait(set, &events, -1);
		if (n < 0 && n != -EINTR)
			errx(1, "%s: wait: %s", engine->name, strerror(-n));
		for (i = 0; i < n; i++) {
			if (events[i].fd == listener)
				accept_all();
			else
				serve(events[i].fd);
		}
	}
}

static void end(int sig)
{
	(void)sig;
	_exit(0);
}

static void usage(FILE *out)
{
	fputs("usage: ratio_server --engine E [OPTION...]\n"
	      "--engine E    a mechanism; `list' lists them\n"
	      "--port P      on 127.0.0.1 (8080); 0 takes any; it is printed\n"
	      "--maxfds N    connections and some (20000)\n"
	      "--msgsize N   bytes of an answer's body (128)\n", out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "engine", required_argument, NULL, 'e' },
		{ "port", required_argument, NULL, 'p' },
		{ "maxfds", required_argument, NULL, 'm' },
		{ "msgsize", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	long port = 8080, msgsize = 128;
	struct rlimit lim;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'e':
			engine = engine_choose(optarg);
			break;
		case 'p':
			port = number_of("--port", optarg, 0, 65535);
			break;
		case 'm':
			maxfds = number_of("--maxfds", optarg, 16, 1 << 20);
			break;
		case 's':
			msgsize = number_of("--msgsize", optarg, 0, BODY_MOST);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind != argc || !engine) {
		usage(stderr);
		return 2;
	}
	lim.rlim_cur = maxfds;
	lim.rlim_max = maxfds;
	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "no more than the limit of open files allows (%ld)",
		    maxfds);
	matched = calloc(maxfds, 1);
	if (!matched)
		err(1, "calloc");
	signal(SIGTERM, end);
	answer_make(msgsize);
	set = engine_open(engine, maxfds);
	listener = listen_at(port);
	if (engine->add(set, listener, POLLIN))
		errx(1, "%s: the listening socket can't be added",
		     engine->name);
	loop();
	return 0;
}
