// SPDX-License-Identifier: GPL-2.0
/*
 * Times threads on two processors that use one set, with epoll's calls on
 * sys_epoll and on the device.  The runs of both alternate, since the speed of
 * a guest changes with what else its machine does.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <devepoll_epoll.h>

#include "../clock.h"
#include "../pin.h"

#define NFDS		64	/* of each thread */
#define LOOPS		50	/* over all fds of a thread */
#define WRITES		20000	/* of each producer */
#define ROUNDS		9
#define THREADS_MAX	4
#define PATIENCE_S	120

struct calls {
	int (*create1)(int flags);
	int (*ctl)(int set, int op, int fd, struct epoll_event *event);
	int (*wait)(int set, struct epoll_event *events, int max, int timeout);
};

static const struct calls native = { epoll_create1, epoll_ctl, epoll_wait };
static const struct calls device = {
	devepoll_epoll_create1, devepoll_epoll_ctl, devepoll_epoll_wait,
};

/* One run: its threads begin at once. */
struct run {
	const struct calls *calls;
	int set, stop;
	long expected;
	atomic_long taken;
	pthread_barrier_t begin;
};

struct worker {
	struct run *run;
	pthread_t thread;
	int cpu, fds[NFDS];
};

static void change(const struct run *run, int op, int fd, unsigned int events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (run->calls->ctl(run->set, op, fd, &event))
		err(1, "a change");
}

/* The loop of perf bench epoll ctl: add, change and remove each fd. */
static void *changer(void *arg)
{
	struct worker *me = arg;
	int i, n;

	pin(me->cpu);
	pthread_barrier_wait(&me->run->begin);
	for (n = 0; n < LOOPS; n++) {
		for (i = 0; i < NFDS; i++) {
			change(me->run, EPOLL_CTL_ADD, me->fds[i], EPOLLIN);
			change(me->run, EPOLL_CTL_MOD, me->fds[i], EPOLLOUT);
			change(me->run, EPOLL_CTL_DEL, me->fds[i], 0);
		}
	}
	return NULL;
}

static void *producer(void *arg)
{
	const uint64_t one = 1;
	struct worker *me = arg;
	int i;

	pin(me->cpu);
	pthread_barrier_wait(&me->run->begin);
	for (i = 0; i < WRITES; i++)
		if (write(me->fds[i % NFDS], &one, sizeof(one)) != sizeof(one))
			err(1, "write");
	return NULL;
}

static void tell(int fd)
{
	if (eventfd_write(fd, 1))
		err(1, "eventfd_write");
}

/* Reads fds until nothing is left; an event that was lost makes this hang. */
static void *waiter(void *arg)
{
	struct worker *me = arg;
	struct run *run = me->run;
	struct epoll_event events[16];
	int i, n;

	pin(me->cpu);
	pthread_barrier_wait(&run->begin);
	for (;;) {
		n = run->calls->wait(run->set, events, 16, -1);
		if (n < 0)
			err(1, "wait");
		for (i = 0; i < n; i++) {
			eventfd_t value;

			if (events[i].data.fd == run->stop)
				return NULL;
			if (!eventfd_read(events[i].data.fd, &value) &&
			    atomic_fetch_add(&run->taken, value) + (long)value
			    == run->expected)
				tell(run->stop);
		}
	}
}

static void prepare(struct worker *me, struct run *run, int cpu, bool watch)
{
	int i;

	me->run = run;
	me->cpu = cpu;
	for (i = 0; i < NFDS; i++) {
		me->fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (me->fds[i] < 0)
			err(1, "eventfd");
		if (watch)
			change(run, EPOLL_CTL_ADD, me->fds[i],
			       EPOLLIN | EPOLLET);
	}
}

struct row {
	const char *name;
	int changers, producers, waiters;
};

static const struct row rows[] = {
	{ "1 thread changes a set", 1, 0, 0 },
	{ "2 threads change a set", 2, 0, 0 },
	{ "1 producer, 1 waiter", 0, 1, 1 },
	{ "2 producers, 1 waiter", 0, 2, 1 },
	{ "1 producer, 2 waiters", 0, 1, 2 },
	{ "2 producers, 2 waiters", 0, 2, 2 },
};

/* Milliseconds of one run. */
static double time_of(const struct row *row, const struct calls *calls)
{
	int i, k, n = row->changers + row->producers + row->waiters;
	struct worker workers[THREADS_MAX];
	struct run run = { .calls = calls };
	int64_t took;

	run.set = calls->create1(EPOLL_CLOEXEC);
	run.stop = eventfd(0, EFD_CLOEXEC);
	if (run.set < 0 || run.stop < 0)
		err(1, "a set");
	run.expected = (long)row->producers * WRITES;
	change(&run, EPOLL_CTL_ADD, run.stop, EPOLLIN);
	pthread_barrier_init(&run.begin, NULL, n + 1);
	for (i = 0; i < n; i++) {
		bool produces = i >= row->changers &&
				i < row->changers + row->producers;

		/* The first of each kind starts on another processor. */
		prepare(&workers[i], &run, produces ? i % 2 : (i + 1) % 2,
			produces);
		if (pthread_create(&workers[i].thread, NULL,
				   i < row->changers ? changer :
				   produces ? producer : waiter, &workers[i]))
			errx(1, "pthread_create");
	}
	pthread_barrier_wait(&run.begin);
	took = now_ns();
	for (i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	took = now_ns() - took;
	for (i = 0; i < n; i++)
		for (k = 0; k < NFDS; k++)
			close(workers[i].fds[k]);
	close(run.stop);
	close(run.set);
	pthread_barrier_destroy(&run.begin);
	return took / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

int main(void)
{
	double theirs[ROUNDS], ours[ROUNDS], speed[ROUNDS], middle;
	unsigned int i, n;

	printf("%-28s%10s%10s%10s%18s\n", "milliseconds, medians", "sys_epoll",
	       "device", "speed", "spread");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		/* A lost event ends this program. */
		alarm(PATIENCE_S);
		for (n = 0; n < ROUNDS; n++) {
			theirs[n] = time_of(&rows[i], &native);
			ours[n] = time_of(&rows[i], &device);
			speed[n] = theirs[n] / ours[n];
		}
		middle = median(speed);
		printf("%-28s%10.0f%10.0f%10.2f%10.2f to %.2f\n", rows[i].name,
		       median(theirs), median(ours), middle, speed[0],
		       speed[ROUNDS - 1]);
		fflush(stdout);
	}
	return 0;
}
