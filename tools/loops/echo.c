// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the system calls and the instructions of an echo server on an event
 * loop: on epoll, and on the device by the backend of this folder.
 *
 * BURSTS times, CLIENTS clients connect, send MESSAGES messages each, and
 * close.  Clients and server take turns in one thread, so that each run has the
 * same work.  Only the server's turns are counted; a nanosecond is an
 * instruction in a guest that counts them.
 *
 * usage: echo_loop      as root, with the module loaded
 */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "burst.h"
#include "echo.h"

#define BURSTS		3
#define CLIENTS		20
#define MESSAGES	3

static int listener;
/* What the server has done: it ends its turn when it has done all. */
static int accepted, answered, closed;
/* Counters of the kernel: the calls for events, and all calls. */
static int event_calls, all_calls;
static uint64_t instructions, calls_for_events, calls;

static void accept_all(void)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		if (fd >= ECHO_FDS)
			errx(1, "too many fds");
		echo_loop.watch(fd);
		accepted++;
	}
	if (errno != EAGAIN)
		err(1, "accept4");
}

void echo_readable(int fd)
{
	char buffer[256];
	ssize_t n;

	if (fd == listener) {
		accept_all();
		return;
	}
	n = read(fd, buffer, sizeof(buffer));
	if (n > 0) {
		if (write(fd, buffer, n) != n)
			err(1, "write");
		answered++;
		return;
	}
	echo_loop.forget(fd);
	close(fd);
	closed++;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

static void serve(const int *done, int goal)
{
	uint64_t begin, events = counter_read(event_calls), all = counter_read(all_calls);

	begin = now();
	while (*done < goal)
		echo_loop.turn();
	instructions += now() - begin;
	/* Without those of reading the counters. */
	calls += counter_read(all_calls) - all - 1;
	calls_for_events += counter_read(event_calls) - events;
	if (*done != goal)
		errx(1, "%d instead of %d", *done, goal);
}

static void one_burst(const struct sockaddr_in *addr)
{
	int i, message, fds[CLIENTS];
	char byte = 'x';

	accepted = 0;
	answered = 0;
	closed = 0;
	for (i = 0; i < CLIENTS; i++)
		fds[i] = connect_to(addr);
	serve(&accepted, CLIENTS);
	for (message = 1; message <= MESSAGES; message++) {
		for (i = 0; i < CLIENTS; i++)
			if (write(fds[i], &byte, 1) != 1)
				err(1, "write");
		serve(&answered, message * CLIENTS);
		for (i = 0; i < CLIENTS; i++)
			if (read(fds[i], &byte, 1) != 1 || byte != 'x')
				err(1, "read");
	}
	for (i = 0; i < CLIENTS; i++)
		close(fds[i]);
	serve(&closed, CLIENTS);
}

static void measure(const struct sockaddr_in *addr, int on_device)
{
	const char *backend = echo_loop.open(on_device);
	int burst;

	instructions = 0;
	calls = 0;
	calls_for_events = 0;
	echo_loop.watch(listener);
	for (burst = 0; burst < BURSTS; burst++)
		one_burst(addr);
	echo_loop.forget(listener);
	echo_loop.close();
	printf("%-10s%-12s%22llu%14llu%14llu\n", echo_loop.name, backend,
	       (unsigned long long)calls_for_events, (unsigned long long)calls,
	       (unsigned long long)instructions);
	fflush(stdout);
}

int main(void)
{
	struct sockaddr_in addr = listen_on_loopback(&listener, CLIENTS);
	char filter[256];

	snprintf(filter, sizeof(filter),
		 "id==%d||id==%d||id==%d||id==%d||id==%d||id==%d",
		 SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait,
		 SYS_epoll_pwait2, SYS_ioctl, SYS_fadvise64);
	event_calls = counter_open(filter);
	all_calls = counter_open(NULL);
	measure(&addr, 0);
	measure(&addr, 1);
	return 0;
}
