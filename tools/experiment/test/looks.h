/* SPDX-License-Identifier: GPL-2.0 */
/* What a set of an engine tells of pairs of sockets, one wait after another. */
#ifndef EXPERIMENT_LOOKS_H
#define EXPERIMENT_LOOKS_H

#include <stdbool.h>

#include "engine.h"

#define MAXFDS		1024
#define PATIENCE_MS	5000

extern const struct engine *engine;
extern struct engine_set *set;
extern unsigned char told[MAXFDS];	/* by fd: revents of the last look */

struct pair {
	int ours;
	int theirs;
};

struct pair make_pair(void);
void drop_pair(struct pair pair);
void say(int fd);
void empty(int fd);

/* One wait; its events are in told[]. */
int look(int timeout);
/* Whether @events come for @fd before patience ends. */
bool comes(int fd, short events);
/* Whether nothing comes for @fd, however often it is polled. */
bool silent(int fd);

#endif /* EXPERIMENT_LOOKS_H */
