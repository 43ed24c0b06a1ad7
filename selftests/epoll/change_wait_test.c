// SPDX-License-Identifier: GPL-2.0
/*
 * Changes in the call of a wait: they are made first, and the wait sleeps only
 * if all of them took effect.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/request.h"

#define ROOM	8

FIXTURE(change_wait) {
	struct eset set;
	int event;
	struct devepoll_event out[ROOM];
	struct devepoll_wait_args args;	/* no changes yet, no sleep */
};

REQUEST_VARIANTS(change_wait);

FIXTURE_SETUP(change_wait)
{
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	memset(self->out, 0xa5, sizeof(self->out));
	self->args = wait_args(self->out, ROOM, 0);
	self->args.nr_tried = POISON;
	self->args.nr_failed = POISON;
}

FIXTURE_TEARDOWN(change_wait)
{
	eset_close(&self->set);
}

#define bring(changes)							\
	do {								\
		self->args.changes = address_of(changes);		\
		self->args.nr_changes = ARRAY_SIZE(changes);		\
		self->args.change_size = sizeof((changes)[0]);		\
	} while (0)

#define call() variant->request(self->set.fd, DEVEPOLL_WAIT, &self->args)

TEST_F(change_wait, makes_changes_before_it_waits)
{
	struct devepoll_change changes[] = {
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(MOD, self->event, EPOLLIN | EPOLLOUT),
	};

	bring(changes);
	self->args.timeout = DEVEPOLL_FOREVER;
	EXPECT_EQ(1, call());
	EXPECT_EQ(2, self->args.nr_tried);
	EXPECT_EQ(0, self->args.nr_failed);
	EXPECT_EQ(0, changes[0].result);
	EXPECT_EQ(0, changes[1].result);
	EXPECT_EQ(EPOLLOUT, self->out[0].events);
	EXPECT_EQ(self->event, self->out[0].data);
	EXPECT_EQ(self->event, self->out[0].fd);
}

TEST_F(change_wait, gives_no_event_of_what_it_removes)
{
	struct devepoll_change changes[] = { CHANGE(DEL, self->event, 0) };
	int other = eventfd_new();

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(other));
	bring(changes);
	EXPECT_EQ(1, call());
	EXPECT_EQ(0, self->args.nr_failed);
	EXPECT_EQ(other, self->out[0].data);
}

TEST_F(change_wait, without_changes_tells_nothing_of_them)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLOUT));
	EXPECT_EQ(1, call());
	EXPECT_EQ(POISON, self->args.nr_tried);
	EXPECT_EQ(POISON, self->args.nr_failed);
}

TEST_F(change_wait, without_changes_takes_nothing_of_them)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLOUT));
	self->args.changes = 1;
	EXPECT_EQ(-EINVAL, call());
	self->args.changes = 0;
	self->args.change_size = 7;
	EXPECT_EQ(-EINVAL, call());
	self->args.change_size = 0;
	EXPECT_EQ(1, call());
}

TEST_F(change_wait, does_not_sleep_after_a_failure)
{
	struct devepoll_change changes[] = {
		CHANGE(ADD, self->event, EPOLLIN),
		CHANGE(ADD, self->event, EPOLLIN),
	};

	bring(changes);
	self->args.timeout = DEVEPOLL_FOREVER;
	EXPECT_EQ(0, call());
	EXPECT_EQ(2, self->args.nr_tried);
	EXPECT_EQ(1, self->args.nr_failed);
	EXPECT_EQ(0, changes[0].result);
	EXPECT_EQ(-EEXIST, changes[1].result);
}

TEST_F(change_wait, gives_what_is_ready_after_a_failure)
{
	struct devepoll_change changes[] = { CHANGE(MOD, next_fd(), 0) };

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLOUT));
	bring(changes);
	self->args.timeout = DEVEPOLL_FOREVER;
	self->args.min_events = ROOM;
	EXPECT_EQ(1, call());
	EXPECT_EQ(1, self->args.nr_tried);
	EXPECT_EQ(1, self->args.nr_failed);
	EXPECT_EQ(-EBADF, changes[0].result);
	EXPECT_EQ(self->event, self->out[0].data);
}

struct sleeper {
	struct task task;
	int (*request)(int fd, unsigned long request, void *arg);
	int fd;
	struct devepoll_wait_args *args;
};

static long sleeper_call(void *arg)
{
	struct sleeper *sleeper = arg;

	return sleeper->request(sleeper->fd, DEVEPOLL_WAIT, sleeper->args);
}

static int sleeper_start(struct sleeper *sleeper)
{
	int err = task_start(&sleeper->task, sleeper_call, sleeper);

	if (err)
		return err;
	return await_sleep(sleeper->task.tid,
			   sleeper->request == dep_request ? SYS_ioctl :
			   eset_devepoll_fadvise.wait_syscall);
}

