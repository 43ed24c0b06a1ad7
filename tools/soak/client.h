/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients of a server, each of which lives as its luck decides.
 */
#ifndef SOAK_CLIENT_H
#define SOAK_CLIENT_H

#include <stdbool.h>

#include "../epdiff/rng.h"
#include "../proof/query.h"

/* A good server never lets a client wait so long. */
#define ANSWER_MS	30000

/**
 * struct server - a server, and what its clients have seen
 * @name: as on the command line
 * @protocol: how to speak to it
 * @port: where it listens on the loopback interface
 * @connections: that were made
 * @answers: right ones
 * @halves: connections that left in the middle of a request
 * @resets: connections that the client reset, idle or with an answer to come
 * @ends: connections that the client shut down and the server closed
 * @pauses: requests whose second half came later
 * @slow: answers that were read slowly
 * @idle: times that a connection was silent for longer than a second
 * @longest: ms that an answer took, of those that were not read slowly
 */
struct server {
	const char *name;
	const struct protocol *protocol;
	int port;
	unsigned long connections;
	unsigned long answers;
	unsigned long halves;
	unsigned long resets;
	unsigned long ends;
	unsigned long pauses;
	unsigned long slow;
	unsigned long idle;
	long longest;
};

/**
 * enum state - what a client does
 * @CLIENT_AWAY: it has no connection, and will have one at @client.until
 * @CLIENT_CONNECTS: connect(2) is under way
 * @CLIENT_TALKS: it sends a request, or waits for the answer
 * @CLIENT_PAUSES: it has sent half a request, and will send the rest
 * @CLIENT_IDLES: it has its answer, and will ask again
 * @CLIENT_ENDS: it has shut the connection down, and waits for the server
 */
enum state {
	CLIENT_AWAY,
	CLIENT_CONNECTS,
	CLIENT_TALKS,
	CLIENT_PAUSES,
	CLIENT_IDLES,
	CLIENT_ENDS,
};

/**
 * struct client - one connection after the other to one server
 * @server: to which
 * @rng: its luck
 * @place: its number
 * @life: how many connections it has had
 * @state: what it does
 * @fd: its socket, or -1
 * @until: when it will do the next thing by itself
 * @since: when it began to wait for the server, or last heard of it
 * @asked: when it had sent the request
 * @read_at: when it will read again
 * @left: how many more requests this connection makes
 * @slow: it reads slowly
 * @query: what it asks
 * @out: the request
 * @sent: how much of it is sent
 * @stop: how much of it may be sent now
 * @in: the answer so far
 * @right: the right answer
 */
struct client {
	struct server *server;
	struct rng rng;
	unsigned int place;
	unsigned int life;
	enum state state;
	int fd;
	long until;
	long since;
	long asked;
	long read_at;
	unsigned int left;
	bool slow;
	struct query query;
	struct text out;
	size_t sent;
	size_t stop;
	struct text in;
	struct text right;
};

/* How many keys the clients use in turn, so that no two have the same. */
#define CLIENT_KEYS	4

void client_start(struct client *client, long now);
short client_events(const struct client *client, long now);
void client_act(struct client *client, short revents, long now);
void client_tick(struct client *client, long now);
long client_next(const struct client *client, long now);
bool client_finish(struct client *client);
bool client_waits(const struct client *client);
const char *client_state(const struct client *client);

#endif /* SOAK_CLIENT_H */
