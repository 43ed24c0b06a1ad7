// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers, sizes and offsets of the interface, as a 64-bit and as a 32-bit
 * program sees them, and each layout of EP_POLL's argument at work.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"

#define WIDE (sizeof(long) == 8)

TEST(request_numbers_are_those_of_2001)
{
	EXPECT_EQ(0x80045001, (unsigned int)EP_ALLOC);
	EXPECT_EQ(WIDE ? 0xc0105002 : 0xc0085002, (unsigned int)EP_POLL);
	EXPECT_EQ(0xc0085002, (unsigned int)EP_POLL32);
	EXPECT_EQ(0xc00c5002, (unsigned int)EP_POLL_PACKED);
	EXPECT_EQ(0x5003, (unsigned int)EP_FREE);
	EXPECT_EQ(0xc0085004, (unsigned int)EP_ISPOLLED);
}

TEST(structs_are_laid_out_as_in_2001)
{
	EXPECT_EQ(WIDE ? 16 : 8, sizeof(struct evpoll));
	EXPECT_EQ(0, offsetof(struct evpoll, ep_timeout));
	EXPECT_EQ(WIDE ? 8 : 4, offsetof(struct evpoll, ep_resoff));
	EXPECT_EQ(8, sizeof(struct evpoll32));
	EXPECT_EQ(4, offsetof(struct evpoll32, ep_resoff));
	EXPECT_EQ(12, sizeof(struct evpoll_packed));
	EXPECT_EQ(4, offsetof(struct evpoll_packed, ep_resoff));
	EXPECT_EQ(8, sizeof(struct pollfd));
	EXPECT_EQ(0, offsetof(struct pollfd, fd));
	EXPECT_EQ(4, offsetof(struct pollfd, events));
	EXPECT_EQ(6, offsetof(struct pollfd, revents));
}

TEST(constants_are_those_of_2001)
{
	EXPECT_EQ(10, EVENTPOLL_MAJOR);
	EXPECT_EQ(124, EVENTPOLL_MINOR);
	EXPECT_EQ(0x1000, POLLREMOVE);
	EXPECT_EQ(131072, MAX_FDS_IN_EVENTPOLL);
	EXPECT_EQ(512, POLLFD_X_PAGE);
	EXPECT_EQ(4096, EP_PAGE_SIZE);
	EXPECT_EQ(0, getpagesize() % EP_PAGE_SIZE);
}

TEST(map_sizes_round_up_to_two_times_whole_pages)
{
	EXPECT_EQ(1, EP_FDS_PAGES(1));
	EXPECT_EQ(1, EP_FDS_PAGES(512));
	EXPECT_EQ(2, EP_FDS_PAGES(513));
	EXPECT_EQ(256, EP_FDS_PAGES(MAX_FDS_IN_EVENTPOLL));
	EXPECT_EQ(8192, EP_MAP_SIZE(1));
	EXPECT_EQ(8192, EP_MAP_SIZE(512));
	EXPECT_EQ(16384, EP_MAP_SIZE(513));
	EXPECT_EQ(2097152, EP_MAP_SIZE(MAX_FDS_IN_EVENTPOLL));
}

