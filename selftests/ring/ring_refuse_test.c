// SPDX-License-Identifier: GPL-2.0
/*
 * What can't have a ring, and bad requests and mappings of one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"

#define SLOTS	16
/* Pages of the slot sets of one instance. */
#define PAGES_MOST	1024
#define PAGE		((size_t)getpagesize())
#define PER_PAGE	(PAGE / sizeof(struct devepoll_event))
#define SETS_PER_PAGE	(PAGE / DEVEPOLL_RING_ALIGN)
#define SOMEBODY	45400

FIXTURE(ring_refuse) {
	struct eset set;	/* with no ring */
};

FIXTURE_SETUP(ring_refuse)
{
	struct devepoll_features features;

	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	ASSERT_EQ(0, dep_request(self->set.fd, DEVEPOLL_FEATURES, &features));
	ASSERT_TRUE(features.features & DEVEPOLL_FEATURE_RING);
}

FIXTURE_TEARDOWN(ring_refuse)
{
	eset_close(&self->set);
}

static int make(int fd, struct devepoll_ring args)
{
	return dep_request(fd, DEVEPOLL_RING, &args);
}

TEST_F(ring_refuse, sizes_of_nothing_and_too_large_ones)
{
	const struct devepoll_ring bad[] = {
		{ .consumers = 0, .slots = 1 },
		{ .consumers = 1, .slots = 0 },
		{ .consumers = -1, .slots = 1 },
		{ .consumers = -2, .slots = 1 },
		{ .consumers = 1, .slots = -1 },
		{ .consumers = -1, .slots = -1 },
		{ .consumers = 1 << 31, .slots = 1 << 31 },
		{ .consumers = 1, .slots = PAGES_MOST / 2 * PER_PAGE + 1 },
		{ .consumers = PAGES_MOST * SETS_PER_PAGE, .slots = 1 },
		{ .consumers = 1, .slots = 1, .flags = 1 },
		{ .consumers = 1, .slots = 1, .flags = 1U << 31 },
		{ .consumers = 1, .slots = 1, .reserved = 1 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, make(self->set.fd, bad[i]))
			TH_LOG("row %zu", i);
	/* The set is one of no interface still. */
	EXPECT_EQ(0, dep_alloc(self->set.fd, 8));
}

TEST_F(ring_refuse, nothing_that_is_as_large_as_may_be)
{
	struct eset many;

	EXPECT_EQ(0, ring_request(self->set.fd, 1,
				  PAGES_MOST / 2 * PER_PAGE));
	ASSERT_EQ(0, eset_open(&many, &eset_devepoll));
	EXPECT_EQ(0, ring_request(many.fd, PAGES_MOST * SETS_PER_PAGE - 1, 1));
	eset_close(&many);
}

TEST_F(ring_refuse, a_set_that_has_fds)
{
	int event = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, event, EPOLLIN));
	EXPECT_EQ(-EBUSY, ring_request(self->set.fd, 1, SLOTS));
	ASSERT_EQ(0, eset_del(&self->set, event));
	EXPECT_EQ(0, ring_request(self->set.fd, 1, SLOTS));
}

TEST_F(ring_refuse, a_second_ring)
{
	ASSERT_EQ(0, ring_request(self->set.fd, 1, SLOTS));
	EXPECT_EQ(-EBUSY, ring_request(self->set.fd, 1, SLOTS));
}

TEST_F(ring_refuse, sets_of_other_interfaces)
{
	struct devepoll_signal signals = { .signo = SIGRTMIN };
	int devpoll = open("/dev/poll", O_RDWR | O_CLOEXEC);
	struct eset classic;

	ASSERT_EQ(0, eset_open(&classic, &eset_devepoll));
	ASSERT_EQ(0, dep_alloc(classic.fd, 8));
	EXPECT_EQ(-EBUSY, ring_request(classic.fd, 1, SLOTS));
	EXPECT_EQ(MAP_FAILED, ring_map_word(classic.fd));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-EINVAL, dep_request(classic.fd, DEVEPOLL_RING_WAIT,
				       &(struct devepoll_ring_wait_args) {}));
	eset_close(&classic);

	ASSERT_EQ(0, dep_request(self->set.fd, DEVEPOLL_SIGNAL, &signals));
	EXPECT_EQ(-EBUSY, ring_request(self->set.fd, 1, SLOTS));
	if (devpoll < 0)
		return;
	EXPECT_EQ(-ENOTTY, ring_request(devpoll, 1, SLOTS));
	close(devpoll);
}

