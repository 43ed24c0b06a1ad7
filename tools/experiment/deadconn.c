// SPDX-License-Identifier: GPL-2.0
/*
 * Dead connections: each sends half a request and then nothing, or a byte from
 * time to time.  Connections that the server drops are opened again.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../clock.h"
#include "args.h"

#define OWN_FDS		16	/* that are no connections */
#define UNDER_WAY	128	/* connections that are opened at a time */
#define PER_SOURCE	20000	/* connections from one address of ours */
#define PAUSE_MS	100	/* before a connection is opened again */
#define BATCH		256
#define SIGNAL		(~0U)	/* stands for a connection that is none */

static const char half[] = "GET / HTTP/1.1\r\nHost: dead\r\nX-Dead: ";

static struct sockaddr_in server;
static int num;
static int trickle;

static struct conn {
	int fd;			/* -1: to be opened */
	bool open;		/* it has sent its half request */
	int64_t not_before;	/* milliseconds: when it may be opened again */
} *conns;
static int epfd;
static int nr_open, nr_under_way;
static long dropped, refused;
static bool told;		/* that all are open */
static int last_error;

/* Ports of one address are too few for all. */
static void choose_source(int fd, int index)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	uint32_t to = ntohl(server.sin_addr.s_addr);
	int one = 1;

	if (to >> 24 != 127)
		return;
	addr.sin_addr.s_addr = htonl(0x7f010001 + index / PER_SOURCE);
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "bind to %s", inet_ntoa(addr.sin_addr));
}

static void shut(struct conn *conn, int64_t now)
{
	close(conn->fd);
	conn->fd = -1;
	conn->not_before = now + PAUSE_MS;
	if (conn->open) {
		nr_open--;
		dropped++;
	} else {
		nr_under_way--;
		refused++;
	}
	conn->open = false;
}

static void start(int index, int64_t now)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLET,
		.data.u32 = index,
	};
	struct conn *conn = &conns[index];

	conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			  0);
	if (conn->fd < 0)
		err(1, "socket %d of %d", index + 1, num);
	nr_under_way++;
	choose_source(conn->fd, index);
	if (connect(conn->fd, (struct sockaddr *)&server, sizeof(server)) &&
	    errno != EINPROGRESS) {
		last_error = errno;
		shut(conn, now);
		return;
	}
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, conn->fd, &event))
		err(1, "epoll_ctl");
}

/* Opens connections that are not open, as many at a time as is polite. */
static void start_some(int64_t now)
{
	static int next;
	int i;

	for (i = 0; i < num && nr_under_way < UNDER_WAY; i++) {
		if (nr_open + nr_under_way == num)
			return;
		if (conns[next].fd < 0 && conns[next].not_before <= now)
			start(next, now);
		next = next + 1 < num ? next + 1 : 0;
	}
}

static bool say(struct conn *conn, const char *text, size_t len)
{
	/* What a full buffer does not take was one byte of many. */
	return send(conn->fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ||
	       errno == EAGAIN;
}

/* False when the connection is over, however. */
static bool drive(struct conn *conn, unsigned int events)
{
	socklen_t len = sizeof(last_error);
	char buf[256];
	ssize_t n;

	if (!conn->open) {
		if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &last_error,
			       &len) || last_error)
			return false;
		if (!(events & EPOLLOUT))
			return true;
		if (!say(conn, half, strlen(half)))
			return false;
		conn->open = true;
		nr_under_way--;
		nr_open++;
	}
	do {
		n = recv(conn->fd, buf, sizeof(buf), 0);
	} while (n > 0);
	return n < 0 && errno == EAGAIN;
}

/* A byte of a header that never ends, on each connection in its turn. */
static void trickle_some(int64_t now)
{
	static int64_t began;
	static uint64_t done;
	uint64_t due;

	if (!trickle)
		return;
	if (!began)
		began = now;
	due = (uint64_t)(now - began) * num / trickle;
	/* If it is late, it skips bytes instead of hurrying. */
	if (due - done > (uint64_t)num)
		done = due - num;
	for (; done < due; done++) {
		struct conn *conn = &conns[done % num];

		if (conn->open)
			say(conn, "x", 1);
	}
}

static int time_to_sleep(void)
{
	if (nr_open + nr_under_way < num)
		return nr_under_way < UNDER_WAY ? PAUSE_MS / 4 : PAUSE_MS;
	return trickle ? 10 : -1;
}

static void report(const char *when)
{
	printf("%d of %d connections open%s, %ld dropped, %ld refused\n",
	       nr_open, num, when, dropped, refused);
	fflush(stdout);
}

/* If nobody answers there is nothing to wait for. */
static void tell_ready(void)
{
	if (nr_open == num && !told) {
		told = true;
		printf("%d connections open\n", num);
		fflush(stdout);
	}
	if (!nr_open && !dropped && refused > num + 10)
		errx(1, "%s port %d takes no connection: %s",
		     inet_ntoa(server.sin_addr), ntohs(server.sin_port),
		     strerror(last_error));
}

static void run(void)
{
	struct epoll_event events[BATCH];
	int64_t now;
	int i, nr;

	for (;;) {
		now = now_ms();
		start_some(now);
		trickle_some(now);
		tell_ready();
		nr = epoll_wait(epfd, events, BATCH, time_to_sleep());
		if (nr < 0 && errno != EINTR)
			err(1, "epoll_wait");
		now = now_ms();
		for (i = 0; i < nr; i++) {
			unsigned int index = events[i].data.u32;

			if (index == SIGNAL)
				return;
			if (!drive(&conns[index], events[i].events))
				shut(&conns[index], now);
		}
	}
}

static void watch_signals(void)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.u32 = SIGNAL,
	};
	sigset_t end;
	int fd;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigprocmask(SIG_BLOCK, &end, NULL);
	fd = signalfd(-1, &end, SFD_CLOEXEC);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0 || epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event))
		err(1, "signals");
}

static const struct arg args[] = {
	ARG_NUMBER("trickle", "MS", "send one more byte on each connection every\n"
		   "MS milliseconds", &trickle, 1, 86400000),
	{ }
};

static const char about[] =
"Opens NUM connections to SERVER, an address, sends half a request on each, and\n"
"prints a line when all are open.  Connections that the server drops are opened\n"
"again.  If SERVER is in 127.0.0.0/8, every 20000 connections have a source\n"
"address of their own from there.\n"
"\n"
"SIGTERM stops the program; its exit status is 0 if all connections were\n"
"open.\n";

static void read_options(int argc, char **argv)
{
	int first = args_read(argc, argv, args,
			      "deadconn [OPTION...] SERVER PORT NUM", about);

	args_done(argc, first, 3, 3);
	server.sin_family = AF_INET;
	if (!inet_aton(argv[first], &server.sin_addr))
		errx(2, "not an address: %s", argv[first]);
	server.sin_port = htons(number_of("PORT", argv[first + 1], 1, 65535));
	num = number_of("NUM", argv[first + 2], 1, 1 << 20);
}

int main(int argc, char **argv)
{
	int i;

	read_options(argc, argv);
	if (limit_files(num + OWN_FDS))
		errx(1, "the limit of open files is too low for %d connections",
		     num);
	watch_signals();
	conns = calloc(num, sizeof(*conns));
	if (!conns)
		err(1, "%d connections", num);
	for (i = 0; i < num; i++)
		conns[i].fd = -1;
	run();
	report(" at the end");
	return nr_open == num ? 0 : 1;
}
