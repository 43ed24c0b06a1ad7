// SPDX-License-Identifier: GPL-2.0
/*
 * What DEVEPOLL_CANCEL refuses, by each way to make it, while there is a wait
 * that it could cancel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_cookie.h"

#define COOKIE		77
#define SIZED(size)	_IOC(_IOC_WRITE, EP_IOC_MAGIC, 0x1d, size)

static int by_command(int fd, unsigned long request, void *arg)
{
	struct ring ring;
	int ret = ring_open(&ring, &ring_plain);

	if (!ret) {
		ret = ring_call(&ring, fd, request, arg);
		ring_close(&ring);
	}
	return ret;
}

FIXTURE(cancel) {
	struct ring ring;
	int set;
	struct devepoll_event out[1];
	struct devepoll_wait_args args;
};

FIXTURE_VARIANT(cancel) {
	int (*request)(int fd, unsigned long request, void *arg);
};

FIXTURE_VARIANT_ADD(cancel, by_ioctl) {
	.request = dep_request,
};

FIXTURE_VARIANT_ADD(cancel, by_fadvise) {
	.request = dep_request_by_fadvise,
};

FIXTURE_VARIANT_ADD(cancel, by_command) {
	.request = by_command,
};

FIXTURE_SETUP(cancel)
{
	ASSERT_EQ(0, ring_open(&self->ring, &ring_plain));
	self->set = dep_open();
	ASSERT_LE(0, self->set) TH_LOG("no /dev/epoll here");
	self->args = wait_args(self->out, 1, -1);
	if (!kernel_can_wait())
		return;
	ASSERT_EQ(0, begin_wait(&self->ring, self->set, &self->args, COOKIE,
				1));
	ASSERT_TRUE(ring_waits(&self->ring));
}

/* The wait is as it was, and can be cancelled. */
FIXTURE_TEARDOWN(cancel)
{
	const int found = kernel_can_wait() ? 1 : -ENOENT;
	struct devepoll_cancel arg = { .cookie = COOKIE };

	EXPECT_TRUE(ring_waits(&self->ring));
	EXPECT_EQ(found, variant->request(self->set, DEVEPOLL_CANCEL, &arg));
	if (found == 1)
		EXPECT_EQ(-ECANCELED, ring_result(&self->ring, 1));
	EXPECT_EQ(-ENOENT, variant->request(self->set, DEVEPOLL_CANCEL, &arg));
	ring_close(&self->ring);
	close(self->set);
}

#define CANCEL(...) ({							\
	struct devepoll_cancel __arg = { __VA_ARGS__ };			\
									\
	variant->request(self->set, DEVEPOLL_CANCEL, &__arg);		\
})

TEST_F(cancel, refuses_no_cookie)
{
	EXPECT_EQ(-EINVAL, CANCEL(.cookie = 0));
}

TEST_F(cancel, refuses_flags_and_reserved_members)
{
	EXPECT_EQ(-EINVAL, CANCEL(.cookie = COOKIE, .flags = 1));
	EXPECT_EQ(-EINVAL, CANCEL(.cookie = COOKIE, .flags = 1U << 31));
	EXPECT_EQ(-EINVAL, CANCEL(.cookie = COOKIE, .reserved = 1));
}

TEST_F(cancel, refuses_memory_that_can_not_be_read)
{
	EXPECT_EQ(-EFAULT, variant->request(self->set, DEVEPOLL_CANCEL,
					    (void *)4096));
}

TEST_F(cancel, refuses_structs_that_say_more)
{
	struct {
		struct devepoll_cancel arg;
		uint64_t more;
	} large = { { .cookie = COOKIE + 1 }, 0 };

	EXPECT_EQ(-ENOENT, variant->request(self->set, SIZED(sizeof(large)),
					    &large));
	large.more = 1;
	EXPECT_EQ(-E2BIG, variant->request(self->set, SIZED(sizeof(large)),
					   &large));
}

TEST_F(cancel, knows_no_smaller_struct)
{
	struct devepoll_cancel arg = { .cookie = COOKIE };

	EXPECT_EQ(-ENOTTY,
		  variant->request(self->set, SIZED(sizeof(arg) - 8), &arg));
}

TEST_F(cancel, needs_an_open_for_reading)
{
	struct devepoll_cancel arg = { .cookie = COOKIE };
	int writer = dep_request(self->set, DEVEPOLL_REOPEN,
				 (void *)(uintptr_t)O_WRONLY);

	ASSERT_LE(0, writer);
	EXPECT_EQ(-EBADF, variant->request(writer, DEVEPOLL_CANCEL, &arg));
	close(writer);
}

TEST_F(cancel, refuses_sets_of_other_interfaces)
{
	struct devepoll_signal signal = { .signo = SIGRTMIN };
	struct devepoll_cancel arg = { .cookie = COOKIE };
	int old = dep_open(), sends = dep_open(), poll;

	ASSERT_EQ(0, ioctl(old, EP_ALLOC, 8));
	EXPECT_EQ(-EBUSY, variant->request(old, DEVEPOLL_CANCEL, &arg));
	ASSERT_EQ(0, dep_request(sends, DEVEPOLL_SIGNAL, &signal));
	EXPECT_EQ(-EBUSY, variant->request(sends, DEVEPOLL_CANCEL, &arg));
	poll = open("/dev/poll", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, poll);
	EXPECT_GT(0, variant->request(poll, DEVEPOLL_CANCEL, &arg));
	close(poll);
	close(sends);
	close(old);
}

/* The first use of a set decides its interface; this is none. */
TEST_F(cancel, decides_no_interface)
{
	struct devepoll_cancel arg = { .cookie = COOKIE };
	int set = dep_open();

	ASSERT_LE(0, set);
	EXPECT_EQ(-ENOENT, variant->request(set, DEVEPOLL_CANCEL, &arg));
	EXPECT_EQ(0, ioctl(set, EP_ALLOC, 8));
	close(set);
}

/* Only a wait has one. */
TEST_F(cancel, refuses_a_cookie_in_other_commands)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_DEL, .fd = self->set, .result = POISON,
	};
	struct devepoll_ctl ctl = ctl_args(&change, 1);
	struct devepoll_cancel arg = { .cookie = COOKIE };
	const unsigned int requests[] = { DEVEPOLL_CTL, DEVEPOLL_CANCEL };
	void *args[] = { &ctl, &arg };
	struct io_uring_sqe *sqe;
	int i, at;

	for (i = 0; i < 2; i++) {
		for (at = 8; at < 16; at++) {
			sqe = ring_prepare(&self->ring, self->set, requests[i],
					   args[i], 9);
			ASSERT_NE(NULL, sqe);
			((char *)sqe)[SQE_COMMAND + at] = 0x80;
			ASSERT_EQ(0, ring_submit(&self->ring));
			EXPECT_EQ(-EINVAL, ring_result(&self->ring, 9));
		}
	}
	EXPECT_EQ(POISON, change.result);
}

/* Why there is DEVEPOLL_CANCEL. */
TEST_F(cancel, can_not_be_made_by_the_ring_itself)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring.uring);

	NEEDS_WAITS();
	ASSERT_NE(NULL, sqe);
	io_uring_prep_cancel64(sqe, 1, 0);
	sqe->user_data = 2;
	ASSERT_EQ(0, ring_submit(&self->ring));
	EXPECT_EQ(-ENOENT, ring_result(&self->ring, 2));
}

TEST_HARNESS_MAIN
