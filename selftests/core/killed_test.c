// SPDX-License-Identifier: GPL-2.0
/*
 * A call that waits until another call is done with the set can be killed: one
 * that polls a file which takes its time to answer keeps all others waiting.
 * Not so in epoll, where such a task waits for the answer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/request.h"
#include "core/ring.h"
#include "core/slow_file.h"

#define SET_FDS		512
#define OUT_MOST	4

enum kind { EXTENDED, MAPPED, OLD, DEVPOLL };

FIXTURE(killed) {
	struct slow_file slow;
	struct task holder;
	int fd;
	int event;
	int other;
};

FIXTURE_VARIANT(killed) {
	enum kind kind;
	bool ready;		/* the set has an event meanwhile */
	void (*call)(int fd, int event);
	long syscall;
};

static void call_change(int fd, int event)
{
	struct devepoll_change change = CHANGE(DEL, event, 0);

	dep_change(fd, &change);
}

static void call_changes(int fd, int event)
{
	struct devepoll_change changes[] = {
		CHANGE(DEL, event, 0), CHANGE(ADD, event, EPOLLIN),
	};
	uint32_t failed;

	dep_changes(fd, changes, 2, &failed);
}

static void call_epoll_ctl(int fd, int event)
{
	dep_epoll_ctl(fd, EPOLL_CTL_DEL, event, NULL);
}

static void call_wait_for_one(int fd, int event)
{
	struct devepoll_event out;

	dep_wait(fd, &out, 1, -1);
}

static void call_wait_for_many(int fd, int event)
{
	struct devepoll_event out[OUT_MOST];

	dep_wait(fd, out, OUT_MOST, -1);
}

static void call_wait_for_two(int fd, int event)
{
	struct devepoll_event out[OUT_MOST];
	struct devepoll_wait_args args = wait_args(out, OUT_MOST,
						   DEVEPOLL_FOREVER);

	args.min_events = 2;
	dep_request(fd, DEVEPOLL_WAIT, &args);
}

static void call_epoll_wait(int fd, int event)
{
	struct epoll_event out;

	dep_epoll_wait(fd, &out, 1, -1);
}

static void call_take(int fd, int event)
{
	dep_take(fd, 0, OUT_MOST, -1);
}

static void call_ring(int fd, int event)
{
	ring_request(fd, 1, RING_OUT);
}

static void call_poll(int fd, int event)
{
	poll_now(fd, POLLIN);
}

static void call_write(int fd, int event)
{
	dep_write_one(fd, event, POLLREMOVE);
}

static void call_alloc(int fd, int event)
{
	dep_alloc(fd, 2 * SET_FDS);
}

static void call_free(int fd, int event)
{
	dep_free(fd);
}

static void call_devpoll_write(int fd, int event)
{
	dp_set(fd, event, POLLREMOVE);
}

static void call_devpoll_wait(int fd, int event)
{
	dp_wait_one(DP_LINUX, fd, event, -1);
}

#define CALL_VARIANT(name, of, has, number)				\
	FIXTURE_VARIANT_ADD(killed, name) {				\
		.kind = of,						\
		.ready = has,						\
		.call = call_##name,					\
		.syscall = number,					\
	}

CALL_VARIANT(change, EXTENDED, false, SYS_ioctl);
CALL_VARIANT(changes, EXTENDED, false, SYS_ioctl);
CALL_VARIANT(epoll_ctl, EXTENDED, false, SYS_fadvise64);
CALL_VARIANT(wait_for_one, EXTENDED, true, SYS_ioctl);
CALL_VARIANT(wait_for_many, EXTENDED, true, SYS_ioctl);
CALL_VARIANT(wait_for_two, EXTENDED, true, SYS_ioctl);
CALL_VARIANT(epoll_wait, EXTENDED, true, SYS_fadvise64);
CALL_VARIANT(take, MAPPED, true, SYS_fadvise64);
CALL_VARIANT(ring, EXTENDED, false, SYS_ioctl);
CALL_VARIANT(poll, EXTENDED, false, SYS_poll);
CALL_VARIANT(write, OLD, false, SYS_write);
CALL_VARIANT(alloc, OLD, false, SYS_ioctl);
CALL_VARIANT(free, OLD, false, SYS_ioctl);
CALL_VARIANT(devpoll_write, DEVPOLL, false, SYS_write);
CALL_VARIANT(devpoll_wait, DEVPOLL, true, SYS_ioctl);
FIXTURE_VARIANT_ADD(killed, poll_old) {
	.kind = OLD, .call = call_poll, .syscall = SYS_poll,
};

static int set_of_kind(enum kind kind)
{
	int fd = kind == DEVPOLL ? dp_open() : dep_open();
	int err = 0;

	if (kind == OLD)
		err = dep_alloc(fd, SET_FDS);
	else if (kind == MAPPED &&
		 dep_map_events(fd, getpagesize()) == MAP_FAILED)
		err = -errno;
	return err ?: fd;
}

static int set_watch(int fd, enum kind kind, int watched)
{
	struct devepoll_change change = CHANGE(ADD, watched,
					       EPOLLIN | EPOLLET);
	long ret;

	if (kind == EXTENDED || kind == MAPPED)
		return dep_change(fd, &change);
	ret = kind == OLD ? dep_write_one(fd, watched, POLLIN) :
			    dp_set(fd, watched, POLLIN);
	return ret < 0 ? ret : 0;
}

FIXTURE_SETUP(killed)
{
	int err = slow_open(&self->slow);

	if (err == -EOPNOTSUPP)
		SKIP(return, "not root, or no /dev/fuse");
	ASSERT_EQ(0, err);
	self->fd = set_of_kind(variant->kind);
	ASSERT_LE(0, self->fd);
	self->event = eventfd_new();
	self->other = eventfd_new();
	ASSERT_EQ(0, set_watch(self->fd, variant->kind, self->slow.fd));
	ASSERT_EQ(0, set_watch(self->fd, variant->kind, self->event));
	ASSERT_EQ(0, set_watch(self->fd, variant->kind, self->other));
}

FIXTURE_TEARDOWN(killed)
{
	close(self->fd);
	close(self->event);
	close(self->other);
	EXPECT_EQ(0, slow_close(&self->slow));
}

static long hold_set(void *arg)
{
	return poll_now(*(int *)arg, POLLIN);
}

static pid_t child_calls(int fd, int event, void (*call)(int fd, int event))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	call(fd, event);
	_exit(0);
}

TEST_F(killed, by_a_signal_while_another_call_has_the_set)
{
	int status = 0;
	bool ended;
	pid_t pid;

	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_EQ(0, task_start(&self->holder, hold_set, &self->fd));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	if (variant->ready)
		ASSERT_EQ(0, eventfd_post(self->event));
	pid = child_calls(self->fd, self->event, variant->call);
	ASSERT_LT(0, pid);
	EXPECT_TRUE(await(blocks_in(pid, variant->syscall)));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	ended = await(waitpid(pid, &status, WNOHANG) == pid);
	EXPECT_TRUE(ended);
	EXPECT_FALSE(atomic_load(&self->holder.done));
	slow_go_on(&self->slow, 0);
	EXPECT_LE(0, task_join(&self->holder));
	if (!ended)
		EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

	/* It left the set as it was. */
	ASSERT_EQ(0, eventfd_post(self->other));
	EXPECT_EQ(POLLIN, poll_now(self->fd, POLLIN));
}

TEST_HARNESS_MAIN
