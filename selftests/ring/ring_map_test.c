// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a ring, for whoever maps it later: its layout, what the request
 * says about it, and the slot set of a consumer that has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "ring/ring_set.h"

/* Two sets of so many slots don't fill whole cache lines. */
#define ODD		5
#define LINE		64

static int ring_info(int fd, struct devepoll_ring_info *info)
{
	memset(info, 0x5a, sizeof(*info));
	return dep_request(fd, DEVEPOLL_RING_INFO, info);
}

/* DEVEPOLL_RING_RECLAIM: the set, or -errno. */
static int reclaim(int fd, const uint32_t *owned, uint32_t nr)
{
	struct devepoll_ring_reclaim args = {
		.owned = (uintptr_t)owned,
		.nr = nr,
	};
	int err = dep_request(fd, DEVEPOLL_RING_RECLAIM, &args);

	return err ?: (int)args.set;
}

TEST_F(ring, has_slot_sets_on_cache_lines_of_their_own)
{
	struct devepoll_ring_info info;
	struct consumer c[2];
	struct ring odd;
	int fds[ODD], i, round;

	ASSERT_EQ(0, ring_open(&odd, 2, ODD));
	ASSERT_EQ(0, ring_info(odd.set.fd, &info));
	EXPECT_EQ(0, info.stride % LINE);
	EXPECT_LE(ODD * sizeof(struct devepoll_event), info.stride);
	EXPECT_EQ(DEVEPOLL_RING_STRIDE(ODD), info.stride);
	for (i = 0; i < 2; i++)
		consumer_init(&c[i], &odd, i);
	for (i = 0; i < ODD; i++) {
		fds[i] = ring_add_eventfd(&odd);
		ASSERT_LE(0, fds[i]);
	}
	/* What is where the stride says, whichever set it is. */
	for (round = 0; round < 6; round++) {
		for (i = 0; i < ODD; i++)
			ASSERT_EQ(0, eventfd_post(fds[i]));
		ASSERT_EQ(ODD, consumer_take(&c[round % 2]));
		for (i = 0; i < ODD; i++)
			EXPECT_EQ(fds[i], c[round % 2].out[i].fd);
	}
	ring_close(&odd);
}

TEST_F(ring, has_a_page_that_is_zero_but_for_its_word)
{
	const struct devepoll_ring_page *page = (void *)self->ring.word;
	const char *bytes = (void *)self->ring.word;
	size_t i;

	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, page->word);
	for (i = sizeof(page->word); i < (size_t)getpagesize(); i++)
		ASSERT_EQ(0, bytes[i]);
}

TEST_F(ring, says_its_sizes)
{
	struct devepoll_ring_info info;

	ASSERT_EQ(0, ring_info(self->ring.set.fd, &info));
	EXPECT_EQ(2, info.consumers);
	EXPECT_EQ(SLOTS, info.slots);
	EXPECT_EQ(DEVEPOLL_RING_STRIDE(SLOTS), info.stride);
	EXPECT_EQ(0, info.filling);
	EXPECT_EQ(getpagesize(), info.page_size);
	EXPECT_EQ(ring_slots_size(2, SLOTS), info.slots_size);

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, consumer_take(&self->other));
	ASSERT_EQ(0, ring_info(self->ring.set.fd, &info));
	EXPECT_EQ(2, info.filling);
}

TEST_F(ring, says_its_sizes_to_every_open_and_in_every_size)
{
	const unsigned int sizes[] = { 4, 12, 32, 40 };
	unsigned char to[48];
	struct devepoll_ring_info info;
	int r = ioctl(self->ring.set.fd, DEVEPOLL_REOPEN, O_RDONLY);
	int w = ioctl(self->ring.set.fd, DEVEPOLL_REOPEN, O_WRONLY);
	size_t i;

	EXPECT_EQ(0, ring_info(r, &info));
	EXPECT_EQ(0, ring_info(w, &info));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(to, 0x5a, sizeof(to));
		EXPECT_EQ(0, dep_request(r, _IOC(_IOC_READ, EP_IOC_MAGIC, 0x18,
						 sizes[i]), to));
		EXPECT_EQ(0, memcmp(to, &info, sizes[i] < sizeof(info) ?
				    sizes[i] : sizeof(info)));
		EXPECT_EQ(0x5a, to[sizes[i]]);
	}
	/* Of the largest, what is not known. */
	EXPECT_EQ(0, to[39]);
}

TEST_F(ring, says_no_sizes_where_there_is_none)
{
	struct devepoll_ring_info info;
	struct eset set;

	ASSERT_EQ(0, eset_open(&set, &eset_devepoll));
	EXPECT_EQ(-EINVAL, ring_info(set.fd, &info));
	EXPECT_EQ(-EINVAL, reclaim(set.fd, NULL, 0));
	eset_close(&set);
	EXPECT_EQ(-EFAULT, dep_request(self->ring.set.fd, DEVEPOLL_RING_INFO,
				       NULL));
	EXPECT_EQ(-ENOTTY, dep_request(self->ring.set.fd,
				       _IOC(_IOC_READ, EP_IOC_MAGIC, 0x18, 0),
				       &info));
}

