// SPDX-License-Identifier: GPL-2.0
/*
 * One signal per fd: what a user may take of signals and of signal sets, and
 * that it comes back.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/limits.h"
#include "core/onesig.h"

#define SIGNALS_FILE	"/sys/module/devepoll/parameters/max_signals"
/* As many as the module lets in, and the first of them. */
#define USERS		256
#define FIRST_USER	20000

TEST(all_signal_sets_have_so_many_fds_together)
{
	long most = read_number(SIGNALS_FILE);
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN,
	};
	int set, before, fds[2];

	if (geteuid())
		SKIP(return, "not root");
	ASSERT_LT(0, most);
	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	change.fd = eventfd_new();
	ASSERT_EQ(0, write_number(SIGNALS_FILE, 1));
	before = dep_change(set, &change);
	EXPECT_EQ(0, write_number(SIGNALS_FILE, most));
	EXPECT_EQ(-ENOSPC, before);
	/* Nothing of it has stayed; the other file is reported as always. */
	EXPECT_EQ(0, dep_change(set, &change));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fds[0]));
}

/* What an fd takes goes back after a grace period of RCU. */
TEST(adding_what_is_there_takes_nothing_from_others)
{
	struct devepoll_change there = {
		.op = DEVEPOLL_ADD, .events = EPOLLIN,
	}, other = there;
	long most = read_number(SIGNALS_FILE);
	int set, fds[2], err, i, refused = 0;

	if (geteuid())
		SKIP(return, "not root");
	ASSERT_LT(0, most);
	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	there.fd = fds[0];
	other.fd = eventfd_new();
	/* Fds of earlier tests may not have gone back yet. */
	ASSERT_EQ(0, write_number(SIGNALS_FILE, 100));
	for (i = 0; i < 1000; i++)
		refused += dep_change(set, &there) == -EEXIST;
	err = dep_change(set, &other);
	EXPECT_EQ(0, write_number(SIGNALS_FILE, most));
	EXPECT_EQ(1000, refused);
	EXPECT_EQ(0, err);
}

/*
 * Opens a set as @uid, without root's rights, and makes it a signal set; the fd
 * or -errno.
 */
static int open_as(uid_t uid)
{
	int fd;

	if (setresuid(uid, uid, 0))
		return -errno;
	fd = onesig_open(ONESIG_SIGNAL, 0);
	if (setresuid(0, 0, 0))
		return -errno;
	return fd;
}

/* One of a signal set counts as so many watches. */
#define SIGNAL_WATCHES	4

TEST(watches_of_a_user_are_bounded_and_come_back)
{
	int i, set, event = eventfd_new(), added[3] = {};
	long most = read_number(WATCHES_FILE);

	if (geteuid())
		SKIP(return, "not root");
	ASSERT_LT(0, most);
	ASSERT_EQ(0, raise_fd_limit(2000));
	ASSERT_EQ(0, dup_range(event, 1000, 500));
	ASSERT_EQ(0, write_number(WATCHES_FILE, 100));
	for (i = 0; i < 3; i++) {
		set = open_as(FIRST_USER);
		added[i] = add_range(set, 1000, 500);
		close(set);
	}
	ASSERT_EQ(0, write_number(WATCHES_FILE, most));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(100 / SIGNAL_WATCHES, added[i]);
}

TEST(so_many_users_have_signal_sets)
{
	int sets[USERS], again, i;

	if (geteuid())
		SKIP(return, "not root");
	for (i = 0; i < USERS; i++) {
		sets[i] = open_as(FIRST_USER + i);
		ASSERT_LE(0, sets[i]) {
			TH_LOG("user %d", i);
		}
	}
	EXPECT_EQ(-ENOSPC, open_as(FIRST_USER + USERS));
	/* Root is never refused. */
	again = onesig_open(ONESIG_SIGNAL, 0);
	EXPECT_LE(0, again);
	close(again);
	/* A user who has a signal set may have another one. */
	again = open_as(FIRST_USER);
	EXPECT_LE(0, again);
	close(again);
	/* And so may a new user when one of them has gone. */
	close(sets[1]);
	again = open_as(FIRST_USER + USERS);
	EXPECT_LE(0, again);
	close(again);
	for (i = 0; i < USERS; i++)
		close(sets[i]);
}

TEST_HARNESS_MAIN
