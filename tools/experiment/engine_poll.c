// SPDX-License-Identifier: GPL-2.0
/*
 * The engine on poll(2).
 */
#include <errno.h>
#include <stdlib.h>

#include "engine.h"
#include "watched.h"

struct engine_set {
	struct watched watched;
};

static struct engine_set *open_set(int maxfds, char why[ENGINE_WHY])
{
	struct engine_set *set = malloc(sizeof(*set));

	if (set && watched_init(&set->watched, maxfds))
		return set;
	engine_why(why, ENOMEM, "arrays");
	free(set);
	return NULL;
}

static void close_set(struct engine_set *set)
{
	watched_free(&set->watched);
	free(set);
}

static int add(struct engine_set *set, int fd, short events)
{
	return watched_add(&set->watched, fd, events);
}

static int change(struct engine_set *set, int fd, short events)
{
	return watched_change(&set->watched, fd, events);
}

static int remove_fd(struct engine_set *set, int fd)
{
	return watched_remove(&set->watched, fd);
}

static int wait_events(struct engine_set *set, const struct pollfd **events,
		       int timeout)
{
	*events = set->watched.ready;
	return watched_poll(&set->watched, timeout);
}

const struct engine engine_poll = {
	.name = "poll",
	.what = "poll(2)",
	.level = true,
	ENGINE_OPERATIONS,
};
