// SPDX-License-Identifier: GPL-2.0
/*
 * The fadvise entry: arguments that have no meaning there or would be cut off,
 * and the entry turned off by the parameter of the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_param.h"
#include "core/request.h"

/* Values of a length that is not 0. */
static const uint64_t lengths[] = {
	1, 8, INT_MAX, 1ULL << 31, 1ULL << 32, 1ULL << 62, INT64_MAX,
	1ULL << 63, UINT64_MAX,
};

FIXTURE(fadvise) {
	int fd;
	int member;
	struct devepoll_change change;
	struct devepoll_ctl ctl;
	struct devepoll_event out;
	struct devepoll_wait_args args;
	char before;
};

FIXTURE_SETUP(fadvise)
{
	self->before = fadvise_param();
	if (self->before == 'N')
		ASSERT_EQ(0, set_fadvise_param('Y'));
	self->fd = dep_open();
	ASSERT_LE(0, self->fd) TH_LOG("no /dev/epoll here");
	self->member = eventfd_new();
	ASSERT_LE(0, self->member);
	self->change = (struct devepoll_change){
		.op = DEVEPOLL_ADD,
		.fd = self->member,
		.events = EPOLLIN,
		.result = POISON,
	};
	self->ctl = ctl_args(&self->change, 1);
	memset(&self->out, 0xa5, sizeof(self->out));
	self->args = wait_args(&self->out, 1, 0);
}

FIXTURE_TEARDOWN(fadvise)
{
	if (self->before && fadvise_param() != self->before)
		EXPECT_EQ(0, set_fadvise_param(self->before));
	close(self->fd);
}

#define TURN_OFF()							\
	do {								\
		if (set_fadvise_param('N'))				\
			SKIP(return, "can't write the parameter");	\
	} while (0)

TEST_F(fadvise, takes_no_length_without_a_meaning)
{
	struct pollfd pfd = { .fd = self->member, .revents = -1 };
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };
	struct devepoll_signal signal = { .signo = SIGRTMIN + 3 };
	struct devepoll_stats stats = { .items = POISON };
	const struct {
		unsigned int request;
		uint64_t argument;
	} requests[] = {
		{ EP_ALLOC, 10 }, { EP_FREE, 0 },
		{ EP_POLL, address_of(&evp) },
		{ EP_ISPOLLED, address_of(&pfd) },
		{ DEVEPOLL_CTL, address_of(&self->ctl) },
		{ DEVEPOLL_WAIT, address_of(&self->args) },
		{ DEVEPOLL_STATS, address_of(&stats) },
		{ DEVEPOLL_SIGNAL, address_of(&signal) },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			EXPECT_EQ(-EINVAL, dep_fadvise(self->fd,
						       requests[i].argument,
						       lengths[j],
						       requests[i].request))
				TH_LOG("request %zu", i);
		}
	}
	EXPECT_EQ(POISON, self->change.result);
	EXPECT_EQ(POISON, self->ctl.nr_failed);
	EXPECT_EQ(POISON, stats.items);
	EXPECT_EQ(-1, pfd.revents);
	EXPECT_EQ(-1UL, evp.ep_resoff);
	EXPECT_EQ(0xa5a5a5a5a5a5a5a5, self->out.data);
	/* None of them was a use of the set. */
	EXPECT_EQ(0, dep_fadvise(self->fd, 10, 0, EP_ALLOC));
	EXPECT_EQ(0, dep_fadvise(self->fd, 0, 0, EP_FREE));
}

TEST_F(fadvise, cuts_no_number_of_ep_alloc)
{
	static const uint64_t bad[] = {
		1ULL << 32, 1ULL << 32 | 10, 1ULL << 63 | 10, 0,
		UINT32_MAX, UINT64_MAX, INT64_MAX,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, dep_fadvise(self->fd, bad[i], 0, EP_ALLOC))
			TH_LOG("place %zu", i);
	}
	EXPECT_EQ(-EINVAL, dep_free(self->fd));
	EXPECT_EQ(0, dep_fadvise(self->fd, 10, 0, EP_ALLOC));
	EXPECT_EQ(-EINVAL, dep_fadvise(self->fd, 1, 0, EP_FREE));
	EXPECT_EQ(-EINVAL, dep_fadvise(self->fd, 1ULL << 32, 0, EP_FREE));
	EXPECT_EQ(0, dep_fadvise(self->fd, 0, 0, EP_FREE));
}

