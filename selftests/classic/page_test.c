// SPDX-License-Identifier: GPL-2.0
/*
 * The two page sets: which one holds the result, how long it stays, and that a
 * program can only read them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define ROOM	4000			/* eight pages a set */
#define SIZE	EP_MAP_SIZE(ROOM)
#define HALF	(SIZE / 2)

FIXTURE(page) {
	struct set set;
	int event;
};

/* A set that watches one eventfd. */
static int open_watched(struct set *set, int *event)
{
	int err = set_open(set, &backend_devepoll, ROOM);

	if (err)
		return err;
	*event = eventfd_new();
	return *event < 0 ? *event : set_add(set, *event, POLLIN);
}

FIXTURE_SETUP(page)
{
	ASSERT_EQ(0, open_watched(&self->set, &self->event));
}

FIXTURE_TEARDOWN(page)
{
	set_close(&self->set);
}

/* Posts one event and takes it; the offset at which it stands, or -1. */
static long take_one(struct set *set, int event)
{
	if (eventfd_post(event) || set_wait_one(set, event, 0) != POLLIN)
		return -1;
	return set->resoff;
}

TEST_F(page, sets_take_turns)
{
	int i;

	for (i = 0; i < 9; i++)
		EXPECT_EQ(i & 1 ? HALF : 0, take_one(&self->set, self->event));
}

TEST_F(page, sets_take_no_turn_without_an_event)
{
	static const int times[] = { 0, 0, 1, 0, 0, 2, 0 };
	struct evpoll evp;
	size_t i;

	EXPECT_EQ(0, take_one(&self->set, self->event));
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		evp = (struct evpoll) {
			.ep_timeout = times[i], .ep_resoff = -1UL,
		};
		EXPECT_EQ(0, dep_poll(self->set.fd, &evp));
		EXPECT_EQ(-1UL, evp.ep_resoff);
		EXPECT_EQ(times[i], evp.ep_timeout);
	}
	EXPECT_EQ(HALF, take_one(&self->set, self->event));
}

TEST_F(page, sets_are_empty_at_first)
{
	size_t i;

	for (i = 0; i < SIZE; i++)
		ASSERT_EQ(0, self->set.map[i]);
}

TEST_F(page, set_stays_untouched_until_the_next_events_are_taken)
{
	char copy[HALF];
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	int i, other = eventfd_new();

	ASSERT_LE(0, other);
	ASSERT_EQ(0, set_add(&self->set, other, POLLIN));
	ASSERT_EQ(0, take_one(&self->set, self->event));
	memcpy(copy, self->set.map, HALF);

	/* A wait that finds nothing, events, changes, removals, closes. */
	EXPECT_EQ(0, dep_poll(self->set.fd, &evp));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, eventfd_post(other));
	}
	ASSERT_EQ(0, set_change(&self->set, self->event, POLLOUT));
	ASSERT_EQ(0, set_remove(&self->set, self->event));
	EXPECT_EQ(0, memcmp(copy, self->set.map, HALF));
	ASSERT_EQ(0, close(self->event));
	EXPECT_EQ(0, memcmp(copy, self->set.map, HALF));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(0, memcmp(copy, self->set.map, HALF));

	ASSERT_EQ(1, dep_poll(self->set.fd, &evp));
	EXPECT_EQ(HALF, evp.ep_resoff);
	EXPECT_EQ(0, memcmp(copy, self->set.map, HALF));
}

/* Maps the set again as a client would, which must be accepted. */
static char *remap(struct set *set, int prot, int flags)
{
	munmap(set->map, set->map_size);
	set->map = mmap(NULL, set->map_size, prot, flags, set->fd, 0);
	return set->map;
}

FIXTURE(mapping) {
	struct set set;
	int event;
};

FIXTURE_VARIANT(mapping) {
	int prot;
	int flags;
};

FIXTURE_VARIANT_ADD(mapping, read_private) {
	.prot = PROT_READ, .flags = MAP_PRIVATE,
};

FIXTURE_VARIANT_ADD(mapping, read_shared) {
	.prot = PROT_READ, .flags = MAP_SHARED,
};

