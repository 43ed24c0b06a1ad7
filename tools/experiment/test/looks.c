// SPDX-License-Identifier: GPL-2.0
/* What a set of an engine tells of pairs of sockets, one wait after another. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "looks.h"

const struct engine *engine;
struct engine_set *set;
unsigned char told[MAXFDS];

struct pair make_pair(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		       fds))
		err(1, "socketpair");
	return (struct pair){ .ours = fds[0], .theirs = fds[1] };
}

void drop_pair(struct pair pair)
{
	close(pair.ours);
	close(pair.theirs);
}

void say(int fd)
{
	if (write(fd, "x", 1) != 1)
		err(1, "write");
}

static void note(const struct pollfd *events, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (events[i].fd >= 0 && events[i].fd < MAXFDS)
			told[events[i].fd] |= events[i].revents;
}

int look(int timeout)
{
	const struct pollfd *events = (void *)1;
	int nr;

	nr = engine->wait(set, &events, timeout);
	if (nr > 0)
		note(events, nr);
	return nr;
}

bool comes(int fd, short events)
{
	int i;

	told[fd] = 0;
	for (i = 0; i < 10; i++)
		if (look(PATIENCE_MS / 10) >= 0 && told[fd] & events)
			return true;
	return false;
}

bool silent(int fd)
{
	int i;

	told[fd] = 0;
	for (i = 0; i < 5; i++)
		look(2);
	return !told[fd];
}

void empty(int fd)
{
	char buf[64];

	while (read(fd, buf, sizeof(buf)) > 0)
		;
}
