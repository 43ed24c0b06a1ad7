/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes that an engine defers until the next wait, or until there are many.
 */
#ifndef EXPERIMENT_DEFERRED_H
#define EXPERIMENT_DEFERRED_H

#include <poll.h>

#define DEFERRED_MAX	1024

struct deferred {
	int nr;
	struct pollfd changes[DEFERRED_MAX];
};

/* There must be room for it. */
static inline void deferred_keep(struct deferred *deferred, int fd,
				 short events)
{
	deferred->changes[deferred->nr++] = (struct pollfd){
		.fd = fd,
		.events = events,
	};
}

#endif /* EXPERIMENT_DEFERRED_H */
