// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the system calls that a small echo server makes to learn of events and
 * to change what it watches: on epoll, on the extended interface, and with a
 * ring.  The kernel counts them, by its tracepoint for system calls.  burst.h
 * says what the clients do.
 *
 * usage: calls      as root, with the module loaded
 */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "burst.h"

#define MAX_EVENTS	64

#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait	/* the only one of arm64 */
#endif

/* One way to watch files; the handler gets the fd of each event. */
struct way {
	const char *name;
	void (*open)(void);
	void (*add)(int fd);
	void (*remove)(int fd);
	void (*wait)(void);
	void (*close)(void);
};

static int set, listener;
static const struct way *way;
/* Counters of the kernel: all calls for events, and those that change. */
static int all, changing;
/* How often the server waited for messages. */
static int message_waits;

static void handle(int fd);

/* epoll */

static void epoll_open(void)
{
	set = epoll_create1(EPOLL_CLOEXEC);
	if (set < 0)
		err(1, "epoll_create1");
}

static void epoll_change(int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(set, op, fd, &event))
		err(1, "epoll_ctl");
}

static void epoll_add_level(int fd)
{
	epoll_change(EPOLL_CTL_ADD, fd, EPOLLIN);
}

static void epoll_add_edge(int fd)
{
	epoll_change(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET);
}

static void epoll_remove(int fd)
{
	epoll_change(EPOLL_CTL_DEL, fd, 0);
}

static void epoll_take(void)
{
	struct epoll_event events[MAX_EVENTS];
	int i, n = epoll_wait(set, events, MAX_EVENTS, -1);

	if (n < 0)
		err(1, "epoll_wait");
	for (i = 0; i < n; i++)
		handle(events[i].data.fd);
}

static void close_set(void)
{
	close(set);
}

/* The extended interface: the changes ride on the next wait. */

static struct devepoll_change changes[BURST_CLIENTS + 1];
static unsigned int nr_changes, updates;

static void extended_open(void)
{
	set = devepoll_events_open(0);
	if (set < 0)
		errx(1, "/dev/epoll: %s", strerror(-set));
}

static void extended_add(int fd)
{
	changes[nr_changes++] = (struct devepoll_change){
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TRUST,
		.fd = fd,
		.events = EPOLLIN | EPOLLET,
		.data = fd,
	};
}

static void extended_take(void)
{
	struct devepoll_event events[MAX_EVENTS];
	unsigned int failed = 0;
	int i, n;

	n = devepoll_events_update_wait(set, changes, nr_changes, &failed,
					events, MAX_EVENTS, -1);
	if (n < 0 || (nr_changes && failed))
		errx(1, "devepoll_events_update_wait: %d, %u", n, failed);
	nr_changes = 0;
	for (i = 0; i < n; i++)
		handle(events[i].fd);
}

/* A ring: one call makes all changes of a turn, and events need none. */

static struct devepoll_consumer consumer;

static void ring_open(void)
{
	extended_open();
	if (devepoll_events_ring(set, &consumer, 1, MAX_EVENTS))
		errx(1, "there is no ring");
}

static void ring_take(void)
{
	struct devepoll_event event;
	unsigned int failed = 0;
	int n;

	if (nr_changes) {
		updates++;
		n = devepoll_events_update(set, changes, nr_changes, &failed);
		if (n < 0 || failed)
			errx(1, "devepoll_events_update: %d, %u", n, failed);
		nr_changes = 0;
	}
	n = devepoll_events_consume(&consumer, -1);
	if (n < 0)
		errx(1, "devepoll_events_consume: %s", strerror(-n));
	while (devepoll_events_next(&consumer, &event))
		handle(event.fd);
}

static void ring_close(void)
{
	devepoll_events_ring_unmap(&consumer, 1);
	close(set);
}

static const struct way ways[] = {
	{ "epoll, fds removed", epoll_open, epoll_add_level, epoll_remove,
	  epoll_take, close_set },
	{ "epoll", epoll_open, epoll_add_edge, NULL, epoll_take, close_set },
	{ "extended", extended_open, extended_add, NULL, extended_take,
	  close_set },
	{ "ring", ring_open, extended_add, NULL, ring_take, ring_close },
};

/* The server */

static void handle(int fd)
{
	char buffer[256];
	ssize_t n;

	if (fd == listener) {
		burst_accept(listener, way->add);
		return;
	}
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		if (write(fd, buffer, n) != n)
			err(1, "write");
		burst_done.answered++;
	}
	if (n < 0) {
		if (errno != EAGAIN)
			err(1, "read");
		return;
	}
	if (way->remove)
		way->remove(fd);
	close(fd);
	burst_done.closed++;
}

/* Calls that only wait, or both wait and change. */
static int waits_until_now(void)
{
	return counter_read(all) - counter_read(changing) - (int)updates;
}

static void serve(const int *done, int goal)
{
	int before = waits_until_now();

	while (*done < goal)
		way->wait();
	if (*done != goal)
		errx(1, "%s: %d instead of %d", way->name, *done, goal);
	if (done == &burst_done.answered)
		message_waits += waits_until_now() - before;
}

int main(void)
{
	int i, burst, changed, waits_before, changing_before;
	struct sockaddr_in addr = listen_on_loopback(&listener, BURST_CLIENTS);
	char filter[256];

	snprintf(filter, sizeof(filter), "id==%d", SYS_epoll_ctl);
	changing = counter_open(filter);
	snprintf(filter, sizeof(filter),
		 "id==%d||id==%d||id==%d||id==%d||id==%d",
		 SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait, SYS_ioctl,
		 SYS_fadvise64);
	all = counter_open(filter);

	printf("%d bursts of %d connections with %d messages each\n", BURSTS,
	       BURST_CLIENTS, BURST_MESSAGES);
	for (i = 0; i < (int)(sizeof(ways) / sizeof(ways[0])); i++) {
		way = &ways[i];
		way->open();
		updates = 0;
		changing_before = counter_read(changing);
		waits_before = waits_until_now();
		way->add(listener);
		message_waits = 0;
		for (burst = 0; burst < BURSTS; burst++)
			burst_run(&addr, serve);
		changed = counter_read(changing) - changing_before + updates;
		printf("%s: %d changes, %d waits, %d of them for messages\n",
		       way->name, changed, waits_until_now() - waits_before,
		       message_waits);
		fflush(stdout);
		way->close();
	}
	return 0;
}