TEST(request_numbers_of_the_extended_interface_stay)
{
	EXPECT_EQ(0xc0185010, (unsigned int)DEVEPOLL_CTL);
	EXPECT_EQ(0xc0405011, (unsigned int)DEVEPOLL_WAIT);
	EXPECT_EQ(0x80505012, (unsigned int)DEVEPOLL_STATS);
	EXPECT_EQ(0x40085013, (unsigned int)DEVEPOLL_SIGNAL);
	EXPECT_EQ(0x80285014, (unsigned int)DEVEPOLL_FEATURES);
	EXPECT_EQ(0x40045015, (unsigned int)DEVEPOLL_REOPEN);
	EXPECT_EQ(0x40105016, (unsigned int)DEVEPOLL_RING);
	EXPECT_EQ(0x40205017, (unsigned int)DEVEPOLL_RING_WAIT);
	EXPECT_EQ(0x80205018, (unsigned int)DEVEPOLL_RING_INFO);
	EXPECT_EQ(0xc0185019, (unsigned int)DEVEPOLL_RING_RECLAIM);
	EXPECT_EQ(0x4010501d, (unsigned int)DEVEPOLL_CANCEL);
	EXPECT_EQ(0xc020501e, (unsigned int)DEVEPOLL_SPIN);
	EXPECT_EQ(0x4004501f, (unsigned int)DEVEPOLL_NEW);
	EXPECT_EQ(0x5020, (unsigned int)DEVEPOLL_EPOLL_WAIT);
	EXPECT_EQ(0x5021, (unsigned int)DEVEPOLL_EPOLL_CTL(DEVEPOLL_ADD));
	EXPECT_EQ(0x5022, (unsigned int)DEVEPOLL_EPOLL_CTL(DEVEPOLL_DEL));
	EXPECT_EQ(0x5023, (unsigned int)DEVEPOLL_EPOLL_CTL(DEVEPOLL_MOD));
	EXPECT_EQ(0x00000005ffffffffULL, DEVEPOLL_EPOLL_WAIT_LEN(5, -1));
	EXPECT_EQ(0x5024, (unsigned int)DEVEPOLL_TAKE);
	EXPECT_EQ(0x5029, (unsigned int)DEVEPOLL_CHANGE(DEVEPOLL_ADD));
	EXPECT_EQ(0x502a, (unsigned int)DEVEPOLL_CHANGE(DEVEPOLL_DEL));
	EXPECT_EQ(0x502b, (unsigned int)DEVEPOLL_CHANGE(DEVEPOLL_MOD));
	EXPECT_EQ(0x00000003ffffffffULL, DEVEPOLL_CHANGE_LEN(-1, 3));
	EXPECT_EQ(0x100000000ULL, DEVEPOLL_MAP_EVENTS);
	EXPECT_EQ(0x200000000ULL, DEVEPOLL_MAP_RING);
	EXPECT_EQ(0x300000000ULL, DEVEPOLL_MAP_RING_SLOTS);
}

TEST(word_of_a_ring_stays)
{
	EXPECT_EQ(0x7fffffff, DEVEPOLL_RING_COUNT);
	EXPECT_EQ(0x80000000, DEVEPOLL_RING_ASK);
	EXPECT_EQ(32, DEVEPOLL_RING_SET_SHIFT);
	EXPECT_EQ(3 * 1024 * 16, DEVEPOLL_RING_SIZE(2, 1024));
	EXPECT_EQ(256, sizeof(struct devepoll_ring_page));
	EXPECT_EQ(0, offsetof(struct devepoll_ring_page, word));
	EXPECT_EQ(64, offsetof(struct devepoll_ring_page, ask));
}

TEST(slot_sets_of_a_ring_begin_on_a_cache_line)
{
	EXPECT_EQ(64, DEVEPOLL_RING_ALIGN);
	EXPECT_EQ(64, DEVEPOLL_RING_STRIDE(1));
	EXPECT_EQ(64, DEVEPOLL_RING_STRIDE(4));
	EXPECT_EQ(128, DEVEPOLL_RING_STRIDE(5));
	EXPECT_EQ(3 * 128, DEVEPOLL_RING_SIZE(2, 5));
	EXPECT_EQ(0x1000000000ULL, DEVEPOLL_RING_STRIDE(0xffffffffU));
}

