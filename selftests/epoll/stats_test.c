// SPDX-License-Identifier: GPL-2.0
/* What a set reports about itself: DEVEPOLL_STATS. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

FIXTURE(stats) {
	struct eset set;
	int event;
};

DEVICE_VARIANTS(stats);

FIXTURE_SETUP(stats)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(stats)
{
	eset_close(&self->set);
}

static struct devepoll_stats stats_of(int fd)
{
	struct devepoll_stats stats;

	memset(&stats, 0xa5, sizeof(stats));
	if (dep_request(fd, DEVEPOLL_STATS, &stats))
		memset(&stats, 0xa5, sizeof(stats));
	return stats;
}

TEST_F(stats, of_a_new_set_are_zero)
{
	static const struct devepoll_stats zero;
	struct devepoll_stats stats = stats_of(self->set.fd);

	EXPECT_EQ(0, memcmp(&zero, &stats, sizeof(zero)));
}

TEST_F(stats, count_changes_that_took_effect)
{
	struct devepoll_stats stats;
	int other = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN));
	ASSERT_EQ(0, eset_mod(&self->set, other, EPOLLIN));
	ASSERT_EQ(0, eset_mod(&self->set, other, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_mod(&self->set, other, EPOLLIN));
	ASSERT_EQ(-EBADF, eset_mod(&self->set, -1, EPOLLIN));
	stats = stats_of(self->set.fd);
	EXPECT_EQ(2, stats.items);
	EXPECT_EQ(0, stats.ready);
	EXPECT_EQ(2, stats.adds);
	EXPECT_EQ(3, stats.mods);
	EXPECT_EQ(0, stats.dels);

	ASSERT_EQ(0, eset_del(&self->set, other));
	ASSERT_EQ(-ENOENT, eset_del(&self->set, other));
	stats = stats_of(self->set.fd);
	EXPECT_EQ(1, stats.items);
	EXPECT_EQ(2, stats.adds);
	EXPECT_EQ(1, stats.dels);
	EXPECT_EQ(0, stats.closes);
}

TEST_F(stats, count_what_closes)
{
	int kept = eventfd_new();
	int stale = dup(kept);
	struct devepoll_stats stats;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, stale, EPOLLIN));
	ASSERT_EQ(0, close(self->event));
	stats = stats_of(self->set.fd);
	EXPECT_EQ(1, stats.items);
	EXPECT_EQ(1, stats.closes);
	EXPECT_EQ(0, stats.dels);

	ASSERT_EQ(0, close(stale));
	ASSERT_EQ(0, eventfd_post(kept));
	EXPECT_EQ(0, eset_drain(&self->set));
	stats = stats_of(self->set.fd);
	EXPECT_EQ(0, stats.items);
	EXPECT_EQ(2, stats.closes);
	EXPECT_EQ(0, stats.dels);
}

TEST_F(stats, count_events_and_harvests)
{
	struct devepoll_stats before, after;
	int i, other = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN | EPOLLET));
	before = stats_of(self->set.fd);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, eset_drain(&self->set));
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(0, eventfd_post(other));
		after = stats_of(self->set.fd);
		EXPECT_EQ(2, after.ready);
		ASSERT_EQ(2, eset_drain(&self->set));
	}
	after = stats_of(self->set.fd);
	EXPECT_EQ(0, after.ready);
	EXPECT_EQ(before.events + 10, after.events);
	EXPECT_EQ(before.harvests + 5, after.harvests);
	EXPECT_EQ(before.wakes + 10, after.wakes);
	EXPECT_EQ(before.asks + 10, after.asks);
}

/* Two numbers of a file, and the file waits on its wait queue once. */
TEST_F(stats, count_a_wake_up_once_for_each_number)
{
	struct devepoll_stats before, after;
	int other = dup(self->event);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN | EPOLLET));
	before = stats_of(self->set.fd);
	ASSERT_EQ(0, eventfd_post(self->event));
	after = stats_of(self->set.fd);
	EXPECT_EQ(before.wakes + 2, after.wakes);
	EXPECT_EQ(2, eset_drain(&self->set));
}

/* The memory for the second event is faulted in on the way. */
TEST_F(stats, count_a_harvest_that_meets_missing_memory_once)
{
	struct devepoll_wait_args args = { .max_events = 2 };
	size_t page = getpagesize();
	struct devepoll_stats stats;
	struct devepoll_event *out;
	char *memory;

	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(memory != MAP_FAILED);
	/* A kernel without huge pages does not know this advice. */
	if (madvise(memory, 2 * page, MADV_NOHUGEPAGE))
		ASSERT_EQ(EINVAL, errno);
	out = (struct devepoll_event *)(memory + page) - 1;
	out->data = 0;
	args.events = address_of(out);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLOUT | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->set, eventfd_new(), EPOLLOUT | EPOLLET));
	ASSERT_EQ(2, dep_request(self->set.fd, DEVEPOLL_WAIT, &args));
	EXPECT_EQ(EPOLLOUT, out[0].events);
	EXPECT_EQ(EPOLLOUT, out[1].events);
	stats = stats_of(self->set.fd);
	EXPECT_EQ(1, stats.harvests);
	EXPECT_EQ(2, stats.events);
	munmap(memory, 2 * page);
}