/* Wherever it ended: its set is what is left over. */
TEST_F(ring, gives_the_set_of_a_consumer_that_ended_to_another)
{
	struct consumer heir, *taker;
	int round, set;

	for (round = 0; round < 7; round++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		taker = round % 3 ? &self->me : &self->other;
		ASSERT_EQ(1, consumer_take(taker));
		/* It ends, and nobody knows what it had. */
		set = reclaim(self->ring.set.fd, &self->me.spare, 1);
		EXPECT_EQ(self->other.spare, set);
		consumer_init(&heir, &self->ring, 1);
		heir.spare = set;
		self->other = heir;
	}
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->other, self->event));
}

/* It has taken the flag with the word, and so nobody else makes the request. */
TEST_F(ring, asks_again_after_a_consumer_that_ended)
{
	int level = eventfd_new();

	ASSERT_LE(0, level);
	ASSERT_EQ(0, eset_add(&self->ring.set, level, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(level));
	ASSERT_EQ(0, consumer_take(&self->other));
	ASSERT_TRUE(self->other.ask);
	ASSERT_EQ(self->other.spare,
		  reclaim(self->ring.set.fd, &self->me.spare, 1));
	ASSERT_EQ(0, consumer_take(&self->me));
	EXPECT_TRUE(self->me.ask);
	EXPECT_EQ(1, ring_wait(&self->ring, 0));
	EXPECT_EQ(EPOLLIN, consumer_take_one(&self->me, level));
}

TEST_F(ring, gives_the_sets_of_several_one_by_one)
{
	uint32_t owned[2];

	/* Set 0 is being filled. */
	ASSERT_EQ(1, reclaim(self->ring.set.fd, NULL, 0));
	owned[0] = 1;
	EXPECT_EQ(2, reclaim(self->ring.set.fd, owned, 1));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(1, consumer_take(&self->me));
	EXPECT_EQ(0, self->me.spare);
	EXPECT_EQ(0, reclaim(self->ring.set.fd, NULL, 0));
	owned[0] = 0;
	EXPECT_EQ(2, reclaim(self->ring.set.fd, owned, 1));
	owned[0] = 2;
	EXPECT_EQ(0, reclaim(self->ring.set.fd, owned, 1));
}

TEST_F(ring, gives_no_set_by_an_array_that_is_wrong)
{
	const uint32_t none = 3, huge = -1, filling = 0;
	static const uint32_t twice[] = { 1, 1 }, known[] = { 1, 2 };
	struct ring three;
	int fd = self->ring.set.fd;

	EXPECT_EQ(-EINVAL, reclaim(fd, &none, 1));
	EXPECT_EQ(-EINVAL, reclaim(fd, &huge, 1));
	EXPECT_EQ(-EBUSY, reclaim(fd, &filling, 1));
	EXPECT_EQ(-EFAULT, reclaim(fd, NULL, 1));
	/* As many as there are consumers, and more. */
	EXPECT_EQ(-EINVAL, reclaim(fd, known, 2));
	EXPECT_EQ(-EINVAL, reclaim(fd, known, -1));
	ASSERT_EQ(0, ring_open(&three, 3, 1));
	EXPECT_EQ(-EBUSY, reclaim(three.set.fd, twice, 2));
	EXPECT_EQ(3, reclaim(three.set.fd, known, 2));
	ring_close(&three);
}

TEST_F(ring, gives_no_set_by_a_request_that_is_wrong)
{
	static const struct devepoll_ring_reclaim bad[] = {
		{ .flags = 1 }, { .flags = 1U << 31 }, { .set = 1 },
		{ .reserved = 1 },
	};
	struct {
		struct devepoll_ring_reclaim known;
		uint64_t more;
	} larger = { .more = 1 };
	int fd = self->ring.set.fd, r = ioctl(fd, DEVEPOLL_REOPEN, O_RDONLY);
	struct devepoll_ring_reclaim args;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		args = bad[i];
		EXPECT_EQ(-EINVAL, dep_request(fd, DEVEPOLL_RING_RECLAIM,
					       &args)) TH_LOG("row %zu", i);
	}
	EXPECT_EQ(-EBADF, reclaim(r, NULL, 0));
	EXPECT_EQ(-EFAULT, dep_request(fd, DEVEPOLL_RING_RECLAIM, NULL));
	EXPECT_EQ(-E2BIG, dep_request(fd, _IOC(_IOC_READ | _IOC_WRITE,
					       EP_IOC_MAGIC, 0x19,
					       sizeof(larger)), &larger));
	EXPECT_EQ(-ENOTTY, dep_request(fd, _IOC(_IOC_READ | _IOC_WRITE,
						EP_IOC_MAGIC, 0x19, 16),
				       &larger));
	larger.more = 0;
	EXPECT_EQ(0, dep_request(fd, _IOC(_IOC_READ | _IOC_WRITE, EP_IOC_MAGIC,
					  0x19, sizeof(larger)), &larger));
	EXPECT_EQ(1, larger.known.set);
}

TEST_HARNESS_MAIN
