// SPDX-License-Identifier: GPL-2.0
/*
 * Change and wait in one call: an echo server that waits for one event of each
 * connection at a time, to read from it or to write to it.  The next wait makes
 * these changes as well, so there is one call in each iteration of the loop.
 *
 * usage: echo_change [PAIRS]
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "pairs.h"

#define MAX_EVENTS	64

struct connection {
	int fd;
	ssize_t len;
	char buffer[1024];
};

/* The changes of the first wait, and later at most one for each event. */
static struct devepoll_change *changes;
static unsigned int nr_changes;

static void ask(struct connection *conn, int op, uint32_t events)
{
	changes[nr_changes++] = (struct devepoll_change){
		.op = op,
		.fd = conn->fd,
		.events = events,
		.data = (uintptr_t)conn,
	};
}

static void take(struct connection *conn)
{
	conn->len = read(conn->fd, conn->buffer, sizeof(conn->buffer));
	if (conn->len < 0)
		err(1, "read");
	if (conn->len)
		ask(conn, DEVEPOLL_MOD, EPOLLOUT);
}

static void give(struct connection *conn)
{
	if (write(conn->fd, conn->buffer, conn->len) != conn->len)
		err(1, "write");
	ask(conn, DEVEPOLL_MOD, EPOLLIN);
}

/* Returns whether the connection continues. */
static int drive(struct connection *conn, uint32_t events)
{
	if (events & EPOLLOUT) {
		give(conn);
		return 1;
	}
	take(conn);
	if (!conn->len)
		close(conn->fd);
	return conn->len != 0;
}

static int wait_for(int set, struct devepoll_event *events)
{
	unsigned int failed;
	int n;

	n = devepoll_events_update_wait(set, changes, nr_changes, &failed,
					events, MAX_EVENTS, -1);
	if (n < 0)
		errx(1, "devepoll_events_update_wait: %s", strerror(-n));
	if (failed)
		errx(1, "%u changes failed", failed);
	nr_changes = 0;
	return n;
}

int main(int argc, char **argv)
{
	struct devepoll_event events[MAX_EVENTS];
	struct connection *conns;
	struct devepoll_stats stats;
	long turns = 0;
	int set, i, n, left;

	pairs_open(argc, argv, 100);
	conns = calloc(nr_pairs, sizeof(*conns));
	changes = calloc(nr_pairs + MAX_EVENTS, sizeof(*changes));
	if (!conns || !changes)
		err(1, "%d pairs", nr_pairs);
	set = devepoll_events_open(0);
	if (set < 0)
		errx(1, "%s: %s", "/dev/epoll", strerror(-set));

	for (i = 0; i < nr_pairs; i++) {
		conns[i].fd = pair_fds[i];
		ask(&conns[i], DEVEPOLL_ADD, EPOLLIN);
	}
	pairs_start_client();
	for (left = nr_pairs; left; turns++) {
		n = wait_for(set, events);
		for (i = 0; i < n; i++) {
			void *conn = (void *)(uintptr_t)events[i].data;

			left -= !drive(conn, events[i].events);
		}
	}

	if (devepoll_events_stats(set, &stats))
		errx(1, "no statistics");
	printf("echo_change: %llu changes in %ld calls\n",
	       (unsigned long long)(stats.adds + stats.mods), turns);
	if (stats.items || stats.mods + stats.adds <= (__u64)turns / 2)
		errx(1, "the statistics are wrong");
	return pairs_result("echo_change");
}
