// SPDX-License-Identifier: GPL-2.0
/*
 * A client that knows the correct answers of several servers: it sends requests
 * on many connections at once, checks each answer, and counts.
 *
 * It waits with poll(2), so that it does not depend on what is being tested.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../clock.h"
#include "../examples/number.h"
#include "query.h"

#define SILENCE_MS	30000

/**
 * struct conn - one connection
 * @fd: its socket
 * @query: what was asked last
 * @out: the question
 * @sent: how much of it has been sent
 * @in: the answer, as far as it has come
 * @right: the answer that must come
 */
struct conn {
	int fd;
	struct query query;
	struct text out;
	size_t sent;
	struct text in;
	struct text right;
};

static const struct protocol *protocol;
static int port;
static unsigned int next_who;
static unsigned int churn;
static bool stay;

/* What came of it. */
static unsigned long answers, wrong, lost, reopened;

static void conn_ask(struct conn *conn)
{
	conn->out.len = 0;
	conn->in.len = 0;
	conn->right.len = 0;
	conn->sent = 0;
	protocol->ask(&conn->out, &conn->right, &conn->query);
}

static void conn_open(struct conn *conn)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int one = 1;

	conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (conn->fd < 0)
		err(1, "socket");
	if (connect(conn->fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "connect to port %d", port);
	setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	conn->query = (struct query){ .who = next_who++ };
	conn_ask(conn);
}

static void conn_reopen(struct conn *conn)
{
	close(conn->fd);
	conn_open(conn);
	reopened++;
}

/* As clients go: politely, in the middle of a question, or with a reset. */
static void conn_leave(struct conn *conn)
{
	struct linger reset = { .l_onoff = 1 };

	switch (conn->query.who % 3) {
	case 1:
		conn_ask(conn);
		send(conn->fd, conn->out.data, conn->out.len / 2,
		     MSG_NOSIGNAL | MSG_DONTWAIT);
		break;
	case 2:
		conn_ask(conn);
		send(conn->fd, conn->out.data, conn->out.len,
		     MSG_NOSIGNAL | MSG_DONTWAIT);
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &reset,
			   sizeof(reset));
		break;
	}
	conn_reopen(conn);
}

static void conn_lost(struct conn *conn, const char *why)
{
	if (lost++ < 10)
		fprintf(stderr, "ask: connection %u lost at request %u: %s\n",
			conn->query.who, conn->query.nr, why);
	conn_reopen(conn);
}

static void conn_send(struct conn *conn)
{
	ssize_t n = send(conn->fd, conn->out.data + conn->sent,
			 conn->out.len - conn->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0)
		conn->sent += n;
	else if (errno != EAGAIN)
		conn_lost(conn, strerror(errno));
}

static void conn_judge(struct conn *conn)
{
	ssize_t len = query_check(protocol, &conn->in, &conn->right);

	if (len == 0)
		return;
	if (len < 0 || (size_t)len != conn->in.len) {
		if (wrong++ < 10)
			fprintf(stderr, "ask: wrong answer to %u of %u: %.60s\n",
				conn->query.nr, conn->query.who, conn->in.data);
		conn_reopen(conn);
		return;
	}
	answers++;
	conn->query.nr++;
	if (churn && conn->query.nr >= churn)
		conn_leave(conn);
	else
		conn_ask(conn);
}

static void conn_receive(struct conn *conn)
{
	ssize_t n;

	text_reserve(&conn->in, 65536);
	n = recv(conn->fd, conn->in.data + conn->in.len,
		 conn->in.room - conn->in.len - 1, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		conn_lost(conn, n ? strerror(errno) : "closed by the server");
		return;
	}
	conn->in.len += n;
	conn->in.data[conn->in.len] = 0;
	conn_judge(conn);
}

static void round_trip(struct conn *conns, struct pollfd *fds, unsigned int nr)
{
	unsigned int i;
	int n;

	for (i = 0; i < nr; i++) {
		fds[i].fd = conns[i].fd;
		fds[i].events = POLLIN;
		if (conns[i].sent < conns[i].out.len)
			fds[i].events |= POLLOUT;
	}
	n = poll(fds, nr, SILENCE_MS);
	if (n < 0)
		err(1, "poll");
	if (!n)
		errx(1, "%u connections and no answer for %d s after %lu",
		     nr, SILENCE_MS / 1000, answers);
	for (i = 0; i < nr; i++) {
		if (fds[i].revents & ~POLLOUT)
			conn_receive(&conns[i]);
		else if (fds[i].revents)
			conn_send(&conns[i]);
	}
}

/* True once the server has answered on every connection. */
static bool all_answered(const struct conn *conns, unsigned int nr)
{
	while (nr--) {
		if (!conns[nr].query.nr)
			return false;
	}
	return true;
}

static int run(unsigned int nr, unsigned long questions)
{
	struct conn *conns = calloc(nr, sizeof(*conns));
	struct pollfd *fds = calloc(nr, sizeof(*fds));
	unsigned int i;
	double begin;

	if (!conns || !fds)
		err(1, "memory");
	for (i = 0; i < nr; i++)
		conn_open(&conns[i]);
	begin = now_seconds();
	while (answers + wrong + lost < questions ||
	       (stay && !all_answered(conns, nr)))
		round_trip(conns, fds, nr);
	begin = now_seconds() - begin;
	printf("answers %lu wrong %lu lost %lu reopened %lu per_second %.0f\n",
	       answers, wrong, lost, reopened, answers / begin);
	fflush(stdout);
	if (stay)
		pause();
	for (i = 0; i < nr; i++) {
		close(conns[i].fd);
		free(conns[i].out.data);
		free(conns[i].in.data);
		free(conns[i].right.data);
	}
	free(conns);
	free(fds);
	return wrong || lost ? 1 : 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: ask [-s] [-c N] [-n CONNECTIONS] [-q QUESTIONS] SERVER PORT\n"
		"       ask -w DIR\n"
		"SERVER is redis, memcached, nginx, node or tokio.\n"
		"-c N    close each connection after N answers, in one of three ways, and open\n"
		"        another\n"
		"-s      at the end, keep the connections open until killed\n"
		"-w DIR  write the files that the requests to nginx name\n");
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long questions = 1000;
	const char *dir = NULL;
	unsigned int nr = 50;
	int opt;

	while ((opt = getopt(argc, argv, "c:n:q:sw:")) != -1) {
		switch (opt) {
		case 'c':
			churn = number_of("-c", optarg, 1, 1 << 30);
			break;
		case 'n':
			nr = number_of("-n", optarg, 1, 1 << 20);
			break;
		case 'q':
			questions = number_of("-q", optarg, 1, 1L << 40);
			break;
		case 's':
			stay = true;
			break;
		case 'w':
			dir = optarg;
			break;
		default:
			return usage();
		}
	}
	if (argc - optind != (dir ? 0 : 2))
		return usage();
	if (dir) {
		query_write_files(dir);
		return 0;
	}
	protocol = query_protocol(argv[optind]);
	if (!protocol)
		return usage();
	port = number_of("PORT", argv[optind + 1], 1, 65535);
	return run(nr, questions);
}
