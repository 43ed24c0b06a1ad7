// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments of another size than this kernel knows, and bits and numbers that
 * are out of bounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/request.h"

/* A request with its argument's size as another program may know it. */
#define SIZED(request, size)						\
	_IOC(_IOC_DIR(request), EP_IOC_MAGIC, _IOC_NR(request), size)

#define TAIL 64

FIXTURE(size) {
	struct eset set;
	int event;
	struct devepoll_change change;	/* adds it */
	struct devepoll_event out[4];
	struct {
		struct devepoll_ctl ctl;
		unsigned char tail[TAIL];
	} ctl;
	struct {
		struct devepoll_wait_args args;
		unsigned char tail[TAIL];
	} wait;
};

REQUEST_VARIANTS(size);

FIXTURE_SETUP(size)
{
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	self->change = (struct devepoll_change){
		.op = DEVEPOLL_ADD,
		.fd = self->event,
		.events = EPOLLOUT,
		.result = POISON,
		.data = 4711,
	};
	self->ctl.ctl = ctl_args(&self->change, 1);
	self->wait.args = wait_args(self->out, ARRAY_SIZE(self->out), 0);
}

FIXTURE_TEARDOWN(size)
{
	eset_close(&self->set);
}

#define do_ctl(size)							\
	variant->request(self->set.fd, SIZED(DEVEPOLL_CTL, size), &self->ctl)
#define do_wait(size)							\
	variant->request(self->set.fd, SIZED(DEVEPOLL_WAIT, size), &self->wait)

#define IS_UNTOUCHED()							\
	do {								\
		EXPECT_EQ(POISON, self->change.result);			\
		EXPECT_EQ(POISON, self->ctl.ctl.nr_failed);		\
		EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));	\
	} while (0)

TEST_F(size, that_is_larger_with_nothing_in_it_is_fine)
{
	size_t more;

	for (more = 0; more <= TAIL; more += 4) {
		ASSERT_EQ(1, do_ctl(sizeof(struct devepoll_ctl) + more));
		EXPECT_EQ(0, self->change.result);
		EXPECT_EQ(0, self->ctl.ctl.nr_failed);
		ASSERT_EQ(1, do_wait(sizeof(struct devepoll_wait_args) + more));
		EXPECT_EQ(4711, self->out[0].data);
		ASSERT_EQ(0, eset_del(&self->set, self->event));
	}
}

TEST_F(size, that_is_larger_with_something_in_it_is_refused)
{
	static const size_t places[] = { 0, 1, 7, 8, TAIL - 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		self->ctl.tail[places[i]] = 1;
		self->wait.tail[places[i]] = 1;
		EXPECT_EQ(-E2BIG, do_ctl(sizeof(self->ctl)))
			TH_LOG("byte %zu", places[i]);
		EXPECT_EQ(-E2BIG, do_wait(sizeof(self->wait)));
		self->ctl.tail[places[i]] = 0;
		self->wait.tail[places[i]] = 0;
	}
	IS_UNTOUCHED();
}

