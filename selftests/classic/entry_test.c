// SPDX-License-Identifier: GPL-2.0
/*
 * Entries that are written to a set of 2001, many at a time, and what is asked
 * of one.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM 2048

FIXTURE(entry) {
	struct set set;
	int event;
};

FIXTURE_SETUP(entry)
{
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, ROOM));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(entry)
{
	set_close(&self->set);
}

static ssize_t write_bytes(int fd, const void *buffer, size_t count)
{
	/* The C library's write() assumes that NULL makes no sense. */
	ssize_t ret = syscall(SYS_write, fd, buffer, count);

	return ret < 0 ? -errno : ret;
}

TEST_F(entry, count_must_be_a_multiple_of_its_size)
{
	struct pollfd pfds[3] = {
		[0 ... 2] = { .fd = self->event, .events = POLLIN },
	};
	size_t count;

	for (count = 0; count <= sizeof(pfds); count++) {
		EXPECT_EQ(count % 8 ? -EINVAL : (ssize_t)count,
			  write_bytes(self->set.fd, pfds, count));
		EXPECT_EQ(count >= 8, set_has(&self->set, self->event));
	}
}

TEST_F(entry, count_of_none_writes_nothing)
{
	EXPECT_EQ(0, write_bytes(self->set.fd, NULL, 0));
	EXPECT_EQ(0, write_bytes(self->set.fd, &self->event, 0));
}

TEST_F(entry, in_memory_that_can_not_be_read_is_a_fault)
{
	const long page = getpagesize();
	char *pages;

	pages = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	ASSERT_TRUE(pages != MAP_FAILED);
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, NULL, 8));
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, pages, 8));
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, pages, page));
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, (void *)-8L, 8));
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, (void *)-4096L, 8));
	ASSERT_EQ(0, munmap(pages, page));
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, pages, 8));
	/* The count is checked first. */
	EXPECT_EQ(-EINVAL, write_bytes(self->set.fd, pages, 7));
}

TEST_F(entry, before_unreadable_memory_is_not_applied_either)
{
	const long page = getpagesize();
	struct pollfd *entries;
	char *pages;
	int i;

	pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pages != MAP_FAILED);
	ASSERT_EQ(0, munmap(pages + 2 * page, page));
	for (i = 0; i < 2 * page / 8; i++)
		((struct pollfd *)pages)[i] = (struct pollfd) {
			.fd = self->event, .events = POLLIN,
		};
	/* An entry that straddles the end, and whole ones on both sides. */
	entries = (void *)(pages + 2 * page - 20);
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, entries, 24));
	EXPECT_EQ(0, set_has(&self->set, self->event));
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, pages, 2 * page + 8));
	EXPECT_EQ(0, set_has(&self->set, self->event));
	/* Up to the end it is valid. */
	EXPECT_EQ(2 * page, write_bytes(self->set.fd, pages, 2 * page));
	EXPECT_EQ(1, set_has(&self->set, self->event));
}

TEST_F(entry, in_a_hole_is_not_read_past)
{
	const long page = getpagesize();
	char *pages;
	int i;

	pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pages != MAP_FAILED);
	for (i = 0; i < 3 * page / 8; i++)
		((struct pollfd *)pages)[i] = (struct pollfd) {
			.fd = self->event, .events = POLLIN,
		};
	ASSERT_EQ(0, mprotect(pages + page, page, PROT_NONE));
	EXPECT_EQ(-EFAULT, write_bytes(self->set.fd, pages, 3 * page));
	EXPECT_EQ(0, set_has(&self->set, self->event));
}

TEST_F(entry, may_lie_in_read_only_or_unaligned_memory)
{
	const long page = getpagesize();
	struct pollfd pfd = { .fd = self->event, .events = POLLIN };
	char *pages;

	pages = mmap(NULL, page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pages != MAP_FAILED);
	memcpy(pages + 3, &pfd, sizeof(pfd));
	ASSERT_EQ(0, mprotect(pages, page, PROT_READ));
	EXPECT_EQ(8, write_bytes(self->set.fd, pages + 3, 8));
	EXPECT_EQ(1, set_has(&self->set, self->event));
}

TEST_F(entry, is_one_of_a_thousand_in_a_call)
{
	enum { N = 1500 };
	static struct pollfd pfds[N];
	static struct pollfd out[ROOM];
	int i;

	ASSERT_EQ(0, raise_fd_limit(4096));
	for (i = 0; i < N; i++) {
		pfds[i].fd = dup(self->event);
		pfds[i].events = POLLIN;
		ASSERT_LE(0, pfds[i].fd);
	}
	EXPECT_EQ(8 * N, dep_write(self->set.fd, pfds, N));
	for (i = 0; i < N; i++)
		ASSERT_EQ(1, set_has(&self->set, pfds[i].fd));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(N, set_wait(&self->set, out, ROOM, 0));
	for (i = 0; i < N; i++)
		pfds[i].events = POLLREMOVE;
	EXPECT_EQ(8 * N, dep_write(self->set.fd, pfds, N));
	for (i = 0; i < N; i++)
		ASSERT_EQ(0, set_has(&self->set, pfds[i].fd));
}

