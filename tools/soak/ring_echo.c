// SPDX-License-Identifier: GPL-2.0
/*
 * An echo server on the ring, for connections that come and go: each thread is
 * a consumer, accepts, reads and writes.
 *
 * The memory of a connection belongs to the number of its fd, and is never
 * freed, since a thread may have taken an event of a connection that another
 * one closes.  Such an event finds nobody, or the next connection of this
 * number, which is then driven once for nothing.
 *
 * usage: ring_echo PORT	SIGTERM ends it
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <devepoll_events.h>

#include "../examples/listen.h"
#include "../examples/number.h"

#define THREADS		2
#define SLOTS		64
#define MAX_FDS		4096
#define BUFFER		65536

/**
 * struct conn - what belongs to the number of an fd
 * @lock: guards the others, and that the fd is open
 * @open: a connection has this number
 * @data: what has been read and not been written, of BUFFER bytes; or NULL
 * @at: where it begins
 * @len: how much it is
 */
struct conn {
	pthread_mutex_t lock;
	bool open;
	char *data;
	size_t at;
	size_t len;
};

static struct conn conns[MAX_FDS];
static int set, listen_fd, stop_fd;

static void add(int fd, uint32_t events, uint16_t flags)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = flags,
		.fd = fd,
		.events = events,
		.data = fd,
	};
	unsigned int failed;

	if (devepoll_events_update(set, &change, 1, &failed) != 1 || failed)
		errx(1, "fd %d can't be watched: %d", fd, change.result);
}

/* Writes what there is; false if the socket is full or broken. */
static bool conn_write(struct conn *conn, int fd)
{
	ssize_t n;

	while (conn->len) {
		n = send(fd, conn->data + conn->at, conn->len, MSG_NOSIGNAL);
		if (n < 0)
			return false;
		conn->at += n;
		conn->len -= n;
	}
	return true;
}

/* Reads and writes until the kernel says EAGAIN; false at the end. */
static bool conn_drive(struct conn *conn, int fd)
{
	ssize_t n;

	while (conn_write(conn, fd)) {
		n = recv(fd, conn->data, BUFFER, 0);
		if (!n)
			return false;
		if (n < 0)
			break;
		conn->at = 0;
		conn->len = n;
	}
	return errno == EAGAIN;
}

static void serve(int fd)
{
	struct conn *conn = &conns[fd];

	pthread_mutex_lock(&conn->lock);
	if (conn->open && !conn_drive(conn, fd)) {
		conn->open = false;
		conn->len = 0;
		free(conn->data);
		conn->data = NULL;
		/* The last step: then another thread may accept this number. */
		close(fd);
	}
	pthread_mutex_unlock(&conn->lock);
}

static void conn_begin(int fd)
{
	struct conn *conn;

	if (fd >= MAX_FDS)
		errx(1, "fd %d", fd);
	conn = &conns[fd];
	pthread_mutex_lock(&conn->lock);
	conn->data = malloc(BUFFER);
	if (!conn->data)
		err(1, "memory");
	conn->open = true;
	pthread_mutex_unlock(&conn->lock);
	add(fd, EPOLLIN | EPOLLOUT | EPOLLET, DEVEPOLL_TRUST);
}

static void accept_all(void)
{
	int fd;

	for (;;) {
		fd = accept4(listen_fd, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			conn_begin(fd);
		else if (errno == EAGAIN)
			return;
		else if (errno != ECONNABORTED)
			err(1, "accept");
	}
}

static void *work(void *arg)
{
	struct devepoll_consumer *consumer = arg;
	struct devepoll_event event;
	int n;

	for (;;) {
		n = devepoll_events_consume(consumer, DEVEPOLL_FOREVER);
		if (n < 0)
			errx(1, "devepoll_events_consume: %s", strerror(-n));
		while (devepoll_events_next(consumer, &event)) {
			if (event.fd == stop_fd)
				return NULL;
			if (event.fd == listen_fd)
				accept_all();
			else
				serve(event.fd);
		}
	}
}

static void open_set(struct devepoll_consumer *consumers)
{
	int ret;

	set = devepoll_events_open(0);
	if (set < 0)
		errx(1, "%s: %s", "/dev/epoll", strerror(-set));
	ret = devepoll_events_ring(set, consumers, THREADS, SLOTS);
	if (ret)
		errx(1, "devepoll_events_ring: %s", strerror(-ret));
	stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (stop_fd < 0)
		err(1, "eventfd");
	/* Level-triggered, so that all threads find it. */
	add(stop_fd, EPOLLIN, 0);
	add(listen_fd, EPOLLIN | EPOLLET, DEVEPOLL_TRUST);
}

int main(int argc, char **argv)
{
	struct devepoll_consumer consumers[THREADS];
	struct devepoll_stats stats;
	pthread_t threads[THREADS];
	sigset_t term;
	int i, signal, port;

	if (argc != 2)
		errx(2, "usage: ring_echo PORT");
	for (i = 0; i < MAX_FDS; i++)
		pthread_mutex_init(&conns[i].lock, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	port = number_of("PORT", argv[1], 1, 65535);
	listen_fd = listen_at(&port, 1024, 0);
	open_set(consumers);
	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, work, &consumers[i]))
			errx(1, "pthread_create");
	}
	sigwait(&term, &signal);
	eventfd_write(stop_fd, 1);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (!devepoll_events_stats(set, &stats))
		printf("ring_echo: %llu wake-ups, %llu calls took %llu events\n",
		       stats.wakes, stats.harvests, stats.events);
	devepoll_events_ring_unmap(consumers, THREADS);
	return 0;
}
