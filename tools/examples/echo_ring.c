// SPDX-License-Identifier: GPL-2.0
/*
 * The ring with several threads: an echo server whose threads take events from
 * memory, and make a system call only to sleep, to read and to write.
 *
 * Each thread is a consumer of the ring of one instance.  Its fds are
 * edge-triggered, so that while one thread serves a connection, another one may
 * take the next event of it.  That thread only counts the event, and the one
 * that serves the connection reads once more.
 *
 * usage: echo_ring [PAIRS]
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "pairs.h"

#define THREADS	4
#define SLOTS	64

/* The fd of the instance, and that of the file that signals the end. */
static int set, stop_fd;
static atomic_int left;

/*
 * It stays in memory when its fd is closed: another thread may have taken an
 * event of it before.
 */
struct connection {
	int fd;
	/* The events that no thread has served yet; 0: nobody serves it. */
	atomic_int events;
};

struct worker {
	pthread_t thread;
	struct devepoll_consumer *consumer;
	long taken;
};

/* Echoes all that has come; false at the end of the connection. */
static bool echo(struct connection *conn)
{
	char buffer[4096];
	ssize_t n;

	while ((n = read(conn->fd, buffer, sizeof(buffer))) > 0)
		if (write(conn->fd, buffer, n) != n)
			err(1, "write");
	if (n < 0 && errno != EAGAIN)
		err(1, "read");
	return n < 0;
}

static void serve(struct connection *conn)
{
	int events = atomic_fetch_add(&conn->events, 1);

	/* Who serves it will see the event, or has closed it. */
	if (events)
		return;
	do {
		events = atomic_load(&conn->events);
		if (echo(conn))
			continue;
		/* Nobody serves it again: the events are not set to 0. */
		close(conn->fd);
		if (atomic_fetch_sub(&left, 1) == 1)
			eventfd_write(stop_fd, 1);
		return;
	} while (!atomic_compare_exchange_strong(&conn->events, &events, 0));
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct devepoll_event event;
	int n;

	for (;;) {
		n = devepoll_events_consume(worker->consumer, DEVEPOLL_FOREVER);
		if (n < 0)
			errx(1, "devepoll_events_consume: %s", strerror(-n));
		while (devepoll_events_next(worker->consumer, &event)) {
			void *object = (void *)(uintptr_t)event.data;

			if (!object)
				return NULL;
			worker->taken++;
			serve(object);
		}
	}
}

static void add(int fd, uint32_t events, uint16_t flags, void *object)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = flags,
		.fd = fd,
		.events = events,
		.data = (uintptr_t)object,
	};
	unsigned int failed;

	if (devepoll_events_update(set, &change, 1, &failed) != 1 || failed)
		errx(1, "fd %d can't be watched", fd);
}

static void start(struct worker *worker, struct devepoll_consumer *consumer)
{
	worker->consumer = consumer;
	if (pthread_create(&worker->thread, NULL, work, worker))
		errx(1, "pthread_create");
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS];
	struct devepoll_consumer consumers[THREADS];
	struct connection *connections;
	int i, ret;

	pairs_open(argc, argv, 100);
	atomic_init(&left, nr_pairs);
	stop_fd = eventfd(0, EFD_NONBLOCK);
	connections = calloc(nr_pairs, sizeof(*connections));
	if (!connections)
		err(1, "%d pairs", nr_pairs);
	set = devepoll_events_open(0);
	if (set < 0)
		errx(1, "%s: %s", "/dev/epoll", strerror(-set));
	/* Before the first fd is added. */
	ret = devepoll_events_ring(set, consumers, THREADS, SLOTS);
	if (ret)
		errx(1, "devepoll_events_ring: %s", strerror(-ret));

	for (i = 0; i < nr_pairs; i++) {
		connections[i].fd = pair_fds[i];
		add(pair_fds[i], EPOLLIN | EPOLLET, DEVEPOLL_TRUST,
		    &connections[i]);
	}
	/* Level-triggered, so that all threads find it. */
	add(stop_fd, EPOLLIN, 0, NULL);
	for (i = 0; i < THREADS; i++)
		start(&workers[i], &consumers[i]);
	pairs_start_client();
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("echo_ring: thread %d took %ld events\n", i,
		       workers[i].taken);
	}
	devepoll_events_ring_unmap(consumers, THREADS);
	free(connections);
	return pairs_result("echo_ring");
}
