// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP part of the example servers: everything except waiting for events.
 *
 * Every request gets the same 128 bytes, as from the HTTP server that came with
 * the device in 2001.  A client that sends without a pause can monopolize the
 * server; a public server would have to limit this.
 */
#define _GNU_SOURCE
#include "http.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "accept_again.h"
#include "request.h"

#define HEAD_MAX	8192		/* a request's head is not longer */
#define ANSWER_MAX	512		/* nor is an answer */
#define DRAIN_MAX	(1024 * 1024)	/* thrown away after a reject */
#define BODY_SIZE	128

enum state {
	SERVING,
	CLOSING,	/* the last answer is written or on its way */
	DRAINING,	/* answered, and reading on until the client is done */
};

struct conn {
	enum state state;
	size_t in_len;
	size_t scanned;		/* so many bytes of in[] hold no head's end */
	size_t out_len;
	size_t out_sent;
	size_t drained;
	char in[HEAD_MAX];
	char out[8 * ANSWER_MAX];
};

struct http_stats http_stats;

static struct conn **conns;
static int conns_max;
static int conns_open;
static int spare_fd = -1;	/* given up for a moment when fds run out */
static char body[BODY_SIZE + 1];

int http_init(int maxfds)
{
	static const char line[] = "The same answer to every request.\n";
	int i;

	for (i = 0; i < BODY_SIZE - 1; i++)
		body[i] = line[i % (sizeof(line) - 1)];
	body[BODY_SIZE - 1] = '\n';

	conns = calloc(maxfds, sizeof(*conns));
	conns_max = maxfds;
	spare_fd = open_spare();
	return conns && spare_fd >= 0 ? 0 : -1;
}

int http_open_conns(void)
{
	return conns_open;
}

int http_accept(int lfd)
{
	for (;;) {
		int fd = accept4(lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (!accept_again(lfd, &spare_fd, &http_stats.refused))
				return -1;
			continue;
		}
		if (fd < conns_max)
			conns[fd] = malloc(sizeof(struct conn));
		if (fd >= conns_max || !conns[fd]) {
			http_stats.refused++;
			close(fd);
			continue;
		}
		memset(conns[fd], 0, offsetof(struct conn, in));
		conns_open++;
		http_stats.accepted++;
		return fd;
	}
}

void http_close(int fd)
{
	free(conns[fd]);
	conns[fd] = NULL;
	close(fd);
	conns_open--;
	http_stats.closed++;
}

static const char *reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 431:
		return "Request Header Fields Too Large";
	case 501:
		return "Not Implemented";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Bad Request";
	}
}

static void answer(struct conn *c, const struct request *req)
{
	bool ok = req->status == 200;
	bool keep = ok && req->keep;

	c->out_len += snprintf(c->out + c->out_len, ANSWER_MAX,
			       "HTTP/1.1 %d %s\r\n"
			       "Content-Type: text/plain\r\n"
			       "Content-Length: %d\r\n"
			       "Connection: %s\r\n\r\n%s",
			       req->status, reason(req->status),
			       ok ? BODY_SIZE : 0,
			       keep ? "keep-alive" : "close",
			       ok && !req->head ? body : "");
	if (ok)
		http_stats.answers++;
	else
		http_stats.rejects++;
	if (!keep)
		c->state = CLOSING;
}

/* Empty lines before a request are to be ignored. */
static size_t skip_blank(const struct conn *c, size_t at)
{
	while (at < c->in_len && (c->in[at] == '\r' || c->in[at] == '\n'))
		at++;
	return at;
}

/* Answers what has arrived completely, as far as out[] has room for it. */
static void answer_all(struct conn *c)
{
	size_t at = 0;

	while (c->state == SERVING &&
	       c->out_len + ANSWER_MAX <= sizeof(c->out)) {
		struct request req;
		size_t len;

		if (!c->scanned)
			at = skip_blank(c, at);
		len = request_end(c->in + at, c->in_len - at, &c->scanned);
		if (len) {
			request_parse(c->in + at, len, &req);
			answer(c, &req);
			c->scanned = 0;
			at += len;
			continue;
		}
		if (c->in_len - at == sizeof(c->in)) {
			req = (struct request){ .status = 431 };
			answer(c, &req);
		}
		break;
	}
	c->in_len -= at;
	memmove(c->in, c->in + at, c->in_len);
}

/* 1: all is written; 0: the socket is full; -1: the connection is over. */
static int flush(int fd, struct conn *c)
{
	while (c->out_sent < c->out_len) {
		ssize_t n = send(fd, c->out + c->out_sent,
				 c->out_len - c->out_sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		c->out_sent += n;
		http_stats.bytes_out += n;
	}
	c->out_sent = 0;
	c->out_len = 0;
	return 1;
}

/* 1: there is more in in[]; 0: nothing to read now; -1: it is over. */
static int fill(int fd, struct conn *c)
{
	ssize_t n;

	if (c->state == DRAINING)
		c->in_len = 0;
	do {
		n = recv(fd, c->in + c->in_len, sizeof(c->in) - c->in_len, 0);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : -1;

	http_stats.bytes_in += n;
	c->in_len += n;
	if (c->state == DRAINING) {
		c->drained += n;
		if (c->drained > DRAIN_MAX)
			return -1;
	}
	return 1;
}

enum http_next http_drive(int fd)
{
	struct conn *c = conns[fd];
	int ret;

	for (;;) {
		ret = flush(fd, c);
		if (ret <= 0)
			break;
		if (c->state == CLOSING) {
			/* Closed with input unread, the answer could be lost */
			if (shutdown(fd, SHUT_WR))
				return HTTP_CLOSE;
			c->state = DRAINING;
		}
		if (c->state == SERVING) {
			answer_all(c);
			if (c->out_len)
				continue;
		}
		ret = fill(fd, c);
		if (ret <= 0)
			break;
	}
	return ret < 0 ? HTTP_CLOSE : HTTP_WAIT;
}
