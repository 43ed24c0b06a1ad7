// SPDX-License-Identifier: GPL-2.0
/*
 * Files that can't be members, and what a refusal leaves untouched; and files
 * that can't be polled, which a set of 2001 accepts all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "core/onesig.h"

static int open_regular(const struct set *set)
{
	return memfd_create("devepoll-refused", MFD_CLOEXEC);
}

static int open_directory(const struct set *set)
{
	return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_null(const struct set *set)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int open_zero(const struct set *set)
{
	return open("/dev/zero", O_RDWR | O_CLOEXEC);
}

static int open_exe(const struct set *set)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int open_path(const struct set *set)
{
	return open("/dev/tty", O_PATH | O_CLOEXEC);
}

static int open_itself(const struct set *set)
{
	return dup(set->fd);
}

static int open_set(const struct set *set)
{
	struct set other;

	return set_open(&other, set->ops, 10) ? -1 : other.fd;
}

static int open_epoll(const struct set *set)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

FIXTURE(refused) {
	struct set set;
	int fd;
};

FIXTURE_VARIANT(refused) {
	const struct backend *ops;
	int (*open)(const struct set *set);
	int error;	/* epoll's, where it refuses too */
};

#define REFUSED(what, err)						\
	FIXTURE_VARIANT_ADD(refused, what##_by_devepoll) {		\
		.ops = &backend_devepoll,				\
		.open = open_##what,					\
		.error = -EPERM,					\
	};								\
	FIXTURE_VARIANT_ADD(refused, what##_by_sysepoll) {		\
		.ops = &backend_sysepoll,				\
		.open = open_##what,					\
		.error = err,						\
	}

REFUSED(path, -EBADF);
REFUSED(itself, -EINVAL);
REFUSED(set, 0);
REFUSED(epoll, 0);

FIXTURE_SETUP(refused)
{
	ASSERT_EQ(0, set_open(&self->set, variant->ops, 100));
	self->fd = variant->open(&self->set);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(refused)
{
	set_close(&self->set);
}

TEST_F(refused, is_not_added)
{
	EXPECT_EQ(variant->error, set_add(&self->set, self->fd, POLLIN));
	EXPECT_EQ(!variant->error, set_has(&self->set, self->fd));
	EXPECT_EQ(0, set_drain(&self->set));
	EXPECT_EQ(0, close(self->fd));
}

TEST_F(refused, does_not_keep_others_out)
{
	int before = eventfd_new();
	int after = eventfd_new();

	ASSERT_LE(0, before);
	ASSERT_LE(0, after);
	EXPECT_EQ(0, set_add(&self->set, before, POLLIN));
	EXPECT_EQ(variant->error, set_add(&self->set, self->fd, POLLIN));
	EXPECT_EQ(0, set_add(&self->set, after, POLLIN));
	ASSERT_EQ(0, eventfd_post(before));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, before, 0));
	ASSERT_EQ(0, eventfd_post(after));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, after, 0));
}

DEVEPOLL_FIXTURE(batch, 100)

TEST_F(batch, applies_all_entries_but_those_refused)
{
	int (*const opens[])(const struct set *set) = {
		open_path, open_itself, open_set, open_epoll,
	};
	enum { BAD = ARRAY_SIZE(opens) };
	struct pollfd pfds[2 * BAD + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pfds); i++) {
		pfds[i].events = POLLIN;
		pfds[i].revents = -1;
		pfds[i].fd = i & 1 ? opens[i / 2](&self->set) : eventfd_new();
		ASSERT_LE(0, pfds[i].fd);
	}
	EXPECT_EQ(8 * (BAD + 1),
		  dep_write(self->set.fd, pfds, ARRAY_SIZE(pfds)));
	for (i = 0; i < ARRAY_SIZE(pfds); i++)
		EXPECT_EQ(!(i & 1), set_has(&self->set, pfds[i].fd))
			TH_LOG("entry %zu", i);
	for (i = 0; i < ARRAY_SIZE(pfds); i += 2) {
		ASSERT_EQ(0, eventfd_post(pfds[i].fd));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, pfds[i].fd, 0));
	}
}

/* A watched file lives on, but its number names one that is refused. */
TEST_F(batch, of_a_number_that_is_refused_now_takes_the_old_file_out)
{
	int number = eventfd_new();
	int kept = dup(number);
	int epoll = open_epoll(&self->set);

	ASSERT_LE(0, kept);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, set_add(&self->set, number, POLLIN));
	ASSERT_EQ(0, eventfd_post(kept));
	ASSERT_EQ(number, dup2(epoll, number));
	EXPECT_EQ(0, dep_write_one(self->set.fd, number, POLLIN));
	EXPECT_EQ(0, set_has(&self->set, number));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(batch, of_refused_entries_alone_gives_0)
{
	struct pollfd pfds[2];

	ASSERT_LE(0, pfds[0].fd = open_set(&self->set));
	ASSERT_LE(0, pfds[1].fd = open_epoll(&self->set));
	pfds[0].events = POLLIN;
	pfds[1].events = POLLIN;
	EXPECT_EQ(0, dep_write(self->set.fd, pfds, 2));
	/* Removing what could not be added is no failure. */
	pfds[0].events = POLLREMOVE;
	pfds[1].events = POLLREMOVE;
	EXPECT_EQ(16, dep_write(self->set.fd, pfds, 2));
}