TEST_F(size, that_is_smaller_is_no_request)
{
	static const size_t sizes[] = { 0, 1, 4, 8, 16, 20, 23 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		EXPECT_EQ(-ENOTTY, do_ctl(sizes[i]));
	for (i = 0; i < sizeof(struct devepoll_wait_args); i += 4)
		EXPECT_EQ(-ENOTTY, do_wait(i));
	IS_UNTOUCHED();
}

TEST_F(size, that_reaches_into_bad_memory_fails)
{
	long page = getpagesize();
	char *edge = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct devepoll_ctl *ctl = (void *)(edge + page - sizeof(*ctl));

	ASSERT_TRUE(edge != MAP_FAILED);
	ASSERT_EQ(0, munmap(edge + page, page));
	memcpy(ctl, &self->ctl.ctl, sizeof(*ctl));
	EXPECT_EQ(-EFAULT, variant->request(self->set.fd,
					    SIZED(DEVEPOLL_CTL, 32), ctl));
	EXPECT_EQ(-EFAULT, variant->request(self->set.fd, DEVEPOLL_CTL,
					    (char *)ctl + 8));
	EXPECT_EQ(-EFAULT, variant->request(self->set.fd, DEVEPOLL_CTL, NULL));
	EXPECT_EQ(-EFAULT, variant->request(self->set.fd, DEVEPOLL_WAIT, ctl));
	EXPECT_EQ(-EFAULT, variant->request(self->set.fd, DEVEPOLL_WAIT, NULL));
	IS_UNTOUCHED();
	EXPECT_EQ(1, variant->request(self->set.fd, DEVEPOLL_CTL, ctl));
	EXPECT_EQ(0, self->change.result);
}

TEST_F(size, and_flags_that_nobody_knows_are_refused)
{
	uint32_t bit;

	for (bit = 1; bit; bit <<= 1) {
		self->ctl.ctl.flags = bit;
		if (bit & ~DEVEPOLL_NO_RESULTS)
			EXPECT_EQ(-EINVAL, do_ctl(sizeof(struct devepoll_ctl)));
		self->wait.args.flags = bit;
		if (bit & ~(DEVEPOLL_WAIT_ABSTIME | DEVEPOLL_WAIT_EPOLL |
			    DEVEPOLL_WAIT_MAPPED))
			EXPECT_EQ(-EINVAL,
				  do_wait(sizeof(struct devepoll_wait_args)))
				TH_LOG("flag %x", bit);
	}
	IS_UNTOUCHED();
}

TEST_F(size, and_events_that_nobody_knows_are_refused)
{
	uint32_t known = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP |
			 POLLNVAL | EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM |
			 EPOLLWRBAND | EPOLLMSG | EPOLLRDHUP | EPOLLWAKEUP |
			 EPOLLEXCLUSIVE | EPOLLONESHOT | EPOLLET;
	uint32_t bit;

	for (bit = 1; bit; bit <<= 1) {
		if (bit & known)
			continue;
		self->change.events = EPOLLIN | bit;
		self->ctl.ctl.nr_failed = 0;
		EXPECT_EQ(1, do_ctl(sizeof(struct devepoll_ctl)));
		EXPECT_EQ(1, self->ctl.ctl.nr_failed);
		EXPECT_EQ(-EINVAL, self->change.result)
			TH_LOG("bit %x", bit);
	}
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
}

TEST_F(size, of_the_array_is_at_least_1_and_not_too_large)
{
	static const uint32_t bad[] = {
		0, DEVEPOLL_MAX_CHANGES + 1, INT32_MAX, 0x80000000, 0xaaaaaaab,
		UINT32_MAX / sizeof(struct devepoll_change) + 1, UINT32_MAX,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->ctl.ctl.nr = bad[i];
		EXPECT_EQ(-EINVAL, do_ctl(sizeof(struct devepoll_ctl)))
			TH_LOG("nr %u", bad[i]);
		/* Then the others have no meaning: see below. */
		if (!bad[i])
			continue;
		self->wait.args.changes = address_of(&self->change);
		self->wait.args.change_size = sizeof(self->change);
		self->wait.args.nr_changes = bad[i];
		EXPECT_EQ(-EINVAL, do_wait(sizeof(struct devepoll_wait_args)));
	}
	IS_UNTOUCHED();
}

TEST_F(size, of_a_change_is_in_bounds_and_even)
{
	const uint32_t bad[] = {
		0, 1, 8, 16, 23, 25, 28, getpagesize() + 8, 65536 + 8,
		0x80000000, UINT32_MAX, UINT32_MAX - 7,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->ctl.ctl.change_size = bad[i];
		EXPECT_EQ(-EINVAL, do_ctl(sizeof(struct devepoll_ctl)))
			TH_LOG("size %u", bad[i]);
		self->wait.args.changes = address_of(&self->change);
		self->wait.args.change_size = bad[i];
		self->wait.args.nr_changes = 1;
		EXPECT_EQ(-EINVAL, do_wait(sizeof(struct devepoll_wait_args)));
	}
	IS_UNTOUCHED();
}

TEST_F(size, of_a_change_that_is_larger_is_the_step)
{
	enum { NR = 40 };
	struct {
		struct devepoll_change change;
		uint64_t more[3];
	} wide[NR] = {};
	int i;

	for (i = 0; i < NR; i++)
		wide[i].change = (struct devepoll_change){
			.op = i & 1 ? DEVEPOLL_DEL : DEVEPOLL_ADD,
			.fd = self->event,
			.events = EPOLLOUT,
			.result = POISON,
		};
	wide[NR - 1].change.op = DEVEPOLL_ADD;
	self->ctl.ctl.changes = address_of(wide);
	self->ctl.ctl.change_size = sizeof(wide[0]);
	self->ctl.ctl.nr = NR;
	EXPECT_EQ(NR, do_ctl(sizeof(struct devepoll_ctl)));
	EXPECT_EQ(1, self->ctl.ctl.nr_failed);
	for (i = 0; i < NR; i++) {
		EXPECT_EQ(i == NR - 1 ? -EEXIST : 0, wide[i].change.result);
		EXPECT_EQ(0, wide[i].more[0] | wide[i].more[1] |
			     wide[i].more[2]);
	}
}

/* A wrong step would meet zeros here, which make a change of another kind. */
TEST_F(size, of_a_change_that_is_a_little_larger_is_the_step)
{
	struct {
		struct devepoll_change change;
		uint64_t more;
	} wide[2] = {
		{ .change = CHANGE(ADD, self->event, EPOLLOUT) },
		{ .change = CHANGE(DEL, self->event, 0) },
	};

	wide[1].change.data = 0;
	self->ctl.ctl.changes = address_of(wide);
	self->ctl.ctl.change_size = sizeof(wide[0]);
	self->ctl.ctl.nr = 2;
	EXPECT_EQ(2, do_ctl(sizeof(struct devepoll_ctl)));
	EXPECT_EQ(0, self->ctl.ctl.nr_failed);
	EXPECT_EQ(0, wide[0].change.result);
	EXPECT_EQ(0, wide[1].change.result);
}

TEST_F(size, of_a_change_with_something_unknown_ends_the_batch)
{
	struct {
		struct devepoll_change change;
		uint64_t more;
	} wide[3] = {};
	int i, others[3];

	for (i = 0; i < 3; i++) {
		others[i] = eventfd_new();
		wide[i].change = (struct devepoll_change){
			.op = DEVEPOLL_ADD,
			.fd = others[i],
			.events = EPOLLOUT,
			.result = POISON,
		};
	}
	wide[1].more = 1ULL << 63;
	self->ctl.ctl.changes = address_of(wide);
	self->ctl.ctl.change_size = sizeof(wide[0]);
	self->ctl.ctl.nr = 3;
	/* The first change was made, and that is reported. */
	EXPECT_EQ(1, do_ctl(sizeof(struct devepoll_ctl)));
	EXPECT_EQ(0, self->ctl.ctl.nr_failed);
	EXPECT_EQ(0, wide[0].change.result);
	EXPECT_EQ(-ENOENT, eset_del(&self->set, others[1]));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, others[2]));
	EXPECT_EQ(0, eset_del(&self->set, others[0]));
	wide[0].more = 1;
	EXPECT_EQ(-E2BIG, do_ctl(sizeof(struct devepoll_ctl)));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, others[0]));
}

