// SPDX-License-Identifier: GPL-2.0
/*
 * Socket pairs for an echo server, and the client at their other ends, which
 * checks the answers.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "number.h"
#include "pairs.h"

#define ROUNDS		50
#define MESSAGE		512
#define SECONDS		60
#define PAIRS_MOST	500000

int *pair_fds;
int nr_pairs;

static int *client_fds;
static pthread_t client;
static long sent, returned;

void pairs_open(int argc, char **argv, int nr)
{
	struct rlimit limit;
	int i, fds[2];

	if (argc > 2)
		errx(2, "usage: %s [PAIRS]", argv[0]);
	nr_pairs = argc > 1 ? number_of("PAIRS", argv[1], 1, PAIRS_MOST) : nr;
	limit.rlim_cur = 2 * nr_pairs + 64;
	limit.rlim_max = limit.rlim_cur;
	if (limit.rlim_cur > 1024 && setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "%d pairs are too many", nr_pairs);

	pair_fds = calloc(nr_pairs, sizeof(*pair_fds));
	client_fds = calloc(nr_pairs, sizeof(*client_fds));
	if (!pair_fds || !client_fds)
		err(1, "%d pairs", nr_pairs);
	for (i = 0; i < nr_pairs; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds))
			err(1, "socketpair");
		pair_fds[i] = fds[0];
		client_fds[i] = fds[1];
	}
}

/* Each pair and each round has a message of its own. */
static void make_message(char *message, int pair, int round)
{
	unsigned int seed = pair * ROUNDS + round + 1;
	int i;

	for (i = 0; i < MESSAGE; i++)
		message[i] = rand_r(&seed);
}

static bool get_back(int fd, const char *message)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char got[MESSAGE + 1];
	size_t len = 0;

	while (len < MESSAGE) {
		ssize_t n = recv(fd, got + len, sizeof(got) - len, 0);

		if (n > 0)
			len += n;
		else if (n == 0 || errno != EAGAIN)
			return false;
		else if (poll(&pfd, 1, SECONDS * 1000) != 1)
			return false;
	}
	return len == MESSAGE && !memcmp(got, message, MESSAGE);
}

static void *run_client(void *unused)
{
	char message[MESSAGE];
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		/* A server that loses an event would never end. */
		alarm(2 * SECONDS);
		for (i = 0; i < nr_pairs; i++) {
			make_message(message, i, round);
			sent += send(client_fds[i], message, MESSAGE,
				     MSG_NOSIGNAL) == MESSAGE;
		}
		for (i = 0; i < nr_pairs; i++) {
			make_message(message, i, round);
			returned += get_back(client_fds[i], message);
		}
	}
	for (i = 0; i < nr_pairs; i++)
		close(client_fds[i]);
	return unused;
}

void pairs_start_client(void)
{
	errno = pthread_create(&client, NULL, run_client, NULL);
	if (errno)
		err(1, "pthread_create");
}

int pairs_result(const char *what)
{
	long all = (long)nr_pairs * ROUNDS;

	errno = pthread_join(client, NULL);
	if (errno)
		err(1, "pthread_join");
	printf("%s: %ld of %ld messages came back over %d pairs\n", what,
	       returned, all, nr_pairs);
	return sent != all || returned != all;
}
