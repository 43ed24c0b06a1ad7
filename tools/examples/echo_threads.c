// SPDX-License-Identifier: GPL-2.0
/*
 * Several waiters: an echo server whose threads all wait on one instance.
 *
 * Each thread has a part of the mapping for its events.  A connection is
 * one-shot: it reports one event, to one thread, which alone serves the
 * connection until its next wait re-arms it.  The thread that finds the end of
 * a connection closes it, and may use its object until it waits again.  Then
 * the instance reports to one of the threads that no event of the connection is
 * in use any more, and that thread frees the object.
 *
 * usage: echo_threads [PAIRS]
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "pairs.h"

#define THREADS		4
#define MAX_EVENTS	16

/* The fd of the instance, and that of the file that signals the end. */
static int set, stop_fd;
static atomic_int left;

struct connection {
	int fd;
	/* one thread serves it at a time, others must not access it */
	atomic_int busy;
};

struct worker {
	pthread_t thread;
	struct devepoll_part part;
	struct devepoll_change changes[MAX_EVENTS];
	unsigned int nr_changes;
	long served;
};

static struct devepoll_change arm(struct connection *conn, int op)
{
	return (struct devepoll_change){
		.op = op,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = conn->fd,
		.events = EPOLLIN | EPOLLONESHOT,
		.data = (uintptr_t)conn,
	};
}

static struct connection *connection_of(const struct devepoll_event *event)
{
	return (struct connection *)(uintptr_t)event->data;
}

static void free_connection(struct connection *conn)
{
	free(conn);
	if (atomic_fetch_sub(&left, 1) == 1)
		eventfd_write(stop_fd, 1);
}

static void serve(struct worker *worker, struct connection *conn)
{
	char buffer[4096];
	ssize_t n;

	if (atomic_exchange(&conn->busy, 1))
		errx(1, "two threads have the same connection");
	n = read(conn->fd, buffer, sizeof(buffer));
	if (n > 0 && write(conn->fd, buffer, n) != n)
		err(1, "write");
	if (n < 0)
		err(1, "read");
	if (!n) {
		close(conn->fd);
		conn->fd = -1;
	}
	worker->served += n > 0;
}

/* This thread has served all that it got, and is about to wait again. */
static void finish(struct worker *worker, struct connection *conn)
{
	atomic_store(&conn->busy, 0);
	if (conn->fd >= 0)
		worker->changes[worker->nr_changes++] = arm(conn, DEVEPOLL_MOD);
}

static int wait_for(struct worker *worker)
{
	struct devepoll_wait_args args = {
		.events = worker->part.offset,
		.max_events = worker->part.max_events,
		.timeout = DEVEPOLL_FOREVER,
		.flags = DEVEPOLL_WAIT_MAPPED,
		.changes = worker->nr_changes ?
			   (uintptr_t)worker->changes : 0,
		.nr_changes = worker->nr_changes,
		.change_size = worker->nr_changes ?
			       sizeof(*worker->changes) : 0,
	};
	int n = devepoll_events_harvest(set, &args);

	if (n < 0)
		errx(1, "devepoll_events_harvest: %s", strerror(-n));
	if (worker->nr_changes && args.nr_failed)
		errx(1, "a connection can't be re-armed");
	worker->nr_changes = 0;
	return n;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	const struct devepoll_event *events = worker->part.events;
	int i, n;

	for (;;) {
		n = wait_for(worker);
		for (i = 0; i < n; i++) {
			/* All connections are freed. */
			if (!events[i].data)
				return NULL;
			if (!(events[i].events & DEVEPOLL_CLOSED))
				serve(worker, connection_of(&events[i]));
		}
		/* The last event of a connection comes behind all others. */
		for (i = 0; i < n; i++) {
			if (events[i].events & DEVEPOLL_CLOSED)
				free_connection(connection_of(&events[i]));
			else
				finish(worker, connection_of(&events[i]));
		}
	}
}

static void add_all(void)
{
	struct devepoll_change *changes;
	unsigned int failed;
	int i, ret;

	changes = calloc(nr_pairs + 1, sizeof(*changes));
	if (!changes)
		err(1, "%d pairs", nr_pairs);
	for (i = 0; i < nr_pairs; i++) {
		struct connection *conn = calloc(1, sizeof(*conn));

		if (!conn)
			err(1, "a connection");
		conn->fd = pair_fds[i];
		changes[i] = arm(conn, DEVEPOLL_ADD);
	}
	/* Level-triggered, so that all threads find it. */
	changes[i] = (struct devepoll_change){
		.op = DEVEPOLL_ADD, .fd = stop_fd, .events = EPOLLIN,
	};

	ret = devepoll_events_update(set, changes, nr_pairs + 1, &failed);
	if (ret < 0 || failed)
		errx(1, "devepoll_events_update: %s",
		     ret < 0 ? strerror(-ret) : "some failed");
	free(changes);
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS];
	struct devepoll_part parts[THREADS];
	int i, ret;

	pairs_open(argc, argv, 100);
	left = nr_pairs;
	stop_fd = eventfd(0, EFD_NONBLOCK);
	set = devepoll_events_open(0);
	if (set < 0)
		errx(1, "%s: %s", "/dev/epoll", strerror(-set));
	ret = devepoll_events_map(set, parts, THREADS, MAX_EVENTS);
	if (ret)
		errx(1, "devepoll_events_map: %s", strerror(-ret));

	add_all();
	for (i = 0; i < THREADS; i++) {
		workers[i].part = parts[i];
		errno = pthread_create(&workers[i].thread, NULL, work,
				       &workers[i]);
		if (errno)
			err(1, "pthread_create");
	}
	pairs_start_client();
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("echo_threads: thread %d served %ld\n", i,
		       workers[i].served);
	}
	devepoll_events_unmap(parts, THREADS);
	return pairs_result("echo_threads");
}
