/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fds that an engine could not add when it made its deferred changes.  The next
 * wait reports them with POLLNVAL.
 */
#ifndef EXPERIMENT_REFUSED_H
#define EXPERIMENT_REFUSED_H

#include <poll.h>
#include <string.h>

#define REFUSED_MAX	2048

struct refused {
	int nr;
	struct pollfd fds[REFUSED_MAX];
	struct pollfd told[REFUSED_MAX];
};

static inline void refused_forget(struct refused *refused, int fd)
{
	int i, nr = 0;

	for (i = 0; i < refused->nr; i++)
		if (refused->fds[i].fd != fd)
			refused->fds[nr++] = refused->fds[i];
	refused->nr = nr;
}

static inline void refused_add(struct refused *refused, int fd)
{
	refused_forget(refused, fd);
	if (refused->nr < REFUSED_MAX)
		refused->fds[refused->nr++] = (struct pollfd){
			.fd = fd,
			.revents = POLLNVAL,
		};
}

/* Hands them out, once; what is refused from now on does not disturb them. */
static inline int refused_tell(struct refused *refused,
			       const struct pollfd **events)
{
	int nr = refused->nr;

	memcpy(refused->told, refused->fds, nr * sizeof(refused->fds[0]));
	refused->nr = 0;
	*events = refused->told;
	return nr;
}

#endif /* EXPERIMENT_REFUSED_H */
