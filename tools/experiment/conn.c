// SPDX-License-Identifier: GPL-2.0
/*
 * A connection of ephttpd: requests in, answers out.
 *
 * All of this runs on the stack of a coroutine, which has a few kilobytes, so
 * large objects are in struct conn.
 */
#include "conn.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <request.h>

#include "answer.h"
#include "loop.h"

#define HEAD_MAX	8192		/* a request's head is not longer */
#define HEAD_USUAL	512
#define QUEUE_MAX	16		/* answers that are sent together */
#define TURN_MAX	64		/* answers before others have a turn */
#define DRAIN_MAX	(1024 * 1024)	/* thrown away after a reject */

struct conn {
	struct task task;
	bool ending;		/* the last answer is in the queue */
	int turn;		/* answers since it last stepped back */
	char *in;		/* first[], or larger while it has to be */
	size_t in_size;
	size_t in_len;
	size_t scanned;		/* so many bytes of in[] hold no head's end */
	int queued;
	size_t sent;		/* of the first in the queue */
	const struct answer *queue[QUEUE_MAX];
	char first[HEAD_USUAL];
};

static void queue_answer(struct conn *c, const struct answer *answer)
{
	c->queue[c->queued++] = answer;
	c->ending = answer->last;
	c->turn++;
	if (answer->good)
		loop_counts.answers++;
	else
		loop_counts.rejects++;
}

/* Empty lines before a request are to be ignored. */
static size_t skip_blank(const struct conn *c, size_t at)
{
	while (at < c->in_len && (c->in[at] == '\r' || c->in[at] == '\n'))
		at++;
	return at;
}

/* Answers what has arrived completely, as far as the queue has room for it. */
static void answer_all(struct conn *c)
{
	struct request req;
	size_t at = 0, len;

	while (!c->ending && c->queued < QUEUE_MAX) {
		if (!c->scanned)
			at = skip_blank(c, at);
		len = request_end(c->in + at, c->in_len - at, &c->scanned);
		if (!len) {
			if (c->in_len - at == HEAD_MAX)
				queue_answer(c, answer_status(431));
			break;
		}
		request_parse(c->in + at, len, &req);
		queue_answer(c, answer_to(&req));
		c->scanned = 0;
		at += len;
	}
	if (!at)
		return;
	c->in_len -= at;
	memmove(c->in, c->in + at, c->in_len);
}

static void drop_sent(struct conn *c, size_t n)
{
	int done = 0;

	c->sent += n;
	while (done < c->queued && c->sent >= c->queue[done]->len)
		c->sent -= c->queue[done++]->len;
	c->queued -= done;
	memmove(c->queue, c->queue + done, c->queued * sizeof(c->queue[0]));
}

static ssize_t send_queue(struct conn *c)
{
	struct iovec iov[QUEUE_MAX];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = c->queued };
	int i;

	if (c->queued == 1)
		return send(c->task.fd, c->queue[0]->data + c->sent,
			    c->queue[0]->len - c->sent, MSG_NOSIGNAL);
	for (i = 0; i < c->queued; i++) {
		iov[i].iov_base = (char *)c->queue[i]->data;
		iov[i].iov_len = c->queue[i]->len;
	}
	iov[0].iov_base = (char *)iov[0].iov_base + c->sent;
	iov[0].iov_len -= c->sent;
	return sendmsg(c->task.fd, &msg, MSG_NOSIGNAL);
}

/* Writes the queue out; false when the connection is over. */
static bool flush(struct conn *c)
{
	while (c->queued) {
		ssize_t n = send_queue(c);

		if (n >= 0)
			drop_sent(c, n);
		else if (errno != EAGAIN && errno != EINTR)
			return false;
		else if (errno == EAGAIN &&
			 loop_wait(&c->task, POLLOUT) != WAKE_EVENT)
			return false;
	}
	return true;
}

/* Makes sure that in[] has room for more; a head that is full never comes. */
static bool make_room(struct conn *c)
{
	char *in;

	if (c->in_len < c->in_size)
		return true;
	in = malloc(HEAD_MAX);
	if (!in)
		return false;
	memcpy(in, c->in, c->in_len);
	c->in = in;
	c->in_size = HEAD_MAX;
	return true;
}

static void give_room_back(struct conn *c)
{
	if (c->in == c->first || c->in_len > HEAD_USUAL)
		return;
	memcpy(c->first, c->in, c->in_len);
	free(c->in);
	c->in = c->first;
	c->in_size = HEAD_USUAL;
}

/* What there is to read; 0 when the connection is over. */
static ssize_t fill(struct conn *c)
{
	enum wake wake;
	ssize_t n;

	for (;;) {
		n = recv(c->task.fd, c->in + c->in_len, c->in_size - c->in_len,
			 0);
		if (n >= 0)
			return n;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return 0;
		wake = loop_wait(&c->task, POLLIN);
		c->turn = 0;
		if (wake != WAKE_EVENT)
			return 0;
	}
}

/* Requests and answers; true where the last answer can still be told. */
static bool serve(struct conn *c)
{
	ssize_t n;

	for (;;) {
		answer_all(c);
		if (c->queued) {
			if (!flush(c))
				return false;
			if (c->ending)
				return true;
			if (c->turn >= TURN_MAX) {
				c->turn = 0;
				loop_step_back(&c->task);
			}
			continue;
		}
		give_room_back(c);
		if (!make_room(c))
			return false;
		n = fill(c);
		if (!n)
			return c->ending;
		c->in_len += n;
	}
}

/* Closed with input unread, the last answer could be lost. */
static void drain(struct conn *c)
{
	size_t drained = 0;
	ssize_t n;

	if (!flush(c) || shutdown(c->task.fd, SHUT_WR))
		return;
	do {
		c->in_len = 0;
		n = fill(c);
		drained += n;
	} while (n && drained <= DRAIN_MAX);
}

static void run(void *arg)
{
	struct conn *c = arg;

	if (serve(c))
		drain(c);
	c->task.done = true;
	for (;;)
		co_resume();
}

bool conn_open(int fd)
{
	struct conn *c = malloc(sizeof(*c));

	if (c) {
		memset(c, 0, offsetof(struct conn, first));
		c->task.fd = fd;
		c->in = c->first;
		c->in_size = HEAD_USUAL;
		if (loop_start(&c->task, run))
			return true;
	}
	free(c);
	close(fd);
	return false;
}

void conn_close(struct task *task)
{
	/* The task is the connection's first member. */
	struct conn *c = (struct conn *)task;

	if (c->in != c->first)
		free(c->in);
	close(task->fd);
	free(c);
	loop_counts.closed++;
}
