/* SPDX-License-Identifier: GPL-2.0 */
/* A set of the extended interface, by the library. */
#ifndef SELFTESTS_LIB_EVENTS_H
#define SELFTESTS_LIB_EVENTS_H

#include <string.h>
#include <unistd.h>

#include "devepoll_epoll.h"
#include "devepoll_events.h"
#include "core/fadvise_param.h"
#include "library/lib_helpers.h"

FIXTURE(events)
{
	int set;
	struct devepoll_event out[64];
};

FIXTURE_SETUP(events)
{
	memset(self->out, 0x5a, sizeof(self->out));
	self->set = devepoll_events_open(0);
	ASSERT_LE(0, self->set);
}

FIXTURE_TEARDOWN(events)
{
	EXPECT_EQ(0, close(self->set));
}

static inline struct devepoll_change change_of(int op, int fd, uint32_t events)
{
	return (struct devepoll_change){
		.op = op, .fd = fd, .events = events, .data = 0x100000000 + fd,
		.result = 0x5a5a5a5a,
	};
}

/* An eventfd in the set, posted or not; or -errno. */
static inline int add_eventfd(int set, uint32_t mode, bool post)
{
	struct devepoll_change change;
	int fd = eventfd_new();
	int ret;

	change = change_of(DEVEPOLL_ADD, fd, EPOLLIN | mode);
	ret = devepoll_events_update(set, &change, 1, NULL);
	if (ret != 1 || change.result)
		return ret < 0 ? ret : change.result;
	ret = post ? eventfd_post(fd) : 0;
	return ret ? ret : fd;
}

#endif /* SELFTESTS_LIB_EVENTS_H */