TEST_F(change_wait, sleeps_where_all_changes_took_effect)
{
	struct devepoll_change changes[] = {
		CHANGE(ADD, self->event, EPOLLIN),
	};
	struct sleeper sleeper = {
		.request = variant->request,
		.fd = self->set.fd,
		.args = &self->args,
	};

	bring(changes);
	self->args.timeout = DEVEPOLL_FOREVER;
	ASSERT_EQ(0, sleeper_start(&sleeper));
	/* A task told while the call sleeps finds the results already there. */
	EXPECT_EQ(0, changes[0].result);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&sleeper.task));
	EXPECT_EQ(EPOLLIN, self->out[0].events);
	EXPECT_EQ(1, self->args.nr_tried);
	EXPECT_EQ(0, self->args.nr_failed);
}

static void handler(int sig)
{
}

TEST_F(change_wait, that_is_interrupted_has_made_the_changes)
{
	struct devepoll_change changes[] = {
		CHANGE(ADD, self->event, EPOLLIN),
	};
	struct sleeper sleeper = {
		.request = variant->request,
		.fd = self->set.fd,
		.args = &self->args,
	};

	signal(SIGUSR1, handler);
	bring(changes);
	self->args.timeout = DEVEPOLL_FOREVER;
	ASSERT_EQ(0, sleeper_start(&sleeper));
	ASSERT_EQ(0, pthread_kill(sleeper.task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&sleeper.task));
	EXPECT_EQ(0, changes[0].result);
	EXPECT_EQ(1, self->args.nr_tried);
	EXPECT_EQ(0, self->args.nr_failed);
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
}

/* Room for some changes at the end of a page, nothing behind. */
static struct devepoll_change *changes_at_edge(int nr, int prot)
{
	long page = getpagesize();
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + page, page, prot))
		return NULL;
	return (struct devepoll_change *)(p + page) - nr;
}

TEST_F(change_wait, tells_how_far_it_came_in_bad_memory)
{
	static const int prots[] = { PROT_NONE, PROT_READ };
	struct devepoll_change *changes;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prots); i++) {
		changes = changes_at_edge(2, prots[i]);
		ASSERT_TRUE(!!changes);
		changes[0] = (struct devepoll_change)
			CHANGE(ADD, self->event, EPOLLIN);
		changes[1] = (struct devepoll_change)
			CHANGE(DEL, self->event, 0);
		self->args.changes = address_of(changes);
		self->args.nr_changes = 4;
		self->args.change_size = sizeof(*changes);
		self->args.timeout = DEVEPOLL_FOREVER;
		EXPECT_EQ(0, call());
		EXPECT_EQ(2, self->args.nr_tried);
		EXPECT_EQ(0, self->args.nr_failed);
		EXPECT_EQ(0, changes[0].result);
		EXPECT_EQ(0, changes[1].result);
	}
}

TEST_F(change_wait, of_bad_memory_alone_fails_and_takes_no_event)
{
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
	self->args.changes = address_of(changes_at_edge(0, PROT_NONE));
	self->args.nr_changes = 1;
	self->args.change_size = sizeof(struct devepoll_change);
	EXPECT_EQ(-EFAULT, call());
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(change_wait, that_is_refused_makes_no_change)
{
	struct devepoll_change changes[] = {
		CHANGE(ADD, self->event, EPOLLIN),
	};
	struct devepoll_wait_args good;

	bring(changes);
	good = self->args;
	self->args.max_events = 0;
	EXPECT_EQ(-EINVAL, call());
	self->args = good;
	self->args.min_events = ROOM + 1;
	EXPECT_EQ(-EINVAL, call());
	self->args = good;
	self->args.flags = 0x80000000;
	EXPECT_EQ(-EINVAL, call());
	self->args = good;
	self->args.change_size = 0;
	EXPECT_EQ(-EINVAL, call());
	self->args = good;
	self->args.sigmask = address_of(&good);
	self->args.sigsetsize = 4;
	EXPECT_EQ(-EINVAL, call());
	EXPECT_EQ(POISON, changes[0].result);
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
	self->args = good;
	EXPECT_EQ(0, call());
	EXPECT_EQ(0, changes[0].result);
}

TEST_F(change_wait, serves_an_echo_with_one_call_a_round)
{
	struct devepoll_change change = CHANGE(ADD, -1, 0);
	int i, fds[2];

	ASSERT_EQ(0, unix_pair(fds, SOCK_STREAM));
	change.fd = fds[0];
	self->args.changes = address_of(&change);
	self->args.change_size = sizeof(change);
	self->args.timeout = DEVEPOLL_FOREVER;
	for (i = 0; i < 100; i++) {
		/* Alternates between reading and writing, one-shot. */
		change.op = i ? DEVEPOLL_MOD : DEVEPOLL_ADD;
		change.events = (i & 1 ? EPOLLOUT : EPOLLIN) | EPOLLONESHOT;
		change.data = i;
		self->args.nr_changes = 1;
		if (!(i & 1))
			ASSERT_EQ(0, put_byte(fds[1]));
		ASSERT_EQ(1, call());
		ASSERT_EQ(i, self->out[0].data);
		ASSERT_EQ(i & 1 ? EPOLLOUT : EPOLLIN, self->out[0].events);
		ASSERT_EQ(0, i & 1 ? put_byte(fds[0]) : take_byte(fds[0]));
	}
	EXPECT_EQ(0, eset_drain(&self->set));
}

TEST_HARNESS_MAIN
