// SPDX-License-Identifier: GPL-2.0
/*
 * A signalfd that a child inherits with a set: which of its signals wake the
 * set.  A signalfd is ready for whoever asks, by the signals of that process.
 */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

FIXTURE(inherited) {
	struct eset set;
	int fd;
};

ESET_VARIANTS(inherited);

FIXTURE_SETUP(inherited)
{
	sigset_t mask;

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	self->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, eset_add(&self->set, self->fd, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(inherited)
{
	eset_close(&self->set);
}

/* How many events a child finds in the inherited set for a signal to itself. */
static int events_in_child(struct eset *set, int fd, bool in_own)
{
	struct epoll_event out[2];
	struct eset own;
	pid_t pid = fork();

	if (!pid) {
		if (in_own && (eset_open(&own, set->ops) ||
			       eset_add(&own, fd, EPOLLIN)))
			_exit(99);
		if (kill(getpid(), SIGUSR1))
			_exit(98);
		_exit(eset_wait(set, out, 2, 0));
	}
	return reap(pid);
}

/* Does the set still report what comes for the process that added the fd? */
static int own_event(struct eset *set, int fd)
{
	struct signalfd_siginfo info;
	struct epoll_event out[2];
	int ret;

	if (kill(getpid(), SIGUSR1))
		return -errno;
	ret = eset_wait(set, out, 2, 0);
	return read(fd, &info, sizeof(info)) == sizeof(info) ? ret : -EIO;
}

TEST_F(inherited, signalfd_reports_only_to_who_added_it)
{
	EXPECT_EQ(0, events_in_child(&self->set, self->fd, false));
	EXPECT_EQ(1, own_event(&self->set, self->fd));
}

TEST_F(inherited, signalfd_reports_to_a_child_that_added_it_elsewhere)
{
	/* All sets that watch a file are woken by what any of them waits on. */
	int expected = eset_has(&self->set, SHARES_QUEUES);

	EXPECT_EQ(expected, events_in_child(&self->set, self->fd, true));
	EXPECT_EQ(1, own_event(&self->set, self->fd));
}

TEST_HARNESS_MAIN
