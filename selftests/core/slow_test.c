// SPDX-License-Identifier: GPL-2.0
/*
 * A file that is slow to answer whether it is ready, so that the moment between
 * the last look of a wait and its sleep lasts as long as a test needs: a wait
 * must not sleep through what comes then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/tty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/fault_page.h"
#include "core/slow_file.h"

/* It wakes its waiters once more before it answers, and is ready then. */
static int slow_stir_while_asked(struct slow_file *slow)
{
	int err;

	slow_hold(slow);
	err = slow_stir(slow);
	if (!err && !slow_is_asked(slow))
		err = -ETIMEDOUT;
	if (!err)
		err = slow_stir(slow);
	slow_go_on(slow, EPOLLIN);
	return err;
}

FIXTURE(slow) {
	struct eset set;
	struct slow_file slow;
	int event;
};

ESET_VARIANTS(slow);

FIXTURE_SETUP(slow)
{
	int err = slow_open(&self->slow);

	if (err == -EOPNOTSUPP)
		SKIP(return, "not root, or no /dev/fuse");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_EQ(0, eset_add(&self->set, self->slow.fd, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(slow)
{
	eset_close(&self->set);
	EXPECT_EQ(0, slow_close(&self->slow));
}

TEST_F(slow, file_keeps_no_event_of_another_from_who_waits)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	ASSERT_EQ(0, eventfd_post(self->event));
	slow_go_on(&self->slow, 0);
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(self->event, waiter.out[0].data.u64);
}

TEST_F(slow, file_that_stirs_while_it_is_asked_is_asked_again)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, slow_stir_while_asked(&self->slow));
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(self->slow.fd, waiter.out[0].data.u64);
}

/* The waiter that wants two sleeps on after one event, but not after both. */
struct wait_for_two {
	int set;
	struct devepoll_event out[4];
};

static long call_wait_for_two(void *arg)
{
	struct wait_for_two *two = arg;
	struct devepoll_wait_args args = {
		.events = address_of(two->out),
		.max_events = 4,
		.min_events = 2,
		.timeout = DEVEPOLL_FOREVER,
	};

	return dep_request(two->set, DEVEPOLL_WAIT, &args);
}

TEST_F(slow, file_keeps_no_event_of_others_from_who_wants_two)
{
	struct wait_for_two two = { .set = self->set.fd };
	int other = eventfd_new();
	struct task task;

	if (self->set.ops != &eset_devepoll)
		SKIP(return, "one way to ask for two");
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN | EPOLLET));
	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_EQ(0, task_start(&task, call_wait_for_two, &two));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(other));
	slow_go_on(&self->slow, 0);
	EXPECT_EQ(2, task_join(&task));
}

/* What it reports once, and a call could not hand out at once, is not lost. */
TEST_F(slow, file_that_answers_once_is_reported_to_untouched_memory)
{
	void *out = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = 4,
	};

	int n;

	ASSERT_NE(MAP_FAILED, out);
	self->slow.consumes = true;
	EXPECT_EQ(0, eset_drain(&self->set));
	atomic_store(&self->slow.revents, EPOLLIN);
	ASSERT_EQ(0, slow_stir(&self->slow));
	if (self->set.ops == &eset_sysepoll)
		n = epoll_wait(self->set.fd, out, 4, 0);
	else if (self->set.ops == &eset_devepoll_fadvise)
		n = dep_epoll_wait(self->set.fd, out, 4, 0);
	else
		n = dep_request(self->set.fd, DEVEPOLL_WAIT, &args);
	EXPECT_EQ(1, n);
}

TEST_F(slow, file_that_answers_once_is_reported_to_who_counts)
{
	struct wait_for_two two = { .set = self->set.fd };

	if (self->set.ops != &eset_devepoll)
		SKIP(return, "one way to ask for two");
	self->slow.consumes = true;
	EXPECT_EQ(0, eset_drain(&self->set));
	atomic_store(&self->slow.revents, EPOLLIN);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(2, call_wait_for_two(&two));
}

static long call_poll(void *arg)
{
	return poll_now(*(int *)arg, POLLIN);
}

/* By who polls it, since nobody else has a reference. */
TEST_F(slow, file_that_is_closed_while_it_is_asked_is_released)
{
	struct task task;

	if (self->set.ops == &eset_sysepoll)
		SKIP(return, "epoll lets close() wait");
	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_EQ(0, task_start(&task, call_poll, &self->set.fd));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	ASSERT_EQ(0, close(self->slow.fd));
	self->slow.fd = -1;
	EXPECT_FALSE(atomic_load(&self->slow.released));
	slow_go_on(&self->slow, 0);
	EXPECT_EQ(0, task_join(&task));
	ASSERT_TRUE(await(atomic_load(&self->slow.released)));
}

/* The same in a set of 2001, which posts the answer. */
FIXTURE(slow_2001) {
	struct set set;
	struct slow_file slow;
};

