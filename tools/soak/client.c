// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a client: it connects, asks, reads, is silent and leaves, in all
 * the ways that a server meets.  Every answer must be right.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

#define MOST_REQUESTS	6
#define PAUSE_MS	500
#define IDLE_MS		800
#define LONG_IDLE_MS	20000
#define AWAY_MS		200
/* A slow reader takes so much, so often. */
#define SLOW_BYTES	16384
#define SLOW_MS		20

static const char *const state_names[] = {
	[CLIENT_AWAY] = "away",
	[CLIENT_CONNECTS] = "connecting",
	[CLIENT_TALKS] = "waiting for an answer",
	[CLIENT_PAUSES] = "pausing",
	[CLIENT_IDLES] = "idle",
	[CLIENT_ENDS] = "waiting for the close",
};

static void client_fail(const struct client *client, const char *why)
{
	errx(1, "%s: connection %u.%u, request %u, %s: %s",
	     client->server->name, client->place, client->life,
	     client->query.nr, state_names[client->state], why);
}

static void client_go(struct client *client)
{
	close(client->fd);
	client->fd = -1;
	client->state = CLIENT_AWAY;
}

/* Waits until it makes the next connection. */
static void client_leave(struct client *client, long now)
{
	client_go(client);
	client->until = now + rng_below(&client->rng, AWAY_MS);
}

static void client_reset(struct client *client)
{
	struct linger reset = { .l_onoff = 1 };

	setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	client->server->resets++;
}

