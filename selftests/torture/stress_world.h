/* SPDX-License-Identifier: GPL-2.0 */
/* What the threads of the stress program's chaos share. */
#ifndef STRESS_WORLD_H
#define STRESS_WORLD_H

#include <pthread.h>

#include "torture/stress.h"

#define SLOTS		96
#define SETS		3

/*
 * Set 0 is never closed, and only one thread at a time takes it: so its
 * results can be checked.
 */
struct set {
	atomic_int fd;
	atomic_uint generation;
	/* Written: map, len and capacity change.  Read: results are read. */
	pthread_rwlock_t map_lock;
	pthread_mutex_t wait_lock;
	char *map;
	size_t len;
	unsigned int capacity;
};

/*
 * A table of files and a few sets, which any thread may use while another
 * closes or replaces them.  A file belongs to the thread that has taken its
 * number out of the table.
 */
extern struct set sets[SETS];
extern atomic_int slots[SLOTS];

/* A socket pair on which files travel. */
extern int scm[2];

extern atomic_ulong bad_results;
extern atomic_ulong bad_errors;

bool world_open(struct rng *rng);
void world_close(void);

int slot_take(struct rng *rng);
int slot_peek(struct rng *rng);
/* The table takes the file; what was there before is closed. */
void slot_put(struct rng *rng, int fd);

struct set *any_set(struct rng *rng);
void set_unmap(struct set *s);
void set_map(struct set *s, struct rng *rng);

void bad_result(const char *what, long a, long b);

/*
 * Notes an errno that the call must not give.  Only for set 0: the number of
 * another set may be any file's by now.
 */
void check_errno(const struct set *s, const char *call, const int *allowed);

struct operation {
	const char *name;
	void (*run)(struct rng *rng);
	unsigned int weight;
	atomic_ulong done;
};

extern struct operation operations[];
extern const unsigned int nr_operations;

/* Interrupts any of the threads. */
void chaos_interrupt(struct rng *rng);

/* Forks a child that does something to the sets and ends in some way. */
void op_fork(struct rng *rng);

#endif /* STRESS_WORLD_H */