TEST_F(ring_refuse, the_2001_interface_afterwards)
{
	struct pollfd entry = { .fd = 0, .events = POLLIN };

	ASSERT_EQ(0, ring_request(self->set.fd, 1, SLOTS));
	EXPECT_EQ(-EBUSY, dep_alloc(self->set.fd, 8));
	EXPECT_EQ(-EBUSY, dep_write(self->set.fd, &entry, 1));
}

TEST_F(ring_refuse, arguments_of_another_size)
{
	struct {
		struct devepoll_ring known;
		uint64_t more;
	} larger = { .known = { .consumers = 1, .slots = SLOTS } };
	unsigned long large = _IOC(_IOC_WRITE, EP_IOC_MAGIC, 0x16,
				   sizeof(larger));
	unsigned long small = _IOC(_IOC_WRITE, EP_IOC_MAGIC, 0x16, 8);

	EXPECT_EQ(-ENOTTY, dep_request(self->set.fd, small, &larger));
	larger.more = 1;
	EXPECT_EQ(-E2BIG, dep_request(self->set.fd, large, &larger));
	EXPECT_EQ(-EFAULT, dep_request(self->set.fd, DEVEPOLL_RING, NULL));
	larger.more = 0;
	EXPECT_EQ(0, dep_request(self->set.fd, large, &larger));
}

TEST_F(ring_refuse, bad_waits)
{
	static const struct devepoll_ring_wait_args bad[] = {
		{ .flags = 2 }, { .flags = 1U << 31 }, { .spare = 1 },
		{ .min_events = SLOTS + 1 }, { .sigsetsize = 8 },
		{ .sigmask = 4096, .sigsetsize = 4 }, { .sigmask = 4096 },
	};
	struct {
		struct devepoll_ring_wait_args known;
		uint64_t more;
	} larger = { .more = 1 };
	struct devepoll_ring_wait_args mask = {
		.sigmask = 8, .sigsetsize = 8,
	};
	size_t i;

	EXPECT_EQ(-EINVAL, dep_request(self->set.fd, DEVEPOLL_RING_WAIT,
				       &larger.known));
	ASSERT_EQ(0, ring_request(self->set.fd, 1, SLOTS));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct devepoll_ring_wait_args args = bad[i];

		EXPECT_EQ(-EINVAL, dep_request(self->set.fd,
					       DEVEPOLL_RING_WAIT, &args))
			TH_LOG("row %zu", i);
	}
	EXPECT_EQ(-EFAULT, dep_request(self->set.fd, DEVEPOLL_RING_WAIT,
				       &mask));
	EXPECT_EQ(-EFAULT, dep_request(self->set.fd, DEVEPOLL_RING_WAIT,
				       NULL));
	EXPECT_EQ(-E2BIG, dep_request(self->set.fd,
				      _IOC(_IOC_WRITE, EP_IOC_MAGIC, 0x17,
					   sizeof(larger)), &larger));
	EXPECT_EQ(-ENOTTY, dep_request(self->set.fd,
				       _IOC(_IOC_WRITE, EP_IOC_MAGIC, 0x17,
					    24), &larger));
	larger.more = 0;
	EXPECT_EQ(0, dep_request(self->set.fd,
				 _IOC(_IOC_WRITE, EP_IOC_MAGIC, 0x17,
				      sizeof(larger)), &larger));
}

static int reopen(int fd, int flags)
{
	int ret = ioctl(fd, DEVEPOLL_REOPEN, flags | O_CLOEXEC);

	return ret < 0 ? -errno : ret;
}

