/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fds that an engine watches, as an array for poll(2).
 */
#ifndef EXPERIMENT_WATCHED_H
#define EXPERIMENT_WATCHED_H

#include <poll.h>
#include <stdbool.h>

/**
 * struct watched - fds and the events that are asked for
 * @fds: the fds, without gaps, in no order
 * @nr: how many there are
 * @ready: room for as many results
 * @place: by number: where the fd is in @fds, counted from 1; 0: not there
 * @maxfds: numbers are below
 */
struct watched {
	struct pollfd *fds;
	int nr;
	struct pollfd *ready;
	int *place;
	int maxfds;
};

/* False where there is no memory; then nothing needs to be undone. */
bool watched_init(struct watched *watched, int maxfds);
void watched_free(struct watched *watched);

/* As the operations of struct engine. */
int watched_add(struct watched *watched, int fd, short events);
int watched_change(struct watched *watched, int fd, short events);
int watched_remove(struct watched *watched, int fd);

/* Whether @fd is watched. */
bool watched_has(const struct watched *watched, int fd);

/*
 * poll(2) of all; those that are ready are in ready[].  Returns how many there
 * are, or a negative errno.
 */
int watched_poll(struct watched *watched, int timeout);

#endif /* EXPERIMENT_WATCHED_H */
