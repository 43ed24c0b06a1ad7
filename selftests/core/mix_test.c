// SPDX-License-Identifier: GPL-2.0
/* A set belongs to the interface that uses it first. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/first_use.h"

FIXTURE(extended) {
	int fd;
	int member;
};

FIXTURE_VARIANT(extended) {
	int (*use)(int fd, int member);
};

#define FIRST_USE(name)							\
	FIXTURE_VARIANT_ADD(extended, name) { .use = use_##name }

FIRST_USE(ctl);
FIRST_USE(wait);
FIRST_USE(fadvise_ctl);
FIRST_USE(fadvise_wait);

FIXTURE_SETUP(extended)
{
	self->fd = dep_open();
	ASSERT_LE(0, self->fd) TH_LOG("no /dev/epoll here");
	self->member = eventfd_new();
	ASSERT_LE(0, self->member);
}

FIXTURE_TEARDOWN(extended)
{
	close(self->fd);
}

TEST_F(extended, set_is_not_for_the_2001_interface)
{
	struct pollfd pfd = { .fd = self->member };
	struct evpoll evp = { .ep_timeout = 0 };
	int other = eventfd_new();

	ASSERT_EQ(0, variant->use(self->fd, self->member));
	EXPECT_EQ(-EBUSY, dep_alloc(self->fd, 10));
	EXPECT_EQ(-EBUSY, dep_write_one(self->fd, other, POLLIN));
	EXPECT_EQ(-EBUSY, dep_poll(self->fd, &evp));
	EXPECT_EQ(-EBUSY, dep_free(self->fd));
	EXPECT_EQ(-EBUSY, dep_ispolled(self->fd, &pfd));
	EXPECT_EQ(MAP_FAILED, (void *)dep_map(self->fd, EP_MAP_SIZE(10)));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(0, use_wait(self->fd, self->member));
}

TEST_F(extended, set_serves_all_ways_into_it)
{
	struct devepoll_event out;
	int other = eventfd_new();

	ASSERT_EQ(0, variant->use(self->fd, self->member));
	EXPECT_EQ(0, use_ctl(self->fd, other));
	EXPECT_EQ(-EEXIST, use_fadvise_ctl(self->fd, other));
	EXPECT_EQ(0, use_fadvise_wait(self->fd, other));
	EXPECT_EQ(0, use_map(self->fd, other));
	ASSERT_EQ(0, eventfd_post(other));
	EXPECT_EQ(1, use_wait(self->fd, other));
	EXPECT_EQ(1, use_fadvise_wait(self->fd, other));
	EXPECT_EQ(1, dep_wait(self->fd, &out, 1, 0));
}

FIXTURE(classic) {
	struct set set;
	int member;
};

FIXTURE_SETUP(classic)
{
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, 10))
		TH_LOG("no /dev/epoll here");
	self->member = eventfd_new();
	ASSERT_LE(0, self->member);
	ASSERT_EQ(0, set_add(&self->set, self->member, POLLIN));
}

FIXTURE_TEARDOWN(classic)
{
	set_close(&self->set);
}

TEST_F(classic, set_is_not_for_the_extended_interface)
{
	int other = eventfd_new();

	EXPECT_EQ(-EBUSY, use_ctl(self->set.fd, other));
	EXPECT_EQ(-EBUSY, use_wait(self->set.fd, other));
	EXPECT_EQ(-EBUSY, use_fadvise_ctl(self->set.fd, other));
	EXPECT_EQ(-EBUSY, use_fadvise_wait(self->set.fd, other));
	EXPECT_EQ(-EBUSY, use_map(self->set.fd, other));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->member, 0));
}

TEST_F(classic, set_stays_one_when_all_is_freed)
{
	ASSERT_EQ(0, munmap(self->set.map, self->set.map_size));
	self->set.map = NULL;
	ASSERT_EQ(0, dep_free(self->set.fd));
	EXPECT_EQ(-EBUSY, use_ctl(self->set.fd, self->member));
	EXPECT_EQ(0, use_alloc(self->set.fd, self->member));
}

TEST_F(classic, requests_work_through_fadvise)
{
	struct pollfd pfd = { .fd = self->member };
	struct evpoll evp = { .ep_timeout = 0, .ep_resoff = -1UL };

	EXPECT_EQ(1, dep_request_by_fadvise(self->set.fd, EP_ISPOLLED, &pfd));
	EXPECT_EQ(POLLIN, pfd.events);
	ASSERT_EQ(0, eventfd_post(self->member));
	ASSERT_EQ(1, dep_request_by_fadvise(self->set.fd, EP_POLL, &evp));
	EXPECT_GT(self->set.map_size, evp.ep_resoff);
}

/* After a failed first use, either interface can have the set. */
TEST(a_fresh_set_is_of_neither_interface)
{
	struct devepoll_stats stats;
	int fd = dep_open();

	ASSERT_LE(0, fd) TH_LOG("no /dev/epoll here");
	EXPECT_EQ(0, dep_request(fd, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(0, poll_now(fd, POLLIN));
	EXPECT_EQ(0, use_alloc(fd, -1));
	ASSERT_EQ(0, close(fd));
	fd = dep_open();
	EXPECT_EQ(-EINVAL, dep_alloc(fd, -1));
	EXPECT_EQ(0, use_wait(fd, -1));
	ASSERT_EQ(0, close(fd));
}

/* Many threads make the first use at once, half of them of each kind. */
struct first {
	int fd;
	int member;
	bool classic;
	atomic_bool *go;
	struct task task;
};

static long first_use(void *arg)
{
	struct first *first = arg;

	while (!atomic_load(first->go))
		;
	return first->classic ? use_alloc(first->fd, first->member) :
				use_fadvise_wait(first->fd, first->member);
}

TEST(one_interface_wins_a_race)
{
	enum { ROUNDS = 200, THREADS = 2 };
	struct first firsts[THREADS];
	atomic_bool go;
	int i, round, fd, won;

	for (round = 0; round < ROUNDS; round++) {
		fd = dep_open();
		ASSERT_LE(0, fd) TH_LOG("no /dev/epoll here");
		atomic_store(&go, false);
		for (i = 0; i < THREADS; i++) {
			firsts[i] = (struct first){
				.fd = fd, .member = -1, .classic = i, .go = &go,
			};
			ASSERT_EQ(0, task_start(&firsts[i].task, first_use,
						&firsts[i]));
		}
		atomic_store(&go, true);
		for (i = 0, won = 0; i < THREADS; i++) {
			long ret = task_join(&firsts[i].task);

			ASSERT_TRUE(ret == 0 || ret == -EBUSY)
				TH_LOG("it gave %ld", ret);
			won += !ret;
		}
		ASSERT_EQ(1, won);
		ASSERT_EQ(0, close(fd));
	}
}

TEST_HARNESS_MAIN
