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
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "failnth.h"
#include "helpers.h"

#define SET_FDS		2000
#define SET_SIZE	EP_MAP_SIZE(SET_FDS)

struct world {
	int fail_nth;
	int set;
	char *map;
	char *second_map;
	int files[3][2];
	int nfiles;
};

/* 0, or -errno; -ENOSYS if the kernel can't do it. */
static int world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->fail_nth = failnth_open();
	if (w->fail_nth < 0)
		return w->fail_nth;
	w->set = dep_open();
	if (w->set < 0)
		return w->set;
	if (dep_alloc(w->set, SET_FDS))
		return -ENOMEM;
	w->map = dep_map(w->set, SET_SIZE);
	return w->map == MAP_FAILED ? -errno : 0;
}

static void world_close(struct world *w)
{
	if (w->fail_nth < 0)
		return;
	munmap(w->map, SET_SIZE);
	close(w->set);
	close(w->fail_nth);
}

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

static int walk(struct world *w, int (*call)(struct world *w),
		bool (*check)(struct world *w, int ret, bool hit))
{
	return failnth_walk(w->fail_nth, w, call, check);
}

static bool out_of_memory(int ret)
{
	return ret == -ENOMEM || ret == -EFAULT;
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

FIXTURE(fault_add) {
	struct world w;
};

enum member { EVENTFD, PIPE, FIFO, PTY, UNIX, SIGNALFD };

FIXTURE_VARIANT(fault_add) {
	enum member member;
};

FIXTURE_VARIANT_ADD(fault_add, eventfd) { .member = EVENTFD };
FIXTURE_VARIANT_ADD(fault_add, pipe) { .member = PIPE };
FIXTURE_VARIANT_ADD(fault_add, fifo_with_two_wait_queues) { .member = FIFO };
FIXTURE_VARIANT_ADD(fault_add, pty_with_two_wait_queues) { .member = PTY };
FIXTURE_VARIANT_ADD(fault_add, unix_socket) { .member = UNIX };
FIXTURE_VARIANT_ADD(fault_add, signalfd) { .member = SIGNALFD };

static int member_fifo(void)
{
	const char *path = "/tmp/devepoll-fault-fifo";
	int fd;

	unlink(path);
	if (mkfifo(path, 0600))
		return -errno;
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	unlink(path);
	return fd;
}

static int member_make(enum member member, int fds[2])
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	fds[1] = -1;
	switch (member) {
	case EVENTFD:
		fds[0] = eventfd_new();
		break;
	case PIPE:
		return pipe_pair(fds);
	case FIFO:
		fds[0] = member_fifo();
		break;
	case PTY:
		fds[0] = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
		break;
	case UNIX:
		return unix_pair(fds, SOCK_STREAM);
	case SIGNALFD:
		sigprocmask(SIG_BLOCK, &mask, NULL);
		fds[0] = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
		break;
	}
	return fds[0] < 0 ? -errno : 0;
}

FIXTURE_SETUP(fault_add)
{
	struct world *w = &self->w;
	int i, err = world_open(w);

	if (err == -ENOSYS)
		SKIP(return, "no fault injection in this kernel");
	ASSERT_EQ(0, err);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, member_make(variant->member, w->files[i]));
		w->nfiles++;
	}
}

FIXTURE_TEARDOWN(fault_add)
{
	struct world *w = &self->w;
	int i;

	for (i = 0; i < w->nfiles; i++) {
		close(w->files[i][0]);
		close(w->files[i][1]);
	}
	world_close(w);
}

#define WANTED	(POLLIN | POLLOUT | POLLHUP | POLLERR)

static int call_add(struct world *w)
{
	struct pollfd batch[3];
	int i;

	for (i = 0; i < 3; i++) {
		batch[i] = (struct pollfd){
			.fd = w->files[i][0], .events = WANTED,
		};
	}
	return dep_write(w->set, batch, 3);
}

/* What did not take effect is not there, and works the next time. */
static bool check_add(struct world *w, int ret, bool hit)
{
	struct evpoll evp = { .ep_timeout = 0 };
	int i, there = 0, ready = 0;

	if (ret < 0 ? !out_of_memory(ret) : ret % 8)
		return false;
	if (ret != 24 && !hit)
		return false;
	for (i = 0; i < 3; i++) {
		struct pollfd q = { .fd = w->files[i][0] };

		there += dep_ispolled(w->set, &q);
	}
	if (there != (ret < 0 ? 0 : ret / 8))
		return false;
	for (i = 0; i < 3; i++) {
		int fd = w->files[i][0];

		if (dep_write_one(w->set, fd, WANTED) != 8)
			return false;
		ready += poll_now(fd, WANTED) != 0;
	}
	if (dep_poll(w->set, &evp) != ready)
		return false;
	for (i = 0; i < 3; i++) {
		if (dep_write_one(w->set, w->files[i][0], POLLREMOVE) != 8)
			return false;
	}
	return true;
}

TEST_F(fault_add, failed_entry_gives_a_short_count)
{
	EXPECT_LT(3, walk(&self->w, call_add, check_add));
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
	EXPECT_LE(0, walk(w, call_free, check_free));
	close(w->files[0][0]);
	close(w->files[1][0]);
}

TEST_HARNESS_MAIN
