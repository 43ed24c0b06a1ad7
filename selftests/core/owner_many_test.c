// SPDX-License-Identifier: GPL-2.0
/*
 * Many processes share a set, add an fd each and end: whoever waits on the set
 * then takes their place, so that its close of a number counts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* More than the owners that a set has room for, or searches. */
#define PROCESSES	40

FIXTURE(owners) {
	struct eset set;
	int fds[PROCESSES];
	int kept[PROCESSES];
};

FIXTURE_VARIANT(owners) {
	const struct eset_ops *ops;
};

#define OWNERS(way)							\
	FIXTURE_VARIANT_ADD(owners, way) { .ops = &eset_##way }

OWNERS(devepoll);
OWNERS(devepoll_fadvise);
OWNERS(devepoll_mapped);
OWNERS(sysepoll);

/* Runs do(set, fd) in a process of its own. */
static int in_a_process(struct eset *set, int fd,
			int (*what)(struct eset *, int))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(-what(set, fd));
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPROTO;
}

static int add(struct eset *set, int fd)
{
	return eset_ctl(set, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLET, fd);
}

static int del(struct eset *set, int fd)
{
	return eset_del(set, fd);
}

FIXTURE_SETUP(owners)
{
	int i;

	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	for (i = 0; i < PROCESSES; i++) {
		self->fds[i] = eventfd_new();
		ASSERT_LE(0, self->fds[i]);
		self->kept[i] = fcntl(self->fds[i], F_DUPFD_CLOEXEC, 200);
		ASSERT_LE(200, self->kept[i]);
		ASSERT_EQ(0, in_a_process(&self->set, self->fds[i], add));
	}
}

FIXTURE_TEARDOWN(owners)
{
	eset_close(&self->set);
}

TEST_F(owners, that_have_gone_leave_their_numbers_to_who_waits)
{
	int stale = eset_has(&self->set, REPORTS_STALE) ? EPOLLIN : -ENOMSG;
	int i;

	for (i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(0, eventfd_post(self->kept[i]));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[i], 0));
	}
	for (i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(0, close(self->fds[i]));
		ASSERT_EQ(0, eventfd_post(self->kept[i]));
		EXPECT_EQ(stale, eset_wait_one(&self->set, self->fds[i], 0));
	}
}

TEST_F(owners, that_have_gone_leave_their_numbers_to_who_changes_them)
{
	int i;

	for (i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(0, eset_mod(&self->set, self->fds[i],
				      EPOLLIN | EPOLLET));
		ASSERT_EQ(0, in_a_process(&self->set, self->fds[i], del));
		EXPECT_EQ(-ENOENT, eset_del(&self->set, self->fds[i]));
		ASSERT_EQ(0, in_a_process(&self->set, self->fds[i], add));
	}
	for (i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(0, eventfd_post(self->kept[i]));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->fds[i], 0));
		EXPECT_EQ(0, eset_del(&self->set, self->fds[i]));
	}
}

TEST_HARNESS_MAIN
