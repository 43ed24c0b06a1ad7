// SPDX-License-Identifier: GPL-2.0
/* libdevepoll: changes that go beyond a limit. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "library/lib_update.h"

TEST_F(lib_update, full_set_is_enospc)
{
	struct pollfd changes[CAPACITY + 2];
	int i;

	for (i = 0; i < CAPACITY + 2; i++) {
		changes[i].fd = eventfd_new();
		ASSERT_LE(0, changes[i].fd);
		changes[i].events = POLLIN;
	}
	EXPECT_EQ(2, update(changes, CAPACITY + 2));
	EXPECT_EQ(CAPACITY, self->failures[0].index);
	EXPECT_EQ(-ENOSPC, self->failures[0].error);
	EXPECT_EQ(CAPACITY + 1, self->failures[1].index);
	EXPECT_EQ(-ENOSPC, self->failures[1].error);

	/* Fds that are in the set can still be changed. */
	changes[0].events = POLLOUT;
	EXPECT_EQ(0, update(changes, CAPACITY));
	EXPECT_EQ(POLLOUT, devepoll_query(self->set, changes[0].fd));

	/* A later entry frees what an earlier one may then take. */
	changes[0].fd = changes[CAPACITY].fd;
	changes[1].events = POLLREMOVE;
	EXPECT_EQ(0, update(changes, 2));
	EXPECT_EQ(POLLOUT, devepoll_query(self->set, changes[0].fd));
	EXPECT_EQ(-ENOENT, devepoll_query(self->set, changes[1].fd));
	EXPECT_EQ(-ENOSPC, devepoll_add(self->set, changes[CAPACITY + 1].fd,
					POLLIN));
	EXPECT_EQ(-ENOSPC, devepoll_add(self->set, open("/dev/null", O_RDWR),
					POLLIN));

	EXPECT_EQ(0, devepoll_alloc(self->set, 2 * CAPACITY));
	EXPECT_EQ(0, devepoll_add(self->set, changes[CAPACITY + 1].fd,
				  POLLIN));
}

TEST_F(lib_update, file_that_is_watched_too_often_is_enospc)
{
	static struct pollfd changes[4097];
	int i, event = eventfd_new();

	ASSERT_EQ(0, devepoll_alloc(self->set, 8192));
	for (i = 0; i < 4097; i++) {
		changes[i].fd = dup(event);
		ASSERT_LE(0, changes[i].fd);
		changes[i].events = POLLIN;
	}
	EXPECT_EQ(1, update(changes, 4097));
	EXPECT_EQ(4096, self->failures[0].index);
	EXPECT_EQ(-ENOSPC, self->failures[0].error);
}

#define USER_LIMIT	"/sys/module/devepoll/parameters/max_user_watches"

/* Gives the old one. */
static long set_user_limit(long limit)
{
	FILE *file = fopen(USER_LIMIT, "r+");
	long old = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &old) == 1) {
		rewind(file);
		fprintf(file, "%ld", limit);
	}
	return fclose(file) ? -1 : old;
}

TEST_F(lib_update, limit_of_the_user_is_enospc)
{
	int fd = eventfd_new(), ret;
	long old;

	ASSERT_LE(0, fd);
	old = set_user_limit(0);
	ASSERT_LT(0, old);
	ret = devepoll_add(self->set, fd, POLLIN);
	ASSERT_EQ(0, set_user_limit(old));
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(0, devepoll_add(self->set, fd, POLLIN));
}

TEST_F(lib_update, number_of_entries_is_bounded)
{
	struct pollfd change = { .fd = -1, .events = POLLREMOVE };

	EXPECT_EQ(0, update(&change, 0));
	EXPECT_EQ(0, update(NULL, 0));
	EXPECT_EQ(-EINVAL, update(&change, SIZE_MAX));
	EXPECT_EQ(-EINVAL, update(&change, 0x0ffffe01));
}

TEST_HARNESS_MAIN
