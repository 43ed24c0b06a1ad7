// SPDX-License-Identifier: GPL-2.0
/*
 * Changes and results in memory that can't be read or written, partly or at
 * all: what was done is reported, and no event is lost.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/request.h"

#define NR	40	/* more than the kernel handles at a time */

/* @size bytes at the end of a page; what follows has @prot. */
static void *at_edge(size_t size, int prot)
{
	long page = getpagesize();
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + page, page, prot))
		return NULL;
	return p + page - size;
}

FIXTURE(changes) {
	struct eset set;
	int events[NR];
};

FIXTURE_VARIANT(changes) {
	int (*request)(int fd, unsigned long request, void *arg);
	int prot;
};

FIXTURE_VARIANT_ADD(changes, unmapped_by_ioctl) {
	.request = dep_request,
	.prot = PROT_NONE,
};

FIXTURE_VARIANT_ADD(changes, read_only_by_ioctl) {
	.request = dep_request,
	.prot = PROT_READ,
};

FIXTURE_VARIANT_ADD(changes, unmapped_by_fadvise) {
	.request = dep_request_by_fadvise,
	.prot = PROT_NONE,
};

FIXTURE_SETUP(changes)
{
	int i;

	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	for (i = 0; i < NR; i++) {
		self->events[i] = eventfd_new();
		ASSERT_LE(0, self->events[i]);
	}
}

FIXTURE_TEARDOWN(changes)
{
	eset_close(&self->set);
}

/* Makes @nr changes of which @good have memory; the array is given back. */
static int apply(int (*request)(int fd, unsigned long request, void *arg),
		 int fd, const int *events, int good, int prot,
		 struct devepoll_ctl *ctl)
{
	struct devepoll_change *changes;
	int i;

	changes = at_edge(good * sizeof(*changes), prot);
	for (i = 0; changes && i < good; i++)
		changes[i] = (struct devepoll_change){
			.op = DEVEPOLL_ADD,
			.fd = events[i],
			.events = EPOLLOUT,
			.result = POISON,
		};
	*ctl = ctl_args(changes, NR);
	return request(fd, DEVEPOLL_CTL, ctl);
}

TEST_F(changes, that_end_half_way_are_made_and_told_up_to_there)
{
	static const int goods[] = { 1, 2, 15, 16, 17, 31, 32, 33, NR - 1 };
	const struct devepoll_change *changes;
	struct devepoll_ctl ctl;
	size_t j;
	int i;

	for (j = 0; j < ARRAY_SIZE(goods); j++) {
		ASSERT_EQ(goods[j],
			  apply(variant->request, self->set.fd, self->events,
				goods[j], variant->prot, &ctl));
		EXPECT_EQ(0, ctl.nr_failed);
		changes = (void *)(uintptr_t)ctl.changes;
		for (i = 0; i < goods[j]; i++)
			EXPECT_EQ(0, changes[i].result);
		for (i = 0; i < NR; i++) {
			EXPECT_EQ(i < goods[j] ? 0 : -ENOENT,
				  eset_del(&self->set, self->events[i]))
				TH_LOG("%d of %d", i, goods[j]);
		}
	}
}

TEST_F(changes, whose_failures_come_before_the_end_are_counted)
{
	struct devepoll_ctl ctl;

	ASSERT_EQ(0, eset_add(&self->set, self->events[1], EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, self->events[19], EPOLLIN));
	ASSERT_EQ(20, apply(variant->request, self->set.fd, self->events, 20,
			    variant->prot, &ctl));
	EXPECT_EQ(2, ctl.nr_failed);
}

TEST_F(changes, without_memory_are_not_made)
{
	struct devepoll_ctl ctl;
	int i;

	EXPECT_EQ(-EFAULT, apply(variant->request, self->set.fd, self->events,
				 0, variant->prot, &ctl));
	for (i = 0; i < NR; i++)
		EXPECT_EQ(-ENOENT, eset_del(&self->set, self->events[i]));
}

TEST_F(changes, that_are_half_in_memory_are_not_made)
{
	struct devepoll_change *change = at_edge(12, variant->prot);
	struct devepoll_change whole = {
		.op = DEVEPOLL_ADD,
		.fd = self->events[0],
		.events = EPOLLOUT,
	};
	uint32_t failed;

	ASSERT_TRUE(!!change);
	memcpy(change, &whole, 12);
	EXPECT_EQ(-EFAULT, dep_changes(self->set.fd, change, 1, &failed));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->events[0]));
}

/* An address that wraps around, or that no program can have. */
TEST_F(changes, at_wild_addresses_are_not_made)
{
	static const uint64_t wild[] = {
		0, 1, -1ULL, -8ULL, -24ULL, 1ULL << 63, 0xffff888000000000ULL,
		0x7ffffffff000ULL, 1ULL << 47,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		struct devepoll_ctl ctl = {
			.changes = wild[i],
			.nr = 1,
			.change_size = sizeof(struct devepoll_change),
		};

		EXPECT_EQ(-EFAULT, variant->request(self->set.fd,
						    DEVEPOLL_CTL, &ctl))
			TH_LOG("address %llx", (unsigned long long)wild[i]);
	}
}

