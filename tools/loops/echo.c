// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the system calls and the instructions of an echo server on an event
 * loop: on epoll, and on the device by the backend of this folder.
 *
 * burst.h says what the clients do.  Only the server's turns are counted; a
 * nanosecond is an instruction in a guest that counts them.
 *
 * usage: echo_loop      as root, with the module loaded
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../clock.h"
#include "burst.h"
#include "echo.h"

static int listener;
/* Counters of the kernel: the calls for events, and all calls. */
static int event_calls, all_calls;
static uint64_t instructions, calls_for_events, calls;

static void watch(int fd)
{
	if (fd >= ECHO_FDS)
		errx(1, "too many fds");
	echo_loop.watch(fd);
}

void echo_readable(int fd)
{
	char buffer[256];
	ssize_t n;

	if (fd == listener) {
		burst_accept(listener, watch);
		return;
	}
	n = read(fd, buffer, sizeof(buffer));
	if (n > 0) {
		if (write(fd, buffer, n) != n)
			err(1, "write");
		burst_done.answered++;
		return;
	}
	echo_loop.forget(fd);
	close(fd);
	burst_done.closed++;
}

static void serve(const int *done, int goal)
{
	uint64_t events = counter_read(event_calls);
	uint64_t all = counter_read(all_calls);
	uint64_t begin = now_ns();

	while (*done < goal)
		echo_loop.turn();
	instructions += now_ns() - begin;
	/* Without those of reading the counters. */
	calls += counter_read(all_calls) - all - 1;
	calls_for_events += counter_read(event_calls) - events;
	if (*done != goal)
		errx(1, "%d instead of %d", *done, goal);
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
		burst_run(addr, serve);
	echo_loop.forget(listener);
	echo_loop.close();
	printf("%-10s%-12s%22llu%14llu%14llu\n", echo_loop.name, backend,
	       (unsigned long long)calls_for_events, (unsigned long long)calls,
	       (unsigned long long)instructions);
	fflush(stdout);
}

int main(void)
{
	struct sockaddr_in addr = listen_on_loopback(&listener, BURST_CLIENTS);
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
