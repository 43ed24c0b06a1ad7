// SPDX-License-Identifier: GPL-2.0
/*
 * Bursts of clients on the loopback, whose messages a server echoes, and the
 * kernel's counts of system calls.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burst.h"

#define TRACEFS		"/sys/kernel/tracing"

struct burst_done burst_done;

struct sockaddr_in listen_on_loopback(int *listener, int backlog)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);

	*listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (*listener < 0 ||
	    bind(*listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(*listener, backlog) ||
	    getsockname(*listener, (struct sockaddr *)&addr, &len))
		err(1, "a listening socket");
	return addr;
}

static int connect_to(const struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		err(1, "connect");
	return fd;
}

void burst_accept(int listener, void (*watch)(int fd))
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		watch(fd);
		burst_done.accepted++;
	}
	if (errno != EAGAIN)
		err(1, "accept4");
}

void burst_run(const struct sockaddr_in *addr,
	       void (*serve)(const int *done, int goal))
{
	int i, message, fds[BURST_CLIENTS];
	char byte = 'x';

	burst_done = (struct burst_done){ 0 };
	for (i = 0; i < BURST_CLIENTS; i++)
		fds[i] = connect_to(addr);
	serve(&burst_done.accepted, BURST_CLIENTS);
	for (message = 1; message <= BURST_MESSAGES; message++) {
		for (i = 0; i < BURST_CLIENTS; i++)
			if (write(fds[i], &byte, 1) != 1)
				err(1, "write");
		serve(&burst_done.answered, message * BURST_CLIENTS);
		for (i = 0; i < BURST_CLIENTS; i++)
			if (read(fds[i], &byte, 1) != 1 || byte != 'x')
				err(1, "read");
	}
	for (i = 0; i < BURST_CLIENTS; i++)
		close(fds[i]);
	serve(&burst_done.closed, BURST_CLIENTS);
}

int counter_open(const char *filter)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
	};
	unsigned long long id;
	FILE *file;
	int fd;

	mkdir(TRACEFS, 0700);
	if (mount("tracefs", TRACEFS, "tracefs", 0, NULL) && errno != EBUSY)
		err(1, "mount tracefs");
	file = fopen(TRACEFS "/events/raw_syscalls/sys_enter/id", "r");
	if (!file || fscanf(file, "%llu", &id) != 1)
		err(1, "the kernel has no tracepoint for system calls");
	fclose(file);
	attr.config = id;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
	if (fd < 0 || (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)))
		err(1, "perf_event_open");
	return fd;
}

uint64_t counter_read(int counter)
{
	uint64_t value;

	if (read(counter, &value, sizeof(value)) != sizeof(value))
		err(1, "the counter");
	return value;
}