FIXTURE_VARIANT_ADD(mapping, read_write_private) {
	.prot = PROT_READ | PROT_WRITE, .flags = MAP_PRIVATE,
};

FIXTURE_VARIANT_ADD(mapping, read_write_shared) {
	.prot = PROT_READ | PROT_WRITE, .flags = MAP_SHARED,
};

FIXTURE_SETUP(mapping)
{
	ASSERT_EQ(0, open_watched(&self->set, &self->event));
	ASSERT_TRUE(remap(&self->set, variant->prot, variant->flags) !=
		    MAP_FAILED);
}

FIXTURE_TEARDOWN(mapping)
{
	set_close(&self->set);
}

TEST_F(mapping, shows_every_event)
{
	int i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(i & 1 ? HALF : 0, take_one(&self->set, self->event));
}

TEST_F_SIGNAL(mapping, takes_no_store, SIGSEGV)
{
	ASSERT_EQ(0, take_one(&self->set, self->event));
	*(volatile char *)self->set.map = 1;
}

TEST_F_SIGNAL(mapping, takes_no_store_before_it_was_read, SIGSEGV)
{
	((volatile char *)self->set.map)[SIZE - 1] = 1;
}

TEST_F(mapping, can_not_be_made_writable)
{
	errno = 0;
	EXPECT_EQ(-1, mprotect(self->set.map, SIZE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	errno = 0;
	EXPECT_EQ(-1, mprotect(self->set.map, getpagesize(), PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, mprotect(self->set.map, SIZE, PROT_READ));
	EXPECT_EQ(0, take_one(&self->set, self->event));
}

TEST_F(mapping, can_not_be_made_executable)
{
	errno = 0;
	EXPECT_EQ(-1, mprotect(self->set.map, SIZE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, take_one(&self->set, self->event));
}

TEST_F(mapping, takes_no_store_by_the_kernel_for_the_program)
{
	char copy[SIZE], poison[64];
	struct iovec local = { .iov_base = poison, .iov_len = 64 };
	struct iovec remote = { .iov_base = self->set.map, .iov_len = 64 };
	int fds[2], mem;

	memset(poison, 0x5a, sizeof(poison));
	ASSERT_EQ(0, take_one(&self->set, self->event));
	memcpy(copy, self->set.map, SIZE);

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(64, write(fds[1], poison, 64));
	errno = 0;
	EXPECT_EQ(-1, read(fds[0], self->set.map, 64));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, process_vm_writev(getpid(), &local, 1, &remote, 1, 0));

	/* This can store into read-only memory of a tracee otherwise. */
	mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, mem);
	EXPECT_EQ(-1, pwrite(mem, poison, 64, (uintptr_t)self->set.map));
	EXPECT_EQ(0, close(mem));

	EXPECT_EQ(0, memcmp(copy, self->set.map, SIZE));
	/* And it still shows new events. */
	EXPECT_EQ(HALF, take_one(&self->set, self->event));
	EXPECT_EQ(0, take_one(&self->set, self->event));
	EXPECT_EQ(HALF, take_one(&self->set, self->event));
}

TEST_F(mapping, survives_advice)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_FREE, MADV_SEQUENTIAL, MADV_WILLNEED,
		MADV_MERGEABLE, MADV_HUGEPAGE, MADV_PAGEOUT, MADV_REMOVE,
		MADV_POPULATE_WRITE, MADV_POPULATE_READ,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(advice); i++) {
		madvise(self->set.map, SIZE, advice[i]);
		EXPECT_LE(0, take_one(&self->set, self->event))
			TH_LOG("advice %d", advice[i]);
	}
}

TEST_F(mapping, is_shared_by_fork)
{
	struct pollfd *slot = (struct pollfd *)(self->set.map + HALF);
	pid_t pid;

	ASSERT_EQ(0, take_one(&self->set, self->event));
	pid = fork();
	if (!pid)
		_exit(take_one(&self->set, self->event) == HALF ? 0 : 1);
	ASSERT_EQ(0, reap(pid));
	/* The child took the second set: it is seen here. */
	EXPECT_EQ(self->event, slot->fd);
	EXPECT_EQ(POLLIN, slot->revents);
	EXPECT_EQ(0, take_one(&self->set, self->event));
}