TEST_F(ring_refuse, opens_of_the_wrong_mode)
{
	int r = reopen(self->set.fd, O_RDONLY | DEVEPOLL_REOPEN_MAP);
	int w = reopen(self->set.fd, O_WRONLY);
	const struct devepoll_change told = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = eventfd_new(),
		.events = EPOLLIN,
	};
	struct devepoll_ring_wait_args args = {};
	void *map;

	ASSERT_LE(0, r);
	ASSERT_LE(0, w);
	EXPECT_EQ(-EBADF, ring_request(r, 1, SLOTS));
	EXPECT_EQ(0, ring_request(w, 1, SLOTS));
	EXPECT_EQ(-EBADF, dep_request(w, DEVEPOLL_RING_WAIT, &args));
	EXPECT_EQ(0, dep_request(r, DEVEPOLL_RING_WAIT, &args));
	/* It owns no slot set that it could say is not in use. */
	args.flags = DEVEPOLL_WAIT_SPARE;
	EXPECT_EQ(-EBADF, dep_request(r, DEVEPOLL_RING_WAIT, &args));
	EXPECT_EQ(-EBADF, dep_fadvise(r, (uintptr_t)&args, 0,
				      DEVEPOLL_RING_WAIT));
	EXPECT_EQ(0, dep_request(self->set.fd, DEVEPOLL_RING_WAIT, &args));
	args.spare = 2;
	EXPECT_EQ(-EINVAL, dep_request(r, DEVEPOLL_RING_WAIT, &args));
	/* Where fds report their close, the others have to say it. */
	ASSERT_EQ(0, dep_change(self->set.fd, &told));
	args = (struct devepoll_ring_wait_args) {};
	EXPECT_EQ(-EINVAL, dep_request(self->set.fd, DEVEPOLL_RING_WAIT, &args));
	EXPECT_EQ(0, dep_request(r, DEVEPOLL_RING_WAIT, &args));
	EXPECT_EQ(0, dep_fadvise(r, (uintptr_t)&args, 0, DEVEPOLL_RING_WAIT));

	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, r, DEVEPOLL_MAP_RING);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EACCES, errno);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, r,
		   DEVEPOLL_MAP_RING);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EACCES, errno);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, w, DEVEPOLL_MAP_RING);
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EACCES, errno);
	EXPECT_NE(MAP_FAILED, ring_map_slots(r, 1, SLOTS));
}

TEST_F(ring_refuse, wrong_mappings)
{
	const int rw = PROT_READ | PROT_WRITE;
	int fd = self->set.fd;
	const struct {
		size_t size;
		int prot, flags;
		unsigned long offset;
	} bad[] = {
		{ 2 * PAGE, rw, MAP_SHARED, DEVEPOLL_MAP_RING },
		{ PAGE, rw, MAP_PRIVATE, DEVEPOLL_MAP_RING },
		{ PAGE, PROT_READ, MAP_PRIVATE, DEVEPOLL_MAP_RING },
		{ PAGE, rw, MAP_SHARED, DEVEPOLL_MAP_RING + PAGE },
		{ PAGE, PROT_READ, MAP_SHARED, DEVEPOLL_MAP_RING_SLOTS },
		{ 3 * PAGE, PROT_READ, MAP_SHARED, DEVEPOLL_MAP_RING_SLOTS },
		{ PAGE, PROT_READ, MAP_SHARED,
		  DEVEPOLL_MAP_RING_SLOTS + PAGE },
		{ PAGE, PROT_READ, MAP_SHARED, 0 },
		{ PAGE, PROT_READ, MAP_SHARED, 0x400000000 },
	};
	size_t i;

	EXPECT_EQ(MAP_FAILED, ring_map_word(fd));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, ring_map_slots(fd, 1, PER_PAGE));
	EXPECT_EQ(EINVAL, errno);
	/* Two pages of slots. */
	ASSERT_EQ(0, ring_request(fd, 1, PER_PAGE));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(MAP_FAILED,
			  mmap(NULL, bad[i].size, bad[i].prot, bad[i].flags,
			       fd, bad[i].offset)) TH_LOG("row %zu", i);
	}
}

/* In a child: how it ends. */
static int in_child(void (*act)(struct ring *ring), struct ring *ring)
{
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		act(ring);
		_exit(0);
	}
	return reap(pid);
}

static void touch_word(struct ring *ring)
{
	(void)atomic_load(ring->word);
}

static void touch_slots(struct ring *ring)
{
	(void)ring->sets[0].events;
}

static void write_slots(struct ring *ring)
{
	struct devepoll_event *slots = ring_map_slots(ring->set.fd, 1, SLOTS);

	/* Not even one that asked for it. */
	munmap(slots, PAGE);
	slots = mmap(slots, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		     ring->set.fd, DEVEPOLL_MAP_RING_SLOTS);
	if (slots == MAP_FAILED || slots[0].events)
		_exit(1);
	slots[0].events = 1;
}

static void run_word(struct ring *ring)
{
	void *word = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_SHARED, ring->set.fd, DEVEPOLL_MAP_RING);

	if (word == MAP_FAILED)
		_exit(1);
	*(unsigned char *)word = 0xc3;
	((void (*)(void))word)();
}

