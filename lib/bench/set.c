// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * devepoll-bench: sets of epoll, of the device by its calls, and with a ring.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "devepoll_epoll.h"

/**
 * bench_die() - end with the last error
 * @what: what failed
 */
void bench_die(const char *what)
{
	fprintf(stderr, "devepoll-bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/**
 * bench_need() - end with the last error unless something holds
 * @ok: it holds
 * @what: what failed otherwise
 */
void bench_need(int ok, const char *what)
{
	if (!ok)
		bench_die(what);
}

/* The preload library would put the device in the place of epoll. */
static void need_epoll(int fd)
{
	struct stat st;

	bench_need(!fstat(fd, &st), "fstat");
	if (!S_ISCHR(st.st_mode))
		return;
	fprintf(stderr, "devepoll-bench: %s\n",
		"epoll is preloaded away; run it without LD_PRELOAD");
	exit(1);
}

/**
 * bench_set_open() - make a set
 * @set: out: the set
 * @way: its kind
 */
void bench_set_open(struct bench_set *set, enum bench_way way)
{
	int err;

	memset(set, 0, sizeof(*set));
	set->way = way;
	if (way == WAY_EPOLL) {
		set->fd = epoll_create1(EPOLL_CLOEXEC);
		bench_need(set->fd >= 0, "epoll_create1");
		need_epoll(set->fd);
		return;
	}
	set->fd = way == WAY_DEVICE ? devepoll_epoll_create1(EPOLL_CLOEXEC) :
				      devepoll_events_open(0);
	if (way == WAY_RING && set->fd < 0)
		errno = -set->fd;
	bench_need(set->fd >= 0, "/dev/epoll");
	if (way != WAY_RING)
		return;
	err = devepoll_events_ring(set->fd, &set->consumer, 1, BENCH_BATCH);
	errno = -err;
	bench_need(!err, "a ring");
}

/**
 * bench_set_close() - close a set
 * @set: the set
 */
void bench_set_close(struct bench_set *set)
{
	if (set->way == WAY_RING)
		devepoll_events_ring_unmap(&set->consumer, 1);
	close(set->fd);
}

/**
 * bench_set_add() - watch an fd
 * @set: the set
 * @fd: the fd
 * @events: as for epoll_ctl(2)
 */
void bench_set_add(struct bench_set *set, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };
	int err;

	switch (set->way) {
	case WAY_EPOLL:
		err = epoll_ctl(set->fd, EPOLL_CTL_ADD, fd, &event);
		break;
	case WAY_DEVICE:
		err = devepoll_epoll_ctl(set->fd, EPOLL_CTL_ADD, fd, &event);
		break;
	default:
		err = devepoll_events_change(set->fd, DEVEPOLL_ADD, fd, events,
					     DEVEPOLL_TRUST, fd);
		errno = -err;
	}
	bench_need(!err, "adding an fd");
}

static int take(struct devepoll_consumer *consumer, int timeout)
{
	struct devepoll_event event;
	int nr = 0, ret;

	ret = devepoll_events_consume(consumer, timeout < 0 ? -1 :
				      timeout * 1000000LL);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	while (devepoll_events_next(consumer, &event))
		nr++;
	return nr;
}

/**
 * bench_set_wait() - wait, and look at each event
 * @set: the set
 * @timeout: in milliseconds; -1: for ever
 *
 * Return: the number of events.
 */
int bench_set_wait(struct bench_set *set, int timeout)
{
	struct epoll_event events[BENCH_BATCH];
	volatile uint32_t seen;
	int i, nr;

	switch (set->way) {
	case WAY_EPOLL:
		nr = epoll_wait(set->fd, events, BENCH_BATCH, timeout);
		break;
	case WAY_DEVICE:
		nr = devepoll_epoll_wait(set->fd, events, BENCH_BATCH, timeout);
		break;
	default:
		nr = take(&set->consumer, timeout);
		bench_need(nr >= 0 || errno == EINTR, "a wait");
		return nr;
	}
	bench_need(nr >= 0 || errno == EINTR, "a wait");
	for (i = 0; i < nr; i++)
		seen = events[i].events;
	(void)seen;
	return nr;
}

/**
 * bench_processor() - run on one processor from now on
 * @which: 0 or 1: the first or the second that the program may use, or the
 *	first if there is no second
 */
void bench_processor(unsigned int which)
{
	static cpu_set_t usable;
	static bool known;
	cpu_set_t one;
	int cpu, first = -1;

	if (!known && sched_getaffinity(0, sizeof(usable), &usable))
		bench_die("sched_getaffinity");
	known = true;
	CPU_ZERO(&one);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &usable))
			continue;
		if (first < 0)
			first = cpu;
		if (!which--)
			break;
	}
	CPU_SET(cpu < CPU_SETSIZE ? cpu : first, &one);
	bench_need(!sched_setaffinity(0, sizeof(one), &one),
		   "sched_setaffinity");
}

/**
 * bench_sample() - keep a time, if there is room
 * @samples: those so far
 * @ns: the time
 */
void bench_sample(struct bench_samples *samples, uint64_t ns)
{
	if (samples->nr < samples->room)
		samples->ns[samples->nr++] = ns < UINT32_MAX ? ns : UINT32_MAX;
}
