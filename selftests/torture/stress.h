/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the stress program share. */
#ifndef STRESS_H
#define STRESS_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "linux/devepoll.h"

/* No event may stay unnoticed for longer, and no thread may hang longer. */
#define STRESS_BOUND_SECONDS	45
/* So long it goes on until each operation has run once. */
#define STRESS_MORE_SECONDS	300

/* A small generator of pseudo-random numbers, one per thread. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *rng);
unsigned int rng_below(struct rng *rng, unsigned int limit);
void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);

/* The kinds of files that are made, watched and closed. */
enum file_kind {
	FILE_EVENTFD,
	FILE_PIPE,
	FILE_FIFO,
	FILE_UNIX_STREAM,
	FILE_UNIX_DGRAM,
	FILE_TCP,
	FILE_UDP,
	FILE_PTY,
	FILE_TIMERFD,
	FILE_SIGNALFD,
	FILE_INOTIFY,
	FILE_KINDS_POLLABLE,
	/* These are refused as members. */
	FILE_EPOLL = FILE_KINDS_POLLABLE,
	FILE_DEVEPOLL,
	FILE_NULL,
	FILE_KINDS,
};

/* The signal that signalfds of stress files take. */
#define STRESS_SIGNAL	(SIGRTMIN + 1)

const char *file_kind_name(enum file_kind kind);

/*
 * Makes a file, or two ends: what is written to fds[1] can be read from fds[0].
 * Both are the same number if the file has one end.  All are non-blocking and
 * close-on-exec.  Returns 0 or -errno.
 */
int file_make(enum file_kind kind, int fds[2]);

/* Makes fds[0] readable; returns whether it took effect. */
bool file_post(enum file_kind kind, int fd);

/* Reads all that is there and returns how many posts it answers. */
unsigned int file_drain(enum file_kind kind, int fd);

/*
 * Read-locked by all processes while they may close a file, write-locked while
 * the tracer is switched: see stress_tracer.c.
 */
extern pthread_rwlock_t *closing_lock;

/* One child process that looks for lost wake-ups; the status is its verdict. */
struct pair_face;
extern const struct pair_face *const pair_faces[];
extern const unsigned int nr_pair_faces;
int pair_run(const struct pair_face *face, uint64_t seed, unsigned int seconds);

/* The threads that do everything to everything at once. */
struct chaos_verdict {
	unsigned long bad_results;
	unsigned long bad_errors;
	unsigned long idle_operations;
	unsigned long tracer_toggles;
	bool has_tracer;
};

void chaos_run(uint64_t seed, unsigned int seconds, struct chaos_verdict *v);

/* The tracer on the function that the module hooks. */
bool tracer_lock_init(void);
bool tracer_start(void);
bool tracer_toggle(struct rng *rng);
void tracer_stop(void);

double now_seconds(void);

#endif /* STRESS_H */