TEST_F(size, of_the_results_is_at_least_1_and_not_too_large)
{
	static const uint32_t bad[] = {
		0, DEVEPOLL_MAX_EVENTS + 1, INT32_MAX, 0x80000000, UINT32_MAX,
	};
	size_t i;

	ASSERT_EQ(1, do_ctl(sizeof(struct devepoll_ctl)));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		self->wait.args.max_events = bad[i];
		EXPECT_EQ(-EINVAL, do_wait(sizeof(struct devepoll_wait_args)))
			TH_LOG("%u events", bad[i]);
	}
	self->wait.args.max_events = 1;
	EXPECT_EQ(1, do_wait(sizeof(struct devepoll_wait_args)));
}

/* What has no meaning without another member is 0. */
TEST_F(size, and_members_of_a_wait_that_say_nothing_are_refused)
{
	const struct devepoll_wait_args good = self->wait.args;
	const size_t size = sizeof(struct devepoll_wait_args);

	ASSERT_EQ(1, do_ctl(sizeof(struct devepoll_ctl)));
	memset(self->out, 0xa5, sizeof(self->out));
	self->wait.args.changes = address_of(&self->change);
	EXPECT_EQ(-EINVAL, do_wait(size));
	self->wait.args.changes = 1ULL << 63;
	EXPECT_EQ(-EINVAL, do_wait(size));
	self->wait.args = good;
	self->wait.args.change_size = sizeof(self->change);
	EXPECT_EQ(-EINVAL, do_wait(size));
	self->wait.args.change_size = 1;
	EXPECT_EQ(-EINVAL, do_wait(size));
	self->wait.args = good;
	self->wait.args.sigsetsize = 8;
	EXPECT_EQ(-EINVAL, do_wait(size));
	EXPECT_EQ(0xa5a5a5a5a5a5a5a5, self->out[0].data);
	/* Output members, which the kernel does not read. */
	self->wait.args = good;
	self->wait.args.nr_tried = 1;
	self->wait.args.nr_failed = 1;
	EXPECT_EQ(1, do_wait(size));
	EXPECT_EQ(1, self->wait.args.nr_tried);
	EXPECT_EQ(1, self->wait.args.nr_failed);
}