TEST_F(entry, twice_in_a_batch_works_in_order)
{
	int fd = self->event;
	struct pollfd changed[] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = fd, .events = POLLIN },
	};
	struct pollfd gone[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = fd, .events = POLLREMOVE },
	};
	struct pollfd back[] = {
		{ .fd = fd, .events = POLLREMOVE },
		{ .fd = fd, .events = POLLIN },
	};
	struct pollfd pfd = { .fd = fd, .revents = -1 };

	EXPECT_EQ(16, dep_write(self->set.fd, changed, 2));
	EXPECT_EQ(1, dep_ispolled(self->set.fd, &pfd));
	EXPECT_EQ(POLLIN, pfd.events);
	EXPECT_EQ(16, dep_write(self->set.fd, gone, 2));
	EXPECT_EQ(0, set_has(&self->set, fd));
	EXPECT_EQ(0, set_drain(&self->set));
	EXPECT_EQ(16, dep_write(self->set.fd, back, 2));
	EXPECT_EQ(1, set_has(&self->set, fd));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, fd, 0));
}

TEST_F(entry, of_a_number_that_is_not_open_counts_as_removal)
{
	static const int numbers[] = { -1, -2, INT_MIN, INT_MAX, 1 << 20 };
	struct pollfd pfds[5], pfd;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		EXPECT_EQ(8, dep_write_one(self->set.fd, numbers[i], POLLIN));
		EXPECT_EQ(8, dep_write_one(self->set.fd, numbers[i], 0));
		EXPECT_EQ(8, dep_write_one(self->set.fd, numbers[i],
					   POLLREMOVE));
		pfd = (struct pollfd) { .fd = numbers[i] };
		EXPECT_EQ(0, dep_ispolled(self->set.fd, &pfd));
		pfds[i] = (struct pollfd) { .fd = numbers[i],
					    .events = POLLIN };
	}
	EXPECT_EQ(40, dep_write(self->set.fd, pfds, 5));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(entry, of_a_closed_number_takes_its_item_out)
{
	int kept = dup(self->event);
	int number = self->event;

	ASSERT_LE(0, kept);
	ASSERT_EQ(8, dep_write_one(self->set.fd, number, POLLIN));
	ASSERT_EQ(0, eventfd_post(number));
	ASSERT_EQ(0, close(number));
	EXPECT_EQ(8, dep_write_one(self->set.fd, number, POLLIN));
	EXPECT_EQ(0, set_has(&self->set, number));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(entry, with_pollremove_removes_whatever_else_it_asks)
{
	ASSERT_EQ(8, dep_write_one(self->set.fd, self->event, POLLIN));
	EXPECT_EQ(8, dep_write_one(self->set.fd, self->event,
				   POLLREMOVE | POLLIN | POLLOUT));
	EXPECT_EQ(0, set_has(&self->set, self->event));
	EXPECT_EQ(8, dep_write_one(self->set.fd, self->event, -1));
	EXPECT_EQ(0, set_has(&self->set, self->event));
}

TEST_F(entry, with_no_events_is_in_the_set_and_silent)
{
	struct pollfd pfd = { .fd = self->event, .events = -1, .revents = -1 };

	ASSERT_EQ(8, dep_write_one(self->set.fd, self->event, 0));
	EXPECT_EQ(1, dep_ispolled(self->set.fd, &pfd));
	EXPECT_EQ(0, pfd.events);
	EXPECT_EQ(0, pfd.revents);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(entry, of_the_set_is_shown_by_ispolled)
{
	struct pollfd pfd = { .fd = self->event, .events = -1, .revents = -1 };

	EXPECT_EQ(0, dep_ispolled(self->set.fd, &pfd));
	ASSERT_EQ(8, dep_write_one(self->set.fd, self->event,
				   POLLIN | POLLPRI | POLLHUP));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, dep_ispolled(self->set.fd, &pfd));
	EXPECT_EQ(self->event, pfd.fd);
	EXPECT_EQ(POLLIN | POLLPRI | POLLHUP, pfd.events);
	EXPECT_EQ(0, pfd.revents);
	/* The query consumed nothing. */
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
}

TEST_F(entry, can_be_asked_for_before_the_mapping_and_the_room)
{
	struct pollfd pfd = { .fd = self->event, .events = -1, .revents = -1 };
	int fd = dep_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, dep_ispolled(fd, &pfd));
	ASSERT_EQ(0, dep_alloc(fd, 10));
	ASSERT_EQ(8, dep_write_one(fd, self->event, POLLOUT));
	EXPECT_EQ(1, dep_ispolled(fd, &pfd));
	EXPECT_EQ(POLLOUT, pfd.events);
	EXPECT_EQ(0, close(fd));
}

TEST_F(entry, asked_for_in_bad_memory_is_a_fault)
{
	const long page = getpagesize();
	struct pollfd *pfd;

	ASSERT_EQ(8, dep_write_one(self->set.fd, self->event, POLLIN));
	pfd = mmap(NULL, page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pfd != MAP_FAILED);
	pfd->fd = self->event;
	EXPECT_EQ(-EFAULT, dep_ispolled(self->set.fd, NULL));
	EXPECT_EQ(-EFAULT, dep_ispolled(self->set.fd, (void *)-4096L));
	ASSERT_EQ(0, mprotect(pfd, page, PROT_READ));
	EXPECT_EQ(-EFAULT, dep_ispolled(self->set.fd, pfd));
	ASSERT_EQ(0, munmap(pfd, page));
	EXPECT_EQ(-EFAULT, dep_ispolled(self->set.fd, pfd));
	EXPECT_EQ(1, set_has(&self->set, self->event));
}

TEST_HARNESS_MAIN
