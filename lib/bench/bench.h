/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the files of devepoll-bench share.
 */
#ifndef DEVEPOLL_BENCH_H
#define DEVEPOLL_BENCH_H

#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#include "devepoll_events.h"

#define BENCH_BATCH	256	/* most events that a wait returns */

/* The ways to wait that are compared; the order is that of the columns. */
enum bench_way {
	WAY_EPOLL,
	WAY_DEVICE,
	WAY_RING,
	NR_WAYS,
};

/**
 * struct bench_set - an interest list of one of the ways
 * @way: which one
 * @fd: its descriptor
 * @consumer: with a ring
 */
struct bench_set {
	enum bench_way way;
	int fd;
	struct devepoll_consumer consumer;
};

/**
 * struct bench_samples - times, in nanoseconds
 * @ns: the times
 * @nr: how many there are
 * @room: how many fit
 */
struct bench_samples {
	uint32_t *ns;
	uint32_t nr;
	uint32_t room;
};

static inline uint64_t bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

_Noreturn void bench_die(const char *what);
void bench_need(int ok, const char *what);

void bench_set_open(struct bench_set *set, enum bench_way way);
void bench_set_close(struct bench_set *set);
void bench_set_add(struct bench_set *set, int fd, uint32_t events);
int bench_set_wait(struct bench_set *set, int timeout);

void bench_processor(unsigned int which);
void bench_sample(struct bench_samples *samples, uint64_t ns);

void bench_wait(enum bench_way way, unsigned int ready, uint64_t ns,
		struct bench_samples *samples);
void bench_wake(enum bench_way way, uint64_t ns, struct bench_samples *samples);
void bench_echo(enum bench_way way, uint64_t ns, struct bench_samples *samples);

#define BENCH_WORKERS	4
#define BENCH_CONNECTIONS	400
void bench_accepts(enum bench_way way, uint32_t counts[BENCH_WORKERS]);

void bench_machine(void);

#endif /* DEVEPOLL_BENCH_H */