TEST(structs_of_the_extended_interface_stay)
{
	EXPECT_EQ(24, sizeof(struct devepoll_change));
	EXPECT_EQ(4, offsetof(struct devepoll_change, fd));
	EXPECT_EQ(12, offsetof(struct devepoll_change, result));
	EXPECT_EQ(16, offsetof(struct devepoll_change, data));
	EXPECT_EQ(24, sizeof(struct devepoll_ctl));
	EXPECT_EQ(20, offsetof(struct devepoll_ctl, nr_failed));
	EXPECT_EQ(16, sizeof(struct devepoll_event));
	EXPECT_EQ(8, offsetof(struct devepoll_event, events));
	EXPECT_EQ(12, offsetof(struct devepoll_event, fd));
	EXPECT_EQ(64, sizeof(struct devepoll_wait_args));
	EXPECT_EQ(16, offsetof(struct devepoll_wait_args, timeout));
	EXPECT_EQ(24, offsetof(struct devepoll_wait_args, sigmask));
	EXPECT_EQ(40, offsetof(struct devepoll_wait_args, changes));
	EXPECT_EQ(60, offsetof(struct devepoll_wait_args, nr_failed));
	EXPECT_EQ(16, sizeof(struct devepoll_command));
	EXPECT_EQ(8, offsetof(struct devepoll_command, cookie));
	EXPECT_EQ(16, sizeof(struct devepoll_cancel));
	EXPECT_EQ(8, offsetof(struct devepoll_cancel, flags));
	EXPECT_EQ(12, offsetof(struct devepoll_cancel, reserved));
	EXPECT_EQ(32, sizeof(struct devepoll_spin));
	EXPECT_EQ(8, offsetof(struct devepoll_spin, looks));
	EXPECT_EQ(24, offsetof(struct devepoll_spin, ns));
	EXPECT_EQ(16, sizeof(struct devepoll_ring));
	EXPECT_EQ(4, offsetof(struct devepoll_ring, slots));
	EXPECT_EQ(8, offsetof(struct devepoll_ring, flags));
	EXPECT_EQ(32, sizeof(struct devepoll_ring_wait_args));
	EXPECT_EQ(8, offsetof(struct devepoll_ring_wait_args, sigmask));
	EXPECT_EQ(16, offsetof(struct devepoll_ring_wait_args, sigsetsize));
	EXPECT_EQ(20, offsetof(struct devepoll_ring_wait_args, flags));
	EXPECT_EQ(24, offsetof(struct devepoll_ring_wait_args, min_events));
	EXPECT_EQ(32, sizeof(struct devepoll_ring_info));
	EXPECT_EQ(8, offsetof(struct devepoll_ring_info, stride));
	EXPECT_EQ(12, offsetof(struct devepoll_ring_info, filling));
	EXPECT_EQ(16, offsetof(struct devepoll_ring_info, page_size));
	EXPECT_EQ(24, offsetof(struct devepoll_ring_info, slots_size));
	EXPECT_EQ(24, sizeof(struct devepoll_ring_reclaim));
	EXPECT_EQ(8, offsetof(struct devepoll_ring_reclaim, nr));
	EXPECT_EQ(12, offsetof(struct devepoll_ring_reclaim, flags));
	EXPECT_EQ(16, offsetof(struct devepoll_ring_reclaim, set));
	EXPECT_EQ(80, sizeof(struct devepoll_stats));
	EXPECT_EQ(8, sizeof(struct devepoll_signal));
	EXPECT_EQ(4, offsetof(struct devepoll_signal, flags));
	EXPECT_EQ(40, sizeof(struct devepoll_features));
	EXPECT_EQ(8, offsetof(struct devepoll_features, features));
	EXPECT_EQ(36, offsetof(struct devepoll_features, max_per_file));
}

/* Which layout, and where its bytes are. */
FIXTURE(layout) {
	struct set set;
	int event;
};

FIXTURE_VARIANT(layout) {
	unsigned long request;
	size_t size;
	size_t resoff_at;
	size_t resoff_size;
};

FIXTURE_VARIANT_ADD(layout, native) {
	.request = EP_POLL,
	.size = sizeof(struct evpoll),
	.resoff_at = offsetof(struct evpoll, ep_resoff),
	.resoff_size = sizeof(unsigned long),
};

FIXTURE_VARIANT_ADD(layout, narrow) {
	.request = EP_POLL32,
	.size = sizeof(struct evpoll32),
	.resoff_at = offsetof(struct evpoll32, ep_resoff),
	.resoff_size = sizeof(__u32),
};

FIXTURE_VARIANT_ADD(layout, packed) {
	.request = EP_POLL_PACKED,
	.size = sizeof(struct evpoll_packed),
	.resoff_at = offsetof(struct evpoll_packed, ep_resoff),
	.resoff_size = sizeof(__u64),
};

FIXTURE_SETUP(layout)
{
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, 600));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
}

FIXTURE_TEARDOWN(layout)
{
	set_close(&self->set);
}

/* Poisons an argument and sets its time-out. */
static void poison(unsigned char *arg, size_t size, int timeout)
{
	memset(arg, 0xa5, size);
	memcpy(arg, &timeout, sizeof(timeout));
}

