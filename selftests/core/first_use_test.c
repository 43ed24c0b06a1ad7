// SPDX-License-Identifier: GPL-2.0
/*
 * A first use of a set that fails: it leaves the set to either interface.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/first_use.h"

/* First uses that fail, each for another reason. */
static int fail_with_change(int fd, struct devepoll_change change)
{
	return dep_change(fd, &change);
}

static int fail_ctl_argument(int fd)
{
	return dep_request(fd, DEVEPOLL_CTL, NULL);
}

static int fail_ctl_array(int fd)
{
	struct devepoll_ctl ctl = {
		.changes = 8,
		.nr = 1,
		.change_size = sizeof(struct devepoll_change),
	};

	return dep_request(fd, DEVEPOLL_CTL, &ctl);
}

static int fail_ctl_size(int fd)
{
	struct devepoll_change change = { .op = DEVEPOLL_DEL };
	struct devepoll_ctl ctl = { .changes = address_of(&change), .nr = 1 };

	return dep_request(fd, DEVEPOLL_CTL, &ctl);
}

static int fail_change_op(int fd)
{
	return fail_with_change(fd, (struct devepoll_change){
		.op = 4, .fd = eventfd_new(),
	});
}

static int fail_change_fd(int fd)
{
	return fail_with_change(fd, (struct devepoll_change){
		.op = DEVEPOLL_ADD, .fd = -1,
	});
}

static int fail_change_itself(int fd)
{
	return fail_with_change(fd, (struct devepoll_change){
		.op = DEVEPOLL_ADD, .fd = fd,
	});
}

static int fail_change_flags(int fd)
{
	return fail_with_change(fd, (struct devepoll_change){
		.op = DEVEPOLL_ADD, .flags = 0x8000,
	});
}

static int fail_wait_argument(int fd)
{
	return dep_request(fd, DEVEPOLL_WAIT, NULL);
}

static int fail_wait_nr(int fd)
{
	struct devepoll_event out;

	return dep_wait(fd, &out, 0, 0);
}

