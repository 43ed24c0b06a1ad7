/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lost events: producers count what they post, consumers what they take, and
 * nobody's wait has a time-out.
 *
 * A file is posted to again only when its last event was taken: so each single
 * event must arrive, and none can stand in for another.  Meanwhile other files
 * come, are posted to, and go, by removal or by their last close; after that no
 * call may return an event of theirs.
 */
#ifndef SELFTESTS_LOST_H
#define SELFTESTS_LOST_H

#include <stdatomic.h>

#include "core/eset.h"

#define LOST_FILES	48
#define LOST_CONSUMERS	3
#define LOST_PRODUCERS	2
#define LOST_OUT	(LOST_FILES + 16)
#define LOST_NUMBERS	1024	/* of fds */

/* Data of events: an index of a file, or one of these. */
#define LOST_END	(1ULL << 20)
#define LOST_PASSING	(1ULL << 32)	/* and its generation */

struct lost;

/**
 * struct lost_way - one way to wait for events
 * @name: what it is
 * @consumers: how many threads wait
 * @events: of an fd, for an extended set
 * @flags: of an fd, for an extended set
 * @ops: for an extended set, the calls
 * @sets: for an extended set, how many there are, each with one consumer
 * @open: makes what is needed; 0 or -errno
 * @add: begins to watch; 0 or -errno
 * @del: ends that; 0 or -errno
 * @wait: waits without limit and stores the data of what it took; their number
 *	or -errno
 * @taken: called when a file has been read, and may be NULL
 */
struct lost_way {
	const char *name;
	unsigned int consumers;
	uint32_t events;
	uint16_t flags;
	const struct eset_ops *ops;
	unsigned int sets;
	int (*open)(struct lost *l);
	int (*add)(struct lost *l, int fd, uint64_t data, uint32_t events);
	int (*del)(struct lost *l, int fd);
	int (*wait)(struct lost *l, unsigned int consumer, uint64_t *data);
	int (*taken)(struct lost *l, int fd, uint64_t data);
};

struct lost_file {
	int in;			/* watched and read */
	int out;		/* written */
	bool counts;		/* an eventfd, and not a byte in a queue */
	atomic_bool pending;
};

struct lost {
	const struct lost_way *way;
	struct eset sets[LOST_CONSUMERS];
	int fd;			/* the set, or the first one */
	int outer;
	void *own;		/* the way's */
	struct lost_file files[LOST_FILES];
	int end;
	atomic_ullong data_of[LOST_NUMBERS];	/* where events name an fd */
	atomic_bool stop;

	unsigned long goal;	/* events of each producer */
	atomic_ulong posted;
	atomic_ulong taken;
	atomic_ulong idle;	/* events of files with nothing to read */
	atomic_ulong foreign;	/* of no file */
	/* of a file that was gone before the call, by removal or close */
	atomic_ulong late_removed;
	atomic_ulong late_closed;
	atomic_ullong gone;	/* the last generation that is */
};

/* How many events each way must carry. */
unsigned long lost_goal(unsigned long without);
/* Runs it: 0, or -1 if an event was lost or was one too many. */
int lost_run(struct lost *l, const struct lost_way *way, unsigned long goal);
/* The data of an event that names its fd alone. */
uint64_t lost_data(struct lost *l, int fd);
void lost_name(struct lost *l, int fd, uint64_t data);

/* Each consumer takes another number of events at once. */
static inline int lost_room(unsigned int consumer)
{
	return 1 + consumer * 3;
}

/* Extended sets: one for all consumers, or one for each. */
int lost_set_open(struct lost *l);
int lost_set_add(struct lost *l, int fd, uint64_t data, uint32_t events);
int lost_set_del(struct lost *l, int fd);
/* Takes what is there within so many milliseconds. */
int lost_set_take(struct eset *set, unsigned int consumer, uint64_t *data,
		  int ms);
int lost_set_wait(struct lost *l, unsigned int consumer, uint64_t *data);
/* Arms an fd again that tells of one event. */
int lost_set_arm(struct lost *l, int fd, uint64_t data);

#endif /* SELFTESTS_LOST_H */
