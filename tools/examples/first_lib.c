// SPDX-License-Identifier: GPL-2.0
/*
 * A first program with the library: watches a pipe, with a ring, and takes the
 * event from memory.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <devepoll_events.h>

int main(void)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TRUST,
		.events = EPOLLIN | EPOLLET,
	};
	struct devepoll_consumer consumer;
	struct devepoll_event event;
	int set, ret, ends[2];

	if (pipe(ends))
		err(1, "pipe");
	set = devepoll_events_open(0);
	if (set < 0)
		errx(1, "/dev/epoll: %s", strerror(-set));
	ret = devepoll_events_ring(set, &consumer, 1, 16);
	if (ret)
		errx(1, "devepoll_events_ring: %s", strerror(-ret));
	change.fd = ends[0];
	ret = devepoll_events_update(set, &change, 1, NULL);
	if (ret < 0 || change.result)
		errx(1, "the pipe can't be watched");

	/* The kernel puts the event into the ring... */
	if (write(ends[1], "x", 1) != 1)
		err(1, "write");
	/* ...and this takes it, without a system call. */
	ret = devepoll_events_consume(&consumer, -1);
	if (ret < 0)
		errx(1, "devepoll_events_consume: %s", strerror(-ret));
	while (devepoll_events_next(&consumer, &event))
		printf("%d event: fd %d is readable\n", ret, event.fd);
	return 0;
}
