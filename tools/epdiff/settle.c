// SPDX-License-Identifier: GPL-2.0
/* Waiting until an operation on a file has no further effects. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "settle.h"

#define UNBOUND_CPUS	"/sys/devices/virtual/workqueue/cpumask"
#define SOFTNET		"/proc/net/softnet_stat"
/* The column of softnet_stat that counts the packets not yet looked at. */
#define SOFTNET_BACKLOG	11
#define LOADAVG		"/proc/loadavg"
#define TRIES		100000
#define FEW_TRIES	1000
#define BOUND_MS	10000

static int softnet = -1;
static int loadavg = -1;
/*
 * Sees each wake-up of each pty.  It is the first to watch them, and wake-ups
 * go to the latest first: what it has been told, all others were told before.
 */
static int witness = -1;

void settle_init(bool workers)
{
	int fd, cpu = sched_getcpu();
	char text[16];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(2, "sched_setaffinity");
	if (!workers)
		return;
	fd = open(UNBOUND_CPUS, O_WRONLY | O_CLOEXEC);
	snprintf(text, sizeof(text), "%x\n", 1u << cpu);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		warn("%s", UNBOUND_CPUS);
	if (fd >= 0)
		close(fd);
}

void settle_open(void)
{
	softnet = open(SOFTNET, O_RDONLY | O_CLOEXEC);
	loadavg = open(LOADAVG, O_RDONLY | O_CLOEXEC);
	witness = epoll_create1(EPOLL_CLOEXEC);
	if (witness < 0)
		err(2, "epoll_create1");
}

/* Whether a line of softnet_stat tells of packets that wait. */
static bool line_has_backlog(const char *line)
{
	unsigned int value = 0;
	int column, used;

	for (column = 0; column <= SOFTNET_BACKLOG; column++) {
		if (sscanf(line, "%x%n", &value, &used) != 1)
			return false;
		line += used;
	}
	return value;
}

static bool softnet_has_backlog(void)
{
	static char text[16384];
	char *line, *rest;
	ssize_t n;

	n = pread(softnet, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (line_has_backlog(line))
			return true;
	}
	return false;
}

/* Sends an acknowledgment that the kernel keeps back for company. */
static void acknowledge(int fd)
{
	int one = 1;

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
}

static bool has_unacknowledged(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return false;
	return info.tcpi_state != TCP_CLOSE && info.tcpi_unacked;
}

void settle_tcp(int fd, int peer_fd)
{
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (!softnet_has_backlog()) {
			acknowledge(fd);
			acknowledge(peer_fd);
			if (!softnet_has_backlog() &&
			    (peer_fd < 0 || !has_unacknowledged(fd)) &&
			    (fd < 0 || !has_unacknowledged(peer_fd)))
				return;
		}
		sched_yield();
	}
	errx(3, "a TCP connection does not come to rest");
}

void settle_pty_made(int master, int slave)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

	ev.data.fd = 0;
	if (epoll_ctl(witness, EPOLL_CTL_ADD, master, &ev))
		err(2, "epoll_ctl");
	ev.data.fd = 1;
	if (epoll_ctl(witness, EPOLL_CTL_ADD, slave, &ev))
		err(2, "epoll_ctl");
}

void settle_pty_before(void)
{
	struct epoll_event ev[32];

	while (epoll_wait(witness, ev, 32, 0) == 32)
		;
}

void settle_pty_after(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct epoll_event ev;

	/* What was written is one piece, and makes one wake-up. */
	if (epoll_wait(witness, &ev, 1, BOUND_MS) != 1)
		errx(3, "what was written to a pty does not arrive");
	/* Exclusive ones come last: wait for the lock that the waker holds. */
	if (poll(&pfd, 1, 1) != 1)
		errx(3, "what arrived at a pty can't be read");
}

void settle_timer(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (poll(&pfd, 1, BOUND_MS) != 1)
		errx(3, "a timer does not expire");
}

/* How many threads of the whole guest run or want to, or 0. */
static unsigned int runnable(void)
{
	unsigned int n = 0;
	char text[128];
	ssize_t len;

	len = pread(loadavg, text, sizeof(text) - 1, 0);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	return sscanf(text, "%*s %*s %*s %u/", &n) == 1 ? n : 0;
}

void settle_workers(void)
{
	static const struct timespec pause = { .tv_nsec = 2000000 };
	int tries, quiet = 0;

	/* Twice: a thread may be on its way from one queue to the other. */
	for (tries = 0; tries < FEW_TRIES && quiet < 2; tries++) {
		quiet = runnable() == 1 ? quiet + 1 : 0;
		if (!quiet)
			sched_yield();
	}
	/* Where others run, too, time is all that can be given. */
	if (quiet < 2)
		nanosleep(&pause, NULL);
}