TEST_F(ring_refuse, a_child_the_memory_of_its_parent)
{
	struct ring ring;

	ASSERT_EQ(0, ring_open(&ring, 1, SLOTS));
	touch_word(&ring);
	touch_slots(&ring);
	EXPECT_EQ(128 + SIGSEGV, in_child(touch_word, &ring));
	EXPECT_EQ(128 + SIGSEGV, in_child(touch_slots, &ring));
	ring_close(&ring);
}

/* What a parent has asked for, and then what the child itself can do. */
static void insist_on_word(struct ring *ring)
{
	madvise((void *)ring->word, PAGE, MADV_DONTFORK);
	touch_word(ring);
}

static void insist_on_slots(struct ring *ring)
{
	madvise((void *)ring->sets, PAGE, MADV_DONTFORK);
	touch_slots(ring);
}

static bool is_killed(void (*act)(struct ring *ring), struct ring *ring)
{
	int end = in_child(act, ring);

	return end == 128 + SIGSEGV || end == 128 + SIGBUS;
}

TEST_F(ring_refuse, a_child_the_memory_that_its_parent_would_share)
{
	struct ring ring;
	int word, slots;

	ASSERT_EQ(0, ring_open(&ring, 1, SLOTS));
	touch_word(&ring);
	touch_slots(&ring);
	word = madvise((void *)ring.word, PAGE, MADV_DOFORK);
	slots = madvise((void *)ring.sets, PAGE, MADV_DOFORK);
	EXPECT_EQ(word, slots);
	EXPECT_TRUE(is_killed(touch_word, &ring));
	EXPECT_TRUE(is_killed(touch_slots, &ring));
	EXPECT_TRUE(is_killed(insist_on_word, &ring));
	EXPECT_TRUE(is_killed(insist_on_slots, &ring));
	/* It is the parent's as before. */
	touch_word(&ring);
	touch_slots(&ring);
	ring_close(&ring);
}

TEST_F(ring_refuse, parts_of_a_mapping)
{
	struct ring ring;

	/* Two pages. */
	ASSERT_EQ(0, ring_open(&ring, 1, PER_PAGE));
	EXPECT_EQ(-1, munmap((void *)ring.sets, PAGE));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, mprotect((void *)ring.sets, PAGE, PROT_NONE));
	EXPECT_EQ(EINVAL, errno);
	touch_slots(&ring);
	ring_close(&ring);
}

TEST_F(ring_refuse, stores_to_slots_and_code_in_the_word)
{
	struct ring ring;

	ASSERT_EQ(0, ring_open(&ring, 1, SLOTS));
	EXPECT_EQ(128 + SIGSEGV, in_child(write_slots, &ring));
	EXPECT_EQ(128 + SIGSEGV, in_child(run_word, &ring));
	EXPECT_EQ(-1, mprotect((void *)ring.sets, PAGE,
			       PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect((void *)ring.word, PAGE,
			       PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap((void *)ring.word, PAGE, 2 * PAGE,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap((void *)ring.sets, PAGE, 2 * PAGE,
				     MREMAP_MAYMOVE));
	ring_close(&ring);
}

/* A ring of two pages of slots: these, the word and the index. */
static void exceed_memlock(struct ring *ring)
{
	struct rlimit limit = { 4 * PAGE, 4 * PAGE };
	struct eset sets[2];

	if (become(SOMEBODY) || setrlimit(RLIMIT_MEMLOCK, &limit) ||
	    eset_open(&sets[0], &eset_devepoll) ||
	    eset_open(&sets[1], &eset_devepoll))
		_exit(1);
	if (ring_request(sets[0].fd, 1, PER_PAGE + 1) != -ENOMEM)
		_exit(2);
	if (ring_request(sets[0].fd, 1, PER_PAGE))
		_exit(3);
	if (ring_request(sets[1].fd, 1, 1) != -ENOMEM)
		_exit(4);
	/* The set is one of no interface still, and what was charged is back */
	eset_close(&sets[0]);
	if (ring_request(sets[1].fd, 1, PER_PAGE))
		_exit(5);
}

TEST_F(ring_refuse, more_memory_than_may_be_locked)
{
	if (geteuid())
		SKIP(return, "needs root");
	EXPECT_EQ(0, in_child(exceed_memlock, NULL));
	/* By the closes before. */
	EXPECT_EQ(0, in_child(exceed_memlock, NULL));
}

TEST_HARNESS_MAIN
