// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation and every copy from or to user memory fails once, one after
 * the other, in each call of the extended interface.  It then fails with a
 * clear errno, leaves the set as it was, loses no event, and works the next
 * time.
 *
 * Needs a kernel with fault injection.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/ring.h"
#include "core/shortage.h"

static int call_add(struct world *w)
{
	return eset_add(&w->set, w->fd, EPOLLIN | EPOLLOUT);
}

static int call_add_by_fadvise(struct world *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	return dep_epoll_ctl(w->set.fd, EPOLL_CTL_ADD, w->fd, &event);
}

static bool check_add(struct world *w, int ret, bool hit)
{
	/* A failure need not matter: the call may have made up for it. */
	if (ret && !is_clear(ret, hit))
		return false;
	if (eset_del(&w->set, w->fd) != (ret ? -ENOENT : 0))
		return false;
	return !eset_add(&w->set, w->fd, EPOLLOUT) &&
	       !eset_del(&w->set, w->fd);
}

TEST_F(shortage, fails_an_add_of_a_file)
{
	EXPECT_LT(0, walk(&self->w, call_add, check_add));
	EXPECT_LT(0, walk(&self->w, call_add_by_fadvise, check_add));
}

TEST_F(shortage, fails_an_add_of_a_file_with_two_wait_queues)
{
	const char *path = "/tmp/devepoll-shortage";

	unlink(path);
	ASSERT_EQ(0, mkfifo(path, 0600));
	self->w.fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ASSERT_EQ(0, unlink(path));
	ASSERT_LE(0, self->w.fd);
	EXPECT_LT(0, walk(&self->w, call_add, check_add));
}

TEST_F(shortage, fails_an_add_of_a_set)
{
	struct eset inner;

	ASSERT_EQ(0, eset_open(&inner, &eset_devepoll));
	ASSERT_EQ(0, eset_add(&inner, self->w.many[1], EPOLLOUT));
	self->w.fd = inner.fd;
	EXPECT_LT(0, walk(&self->w, call_add, check_add));
	/* No edge is left behind that forbade the other way round. */
	EXPECT_EQ(0, eset_add(&inner, self->w.set.fd, EPOLLIN));
	eset_close(&inner);
}

static int call_batch(struct world *w)
{
	int i;

	for (i = 0; i < NR; i++)
		w->changes[i] = (struct devepoll_change){
			.op = DEVEPOLL_ADD,
			.flags = DEVEPOLL_TELL_CLOSED,
			.fd = w->many[i],
			.events = EPOLLIN,
			.result = 1,
		};
	return dep_changes(w->set.fd, w->changes, NR, &w->failed);
}

/* Each result is true, and so are the counts. */
static bool check_batch(struct world *w, int ret, bool hit)
{
	uint32_t failed = 0;
	int i, result;

	if (ret < 0 ? !hit || ret != -EFAULT : ret != NR && !hit)
		return false;
	for (i = 0; i < NR; i++) {
		result = i < ret ? w->changes[i].result : -ENOENT;
		failed += i < ret && result;
		if (i < ret && result && result != -ENOMEM)
			return false;
		if (eset_del(&w->set, w->many[i]) != (result ? -ENOENT : 0))
			return false;
	}
	return ret < 0 || failed == w->failed;
}

TEST_F(shortage, fails_some_of_many_changes)
{
	EXPECT_LT(NR, walk(&self->w, call_batch, check_batch));
}

static int call_wait(struct world *w)
{
	struct devepoll_event out;
	int n = dep_wait(w->set.fd, &out, 1, 0);

	return n == 1 && out.data != (uint64_t)w->event ? -EBADMSG : n;
}

static int call_wait_by_fadvise(struct world *w)
{
	struct epoll_event out;

	return dep_epoll_wait(w->set.fd, &out, 1, 0);
}

static int call_wait_with_change(struct world *w)
{
	struct devepoll_event out;
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.fd = w->fd,
		.events = EPOLLIN,
	};
	struct devepoll_wait_args args = {
		.events = address_of(&out),
		.max_events = 1,
		.changes = address_of(&change),
		.nr_changes = 1,
		.change_size = sizeof(change),
	};
	int ret = dep_request(w->set.fd, DEVEPOLL_WAIT, &args);

	eset_del(&w->set, w->fd);
	return ret;
}

/* The event is taken or is still there. */
static bool check_wait(struct world *w, int ret, bool hit)
{
	if (ret != 1 && !(hit && (ret == -EFAULT || ret == -ENOMEM)))
		return false;
	if (eset_wait_one(&w->set, w->event, 0) !=
	    (ret == 1 ? -ENOMSG : EPOLLOUT))
		return false;
	return !eset_mod(&w->set, w->event, EPOLLOUT | EPOLLONESHOT);
}

/* A wait needs no memory.  What it copies is walked in short_memory_test. */
TEST_F(shortage, fails_no_wait_and_no_event_of_a_change)
{
	EXPECT_TRUE(spares(&self->w, call_wait, check_wait));
	EXPECT_TRUE(spares(&self->w, call_wait_by_fadvise, check_wait));
	EXPECT_LT(0, walk(&self->w, call_wait_with_change, check_wait));
}

static int call_map(struct world *w)
{
	void *map;
	int ret;

	ret = dep_open();
	if (ret < 0)
		return ret;
	w->fd = ret;
	map = dep_map_events(w->fd, 8 * getpagesize());
	ret = map == MAP_FAILED ? -errno : 0;
	if (!ret && munmap(map, 8 * getpagesize()))
		return -errno;
	return ret;
}

/* Nothing was made, so another size is possible. */
static bool check_map(struct world *w, int ret, bool hit)
{
	bool good = !ret || is_clear(ret, hit);
	void *map;

	if (w->fd >= 0 && ret) {
		map = dep_map_events(w->fd, 3 * getpagesize());
		if (map != MAP_FAILED)
			munmap(map, 3 * getpagesize());
		else
			good = good && errno == EINVAL;
	}
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	return good;
}

TEST_F(shortage, fails_a_mapping)
{
	self->w.fd = -1;
	EXPECT_LT(8, walk(&self->w, call_map, check_map));
}

static int call_stats(struct world *w)
{
	struct devepoll_stats stats;

	return dep_request(w->set.fd, DEVEPOLL_STATS, &stats);
}

static bool check_stats(struct world *w, int ret, bool hit)
{
	return ret == 0 || (hit && ret == -EFAULT);
}

TEST_F(shortage, fails_to_tell_numbers)
{
	EXPECT_LT(0, walk(&self->w, call_stats, check_stats));
}

/* Removing and closing need no memory. */
static int call_close(struct world *w)
{
	return close(w->fd) ? -errno : 0;
}

static bool check_close(struct world *w, int ret, bool hit)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.events = EPOLLIN,
		.data = 4711,
	};

	if (ret || eset_wait_one(&w->set, 4711, 0) != DEVEPOLL_CLOSED)
		return false;
	w->fd = eventfd_new();
	change.fd = w->fd;
	return !dep_change(w->set.fd, &change);
}

TEST_F(shortage, does_not_keep_a_last_event_back)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = self->w.fd,
		.events = EPOLLIN,
		.data = 4711,
	};

	ASSERT_EQ(1, eset_drain(&self->w.set));
	ASSERT_EQ(0, dep_change(self->w.set.fd, &change));
	EXPECT_TRUE(spares(&self->w, call_close, check_close));
}

TEST_HARNESS_MAIN
