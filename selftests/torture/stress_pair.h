/* SPDX-License-Identifier: GPL-2.0 */
/* How the part of the stress program that looks for lost wake-ups is built. */
#ifndef STRESS_PAIR_H
#define STRESS_PAIR_H

#include <pthread.h>

#include "torture/stress.h"

#define PAIR_FDS	512
#define PAIR_FILES	FILE_INOTIFY
#define CONSUMERS_MOST	3
/* As many as the most that a consumer waits for. */
#define PAIR_ENDS	2

struct pair_file {
	enum file_kind kind;
	int rfd;
	int wfd;
	/* How the extended interface watches it. */
	uint32_t events;
	uint16_t flags;
	unsigned long posted;
	unsigned long seen;
};

struct pair {
	const struct pair_face *face;
	int set;
	/* The set on which consumers wait, if it is another one. */
	int outer;
	void *map;
	uint64_t seed;
	atomic_bool stop;
	struct pair_file files[PAIR_FILES];
	int nfiles;
	/* In the set too: it ends waits that would not end otherwise. */
	struct pair_file ends[PAIR_ENDS];
	/* Guards posted and seen of all files. */
	pthread_mutex_t lock;
	pthread_cond_t seen;
	unsigned long rounds;
	atomic_ulong swaps;
	double worst;
};

/* An interface, as these processes use it; bools tell whether it worked. */
struct pair_face {
	const char *name;
	unsigned int consumers;
	bool (*open)(struct pair *p);
	/* Puts a file into the set; @nr tells it how. */
	bool (*add)(struct pair *p, struct pair_file *f, unsigned int nr);
	/* Removes and adds it, in one call. */
	bool (*swap)(struct pair *p, const struct pair_file *f);
	/* Changes how it is watched, but not the events. */
	bool (*change)(struct pair *p, const struct pair_file *f);
	/* Makes another set that watches the file, and closes it. */
	void (*visit)(const struct pair_file *f, struct rng *rng);
	/* Puts a file that is about to be closed into the set. */
	void (*mix)(struct pair *p, int fd, struct rng *rng);
	/* Waits for so many ready fds at most; how many, or -1 with errno. */
	int (*wait)(struct pair *p, unsigned int consumer, int *fds, int max);
	/* After a file was read. */
	bool (*rearm)(struct pair *p, const struct pair_file *f);
	/* Prints what is known of a file that was not reported. */
	void (*report)(struct pair *p, const struct pair_file *f);
};

extern const struct pair_face pair_classic;
/* Threads that share a set whose fds are watched in all modes. */
extern const struct pair_face pair_extended;
/* Threads that wait on a set that contains that set. */
extern const struct pair_face pair_nested;

#endif /* STRESS_PAIR_H */
