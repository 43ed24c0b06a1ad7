/* SPDX-License-Identifier: GPL-2.0 */
/* A set and two sockets, of which one is in the set. */
#ifndef SELFTESTS_CLOSING_H
#define SELFTESTS_CLOSING_H

#include <sys/socket.h>

#include "core/eset.h"
#include "core/helpers.h"

/* How many fds are in a set of the device, or -errno. */
static inline long set_items(const struct set *set)
{
	struct devepoll_stats stats;
	int ret = dep_request(set->fd, DEVEPOLL_STATS, &stats);

	return ret ?: (long)stats.items;
}

FIXTURE(closing) {
	struct set set;
	int fds[2];	/* the first is in the set */
};

BACKEND_VARIANTS(closing);

FIXTURE_SETUP(closing)
{
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 600));
	ASSERT_EQ(0, unix_pair(self->fds, SOCK_STREAM));
	ASSERT_EQ(0, set_add(&self->set, self->fds[0], POLLIN));
}

FIXTURE_TEARDOWN(closing)
{
	set_close(&self->set);
}

#endif /* SELFTESTS_CLOSING_H */