/* One line of devepoll/stats of debugfs, or -1. */
static long long sum_of(const char *name)
{
	FILE *file = fopen("/sys/kernel/debug/devepoll/stats", "re");
	long long value, found = -1;
	char word[32];

	if (!file)
		return -1;
	while (fscanf(file, "%31s %lld", word, &value) == 2)
		if (!strcmp(word, name))
			found = value;
	fclose(file);
	return found;
}

TEST_F(stats, of_all_sets_are_added_up)
{
	static const char *const names[] = {
		"sets", "items", "adds", "mods", "dels", "closes", "wakes",
		"asks", "harvests", "events",
	};
	long long before[ARRAY_SIZE(names)], after[ARRAY_SIZE(names)];
	struct devepoll_stats one, two;
	struct eset other;
	size_t i;

	if (access("/sys/kernel/debug/devepoll", F_OK))
		mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	if (access("/sys/kernel/debug/devepoll", F_OK))
		SKIP(return, "no debugfs here");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		before[i] = sum_of(names[i]);
		ASSERT_LE(0, before[i]) TH_LOG("%s", names[i]);
	}
	ASSERT_EQ(0, eset_open(&other, variant->ops));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&other, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_mod(&other, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, eset_drain(&self->set));
	ASSERT_EQ(1, eset_drain(&other));
	ASSERT_EQ(0, eset_del(&other, self->event));
	one = stats_of(self->set.fd);
	two = stats_of(other.fd);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		after[i] = sum_of(names[i]);
	EXPECT_EQ(before[0] + 1, after[0]);
	EXPECT_EQ(before[1] + 1, after[1]);
	EXPECT_EQ(before[2] + 2, after[2]);
	EXPECT_EQ(before[3] + 1, after[3]);
	EXPECT_EQ(before[4] + 1, after[4]);
	EXPECT_EQ(before[5], after[5]);
	EXPECT_EQ(before[6] + one.wakes + two.wakes, after[6]);
	EXPECT_EQ(before[7] + one.asks + two.asks, after[7]);
	EXPECT_EQ(before[8] + 2, after[8]);
	EXPECT_EQ(before[9] + 2, after[9]);
	/* The sums keep what a closed set has counted. */
	eset_close(&other);
	EXPECT_EQ(before[0], sum_of("sets"));
	for (i = 1; i < ARRAY_SIZE(names); i++) {
		EXPECT_EQ(after[i], sum_of(names[i]))
			TH_LOG("%s", names[i]);
	}
}

/* A set of 2001 answers too. */
TEST(stats_of_a_2001_set_are_told)
{
	struct devepoll_stats stats;
	int event = eventfd_new();
	struct set set;

	ASSERT_EQ(0, set_open(&set, &backend_devepoll, 10))
		TH_LOG("no /dev/epoll here");
	ASSERT_EQ(0, set_add(&set, event, POLLIN));
	stats = stats_of(set.fd);
	EXPECT_EQ(1, stats.items);
	EXPECT_EQ(1, stats.adds);
	ASSERT_EQ(0, close(event));
	stats = stats_of(set.fd);
	EXPECT_EQ(0, stats.items);
	EXPECT_EQ(1, stats.closes);
	set_close(&set);
}

/* The same request with an argument of another size. */
#define STATS_OF_SIZE(size)						\
	_IOC(_IOC_READ, EP_IOC_MAGIC, _IOC_NR(DEVEPOLL_STATS), size)

TEST_F(stats, are_told_as_far_as_the_size_goes)
{
	enum { ROOM = 2 * sizeof(struct devepoll_stats) };
	unsigned char buffer[ROOM];
	uint64_t items;
	size_t size, i;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	for (size = 8; size <= ROOM; size += 8) {
		memset(buffer, 0xa5, sizeof(buffer));
		ASSERT_EQ(0, dep_request(self->set.fd, STATS_OF_SIZE(size),
					 buffer)) TH_LOG("size %zu", size);
		memcpy(&items, buffer, sizeof(items));
		EXPECT_EQ(1, items);
		for (i = sizeof(struct devepoll_stats); i < size; i++)
			EXPECT_EQ(0, buffer[i]);
		for (i = size; i < ROOM; i++)
			EXPECT_EQ(0xa5, buffer[i]);
	}
}

TEST_F(stats, that_cannot_be_written_fail)
{
	void *rom = mmap(NULL, getpagesize(), PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(rom != MAP_FAILED);
	EXPECT_EQ(-EFAULT, dep_request(self->set.fd, DEVEPOLL_STATS, rom));
	EXPECT_EQ(-EFAULT, dep_request(self->set.fd, DEVEPOLL_STATS, NULL));
}

TEST_HARNESS_MAIN
