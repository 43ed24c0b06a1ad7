// SPDX-License-Identifier: GPL-2.0
/*
 * Results in the memory of the device: DEVEPOLL_WAIT_MAPPED.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

#define ONE	sizeof(struct devepoll_event)
#define FILES	3

FIXTURE(mapping) {
	struct eset set;
	size_t size;		/* of the mapping: two pages */
	struct devepoll_event *map;
	int events[FILES];	/* all ready, by level */
};

FIXTURE_SETUP(mapping)
{
	int i;

	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	self->size = 2 * getpagesize();
	for (i = 0; i < FILES; i++) {
		self->events[i] = eventfd_new();
		ASSERT_LE(0, self->events[i]);
		ASSERT_EQ(0, eset_add(&self->set, self->events[i], EPOLLIN));
		ASSERT_EQ(0, eventfd_post(self->events[i]));
	}
}

FIXTURE_TEARDOWN(mapping)
{
	eset_close(&self->set);
}

static struct devepoll_event *map_whole(int fd, size_t size)
{
	void *map = dep_map_events(fd, size);

	return map == MAP_FAILED ? NULL : map;
}

/* What a wait with time-out 0 into the mapping returns. */
static int wait_mapped(int fd, uint64_t offset, uint32_t max)
{
	struct devepoll_wait_args args = {
		.events = offset,
		.max_events = max,
		.flags = DEVEPOLL_WAIT_MAPPED,
	};

	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

TEST_F(mapping, has_events_where_they_were_asked_for)
{
	uint64_t offset;
	size_t i, at;

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	for (i = 0; i < self->size / ONE; i++)
		ASSERT_EQ(0, self->map[i].events);
	offset = 40 * ONE;
	at = 40;
	ASSERT_EQ(FILES, wait_mapped(self->set.fd, offset, 10));
	for (i = 0; i < FILES; i++) {
		EXPECT_EQ(self->events[i], self->map[at + i].data);
		EXPECT_EQ(self->events[i], self->map[at + i].fd);
		EXPECT_EQ(EPOLLIN, self->map[at + i].events);
	}
	for (i = 0; i < self->size / ONE; i++)
		if (i < at || i >= at + FILES)
			EXPECT_EQ(0, self->map[i].events | self->map[i].data);
}

TEST_F(mapping, takes_events_across_its_pages_and_up_to_its_end)
{
	size_t at = getpagesize() / ONE - 1;

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	ASSERT_EQ(FILES, wait_mapped(self->set.fd, at * ONE, FILES));
	EXPECT_EQ(self->events[0], self->map[at].fd);
	EXPECT_EQ(self->events[2], self->map[at + 2].fd);
	at = self->size / ONE - FILES;
	ASSERT_EQ(FILES, wait_mapped(self->set.fd, at * ONE, FILES));
	EXPECT_EQ(self->events[2], self->map[at + 2].fd);
	ASSERT_EQ(FILES, wait_mapped(self->set.fd, 0, self->size / ONE));
	EXPECT_EQ(self->events[0], self->map[0].fd);
}

TEST_F(mapping, is_needed_first)
{
	EXPECT_EQ(-EINVAL, wait_mapped(self->set.fd, 0, 1));
	EXPECT_EQ(FILES, eset_drain(&self->set));
}

TEST_F(mapping, has_no_room_outside)
{
	const uint64_t bad[] = {
		1, 8, 15, self->size - 1, self->size, self->size + ONE,
		self->size * ONE, 1ULL << 32, INT64_MAX - 15, 1ULL << 63,
		-16ULL, -1ULL, address_of(self->events), DEVEPOLL_MAP_EVENTS,
	};
	size_t i;

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, wait_mapped(self->set.fd, bad[i], 1))
			TH_LOG("offset %llx", (unsigned long long)bad[i]);
	}
	EXPECT_EQ(-EINVAL, wait_mapped(self->set.fd, self->size - ONE, 2));
	EXPECT_EQ(-EINVAL, wait_mapped(self->set.fd, 0, self->size / ONE + 1));
	EXPECT_EQ(-EINVAL, wait_mapped(self->set.fd, ONE,
				       DEVEPOLL_MAX_EVENTS));
	EXPECT_EQ(FILES, eset_drain(&self->set));
	for (i = 0; i < self->size / ONE; i++)
		EXPECT_EQ(0, self->map[i].events);
}

TEST_F(mapping, does_not_go_with_epolls_form)
{
	struct devepoll_wait_args args = {
		.max_events = 1,
		.flags = DEVEPOLL_WAIT_MAPPED | DEVEPOLL_WAIT_EPOLL,
	};

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	EXPECT_EQ(-EINVAL, dep_request(self->set.fd, DEVEPOLL_WAIT, &args));
}

TEST_F(mapping, has_the_size_of_the_first)
{
	struct devepoll_event *again;

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	EXPECT_EQ(NULL, map_whole(self->set.fd, self->size / 2));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, map_whole(self->set.fd, self->size * 2));
	EXPECT_EQ(EINVAL, errno);
	again = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!again);
	ASSERT_EQ(1, wait_mapped(self->set.fd, 0, 1));
	EXPECT_EQ(self->events[0], self->map[0].fd);
	EXPECT_EQ(self->events[0], again[0].fd);
	ASSERT_EQ(0, munmap(again, self->size));
	EXPECT_EQ(self->events[0], self->map[0].fd);
}