TEST_F(page, set_is_mapped_until_every_process_has_unmapped_it)
{
	struct evpoll evp = { .ep_timeout = 0 };
	int fds[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(fds));
	pid = fork();
	if (!pid) {
		close(fds[1]);
		_exit(take_byte(fds[0]) ? 1 : 0);
	}
	ASSERT_EQ(0, munmap(self->set.map, SIZE));
	self->set.map = NULL;
	EXPECT_EQ(-EBUSY, dep_free(self->set.fd));
	EXPECT_EQ(-EBUSY, dep_alloc(self->set.fd, 2 * ROOM));
	EXPECT_EQ(0, dep_poll(self->set.fd, &evp));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, reap(pid));
	EXPECT_EQ(-EINVAL, dep_poll(self->set.fd, &evp));
	EXPECT_EQ(0, dep_free(self->set.fd));
}

TEST_F(page, set_counts_as_mapped_while_a_part_is)
{
	struct evpoll evp = { .ep_timeout = 0 };
	const long page = getpagesize();

	ASSERT_EQ(0, take_one(&self->set, self->event));
	/* The middle first, which splits it. */
	ASSERT_EQ(0, munmap(self->set.map + page, page));
	EXPECT_EQ(-EBUSY, dep_free(self->set.fd));
	ASSERT_EQ(0, munmap(self->set.map, HALF));
	EXPECT_EQ(-EBUSY, dep_free(self->set.fd));
	EXPECT_EQ(HALF, take_one(&self->set, self->event));
	ASSERT_EQ(0, munmap(self->set.map + HALF, HALF));
	self->set.map = NULL;
	EXPECT_EQ(-EINVAL, dep_poll(self->set.fd, &evp));
	EXPECT_EQ(0, dep_free(self->set.fd));
}

TEST_F(page, set_can_be_mapped_twice)
{
	struct evpoll evp = { .ep_timeout = 0 };
	char *second = dep_map(self->set.fd, SIZE);

	if (second != MAP_FAILED) {
		ASSERT_EQ(0, take_one(&self->set, self->event));
		EXPECT_EQ(0, memcmp(second, self->set.map, SIZE));
		ASSERT_EQ(0, munmap(second, SIZE));
	}
	EXPECT_EQ(-EBUSY, dep_free(self->set.fd));
	ASSERT_EQ(0, munmap(self->set.map, SIZE));
	self->set.map = NULL;
	EXPECT_EQ(-EINVAL, dep_poll(self->set.fd, &evp));
	EXPECT_EQ(0, dep_free(self->set.fd));
}

TEST_F(page, set_can_be_moved_but_not_stretched)
{
	char *moved;

	errno = 0;
	EXPECT_EQ(MAP_FAILED, mremap(self->set.map, SIZE, 2 * SIZE,
				     MREMAP_MAYMOVE));
	EXPECT_NE(0, errno);
	moved = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	ASSERT_TRUE(moved != MAP_FAILED);
	moved = mremap(self->set.map, SIZE, SIZE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, moved);
	ASSERT_TRUE(moved != MAP_FAILED);
	self->set.map = moved;
	EXPECT_EQ(-EBUSY, dep_free(self->set.fd));
	EXPECT_EQ(0, take_one(&self->set, self->event));
	EXPECT_EQ(HALF, take_one(&self->set, self->event));
	ASSERT_EQ(0, munmap(moved, SIZE));
	self->set.map = NULL;
	EXPECT_EQ(0, dep_free(self->set.fd));
}

TEST_F(page, set_outlives_its_fd_in_the_mapping)
{
	struct pollfd *slot = (struct pollfd *)self->set.map;

	ASSERT_EQ(0, take_one(&self->set, self->event));
	ASSERT_EQ(0, close(self->set.fd));
	self->set.fd = -1;
	EXPECT_EQ(self->event, slot->fd);
	/* The file that it watches can still wake it, and can be closed. */
	EXPECT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, close(self->event));
	EXPECT_EQ(POLLIN, slot->revents);
}

TEST_HARNESS_MAIN
