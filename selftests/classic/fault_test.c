// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in each call of the interface.  A call then fails with a clear
 * errno or a short count, leaves the set as it was, and works the next time.
 *
 * Needs a kernel with fault injection.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "classic/fault_world.h"

FIXTURE(fault) {
	struct world w;
};

FIXTURE_SETUP(fault)
{
	int err = world_open(&self->w);

	if (err == -ENOSYS)
		SKIP(return, "no fault injection in this kernel");
	ASSERT_EQ(0, err);
}

FIXTURE_TEARDOWN(fault)
{
	world_close(&self->w);
}

static int call_open(struct world *w)
{
	(void)w;
	return dep_open();
}

static bool check_open(struct world *w, int ret, bool hit)
{
	(void)w;
	if (ret < 0)
		return hit && out_of_memory(ret);
	return close(ret) == 0;
}

TEST_F(fault, open_fails_with_a_clear_errno)
{
	EXPECT_LT(0, walk(&self->w, call_open, check_open));
}

/* A second set, so that nothing is mapped. */
static int call_alloc(struct world *w)
{
	return dep_alloc(w->files[0][0], SET_FDS);
}

static bool check_alloc(struct world *w, int ret, bool hit)
{
	int fd = w->files[0][0];

	if (ret && (!hit || ret != -ENOMEM))
		return false;
	if (ret && dep_free(fd) != -EINVAL)
		return false;
	if (ret && dep_alloc(fd, SET_FDS))
		return false;
	return dep_free(fd) == 0;
}

TEST_F(fault, failed_alloc_leaves_nothing)
{
	self->w.files[0][0] = dep_open();
	ASSERT_LE(0, self->w.files[0][0]);
	EXPECT_LT(4, walk(&self->w, call_alloc, check_alloc));
	close(self->w.files[0][0]);
}

/* Growing a set that has an fd and a pending event. */
static int call_grow(struct world *w)
{
	return dep_alloc(w->files[0][0], 3 * SET_FDS);
}

static bool check_grow(struct world *w, int ret, bool hit)
{
	int fd = w->files[0][0], event = w->files[1][0];
	int room = ret ? SET_FDS : 3 * SET_FDS;
	struct evpoll evp = { .ep_timeout = 0 };
	struct pollfd *res;
	char *map;
	bool good;

	if (ret && (!hit || ret != -ENOMEM))
		return false;
	map = dep_map(fd, EP_MAP_SIZE(room));
	if (map == MAP_FAILED)
		return false;
	good = dep_poll(fd, &evp) == 1;
	res = (struct pollfd *)(map + evp.ep_resoff);
	good = good && res->fd == event && res->revents == POLLIN;
	munmap(map, EP_MAP_SIZE(room));
	/* As it was. */
	return good && !dep_free(fd) && !dep_alloc(fd, SET_FDS) &&
	       dep_write_one(fd, event, POLLIN) == 8;
}

TEST_F(fault, failed_growth_keeps_fds_and_events)
{
	struct world *w = &self->w;

	w->files[0][0] = dep_open();
	w->files[1][0] = eventfd_new();
	ASSERT_EQ(0, eventfd_post(w->files[1][0]));
	ASSERT_EQ(0, dep_alloc(w->files[0][0], SET_FDS));
	ASSERT_EQ(8, dep_write_one(w->files[0][0], w->files[1][0], POLLIN));
	EXPECT_LT(4, walk(w, call_grow, check_grow));
	close(w->files[0][0]);
	close(w->files[1][0]);
}

static int call_map(struct world *w)
{
	w->second_map = dep_map(w->set, SET_SIZE);
	if (w->second_map == MAP_FAILED)
		return -errno;
	return munmap(w->second_map, SET_SIZE) ? -errno : 0;
}

static bool check_map(struct world *w, int ret, bool hit)
{
	if (ret && (!hit || ret != -ENOMEM))
		return false;
	/* It may have been the unmapping that failed. */
	if (w->second_map)
		munmap(w->second_map, SET_SIZE);
	w->second_map = NULL;
	/* With the first mapping goes the last that is counted. */
	munmap(w->map, SET_SIZE);
	if (dep_free(w->set) || dep_alloc(w->set, SET_FDS))
		return false;
	w->map = dep_map(w->set, SET_SIZE);
	return w->map != MAP_FAILED;
}

TEST_F(fault, failed_mapping_is_not_counted)
{
	EXPECT_LT(0, walk(&self->w, call_map, check_map));
}

