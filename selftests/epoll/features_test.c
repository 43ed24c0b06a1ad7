// SPDX-License-Identifier: GPL-2.0
/* What DEVEPOLL_FEATURES reports, and whether it is true. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_param.h"
#include "core/eset.h"
#include "core/limits.h"
#include "core/request.h"

#define PARAMETERS	"/sys/module/devepoll/parameters/"
#define SIZED(size)	_IOC(_IOC_READ, EP_IOC_MAGIC, 0x14, size)

FIXTURE(features) {
	int fd;
	struct devepoll_features features;
};

REQUEST_VARIANTS(features);

FIXTURE_SETUP(features)
{
	self->fd = dep_open();
	ASSERT_LE(0, self->fd) TH_LOG("no /dev/epoll here");
	memset(&self->features, 0xa5, sizeof(self->features));
	ASSERT_EQ(0, variant->request(self->fd, DEVEPOLL_FEATURES,
				      &self->features));
}

FIXTURE_TEARDOWN(features)
{
	close(self->fd);
}

TEST_F(features, are_those_of_this_module)
{
	const struct devepoll_features *f = &self->features;
	const uint64_t known = DEVEPOLL_FEATURE_FADVISE |
			       DEVEPOLL_FEATURE_SIGNAL |
			       DEVEPOLL_FEATURE_URING |
			       DEVEPOLL_FEATURE_URING_WAIT |
			       DEVEPOLL_FEATURE_URING_MULTISHOT |
			       DEVEPOLL_FEATURE_REOPEN |
			       DEVEPOLL_FEATURE_RING |
			       DEVEPOLL_FEATURE_TAKE |
			       DEVEPOLL_FEATURE_BUSY_POLL |
			       DEVEPOLL_FEATURE_CANCEL |
			       DEVEPOLL_FEATURE_SPIN |
			       DEVEPOLL_FEATURE_CHANGE |
			       DEVEPOLL_FEATURE_NEW;

	EXPECT_EQ(1, f->abi);
	EXPECT_EQ(0, f->features & ~known);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_SIGNAL);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_URING);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_REOPEN);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_RING);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_TAKE);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_CANCEL);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_SPIN);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_CHANGE);
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_NEW);
	/* So in each kernel of Debian, and in the debug kernel. */
	EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_BUSY_POLL);
	EXPECT_EQ(fadvise_param() != 'N',
		  !!(f->features & DEVEPOLL_FEATURE_FADVISE));
	if (f->features & DEVEPOLL_FEATURE_URING_MULTISHOT)
		EXPECT_TRUE(f->features & DEVEPOLL_FEATURE_URING_WAIT);
	EXPECT_EQ(read_number(PARAMETERS "max_fds"), f->max_fds);
	EXPECT_EQ(2097151, f->max_fd);
	EXPECT_EQ(DEVEPOLL_MAX_CHANGES, f->max_changes);
	EXPECT_EQ(DEVEPOLL_MAX_EVENTS, f->max_events);
	EXPECT_EQ(1024, f->max_map_pages);
	EXPECT_EQ(5, f->max_nested);
	EXPECT_EQ(4096, f->max_per_file);
}

TEST_F(features, name_limits_that_hold)
{
	const long page = getpagesize();
	const size_t most = self->features.max_map_pages * page;
	void *map;
	int set;

	EXPECT_EQ(-EINVAL, dep_alloc(self->fd, self->features.max_fds + 1));
	EXPECT_EQ(0, dep_alloc(self->fd, self->features.max_fds));
	set = dep_open();
	ASSERT_LE(0, set);
	EXPECT_EQ(MAP_FAILED, (void *)dep_map_events(set, most + page));
	map = dep_map_events(set, most);
	EXPECT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, munmap(map, most));
	EXPECT_EQ(0, close(set));
}

TEST_F(features, are_told_by_any_open_and_bind_none)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	struct devepoll_event out;
	size_t i;
	int set;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		set = open("/dev/epoll", modes[i] | O_CLOEXEC);
		ASSERT_LE(0, set);
		EXPECT_EQ(0, variant->request(set, DEVEPOLL_FEATURES,
					      &self->features));
		EXPECT_EQ(0, close(set));
	}
	EXPECT_EQ(0, dep_alloc(self->fd, 10));
	EXPECT_EQ(0, variant->request(self->fd, DEVEPOLL_FEATURES,
				      &self->features));
	set = dep_open();
	EXPECT_EQ(0, variant->request(set, DEVEPOLL_FEATURES, &self->features));
	EXPECT_EQ(0, dep_wait(set, &out, 1, 0));
	EXPECT_EQ(0, variant->request(set, DEVEPOLL_FEATURES, &self->features));
	EXPECT_EQ(0, close(set));
}

TEST_F(features, fit_into_whatever_a_program_knows)
{
	unsigned char out[128], whole[128] = {};
	size_t size;

	memcpy(whole, &self->features, sizeof(self->features));
	for (size = 1; size <= 100; size++) {
		memset(out, 0xa5, sizeof(out));
		EXPECT_EQ(0, variant->request(self->fd, SIZED(size), out));
		EXPECT_EQ(0, memcmp(out, whole, size));
		EXPECT_EQ(0xa5, out[size]) TH_LOG("size %zu", size);
	}
	memset(out, 0xa5, sizeof(out));
	EXPECT_EQ(-ENOTTY, dep_request(self->fd, SIZED(0), out));
	EXPECT_EQ(-ENOTTY, dep_request(self->fd, _IOC(_IOC_WRITE, EP_IOC_MAGIC,
						      0x14, 40), out));
	EXPECT_EQ(-EFAULT, variant->request(self->fd, DEVEPOLL_FEATURES,
					    NULL));
	EXPECT_EQ(-EFAULT, variant->request(self->fd, DEVEPOLL_FEATURES,
					    (void *)8));
	EXPECT_EQ(0xa5, out[0]);
}

TEST_F(features, are_unknown_to_other_files)
{
	int other = open("/dev/null", O_RDWR | O_CLOEXEC);

	EXPECT_EQ(-ENOTTY, dep_request(other, DEVEPOLL_FEATURES,
				       &self->features));
	EXPECT_EQ(0, close(other));
}

TEST_HARNESS_MAIN