FIXTURE_SETUP(slow_2001)
{
	int err = slow_open(&self->slow);

	if (err == -EOPNOTSUPP)
		SKIP(return, "not root, or no /dev/fuse");
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, 600));
	ASSERT_EQ(0, set_add(&self->set, self->slow.fd, POLLIN));
}

FIXTURE_TEARDOWN(slow_2001)
{
	set_close(&self->set);
	EXPECT_EQ(0, slow_close(&self->slow));
}

TEST_F(slow_2001, file_that_stirs_while_it_is_asked_is_asked_again)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, slow_stir_while_asked(&self->slow));
	EXPECT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(self->slow.fd, waiter.out[0].fd);
}

/*
 * A terminal, which any kernel has: poll() waits for a thread that changes the
 * line discipline, and that one waits, five seconds at most, for an ioctl(2)
 * that holds it while it writes to memory that is not there.
 */
struct slow_terminal {
	int master;
	int fd;
	struct fault_page page;
	struct task holder;
	struct task changer;
};

static long hold_terminal(void *arg)
{
	struct slow_terminal *slow = arg;

	return ioctl(slow->fd, FIONREAD, fault_page_start(&slow->page)) ?
	       -errno : 0;
}

static long change_terminal(void *arg)
{
	struct slow_terminal *slow = arg;
	int discipline = N_TTY;

	return ioctl(slow->fd, TIOCSETD, &discipline) ? -errno : 0;
}

static int terminal_open(struct slow_terminal *slow)
{
	slow->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slow->master < 0 || grantpt(slow->master) ||
	    unlockpt(slow->master))
		return -errno;
	slow->fd = open(ptsname(slow->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slow->fd < 0)
		return -errno;
	if (fault_page_open(&slow->page))
		return -ENOSYS;
	/* A line, so that it can be read. */
	return write(slow->master, "\n", 1) == 1 ? 0 : -errno;
}

/* From now on poll() of it sleeps, until terminal_go_on(). */
static int terminal_hold(struct slow_terminal *slow)
{
	int err = task_start(&slow->holder, hold_terminal, slow);

	if (!err)
		err = fault_page_await(&slow->page);
	if (!err)
		err = task_start(&slow->changer, change_terminal, slow);
	if (!err && !await(blocks_in(slow->changer.tid, SYS_ioctl)))
		err = -ETIMEDOUT;
	return err;
}

/* 0 if it has been held until now. */
static int terminal_go_on(struct slow_terminal *slow)
{
	bool held = !atomic_load(&slow->changer.done);
	int err = fault_page_provide(&slow->page);

	if (!err)
		err = task_join(&slow->holder);
	if (!err)
		err = task_join(&slow->changer);
	return held || err ? err : -ETIME;
}

FIXTURE(slow_terminal) {
	struct eset set;
	struct slow_terminal slow;
};

DEVICE_VARIANTS(slow_terminal);

FIXTURE_SETUP(slow_terminal)
{
	ASSERT_EQ(0, terminal_open(&self->slow)) TH_LOG("no userfaultfd here");
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
}

FIXTURE_TEARDOWN(slow_terminal)
{
	eset_close(&self->set);
	fault_page_close(&self->slow.page);
	close(self->slow.fd);
	close(self->slow.master);
}

/*
 * A wait has found two numbers that no longer name their file, and takes them
 * out of the set, which it can finish only when the terminal has answered.
 * Meanwhile the file goes, and its wait queue.
 */
TEST_F(slow_terminal, outlasts_the_file_of_numbers_that_a_wait_removes)
{
	int kept = eventfd_new(), first = dup(kept), second = dup(kept);
	struct ewaiter waiter;
	pid_t tid;

	/* They are on the list before the terminal, so it is polled last. */
	ASSERT_EQ(0, eset_add(&self->set, first, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->set, second, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, close(first));
	ASSERT_EQ(0, close(second));
	ASSERT_EQ(0, eventfd_post(kept));
	ASSERT_TRUE(await(poll_now(self->slow.fd, POLLIN)));
	ASSERT_EQ(0, eset_add(&self->set, self->slow.fd, EPOLLIN));
	ASSERT_EQ(0, terminal_hold(&self->slow));
	ASSERT_EQ(0, ewaiter_launch(&waiter, &self->set, WAITER_ROOM, 0));
	tid = waiter.task.tid;
	ASSERT_TRUE(await(blocks_in(tid, self->set.ops->wait_syscall)));
	ASSERT_EQ(0, close(kept));
	ASSERT_EQ(0, terminal_go_on(&self->slow));
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(EPOLLIN, waiter.out[0].events);
	EXPECT_EQ(-EBADF, eset_del(&self->set, first));
	EXPECT_EQ(-EBADF, eset_del(&self->set, second));
}

TEST_HARNESS_MAIN