TEST_F(size, of_min_events_is_not_above_the_maximum)
{
	self->wait.args.min_events = ARRAY_SIZE(self->out) + 1;
	EXPECT_EQ(-EINVAL, do_wait(sizeof(struct devepoll_wait_args)));
	self->wait.args.min_events = UINT32_MAX;
	EXPECT_EQ(-EINVAL, do_wait(sizeof(struct devepoll_wait_args)));
	self->wait.args.min_events = ARRAY_SIZE(self->out);
	EXPECT_EQ(0, do_wait(sizeof(struct devepoll_wait_args)));
}

/* Requests that don't exist, of all directions and numbers. */
TEST_F(size, of_unknown_requests_does_not_matter)
{
	unsigned int nr, dir, request;

	for (nr = 0x1a; nr < 0x20; nr++) {
		if (nr == _IOC_NR(DEVEPOLL_CANCEL) ||
		    nr == _IOC_NR(DEVEPOLL_SPIN) ||
		    nr == _IOC_NR(DEVEPOLL_NEW))
			continue;
		for (dir = 0; dir < 4; dir++) {
			request = _IOC(dir, EP_IOC_MAGIC, nr, 24);
			EXPECT_EQ(-ENOTTY, dep_request(self->set.fd, request,
						       &self->ctl));
		}
	}
	IS_UNTOUCHED();
}

/* The limits of epoll_wait(2) itself. */
ESET_FIXTURE(room)

TEST_F(room, for_events_is_checked_as_epoll_does)
{
	static const int bad[] = { 0, -1, INT_MIN, INT_MAX };
	struct epoll_event out[2];
	int event = eventfd_new();
	size_t i;

	ASSERT_EQ(0, eset_add(&self->set, event, EPOLLOUT));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (bad[i] == INT_MAX && variant->ops != &eset_sysepoll &&
		    variant->ops != &eset_devepoll_fadvise)
			continue;
		EXPECT_EQ(-EINVAL, variant->ops->wait(&self->set, out, bad[i],
						      0))
			TH_LOG("%d events", bad[i]);
	}
	EXPECT_EQ(1, eset_wait(&self->set, out, 2, 0));
}

TEST_HARNESS_MAIN