static int fail_wait_array(int fd)
{
	struct devepoll_wait_args args = {
		.events = 1ULL << 63, .max_events = 1,
	};

	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

static int fail_wait_mask(int fd)
{
	struct devepoll_event out;
	struct devepoll_wait_args args = {
		.events = address_of(&out),
		.max_events = 1,
		.sigmask = 8,
		.sigsetsize = 8,
	};

	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

static int fail_wait_mapped(int fd)
{
	struct devepoll_wait_args args = {
		.max_events = 1, .flags = DEVEPOLL_WAIT_MAPPED,
	};

	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

static int fail_wait_changes(int fd)
{
	struct devepoll_event out;
	struct devepoll_wait_args args = {
		.events = address_of(&out),
		.max_events = 1,
		.changes = 8,
		.nr_changes = 1,
		.change_size = sizeof(struct devepoll_change),
	};

	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

static int fail_fadvise_event(int fd)
{
	return dep_epoll_ctl(fd, EPOLL_CTL_ADD, fd, (void *)8);
}

static int fail_fadvise_fd(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return dep_epoll_ctl(fd, EPOLL_CTL_ADD, -1, &event);
}

static int fail_fadvise_del(int fd)
{
	return dep_epoll_ctl(fd, EPOLL_CTL_DEL, eventfd_new(), NULL);
}

static int fail_fadvise_wait(int fd)
{
	struct epoll_event out;

	return dep_epoll_wait(fd, &out, 0, 0);
}

static int fail_signal(int fd)
{
	struct devepoll_signal args = { .signo = SIGKILL };

	return dep_request(fd, DEVEPOLL_SIGNAL, &args);
}

static int fail_alloc(int fd)
{
	return dep_alloc(fd, 0);
}

static int fail_free(int fd)
{
	return dep_free(fd);
}

FIXTURE(failed) {
	int fd;
	int member;
};

FIXTURE_VARIANT(failed) {
	int (*use)(int fd);
	int error;
};

#define FAILED(name, err)						\
	FIXTURE_VARIANT_ADD(failed, name) {				\
		.use = fail_##name,					\
		.error = err,						\
	}

FAILED(ctl_argument, -EFAULT);
FAILED(ctl_array, -EFAULT);
FAILED(ctl_size, -EINVAL);
FAILED(change_op, -EINVAL);
FAILED(change_fd, -EBADF);
FAILED(change_itself, -EINVAL);
FAILED(change_flags, -EINVAL);
FAILED(wait_argument, -EFAULT);
FAILED(wait_nr, -EINVAL);
FAILED(wait_array, -EFAULT);
FAILED(wait_mask, -EFAULT);
FAILED(wait_mapped, -EINVAL);
FAILED(wait_changes, -EFAULT);
FAILED(fadvise_event, -EFAULT);
FAILED(fadvise_fd, -EBADF);
FAILED(fadvise_del, -ENOENT);
FAILED(fadvise_wait, -EINVAL);
FAILED(signal, -EINVAL);
FAILED(alloc, -EINVAL);
FAILED(free, -EINVAL);

FIXTURE_SETUP(failed)
{
	self->fd = dep_open();
	ASSERT_LE(0, self->fd) TH_LOG("no /dev/epoll here");
	self->member = eventfd_new();
	ASSERT_LE(0, self->member);
	ASSERT_EQ(variant->error, variant->use(self->fd));
}

FIXTURE_TEARDOWN(failed)
{
	close(self->fd);
}

TEST_F(failed, first_use_leaves_the_set_to_that_of_2001)
{
	struct evpoll evp = { .ep_timeout = 0 };
	struct pollfd *map;

	ASSERT_EQ(0, use_alloc(self->fd, self->member));
	map = (void *)dep_map(self->fd, EP_MAP_SIZE(10));
	ASSERT_TRUE((void *)map != MAP_FAILED);
	ASSERT_EQ(8, dep_write_one(self->fd, self->member, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(1, dep_poll(self->fd, &evp));
	EXPECT_EQ(self->member, map->fd);
	EXPECT_EQ(-EBUSY, use_ctl(self->fd, self->member));
}

TEST_F(failed, first_use_leaves_the_set_to_the_extended_one)
{
	struct devepoll_event out;

	ASSERT_EQ(0, use_ctl(self->fd, self->member));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(1, dep_wait(self->fd, &out, 1, 0));
	EXPECT_EQ(self->member, out.fd);
	EXPECT_EQ(-EBUSY, use_alloc(self->fd, self->member));
}

TEST_F(failed, first_use_leaves_the_set_to_signals)
{
	struct devepoll_signal args = { .signo = SIGRTMIN + 3 };

	EXPECT_EQ(0, dep_request(self->fd, DEVEPOLL_SIGNAL, &args));
	EXPECT_EQ(-EBUSY, use_alloc(self->fd, self->member));
	EXPECT_EQ(-EBUSY, use_wait(self->fd, self->member));
}

TEST_F(failed, use_changes_nothing_later)
{
	ASSERT_EQ(0, use_fadvise_ctl(self->fd, self->member));
	/* In a set of the extended interface, requests of 2001 give EBUSY. */
	if (variant->use != fail_alloc && variant->use != fail_free &&
	    variant->use != fail_signal)
		EXPECT_EQ(variant->error, variant->use(self->fd));
	EXPECT_EQ(0, use_wait(self->fd, self->member));
}

/* A first use counts if some of its changes take effect. */
TEST(a_first_use_with_one_good_change_counts)
{
	enum { NR = 40 };
	struct devepoll_change changes[NR] = {};
	uint32_t failed;
	int i, good, fd;

	for (good = 0; good < NR; good += NR - 1) {
		for (i = 0; i < NR; i++) {
			changes[i] = (struct devepoll_change){
				.op = DEVEPOLL_ADD, .fd = -1,
			};
		}
		changes[good].fd = eventfd_new();
		fd = dep_open();
		ASSERT_LE(0, fd);
		EXPECT_EQ(NR, dep_changes(fd, changes, NR, &failed));
		EXPECT_EQ(NR - 1, failed);
		EXPECT_EQ(-EBUSY, use_alloc(fd, -1));
		EXPECT_EQ(0, dep_epoll_ctl(fd, EPOLL_CTL_DEL, changes[good].fd,
					   NULL));
		/* Once is enough. */
		EXPECT_EQ(-EBUSY, use_alloc(fd, -1));
		EXPECT_EQ(0, close(fd));
	}
}

struct failing {
	atomic_int fd;
	atomic_bool stop;
};

static long fail_often(void *arg)
{
	struct failing *failing = arg;
	long wrong = 0;
	int ret;

	while (!atomic_load(&failing->stop)) {
		ret = fail_fadvise_fd(atomic_load(&failing->fd));
		wrong += ret != -EBADF && ret != -EBUSY;
	}
	return wrong;
}

TEST(a_first_use_that_fails_disturbs_no_other)
{
	enum { ROUNDS = 300 };
	struct failing failing = { .fd = -1 };
	struct task task = {};
	int round, fd;

	NEEDS_THREADS();
	ASSERT_EQ(0, task_start(&task, fail_often, &failing));
	for (round = 0; round < ROUNDS; round++) {
		struct devepoll_signal args = { .signo = SIGRTMIN + 3 };

		fd = dep_open();
		ASSERT_LE(0, fd);
		atomic_store(&failing.fd, fd);
		EXPECT_EQ(0, round % 3 == 0 ? use_alloc(fd, -1) :
			     round % 3 == 1 ? use_wait(fd, -1) :
			     dep_request(fd, DEVEPOLL_SIGNAL, &args));
		atomic_store(&failing.fd, -1);
		ASSERT_EQ(0, close(fd));
	}
	atomic_store(&failing.stop, true);
	EXPECT_EQ(0, task_join(&task));
}

TEST_HARNESS_MAIN