/* In-tree epoll may watch the device, but no circle can be made of it. */
TEST_F(batch, makes_no_circle_through_epoll)
{
	struct epoll_event event = { .events = EPOLLIN };
	int outer = epoll_create1(EPOLL_CLOEXEC);
	int member = eventfd_new();

	ASSERT_LE(0, outer);
	ASSERT_LE(0, member);
	ASSERT_EQ(0, epoll_ctl(outer, EPOLL_CTL_ADD, self->set.fd, &event));
	EXPECT_EQ(-EPERM, set_add(&self->set, outer, POLLIN));
	ASSERT_EQ(0, set_add(&self->set, member, POLLIN));
	EXPECT_EQ(0, epoll_wait(outer, &event, 1, 0));
	ASSERT_EQ(0, eventfd_post(member));
	EXPECT_EQ(1, epoll_wait(outer, &event, 1, 10000));
	EXPECT_EQ(EPOLLIN, event.events);
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, member, 0));
	EXPECT_EQ(0, epoll_wait(outer, &event, 1, 0));
	ASSERT_EQ(0, epoll_ctl(outer, EPOLL_CTL_DEL, self->set.fd, &event));
	EXPECT_EQ(-EPERM, set_add(&self->set, outer, POLLIN));
	EXPECT_EQ(0, close(outer));
}

TEST_F(batch, makes_no_circle_of_two_sets)
{
	struct set other;

	ASSERT_EQ(0, set_open(&other, self->set.ops, 10));
	EXPECT_EQ(-EPERM, set_add(&self->set, other.fd, POLLIN));
	EXPECT_EQ(-EPERM, set_add(&other, self->set.fd, POLLIN));
	set_close(&other);
}

/* As a client of 2001 writes: it goes on until all entries are taken. */
TEST_F(batch, of_files_that_cannot_be_polled_counts_in_full)
{
	int (*const opens[])(const struct set *set) = {
		open_regular, open_null, open_directory, open_zero,
	};
	struct pollfd pfds[2 * ARRAY_SIZE(opens)], *base = pfds;
	int left = sizeof(pfds), rounds = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pfds); i++) {
		pfds[i].events = POLLIN;
		pfds[i].revents = -1;
		pfds[i].fd = i & 1 ? opens[i / 2](&self->set) : eventfd_new();
		ASSERT_LE(0, pfds[i].fd);
	}
	while (left > 0 && rounds++ < 10) {
		int ret = dep_write(self->set.fd, base, left / 8);

		ASSERT_LE(0, ret);
		base += ret / 8;
		left -= ret;
	}
	EXPECT_EQ(1, rounds);
	EXPECT_EQ(ARRAY_SIZE(opens), set_drain(&self->set));
	for (i = 0; i < ARRAY_SIZE(pfds); i += 2) {
		ASSERT_EQ(0, eventfd_post(pfds[i].fd));
		EXPECT_EQ(POLLIN, set_wait_one(&self->set, pfds[i].fd, 0));
	}
}

FIXTURE(unpolled) {
	struct set set;
	struct set epoll;
	int fd;
};

FIXTURE_VARIANT(unpolled) {
	int (*open)(const struct set *set);
};

#define UNPOLLED(what)							\
	FIXTURE_VARIANT_ADD(unpolled, what) { .open = open_##what }

UNPOLLED(regular);
UNPOLLED(exe);
UNPOLLED(directory);
UNPOLLED(null);
UNPOLLED(zero);

FIXTURE_SETUP(unpolled)
{
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, 100));
	ASSERT_EQ(0, set_open(&self->epoll, &backend_sysepoll, 100));
	self->fd = variant->open(&self->set);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(unpolled)
{
	set_close(&self->set);
	set_close(&self->epoll);
}

TEST_F(unpolled, is_taken_and_reported_once)
{
	const short all = POLLIN | POLLOUT | POLLPRI | POLLHUP;
	struct pollfd pfd = { .fd = self->fd, .events = all };

	EXPECT_EQ(-EPERM, set_add(&self->epoll, self->fd, POLLIN));
	ASSERT_EQ(1, poll(&pfd, 1, 0));
	ASSERT_EQ(8, dep_write_one(self->set.fd, self->fd, all));
	EXPECT_EQ(1, set_has(&self->set, self->fd));
	EXPECT_EQ(pfd.revents, set_wait_one(&self->set, self->fd, 0));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, self->fd, 0));
	EXPECT_EQ(8, dep_write_one(self->set.fd, self->fd, POLLREMOVE));
	EXPECT_EQ(0, set_has(&self->set, self->fd));

	/* Added again, it is new. */
	ASSERT_EQ(8, dep_write_one(self->set.fd, self->fd, POLLOUT));
	EXPECT_EQ(POLLOUT, set_wait_one(&self->set, self->fd, 0));
}

TEST_F(unpolled, says_nothing_that_was_not_asked_for)
{
	ASSERT_EQ(8, dep_write_one(self->set.fd, self->fd, POLLPRI));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, self->fd, 0));
	/* A change makes no event, and counts. */
	EXPECT_EQ(8, dep_write_one(self->set.fd, self->fd, POLLIN));
	EXPECT_EQ(-ENOMSG, set_wait_one(&self->set, self->fd, 0));
}

TEST_F(unpolled, leaves_the_set_when_it_is_closed)
{
	ASSERT_EQ(8, dep_write_one(self->set.fd, self->fd, POLLIN));
	EXPECT_EQ(0, close(self->fd));
	EXPECT_EQ(0, set_has(&self->set, self->fd));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(unpolled, is_told_by_a_signal_once)
{
	int set = onesig_open(ONESIG_SIGNAL, 0);

	ASSERT_LE(0, set);
	ASSERT_EQ(8, dep_write_one(set, self->fd, POLLIN | POLLOUT));
	EXPECT_EQ(POLLIN | POLLOUT, onesig_band(ONESIG_SIGNAL, self->fd));
	EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
	EXPECT_EQ(0, close(set));
}

TEST_HARNESS_MAIN