/* A fork copies the mapping, or fails. */
static int call_fork(struct world *w)
{
	pid_t pid = fork();

	(void)w;
	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : reap(pid);
}

static bool check_fork(struct world *w, int ret, bool hit)
{
	if (ret == -EAGAIN)
		ret = -ENOMEM;
	return check_map(w, ret, hit);
}

TEST_F(fault, failed_fork_does_not_count_the_mapping)
{
	EXPECT_LT(0, walk(&self->w, call_fork, check_fork));
}

static int call_query(struct world *w)
{
	struct pollfd q = { .fd = w->files[0][0] };

	return dep_ispolled(w->set, &q);
}

static bool check_query(struct world *w, int ret, bool hit)
{
	(void)w;
	return ret == 0 || (hit && ret == -EFAULT);
}

TEST_F(fault, failed_query_gives_efault)
{
	self->w.files[0][0] = 99;
	EXPECT_LT(0, walk(&self->w, call_query, check_query));
}

static int call_poll(struct world *w)
{
	struct pollfd p = { .fd = w->set, .events = POLLIN };
	int n = poll(&p, 1, 0);

	return n < 0 ? -errno : n;
}

static bool check_poll(struct world *w, int ret, bool hit)
{
	struct evpoll evp = { .ep_timeout = 0 };

	if (ret != 1 && !(hit && out_of_memory(ret)))
		return false;
	/* The event that was polled for is there. */
	return dep_poll(w->set, &evp) == 1 && !eventfd_post(w->files[0][0]);
}

TEST_F(fault, failed_poll_of_the_device_loses_nothing)
{
	struct world *w = &self->w;

	w->files[0][0] = eventfd_new();
	ASSERT_EQ(8, dep_write_one(w->set, w->files[0][0], POLLIN));
	ASSERT_EQ(0, eventfd_post(w->files[0][0]));
	EXPECT_LT(0, walk(w, call_poll, check_poll));
	close(w->files[0][0]);
}

static int call_take(struct world *w)
{
	struct evpoll evp = { .ep_timeout = 0 };

	return dep_poll(w->set, &evp);
}

static bool check_take(struct world *w, int ret, bool hit)
{
	(void)hit;
	return ret == 1 && !call_take(w) && !eventfd_post(w->files[0][0]);
}

/* What it copies is walked in short_memory_old_test. */
TEST_F(fault, wait_never_fails)
{
	struct world *w = &self->w;

	w->files[0][0] = eventfd_new();
	ASSERT_EQ(8, dep_write_one(w->set, w->files[0][0], POLLIN));
	ASSERT_EQ(0, eventfd_post(w->files[0][0]));
	EXPECT_TRUE(spares(w, call_take, check_take));
	close(w->files[0][0]);
}

static int call_remove(struct world *w)
{
	return dep_write_one(w->set, w->files[0][0], POLLREMOVE);
}

static bool check_remove(struct world *w, int ret, bool hit)
{
	struct pollfd q = { .fd = w->files[0][0] };

	(void)hit;
	return ret == 8 && !dep_ispolled(w->set, &q) &&
	       dep_write_one(w->set, q.fd, POLLIN) == 8;
}

/* What it reads is walked in short_memory_old_test. */
TEST_F(fault, removal_never_fails)
{
	struct world *w = &self->w;

	w->files[0][0] = eventfd_new();
	ASSERT_EQ(8, dep_write_one(w->set, w->files[0][0], POLLIN));
	EXPECT_TRUE(spares(w, call_remove, check_remove));
	close(w->files[0][0]);
}

static int call_free(struct world *w)
{
	return dep_free(w->files[0][0]);
}

static bool check_free(struct world *w, int ret, bool hit)
{
	(void)hit;
	return ret == 0 && dep_alloc(w->files[0][0], SET_FDS) == 0 &&
	       dep_write_one(w->files[0][0], w->files[1][0], POLLIN) == 8;
}

/* Removing and closing need no memory. */
TEST_F(fault, free_never_fails)
{
	struct world *w = &self->w;

	w->files[0][0] = dep_open();
	w->files[1][0] = eventfd_new();
	ASSERT_EQ(0, dep_alloc(w->files[0][0], SET_FDS));
	EXPECT_TRUE(spares(w, call_free, check_free));
	close(w->files[0][0]);
	close(w->files[1][0]);
}

TEST_HARNESS_MAIN
