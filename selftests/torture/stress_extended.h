/* SPDX-License-Identifier: GPL-2.0 */
/* What the stress program does by the extended interface. */
#ifndef STRESS_EXTENDED_H
#define STRESS_EXTENDED_H

#include "torture/stress_world.h"

#define EXTENDED_SETS	4
/* One place in the mapping for each thread that waits. */
#define MAP_PARTS	64
#define PART_EVENTS	32
#define PART_SIZE	(PART_EVENTS * sizeof(struct devepoll_event))
#define MAP_SIZE	(MAP_PARTS * PART_SIZE)

/* Set 0 is never closed: so errors and results on it can be checked. */
struct extended_set {
	atomic_int fd;
	/* Written: the mapping changes.  Read: it is read. */
	pthread_rwlock_t map_lock;
	struct devepoll_event *map;
};

extern struct extended_set extended_sets[EXTENDED_SETS];
/* What a wait may fail with. */
extern const int wait_errors[];

/* Comes back with each event, to tell whether it belongs to the fd. */
static inline uint64_t data_of(int fd)
{
	return (uint64_t)(uint32_t)fd * 0x9e3779b97f4a7c15;
}

static inline struct extended_set *any_extended(struct rng *rng)
{
	return &extended_sets[rng_below(rng, EXTENDED_SETS)];
}

static inline bool is_kept(const struct extended_set *s)
{
	return s == &extended_sets[0];
}

static inline void check_call(const struct extended_set *s, const char *call,
			      const int *allowed)
{
	if (is_kept(s))
		check_errno(&sets[0], call, allowed);
}

bool extended_world_open(void);
void extended_world_close(void);

/* DEVEPOLL_CTL and DEVEPOLL_WAIT, their results as they are. */
int extended_ctl(int set, struct devepoll_change *changes, unsigned int nr);
int extended_take(int set, struct devepoll_event *out, unsigned int max,
		  int64_t timeout);

/* Random changes of the files of the table and of sets. */
void extended_fill(struct rng *rng, struct devepoll_change *changes,
		   unsigned int nr);

void op_extended_change(struct rng *rng);
void op_extended_fadvise(struct rng *rng);
void op_extended_wait(struct rng *rng);
void op_extended_mapped(struct rng *rng);
void op_extended_nest(struct rng *rng);
void op_extended_query(struct rng *rng);
void op_extended_reopen(struct rng *rng);
void op_extended_stale(struct rng *rng);

/* The child of op_fork() does something to extended sets, then ends. */
void extended_child(struct rng *rng, unsigned int what);
void extended_rings(struct rng *rng);

#endif /* STRESS_EXTENDED_H */