/* The argument can be read and not written. */
TEST_F(changes, whose_count_cannot_be_told_are_not_made)
{
	long page = getpagesize();
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.fd = self->events[0],
		.events = EPOLLOUT,
	};
	struct devepoll_ctl *ctl;

	ctl = mmap(NULL, page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(ctl != MAP_FAILED);
	*ctl = ctl_args(&change, 1);
	ASSERT_EQ(0, mprotect(ctl, page, PROT_READ));
	EXPECT_EQ(-EFAULT, variant->request(self->set.fd, DEVEPOLL_CTL, ctl));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->events[0]));
}

/* Results, as epoll_wait(2) writes them. */
FIXTURE(results) {
	struct eset set;
	int events[3];
};

FIXTURE_VARIANT(results) {
	const struct eset_ops *ops;
	uint32_t mode;
};

#define RESULTS(name, way, what)					\
	FIXTURE_VARIANT_ADD(results, name) {				\
		.ops = &eset_##way,					\
		.mode = what,						\
	}

RESULTS(level_by_fadvise, devepoll_fadvise, 0);
RESULTS(edge_by_fadvise, devepoll_fadvise, EPOLLET);
RESULTS(one_shot_by_fadvise, devepoll_fadvise, EPOLLONESHOT);
RESULTS(level_by_sysepoll, sysepoll, 0);
RESULTS(edge_by_sysepoll, sysepoll, EPOLLET);
RESULTS(one_shot_by_sysepoll, sysepoll, EPOLLONESHOT);

FIXTURE_SETUP(results)
{
	int i;

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	for (i = 0; i < 3; i++) {
		self->events[i] = eventfd_new();
		ASSERT_LE(0, self->events[i]);
		ASSERT_EQ(0, eset_add(&self->set, self->events[i],
				      EPOLLIN | variant->mode));
		ASSERT_EQ(0, eventfd_post(self->events[i]));
	}
}

FIXTURE_TEARDOWN(results)
{
	eset_close(&self->set);
}

TEST_F(results, without_memory_lose_no_event)
{
	static const int prots[] = { PROT_NONE, PROT_READ };
	struct epoll_event *out;
	size_t i;

	for (i = 0; i < 2; i++) {
		out = at_edge(0, prots[i]);
		ASSERT_TRUE(!!out);
		EXPECT_EQ(-EFAULT, variant->ops->wait(&self->set, out, 3, 0));
		EXPECT_EQ(-EFAULT, variant->ops->wait(&self->set, out, 1, -1));
		EXPECT_EQ(-EFAULT, variant->ops->wait(&self->set, NULL, 3, 0));
	}
	EXPECT_EQ(3, eset_drain(&self->set));
}

TEST_F(results, with_memory_for_some_lose_no_event)
{
	struct epoll_event *out, more[3];
	int good, n;

	for (good = 1; good < 3; good++) {
		out = at_edge(good * sizeof(*out), PROT_NONE);
		ASSERT_TRUE(!!out);
		ASSERT_EQ(good, variant->ops->wait(&self->set, out, 3, 0));
		EXPECT_EQ(self->events[0], out[0].data.u64);
		EXPECT_EQ(EPOLLIN, out[0].events);
		n = eset_wait(&self->set, more, 3, 0);
		/* What did not fit comes first, then what stays ready. */
		EXPECT_EQ(variant->mode ? 3 - good : 3, n);
		EXPECT_EQ(self->events[good], more[0].data.u64);
		/* From here on as at first. */
		ASSERT_EQ(0, eset_del(&self->set, self->events[0]));
		ASSERT_EQ(0, eset_del(&self->set, self->events[1]));
		ASSERT_EQ(0, eset_del(&self->set, self->events[2]));
		for (n = 0; n < 3; n++)
			ASSERT_EQ(0, eset_add(&self->set, self->events[n],
					      EPOLLIN | variant->mode));
	}
}

/* A page that is not there yet is faulted in, also for the first event. */
TEST_F(results, in_fresh_memory_are_written)
{
	long page = getpagesize();
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct epoll_event *out;

	ASSERT_TRUE(p != MAP_FAILED);
	/* The second event lies across both pages. */
	out = (void *)(p + page - sizeof(*out) - sizeof(*out) / 2);
	ASSERT_EQ(3, variant->ops->wait(&self->set, out, 3, 0));
	EXPECT_EQ(self->events[0], out[0].data.u64);
	EXPECT_EQ(self->events[1], out[1].data.u64);
	EXPECT_EQ(self->events[2], out[2].data.u64);
}

TEST_HARNESS_MAIN