static void client_send(struct client *client, long now)
{
	ssize_t n = send(client->fd, client->out.data + client->sent,
			 client->stop - client->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		client_fail(client, strerror(errno));
	client->sent += n;
	client->since = now;
	if (client->sent < client->stop)
		return;
	client->asked = now;
	if (client->stop == client->out.len)
		return;
	client->state = CLIENT_PAUSES;
	client->until = now + rng_below(&client->rng, PAUSE_MS);
}

static void client_prepare(struct client *client, long now)
{
	client->out.len = 0;
	client->in.len = 0;
	client->right.len = 0;
	client->sent = 0;
	client->server->protocol->ask(&client->out, &client->right,
				      &client->query);
	client->stop = client->out.len;
	client->state = CLIENT_TALKS;
	client->since = now;
	client->read_at = now;
}

static void client_ask(struct client *client, long now)
{
	client_prepare(client, now);
	if (rng_once_in(&client->rng, 4)) {
		client->stop = 1 + rng_below(&client->rng, client->out.len);
		client->server->pauses += client->stop < client->out.len;
	}
	client_send(client, now);
}

/*
 * Leaves without an answer: having said nothing, half a request or, with a
 * reset, a whole one.
 */
static void client_break_off(struct client *client, long now)
{
	bool whole = rng_once_in(&client->rng, 3);

	if (rng_once_in(&client->rng, 4)) {
		client_leave(client, now);
		return;
	}
	client_prepare(client, now);
	if (!whole)
		client->stop = client->out.len / 2;
	client_send(client, now);
	if (whole || rng_once_in(&client->rng, 2))
		client_reset(client);
	else
		client->server->halves++;
	client_leave(client, now);
}

/* How a connection ends when it has all its answers. */
static void client_end(struct client *client, long now)
{
	switch (rng_below(&client->rng, 4)) {
	case 0:
		if (shutdown(client->fd, SHUT_WR))
			client_fail(client, strerror(errno));
		client->state = CLIENT_ENDS;
		client->since = now;
		return;
	case 1:
		client_reset(client);
		break;
	}
	client_leave(client, now);
}

static void client_idle(struct client *client, long now)
{
	long time = 0;

	if (rng_once_in(&client->rng, 40)) {
		time = 1000 + rng_below(&client->rng, LONG_IDLE_MS);
		client->server->idle++;
	} else if (rng_once_in(&client->rng, 3)) {
		time = rng_below(&client->rng, IDLE_MS);
	}
	client->state = CLIENT_IDLES;
	client->until = now + time;
}

static void client_judge(struct client *client, long now)
{
	struct server *server = client->server;
	ssize_t len = query_check(server->protocol, &client->in,
				  &client->right);

	if (!len)
		return;
	if (len < 0 || (size_t)len != client->in.len)
		client_fail(client, "a wrong answer");
	if (client->sent < client->out.len)
		client_fail(client, "an answer before the request was sent");
	server->answers++;
	if (client->slow)
		server->slow++;
	else if (now - client->asked > server->longest)
		server->longest = now - client->asked;
	client->query.nr++;
	client->left--;
	client_idle(client, now);
}

static void client_receive(struct client *client, long now)
{
	size_t most = client->slow ? SLOW_BYTES : 65536;
	ssize_t n;

	text_reserve(&client->in, most + 1);
	n = recv(client->fd, client->in.data + client->in.len, most,
		 MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0)
		client_fail(client, strerror(errno));
	if (!n && client->state != CLIENT_ENDS)
		client_fail(client, "closed by the server");
	client->since = now;
	if (client->state == CLIENT_ENDS) {
		if (n)
			client_fail(client, "more than was asked for");
		client->server->ends++;
		client_leave(client, now);
		return;
	}
	client->in.len += n;
	client->in.data[client->in.len] = 0;
	if (client->slow)
		client->read_at = now + SLOW_MS;
	if (client->state == CLIENT_IDLES)
		client_fail(client, "an answer that nobody asked for");
	client_judge(client, now);
}

static void client_connect(struct client *client, long now)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(client->server->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int one = 1, small = 32768;

	client->fd = socket(AF_INET,
			    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (client->fd < 0)
		err(1, "socket");
	client->slow = rng_once_in(&client->rng, 8);
	if (client->slow)
		setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &small,
			   sizeof(small));
	setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	client->state = CLIENT_CONNECTS;
	client->since = now;
	client->life++;
	client->left = 1 + rng_below(&client->rng, MOST_REQUESTS);
	client->query = (struct query) {
		.who = client->place * CLIENT_KEYS +
		       client->life % CLIENT_KEYS,
	};
	if (connect(client->fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	    errno != EINPROGRESS)
		client_fail(client, strerror(errno));
}

static void client_connected(struct client *client, long now)
{
	socklen_t len = sizeof(int);
	int error;

	if (getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &len) || error)
		client_fail(client, strerror(error));
	client->server->connections++;
	/* The first one is there to make the set as large as it gets. */
	if (client->life > 1 && rng_once_in(&client->rng, 4))
		client_break_off(client, now);
	else
		client_ask(client, now);
}

/**
 * client_start() - make the first connection
 * @client: of which the server, the place and the luck are set
 * @now: the time in ms
 */
void client_start(struct client *client, long now)
{
	client->life = 0;
	client_connect(client, now);
}

/**
 * client_events() - what to poll its socket for
 * @client: the client
 * @now: the time
 *
 * Return: the events; 0 if its socket doesn't matter now.
 */
short client_events(const struct client *client, long now)
{
	switch (client->state) {
	case CLIENT_CONNECTS:
		return POLLOUT;
	case CLIENT_TALKS:
		return (client->sent < client->stop ? POLLOUT : 0) |
		       (client->read_at <= now ? POLLIN : 0);
	case CLIENT_PAUSES:
	case CLIENT_IDLES:
	case CLIENT_ENDS:
		return POLLIN;
	default:
		return 0;
	}
}

/**
 * client_act() - do what its socket is ready for
 * @client: the client
 * @revents: from poll(2)
 * @now: the time
 */
void client_act(struct client *client, short revents, long now)
{
	if (client->state == CLIENT_CONNECTS) {
		client_connected(client, now);
		return;
	}
	if (revents & POLLOUT && client->sent < client->stop)
		client_send(client, now);
	if (revents & ~POLLOUT)
		client_receive(client, now);
}

/**
 * client_tick() - do what the time has come for
 * @client: the client
 * @now: the time
 */
void client_tick(struct client *client, long now)
{
	if (now < client->until)
		return;
	switch (client->state) {
	case CLIENT_AWAY:
		client_connect(client, now);
		break;
	case CLIENT_PAUSES:
		client->state = CLIENT_TALKS;
		client->stop = client->out.len;
		client->since = now;
		client_send(client, now);
		break;
	case CLIENT_IDLES:
		if (client->left)
			client_ask(client, now);
		else
			client_end(client, now);
		break;
	default:
		break;
	}
}

/**
 * client_next() - when there is something to do without the server
 * @client: the client
 * @now: the time
 *
 * Return: in how many ms; -1 if never.
 */
long client_next(const struct client *client, long now)
{
	long at;

	switch (client->state) {
	case CLIENT_AWAY:
	case CLIENT_PAUSES:
	case CLIENT_IDLES:
		at = client->until;
		break;
	case CLIENT_TALKS:
		if (client->read_at <= now)
			return -1;
		at = client->read_at;
		break;
	default:
		return -1;
	}
	return at > now ? at - now : 0;
}

/**
 * client_finish() - come to an end
 * @client: the client
 *
 * Return: true if it has no connection any more.
 */
bool client_finish(struct client *client)
{
	if (client->state == CLIENT_IDLES)
		client_go(client);
	else
		client->left = 1;
	return client->state == CLIENT_AWAY;
}

/**
 * client_waits() - is it the server's turn?
 * @client: the client
 *
 * Return: true if the server must do something.
 */
bool client_waits(const struct client *client)
{
	return client->state == CLIENT_CONNECTS ||
	       client->state == CLIENT_TALKS || client->state == CLIENT_ENDS;
}

/**
 * client_state() - what the client does
 * @client: the client
 *
 * Return: that, in words.
 */
const char *client_state(const struct client *client)
{
	return state_names[client->state];
}
