// SPDX-License-Identifier: GPL-2.0
/*
 * Loads servers with clients that come and go, and watches that each is served:
 * one that waits too long ends the program.
 *
 * It waits with poll(2), so that it does not depend on what is being tested.
 */
#include <err.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../clock.h"
#include "../examples/number.h"
#include "client.h"

/* Below this, a wait may have been as short as that. */
#define LAG_MS	1000

static struct server *servers;
static unsigned int nr_servers;
static struct client *clients;
static struct pollfd *fds;
static unsigned int nr_clients;
static long longest_lag;
static bool begun;

/* The number of a server's clients that are in this state. */
static unsigned int count_state(const struct server *server, enum state state)
{
	unsigned int i, nr = 0;

	for (i = 0; i < nr_clients; i++)
		nr += clients[i].server == server && clients[i].state == state;
	return nr;
}

static void fail_late(const struct client *client, long now)
{
	const struct server *server = client->server;

	errx(1,
	     "%s does not answer: connection %u.%u is %s since %ld ms, at request %u with %zu of %zu bytes sent and %zu of %zu received; %u others wait, %u are idle; its last answer was number %lu",
	     server->name, client->place, client->life, client_state(client),
	     now - client->since, client->query.nr, client->sent,
	     client->out.len, client->in.len, client->right.len,
	     count_state(server, client->state) - 1,
	     count_state(server, CLIENT_IDLES), server->answers);
}

/* If this program had no processor, the servers may have had none either. */
static void allow_for_lag(long lag)
{
	unsigned int i;

	if (lag > longest_lag)
		longest_lag = lag;
	if (lag < LAG_MS)
		return;
	for (i = 0; i < nr_clients; i++)
		clients[i].since += lag;
}

/*
 * At first each client stays until all have an answer, so that the servers'
 * sets become as large as they get.
 */
static bool is_held(const struct client *client)
{
	return !begun && client->state == CLIENT_IDLES;
}

/* Waits until there is something to do; gives the time. */
static long wait_for_clients(long now, long most)
{
	long next, end;
	unsigned int i;

	for (i = 0; i < nr_clients; i++) {
		fds[i].fd = clients[i].fd;
		fds[i].events = client_events(&clients[i], now);
		if (!fds[i].events)
			fds[i].fd = -1;
		if (is_held(&clients[i]))
			continue;
		next = client_next(&clients[i], now);
		if (next >= 0 && next < most)
			most = next;
	}
	if (poll(fds, nr_clients, most) < 0)
		err(1, "poll");
	end = now_ms();
	allow_for_lag(end - now - most);
	return end;
}

/* One round; @finish: no new connection.  Gives the number of those left. */
static unsigned int go_round(bool finish)
{
	unsigned int i, left = 0;
	struct client *client;
	long now = now_ms();

	now = wait_for_clients(now, 100);
	for (i = 0; i < nr_clients; i++) {
		client = &clients[i];
		if (fds[i].fd >= 0 && fds[i].revents)
			client_act(client, fds[i].revents, now);
		if (finish && client_finish(client))
			continue;
		left++;
		if (!is_held(client))
			client_tick(client, now);
		if (client_waits(client) && now - client->since > ANSWER_MS)
			fail_late(client, now);
	}
	return left;
}

static bool all_have_begun(void)
{
	unsigned int i;

	for (i = 0; i < nr_clients; i++) {
		if (!is_held(&clients[i]))
			return false;
	}
	return true;
}

static void run(long ms)
{
	long end = now_ms() + ms;
	unsigned int i;

	for (i = 0; i < nr_clients; i++)
		client_start(&clients[i], now_ms());
	while (!all_have_begun())
		go_round(false);
	begun = true;
	while (now_ms() < end)
		go_round(false);
	while (go_round(true))
		;
}

static void report(void)
{
	const struct server *server;

	for (server = servers; server < servers + nr_servers; server++) {
		printf("%s connections %lu answers %lu resets %lu halves %lu ends %lu",
		       server->name, server->connections, server->answers,
		       server->resets, server->halves, server->ends);
		printf(" pauses %lu slow %lu idle %lu longest %ld\n",
		       server->pauses, server->slow, server->idle,
		       server->longest);
	}
	printf("load lag %ld\n", longest_lag);
}

static void make_server(struct server *server, char *text)
{
	char *port = strchr(text, ':'), *name = strdup(text);

	if (!port || !name)
		errx(2, "%s: no port", text);
	*port++ = 0;
	name[port - text - 1] = 0;
	server->name = name;
	server->port = number_of("PORT", port, 1, 65535);
	/* What follows a dash is for the reader. */
	text[strcspn(text, "-")] = 0;
	server->protocol = query_protocol(text);
	if (!server->protocol)
		errx(2, "%s: unknown", text);
}

static void make_clients(char **texts, unsigned int each, unsigned long seed)
{
	unsigned int i;

	nr_clients = nr_servers * each;
	servers = calloc(nr_servers, sizeof(*servers));
	clients = calloc(nr_clients, sizeof(*clients));
	fds = calloc(nr_clients, sizeof(*fds));
	if (!servers || !clients || !fds)
		err(1, "memory");
	for (i = 0; i < nr_servers; i++)
		make_server(&servers[i], texts[i]);
	for (i = 0; i < nr_clients; i++) {
		clients[i].server = &servers[i % nr_servers];
		clients[i].place = i;
		rng_seed(&clients[i].rng, seed * nr_clients + i);
	}
}

static int usage(void)
{
	fprintf(stderr,
		"usage: load [-n CLIENTS] [-t SECONDS] [-s SEED] SERVER[-NAME]:PORT...\n"
		"SERVER is redis, memcached, nginx, node, tokio or echo.\n"
		"-n N    each server has so many clients\n");
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long seed = time(NULL);
	unsigned int each = 40;
	long seconds = 10;
	int opt;

	while ((opt = getopt(argc, argv, "n:s:t:")) != -1) {
		switch (opt) {
		case 'n':
			each = number_of("-n", optarg, 1, 1000);
			break;
		case 's':
			seed = number_of("-s", optarg, 0, 1L << 40);
			break;
		case 't':
			seconds = number_of("-t", optarg, 1, 1000000);
			break;
		default:
			return usage();
		}
	}
	nr_servers = argc - optind;
	if (!nr_servers)
		return usage();
	printf("load seed %lu\n", seed);
	fflush(stdout);
	make_clients(argv + optind, each, seed);
	run(seconds * 1000);
	report();
	return 0;
}
