/* SPDX-License-Identifier: GPL-2.0 */
/* A set of the library, and changes of it that may fail. */
#ifndef SELFTESTS_LIB_UPDATE_H
#define SELFTESTS_LIB_UPDATE_H

#include <stdint.h>
#include <sys/epoll.h>

#include "core/helpers.h"
#include "library/lib_helpers.h"

/* One page of results, so that the room is the same in either count. */
#define CAPACITY	512
#define FAILURES	16

FIXTURE(lib_update)
{
	struct devepoll *set;
	struct devepoll_cursor cursor;
	struct devepoll_failure failures[FAILURES];
};

FIXTURE_SETUP(lib_update)
{
	int i;

	ASSERT_EQ(0, raise_fd_limit(8192));
	ASSERT_EQ(0, devepoll_open(&self->set, NULL, CAPACITY, 0));
	for (i = 0; i < FAILURES; i++)
		self->failures[i] = (struct devepoll_failure){
			.index = SIZE_MAX, .error = 1,
		};
}

FIXTURE_TEARDOWN(lib_update)
{
	EXPECT_EQ(0, devepoll_close(self->set));
	EXPECT_FALSE(leaks_memory());
}

#define update(changes, nr)						\
	devepoll_update(self->set, changes, nr, self->failures, FAILURES)

#endif /* SELFTESTS_LIB_UPDATE_H */