TEST_F(mapping, can_go_and_come_back)
{
	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	ASSERT_EQ(0, munmap(self->map, self->size));
	EXPECT_EQ(1, wait_mapped(self->set.fd, ONE, 1));
	EXPECT_EQ(NULL, map_whole(self->set.fd, self->size / 2));
	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	EXPECT_EQ(self->events[0], self->map[1].fd);
}

TEST_F(mapping, that_is_too_large_is_refused)
{
	/* More than any set may have, and nothing is left behind. */
	EXPECT_EQ(NULL, map_whole(self->set.fd, getpagesize() * 1025UL));
	EXPECT_EQ(EINVAL, errno);
	self->map = map_whole(self->set.fd, self->size);
	EXPECT_TRUE(!!self->map);
}

TEST_F(mapping, lies_at_one_offset)
{
	static const uint64_t offsets[] = { 4096, 1ULL << 31, 1ULL << 33 };
	long page = getpagesize();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_SHARED,
					   self->set.fd, offsets[i]));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, page, PROT_READ, MAP_SHARED,
				   self->set.fd, DEVEPOLL_MAP_EVENTS + page));
}

/* Writes one byte in a child: how it ended. */
static int write_in_child(volatile char *p)
{
	pid_t pid = fork();

	if (!pid) {
		*p = 1;
		_exit(0);
	}
	return pid < 0 ? -errno : reap(pid);
}

TEST_F(mapping, is_not_the_programs_to_write)
{
	static const int flags[] = { MAP_SHARED, MAP_PRIVATE };
	void *map;
	int i;

	for (i = 0; i < 2; i++) {
		map = mmap(NULL, self->size, PROT_READ | PROT_WRITE, flags[i],
			   self->set.fd, DEVEPOLL_MAP_EVENTS);
		ASSERT_TRUE(map != MAP_FAILED);
		EXPECT_EQ(128 + SIGSEGV, write_in_child(map));
		EXPECT_EQ(-1, mprotect(map, self->size,
				       PROT_READ | PROT_WRITE));
		EXPECT_EQ(EACCES, errno);
		EXPECT_EQ(-1, mprotect(map, self->size,
				       PROT_READ | PROT_EXEC));
		ASSERT_EQ(0, munmap(map, self->size));
	}
}

TEST_F(mapping, does_not_grow)
{
	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	EXPECT_EQ(MAP_FAILED, mremap(self->map, self->size, 2 * self->size,
				     MREMAP_MAYMOVE));
	ASSERT_EQ(1, wait_mapped(self->set.fd, 0, 1));
	EXPECT_EQ(self->events[0], self->map[0].fd);
}

TEST_F(mapping, outlives_the_number_of_the_set)
{
	struct eset kept = { .ops = &eset_devepoll };

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	ASSERT_EQ(2, wait_mapped(self->set.fd, 0, 2));
	kept.fd = dup(self->set.fd);
	eset_close(&self->set);
	EXPECT_EQ(self->events[1], self->map[1].fd);
	ASSERT_EQ(1, wait_mapped(kept.fd, 0, 1));
	EXPECT_EQ(self->events[2], self->map[0].fd);
	eset_close(&kept);
	EXPECT_EQ(self->events[2], self->map[0].fd);
	ASSERT_EQ(0, munmap(self->map, self->size));
}

TEST_F(mapping, is_shared_with_a_child)
{
	pid_t pid;

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	pid = fork();
	if (!pid)
		_exit(wait_mapped(self->set.fd, 5 * ONE, 1) == 1 &&
		      self->map[5].fd == self->events[0] ? 0 : 1);
	ASSERT_EQ(0, reap(pid));
	EXPECT_EQ(self->events[0], self->map[5].fd);
}

/* Threads that wait into parts of their own, all the time. */
struct part {
	int fd;
	const struct devepoll_event *map;
	uint64_t first;
	atomic_bool *stop;
	struct task task;
};

static long fill_part(void *arg)
{
	struct part *part = arg;
	long i, n, calls = 0;

	do {
		n = wait_mapped(part->fd, part->first * ONE, 2);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++)
			if (part->map[part->first + i].events != EPOLLIN)
				return -EBADMSG;
		calls++;
	} while (!atomic_load(part->stop));
	return calls;
}

TEST_F(mapping, has_a_part_for_each_thread)
{
	enum { THREADS = 4 };
	struct part parts[THREADS];
	atomic_bool stop = false;
	uint64_t end;
	int i;

	self->map = map_whole(self->set.fd, self->size);
	ASSERT_TRUE(!!self->map);
	for (i = 0; i < THREADS; i++) {
		parts[i] = (struct part){
			.fd = self->set.fd, .map = self->map,
			.first = 2 * i, .stop = &stop,
		};
		ASSERT_EQ(0, task_start(&parts[i].task, fill_part, &parts[i]));
	}
	end = now_ns() + 200 * NSEC_PER_MSEC;
	while (now_ns() < end)
		pause_briefly();
	atomic_store(&stop, true);
	for (i = 0; i < THREADS; i++)
		EXPECT_LT(0, task_join(&parts[i].task));
}

TEST_HARNESS_MAIN