TEST_F(layout, result_offset_and_nothing_else_is_written)
{
	const size_t half = EP_MAP_SIZE(600) / 2;
	unsigned char arg[32], expected[32];
	struct pollfd *slot;
	__u64 offset;
	int i;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		poison(arg, sizeof(arg), 0);
		poison(expected, sizeof(expected), 0);
		offset = i & 1 ? half : 0;
		memcpy(expected + variant->resoff_at, &offset,
		       variant->resoff_size);
		ASSERT_EQ(1, ioctl(self->set.fd, variant->request, arg));
		EXPECT_EQ(0, memcmp(arg, expected, sizeof(arg)));
		slot = (struct pollfd *)(self->set.map + offset);
		EXPECT_EQ(self->event, slot->fd);
		EXPECT_EQ(POLLIN, slot->events);
		EXPECT_EQ(POLLIN, slot->revents);
	}
}

TEST_F(layout, nothing_is_written_after_the_time_out)
{
	static const int times[] = { 0, 0, 1, 0, 0 };
	unsigned char arg[32], expected[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		poison(arg, sizeof(arg), times[i]);
		poison(expected, sizeof(expected), times[i]);
		EXPECT_EQ(0, ioctl(self->set.fd, variant->request, arg));
		EXPECT_EQ(0, memcmp(arg, expected, sizeof(arg)));
	}
}

TEST_F(layout, time_out_is_an_int)
{
	uint64_t start = now_ns();
	unsigned char arg[32];

	poison(arg, sizeof(arg), 30);
	EXPECT_EQ(0, ioctl(self->set.fd, variant->request, arg));
	EXPECT_LE(30 * NSEC_PER_MSEC, now_ns() - start);

	ASSERT_EQ(0, eventfd_post(self->event));
	poison(arg, sizeof(arg), -1);
	EXPECT_EQ(1, ioctl(self->set.fd, variant->request, arg));
}

TEST_F(layout, argument_may_end_where_the_page_ends)
{
	const long page = getpagesize();
	unsigned char *pages, *arg;

	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pages != MAP_FAILED);
	ASSERT_EQ(0, munmap(pages + page, page));
	arg = pages + page - variant->size;
	poison(arg, variant->size, 0);
	EXPECT_EQ(0, ioctl(self->set.fd, variant->request, arg));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ioctl(self->set.fd, variant->request, arg));
}

TEST_F(layout, other_sizes_are_other_requests)
{
	static const unsigned int sizes[] = { 0, 4, 11, 13, 15, 17, 20, 24 };
	unsigned char arg[32];
	size_t i;

	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		poison(arg, sizeof(arg), 0);
		errno = 0;
		EXPECT_EQ(-1, ioctl(self->set.fd,
				    _IOC(_IOC_READ | _IOC_WRITE, EP_IOC_MAGIC,
					 2, sizes[i]), arg));
		EXPECT_EQ(ENOTTY, errno);
	}
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
}

TEST(a_program_of_this_width_uses_every_call)
{
	struct pollfd pfd = { .revents = -1 };
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	int event = eventfd_new();
	int fd = dep_open();
	char *map;

	ASSERT_LE(0, event);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dep_alloc(fd, 1000));
	map = dep_map(fd, EP_MAP_SIZE(1000));
	ASSERT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(8, dep_write_one(fd, event, POLLIN | POLLOUT));
	pfd.fd = event;
	EXPECT_EQ(1, dep_ispolled(fd, &pfd));
	EXPECT_EQ(event, pfd.fd);
	EXPECT_EQ(POLLIN | POLLOUT, pfd.events);
	EXPECT_EQ(0, pfd.revents);
	EXPECT_EQ(1, dep_poll(fd, &evp));
	EXPECT_EQ(0, evp.ep_resoff);
	EXPECT_EQ(event, ((struct pollfd *)map)->fd);
	EXPECT_EQ(POLLOUT, ((struct pollfd *)map)->revents);
	EXPECT_EQ(-EBUSY, dep_free(fd));
	ASSERT_EQ(0, munmap(map, EP_MAP_SIZE(1000)));
	EXPECT_EQ(0, dep_free(fd));
	EXPECT_EQ(-EINVAL, dep_poll(fd, &evp));
	EXPECT_EQ(0, close(fd));
}

TEST_HARNESS_MAIN
