// SPDX-License-Identifier: GPL-2.0
/*
 * Batched registration: an echo server that adds any number of connections with
 * one call, removes them with another, and checks the result of each change.
 *
 * usage: echo_batch [PAIRS]
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "pairs.h"

#define MAX_EVENTS	64

static struct devepoll_change *changes;

/* One call for all pairs; exits unless all changes took effect. */
static void change_all(int set, int op)
{
	unsigned int failed;
	int i, ret;

	for (i = 0; i < nr_pairs; i++) {
		changes[i] = (struct devepoll_change){
			.op = op,
			.fd = pair_fds[i],
			.events = op == DEVEPOLL_DEL ? 0 : EPOLLIN,
			.data = i,
		};
	}

	ret = devepoll_events_update(set, changes, nr_pairs, &failed);
	if (ret < 0)
		errx(1, "devepoll_events_update: %s", strerror(-ret));
	for (i = 0; failed && i < nr_pairs; i++) {
		if (i >= ret)
			errx(1, "only %d changes were tried", ret);
		if (changes[i].result)
			errx(1, "fd %d: %s", changes[i].fd,
			     strerror(-changes[i].result));
	}
}

/* The failure of one change is reported beside the success of another. */
static void check_results(int set)
{
	struct devepoll_change two[] = {
		{ .op = DEVEPOLL_ADD, .fd = -1, .events = EPOLLIN },
		{ .op = DEVEPOLL_MOD, .fd = pair_fds[0], .events = EPOLLIN },
	};
	unsigned int failed;

	if (devepoll_events_update(set, two, 2, &failed) != 2 || failed != 1 ||
	    two[0].result != -EBADF || two[1].result != 0)
		errx(1, "the results are wrong");
}

/* Sends back what has arrived; 0 if the client has closed its end. */
static ssize_t echo(int fd)
{
	char buffer[4096];
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n > 0 && write(fd, buffer, n) != n)
		err(1, "write");
	if (n < 0)
		err(1, "read");
	return n;
}

int main(int argc, char **argv)
{
	struct devepoll_event events[MAX_EVENTS];
	int set, i, n, left;

	pairs_open(argc, argv, 1000);
	changes = calloc(nr_pairs, sizeof(*changes));
	set = devepoll_events_open(0);
	if (set < 0)
		errx(1, "%s: %s", "/dev/epoll", strerror(-set));

	change_all(set, DEVEPOLL_ADD);
	check_results(set);
	pairs_start_client();
	for (left = nr_pairs; left; ) {
		n = devepoll_events_wait(set, events, MAX_EVENTS, -1);
		if (n < 0)
			errx(1, "devepoll_events_wait: %s", strerror(-n));
		for (i = 0; i < n; i++) {
			struct devepoll_change gone = {
				.op = DEVEPOLL_DEL, .fd = events[i].fd,
			};

			if (echo(events[i].fd))
				continue;
			/* Keep it open, so that all can be added again. */
			devepoll_events_update(set, &gone, 1, NULL);
			left--;
		}
	}

	/* All are at end of file now; add and remove them at once. */
	change_all(set, DEVEPOLL_ADD);
	if (devepoll_events_wait(set, events, 1, 0) != 1)
		errx(1, "an end of file was not reported");
	change_all(set, DEVEPOLL_DEL);
	if (devepoll_events_wait(set, events, 1, 0) != 0)
		errx(1, "a removed connection was reported");
	return pairs_result("echo_batch");
}
