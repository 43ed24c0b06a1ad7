// SPDX-License-Identifier: GPL-2.0
/*
 * The fds that an engine watches, as an array for poll(2).
 */
#include "watched.h"

#include <errno.h>
#include <stdlib.h>

bool watched_init(struct watched *watched, int maxfds)
{
	*watched = (struct watched){ .maxfds = maxfds };
	watched->fds = calloc(maxfds, sizeof(*watched->fds));
	watched->ready = calloc(maxfds, sizeof(*watched->ready));
	watched->place = calloc(maxfds, sizeof(*watched->place));
	if (watched->fds && watched->ready && watched->place)
		return true;
	watched_free(watched);
	return false;
}

void watched_free(struct watched *watched)
{
	free(watched->fds);
	free(watched->ready);
	free(watched->place);
}

bool watched_has(const struct watched *watched, int fd)
{
	return fd >= 0 && fd < watched->maxfds && watched->place[fd];
}

int watched_add(struct watched *watched, int fd, short events)
{
	if (fd < 0 || fd >= watched->maxfds)
		return -ENOSPC;
	if (watched->place[fd])
		return -EEXIST;
	watched->fds[watched->nr++] = (struct pollfd){
		.fd = fd,
		.events = events,
	};
	watched->place[fd] = watched->nr;
	return 0;
}

int watched_change(struct watched *watched, int fd, short events)
{
	if (!watched_has(watched, fd))
		return -ENOENT;
	watched->fds[watched->place[fd] - 1].events = events;
	return 0;
}

int watched_remove(struct watched *watched, int fd)
{
	struct pollfd *last = &watched->fds[watched->nr - 1];
	int place;

	if (!watched_has(watched, fd))
		return -ENOENT;
	place = watched->place[fd];
	watched->fds[place - 1] = *last;
	watched->place[last->fd] = place;
	watched->place[fd] = 0;
	watched->nr--;
	return 0;
}

int watched_poll(struct watched *watched, int timeout)
{
	int i, nr = 0, left = poll(watched->fds, watched->nr, timeout);

	if (left < 0)
		return -errno;
	for (i = 0; left; i++) {
		if (!watched->fds[i].revents)
			continue;
		watched->ready[nr++] = watched->fds[i];
		left--;
	}
	return nr;
}
