// SPDX-License-Identifier: GPL-2.0
/*
 * Waits in a process of two threads: a table of files that is shared keeps no
 * file from being closed, so each is taken and polled by itself.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* More than are taken without a pause. */
#define FDS	100

FIXTURE(shared_table) {
	struct eset set;
	int fds[FDS];
	struct epoll_event out[FDS];
};

ESET_VARIANTS(shared_table);

static void *be_there(void *arg)
{
	pause();
	return arg;
}

FIXTURE_SETUP(shared_table)
{
	pthread_t thread;
	int i;

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	for (i = 0; i < FDS; i++) {
		self->fds[i] = eventfd_new();
		ASSERT_LE(0, self->fds[i]);
	}
	ASSERT_EQ(0, pthread_create(&thread, NULL, be_there, NULL));
}

FIXTURE_TEARDOWN(shared_table)
{
	eset_close(&self->set);
}

static int add_ready(struct eset *set, const int *fds, int nr, uint32_t events)
{
	int i, ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = eset_add(set, fds[i], events) ?: eventfd_post(fds[i]);
	return ret;
}

/* Are the events those of @nr fds, in their order? */
static bool are_of(const struct epoll_event *out, const int *fds, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (out[i].events != EPOLLIN || out[i].data.u64 != (uint64_t)fds[i])
			return false;
	}
	return true;
}

TEST_F(shared_table, edges_come_once_in_their_order)
{
	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN | EPOLLET));
	ASSERT_EQ(FDS, eset_wait(&self->set, self->out, FDS, 0));
	EXPECT_TRUE(are_of(self->out, self->fds, FDS));
	EXPECT_EQ(0, eset_wait(&self->set, self->out, FDS, 0));
}

TEST_F(shared_table, edges_without_room_come_next)
{
	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN | EPOLLET));
	ASSERT_EQ(70, eset_wait(&self->set, self->out, 70, 0));
	EXPECT_TRUE(are_of(self->out, self->fds, 70));
	ASSERT_EQ(FDS - 70, eset_wait(&self->set, self->out, FDS, 0));
	EXPECT_TRUE(are_of(self->out, self->fds + 70, FDS - 70));
}

TEST_F(shared_table, levels_come_once_in_each_wait)
{
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(FDS, eset_wait(&self->set, self->out, FDS, 0));
		EXPECT_TRUE(are_of(self->out, self->fds, FDS));
	}
	for (i = 0; i < FDS; i++)
		ASSERT_EQ(0, empty(self->fds[i]));
	EXPECT_EQ(0, eset_wait(&self->set, self->out, FDS, 0));
}

TEST_F(shared_table, one_level_comes_in_each_wait)
{
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, 1, EPOLLIN));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(1, eset_wait(&self->set, self->out, FDS, 0));
		EXPECT_TRUE(are_of(self->out, self->fds, 1));
	}
	ASSERT_EQ(0, empty(self->fds[0]));
	EXPECT_EQ(0, eset_wait(&self->set, self->out, FDS, 0));
}

TEST_F(shared_table, one_shots_are_disabled)
{
	static const uint32_t kinds[] = {
		EPOLLIN | EPOLLONESHOT,
		EPOLLIN | EPOLLONESHOT | EPOLLET,
	};
	int i;

	for (i = 0; i < FDS; i++)
		ASSERT_EQ(0, add_ready(&self->set, &self->fds[i], 1,
				       kinds[i % 2]));
	ASSERT_EQ(FDS, eset_wait(&self->set, self->out, FDS, 0));
	EXPECT_TRUE(are_of(self->out, self->fds, FDS));
	for (i = 0; i < FDS; i++)
		ASSERT_EQ(0, eventfd_post(self->fds[i]));
	EXPECT_EQ(0, eset_wait(&self->set, self->out, FDS, 0));
	ASSERT_EQ(0, eset_mod(&self->set, self->fds[5], kinds[0]));
	ASSERT_EQ(1, eset_wait(&self->set, self->out, FDS, 0));
	EXPECT_TRUE(are_of(self->out, self->fds + 5, 1));
}

TEST_F(shared_table, what_is_over_is_passed_by)
{
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN | EPOLLET));
	for (i = 0; i < FDS - 1; i++)
		ASSERT_EQ(0, empty(self->fds[i]));
	ASSERT_EQ(1, eset_wait(&self->set, self->out, FDS, 0));
	EXPECT_TRUE(are_of(self->out, self->fds + FDS - 1, 1));
	ASSERT_EQ(0, eventfd_post(self->fds[3]));
	ASSERT_EQ(1, eset_wait(&self->set, self->out, 1, 0));
	EXPECT_TRUE(are_of(self->out, self->fds + 3, 1));
}

TEST_F(shared_table, what_was_closed_does_not_come)
{
	int i;

	ASSERT_EQ(0, add_ready(&self->set, self->fds, FDS, EPOLLIN));
	for (i = 0; i < FDS; i += 2)
		ASSERT_EQ(0, close(self->fds[i]));
	ASSERT_EQ(FDS / 2, eset_wait(&self->set, self->out, FDS, 0));
	for (i = 0; i < FDS / 2; i++)
		EXPECT_EQ(self->fds[2 * i + 1], self->out[i].data.u64);
}

/* Memory that ends in the middle of an event: those before it come. */
TEST_F(shared_table, no_event_is_lost_to_memory_that_is_not_there)
{
	static const uint32_t kinds[] = { 0, EPOLLET, EPOLLONESHOT };
	const struct eset_ops *ops = variant->ops;
	long page = sysconf(_SC_PAGESIZE);
	struct epoll_event *edge;
	char *memory;
	int i, nr;

	if (ops != &eset_sysepoll && ops != &eset_devepoll_fadvise)
		SKIP(return, "its events are copied");
	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, memory);
	ASSERT_EQ(0, mprotect(memory + page, page, PROT_NONE));
	for (i = 0; i < 30; i++)
		ASSERT_EQ(0, add_ready(&self->set, &self->fds[i], 1,
				       EPOLLIN | kinds[i % 3]));
	EXPECT_EQ(-EFAULT, ops->wait(&self->set, (void *)(memory + page), 30,
				     0));
	for (nr = 0; nr < 2; nr++) {
		/* Room for one event and a half. */
		edge = (void *)(memory + page - sizeof(*edge) * 3 / 2);
		ASSERT_EQ(1, ops->wait(&self->set, edge, 30, 0));
		EXPECT_EQ(self->fds[nr], edge->data.u64);
		ASSERT_EQ(0, close(self->fds[nr]));
	}
	ASSERT_EQ(28, eset_wait(&self->set, self->out, FDS, 0));
	EXPECT_TRUE(are_of(self->out, self->fds + 2, 28));
}

TEST_HARNESS_MAIN
