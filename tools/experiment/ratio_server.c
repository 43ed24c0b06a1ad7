// SPDX-License-Identifier: GPL-2.0
/*
 * The server of the ratio experiment: one loop on one engine.  Every request
 * gets the same short answer, so that the results reflect the engine.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "engine.h"
#include "listen.h"

#define BODY_MOST	32768

static const char end_of_request[] = "\r\n\r\n";

static const struct engine *engine;
static struct engine_set *set;
/* By fd: how much of end_of_request was seen last. */
static unsigned char *matched;
static int maxfds = 20000;
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
			/* If the client does not read, the buffers fill up. */
			if (send(fd, answer, size, MSG_NOSIGNAL) != size) {
				drop(fd);
				return;
			}
		}
		/* A short read has emptied it; more will be reported. */
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
			errx(1, "more than --maxfds %d", maxfds);
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

static const char *engine_name;
static int port = 8080, msgsize = 128;

static const struct arg args[] = {
	ARG_TEXT("engine", "E", "wait with engine E; 'list' lists all engines",
		 &engine_name),
	ARG_NUMBER("port", "P", "port on 127.0.0.1 (default: 8080); 0 takes any port;\n"
		   "the port is printed", &port, 0, 65535),
	ARG_NUMBER("maxfds", "N", "maximum number of fds: the connections and a few\n"
		   "more (default: 20000)", &maxfds, 16, 1 << 20),
	ARG_NUMBER("msgsize", "N", "size of the body of an answer in bytes\n"
		   "(default: 128)", &msgsize, 0, BODY_MOST),
	{ }
};

int main(int argc, char **argv)
{
	args_done(argc, args_read(argc, argv, args,
				  "ratio_server --engine E [OPTION...]", NULL),
		  0, 0);
	if (!engine_name)
		errx(2, "--engine is missing (try --help)");
	engine = engine_choose(engine_name);
	if (limit_files(maxfds))
		errx(1, "the limit of open files is too low for --maxfds %d",
		     maxfds);
	matched = calloc(maxfds, 1);
	if (!matched)
		err(1, "calloc");
	signal(SIGTERM, end);
	answer_make(msgsize);
	set = engine_open(engine, maxfds);
	listener = listen_at(&port, 65535, 0);
	printf("port %d\n", port);
	fflush(stdout);
	if (engine->add(set, listener, POLLIN))
		errx(1, "%s: the listening socket can't be added",
		     engine->name);
	loop();
	return 0;
}
