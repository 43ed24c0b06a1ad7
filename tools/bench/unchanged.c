// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what the calls of epoll cost a program that knows nothing of
 * /dev/epoll.  Run with and without the preload library, it shows what the
 * device costs such a program, with all that the library does in between.
 *
 * usage: unchanged epoll|devepoll     prints lines "NAME: INSTRUCTIONS"
 *
 * It fails if its sets are not what the argument says.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sample.h"

#define ROUNDS	200
#define FDS	1000

static int fds[FDS];
static int set;
/* Which fds the next round makes ready, so that each of them has a turn. */
static int turn;

static void must(bool ok)
{
	if (!ok)
		err(1, "a call of epoll");
}

static int ctl(int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(set, op, fd, &event);
}

static void post(int fd)
{
	const uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		err(1, "write");
}

static void take(int fd)
{
	uint64_t sum;

	if (read(fd, &sum, sizeof(sum)) != sizeof(sum))
		err(1, "read");
}

static int next(void)
{
	turn = (turn + 1) % FDS;
	return fds[turn];
}

/* A new set of all fds. */
static void watch(uint32_t events)
{
	int i;

	close(set);
	set = epoll_create1(EPOLL_CLOEXEC);
	must(set >= 0);
	for (i = 0; i < FDS; i++)
		must(!ctl(EPOLL_CTL_ADD, fds[i], events));
}

static bool is_of_the_device(void)
{
	char link[40], target[40] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", set);
	if (readlink(link, target, sizeof(target) - 1) < 0)
		err(1, "%s", link);
	return !strncmp(target, "/dev/", 5);
}

/* A wait with room for @max events, after @ready fds became ready. */
static void wait_for(struct series *series, int ready, int max)
{
	struct epoll_event events[256];
	int i, n, first = turn;

	for (i = 0; i < ready; i++)
		post(fds[(first + i) % FDS]);
	turn = (first + ready) % FDS;
	series_begin(series);
	/* As an event loop waits, which would sleep. */
	n = epoll_wait(set, events, max, ready ? -1 : 0);
	series_end(series);
	must(n == (ready < max ? ready : max));
	for (i = 0; i < ready; i++)
		take(fds[(first + i) % FDS]);
}

static void wait_0(struct series *series)
{
	wait_for(series, 0, 256);
}

static void wait_1(struct series *series)
{
	wait_for(series, 1, 256);
}

static void wait_16(struct series *series)
{
	wait_for(series, 16, 256);
}

static void wait_256(struct series *series)
{
	wait_for(series, 256, 256);
}

/* As threads wait that share a set: 15 others are left, and soon over. */
static void wait_1_of_16(struct series *series)
{
	wait_for(series, 16, 1);
}

/* The whole turn of a thread that re-arms what it has served. */
static void serve_one_shot(struct series *series)
{
	struct epoll_event event;

	turn = (turn + 1) % FDS;
	post(fds[turn]);
	series_begin(series);
	must(epoll_wait(set, &event, 1, 0) == 1);
	take(event.data.fd);
	must(!ctl(EPOLL_CTL_MOD, event.data.fd,
		  EPOLLIN | EPOLLET | EPOLLONESHOT));
	series_end(series);
}

static void add_and_remove(struct series *series)
{
	int fd = next();

	must(!ctl(EPOLL_CTL_DEL, fd, 0));
	series_begin(series);
	must(!ctl(EPOLL_CTL_ADD, fd, EPOLLIN));
	must(!ctl(EPOLL_CTL_DEL, fd, 0));
	series_end(series);
	must(!ctl(EPOLL_CTL_ADD, fd, EPOLLIN));
}

/* From all over the set, since epoll looks it up in a tree. */
static void add_again(struct series *series)
{
	int fd = fds[turn];

	turn = (turn + FDS / ROUNDS) % FDS;

	series_begin(series);
	must(ctl(EPOLL_CTL_ADD, fd, EPOLLIN) && errno == EEXIST);
	series_end(series);
}

static void change(struct series *series)
{
	int fd = next();

	series_begin(series);
	must(!ctl(EPOLL_CTL_MOD, fd, EPOLLIN));
	series_end(series);
}

/* It is on the ready list. */
static void change_ready(struct series *series)
{
	int fd = next();

	post(fd);
	series_begin(series);
	must(!ctl(EPOLL_CTL_MOD, fd, EPOLLIN));
	series_end(series);
	take(fd);
}

/* One that is ready, and off the list: it is put there. */
static void rearm_ready(struct series *series)
{
	struct epoll_event event;
	int fd = next();

	post(fd);
	must(epoll_wait(set, &event, 1, 0) == 1);
	series_begin(series);
	must(!ctl(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET | EPOLLONESHOT));
	series_end(series);
	take(fd);
	must(epoll_wait(set, &event, 1, 0) == 0);
}

#define EDGE		(EPOLLIN | EPOLLET)
#define ONE_SHOT	(EPOLLIN | EPOLLET | EPOLLONESHOT)

static const struct {
	const char *name;
	uint32_t events;
	void (*run)(struct series *series);
} calls[] = {
	{ "wait, edge, 0 of 1000 ready", EDGE, wait_0 },
	{ "wait, edge, 1 of 1000 ready", EDGE, wait_1 },
	{ "wait, edge, 16 of 1000 ready", EDGE, wait_16 },
	{ "wait, edge, 256 of 1000 ready", EDGE, wait_256 },
	{ "wait, level, 1 of 1000 ready", EPOLLIN, wait_1 },
	{ "wait, level, 16 of 1000 ready", EPOLLIN, wait_16 },
	{ "wait, level, room for 1 of 16", EPOLLIN, wait_1_of_16 },
	{ "one-shot wait, read, re-arm", ONE_SHOT, serve_one_shot },
	{ "add and remove", EPOLLIN, add_and_remove },
	{ "add what is there, EEXIST", EPOLLIN, add_again },
	{ "change", EPOLLIN, change },
	{ "change one that is ready", EPOLLIN, change_ready },
	{ "re-arm one that is ready", ONE_SHOT, rearm_ready },
};

static void measure_all(const char *suffix)
{
	static struct series series;
	unsigned int i;
	int round;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		watch(calls[i].events);
		series_clear(&series);
		for (round = 0; round < ROUNDS; round++)
			calls[i].run(&series);
		printf("%s%s: %.0f\n", calls[i].name, suffix,
		       series_median(&series));
	}
}

static void *be_there(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	const struct rlimit lim = { 4096, 4096 };
	pthread_t thread;
	int i;

	if (argc != 2)
		errx(2, "usage: unchanged epoll|devepoll");
	counter_calibrate();
	if (!counter_is_exact())
		errx(1, "the counter does not count instructions");
	if (setrlimit(RLIMIT_NOFILE, &lim))
		err(1, "setrlimit");
	set = epoll_create1(EPOLL_CLOEXEC);
	if (is_of_the_device() != !strcmp(argv[1], "devepoll"))
		errx(1, "the sets are not of %s", argv[1]);
	for (i = 0; i < FDS; i++) {
		fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (fds[i] < 0)
			err(1, "eventfd");
	}
	measure_all("");
	if (pthread_create(&thread, NULL, be_there, NULL))
		errx(1, "pthread_create failed");
	measure_all(" (threads)");
	return 0;
}