TEST_F(fadvise, knows_no_fd_of_more_than_32_bits)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 42 };
	const uint64_t bad[] = {
		1ULL << 32 | self->member, 1ULL << 63 | self->member,
		0xffffffff00000000 | self->member, 1ULL << 32, UINT32_MAX,
		UINT64_MAX, INT64_MAX,
	};
	const uint64_t at = address_of(&event);
	struct devepoll_stats stats;
	size_t i;
	int op;

	for (op = EPOLL_CTL_ADD; op <= EPOLL_CTL_MOD; op++) {
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			EXPECT_EQ(-EBADF, dep_fadvise(self->fd, at, bad[i],
						      DEVEPOLL_EPOLL_CTL(op)))
				TH_LOG("op %d, place %zu", op, i);
		}
		/* The others meet one that is in the set. */
		if (op == EPOLL_CTL_ADD)
			ASSERT_EQ(0, dep_fadvise(self->fd, at, self->member,
						 DEVEPOLL_EPOLL_CTL(op)));
	}
	/* The event is read first. */
	EXPECT_EQ(-EFAULT, dep_fadvise(self->fd, 8, bad[0],
				       DEVEPOLL_EPOLL_CTL(EPOLL_CTL_ADD)));
	ASSERT_EQ(0, dep_request(self->fd, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(1, stats.items);
	EXPECT_EQ(0, dep_fadvise(self->fd, 8, self->member,
				 DEVEPOLL_EPOLL_CTL(EPOLL_CTL_DEL)));
}

TEST_F(fadvise, knows_no_other_requests)
{
	unsigned int nr;

	for (nr = 0x24; nr < 0x30; nr++) {
		/* Those that there are, see change_one_test.c. */
		if (nr > 0x28 && nr < 0x2c)
			continue;
		EXPECT_EQ(-EINVAL, dep_fadvise(self->fd, 0, 0,
					       _IO(EP_IOC_MAGIC, nr)));
	}
	EXPECT_EQ(-EINVAL, dep_fadvise(self->fd, 0, 0,
				       _IO(EP_IOC_MAGIC, 0x10)));
	EXPECT_EQ(0, dep_alloc(self->fd, 10));
}

/* Asks the device and another file the same; their answer, or -EPROTO. */
static int as_of_others(int fd, int other, uint64_t length,
			unsigned int advice)
{
	int ret = dep_fadvise(fd, 0, length, advice);

	return ret == dep_fadvise(other, 0, length, advice) ? ret : -EPROTO;
}

TEST_F(fadvise, gives_advice_as_other_devices_do)
{
	int other = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned int advice;
	int round;

	ASSERT_LE(0, other);
	for (round = 0; round < 2; round++) {
		for (advice = 0; advice < 10; advice++) {
			EXPECT_NE(-EPROTO, as_of_others(self->fd, other, 0,
							advice));
			EXPECT_EQ(-EINVAL, as_of_others(self->fd, other,
							1ULL << 63, advice));
		}
		EXPECT_EQ(-EINVAL, as_of_others(self->fd, other, 0, INT_MAX));
		if (!round)
			TURN_OFF();
	}
	EXPECT_EQ(0, close(other));
}

TEST_F(fadvise, that_is_off_takes_no_request)
{
	struct devepoll_stats stats = { .items = POISON };
	struct epoll_event event = { .events = EPOLLIN };
	struct epoll_event out = { .data.u64 = POISON };

	TURN_OFF();
	EXPECT_EQ(-EINVAL, dep_fadvise(self->fd, 10, 0, EP_ALLOC));
	EXPECT_EQ(-EINVAL, dep_request_by_fadvise(self->fd, DEVEPOLL_CTL,
						  &self->ctl));
	EXPECT_EQ(-EINVAL, dep_request_by_fadvise(self->fd, DEVEPOLL_STATS,
						  &stats));
	EXPECT_EQ(-EINVAL, dep_epoll_ctl(self->fd, EPOLL_CTL_ADD, self->member,
					 &event));
	EXPECT_EQ(-EINVAL, dep_epoll_wait(self->fd, &out, 1, -1));
	EXPECT_EQ(-EINVAL, dep_take(self->fd, 0, 1, -1));
	EXPECT_EQ(POISON, self->change.result);
	EXPECT_EQ(POISON, self->ctl.nr_failed);
	EXPECT_EQ(POISON, stats.items);
	EXPECT_EQ(POISON, out.data.u64);
	/* Then requests go through ioctl(2). */
	EXPECT_EQ(1, dep_request(self->fd, DEVEPOLL_CTL, &self->ctl));
	EXPECT_EQ(0, dep_request(self->fd, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(1, stats.items);
	EXPECT_EQ(0, dep_wait(self->fd, &self->out, 1, 0));
}

TEST_F(fadvise, that_is_off_lets_out_who_is_inside)
{
	struct ewaiter waiter = {};
	struct eset set;

	NEEDS_THREADS();
	ASSERT_EQ(0, eset_adopt(&set, &eset_devepoll_fadvise, dup(self->fd)));
	ASSERT_EQ(0, eset_add(&set, self->member, EPOLLIN));
	ASSERT_EQ(0, ewaiter_start(&waiter, &set, -1));
	TURN_OFF();
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(0, set_fadvise_param('Y'));
	EXPECT_EQ(POLLIN, eset_wait_one(&set, self->member, 0));
	eset_close(&set);
}

TEST_HARNESS_MAIN
