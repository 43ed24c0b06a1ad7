// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes with tables of files of their own share a set: an fd that one
 * of them adds can neither be removed nor closed by the other's number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/stranger.h"

#define NUMBER	60	/* names another file in each process */
#define SET	61
#define OURS	4711
#define THEIRS	815

FIXTURE(owner) {
	struct eset set;
	int kept;	/* the file that NUMBER names here */
	struct stranger other;
};

FIXTURE_VARIANT(owner) {
	const struct eset_ops *ops;
	bool passed;	/* the other has the set by a socket, not by fork() */
};

#define OWNER(way)							\
	FIXTURE_VARIANT_ADD(owner, way##_inherited) {			\
		.ops = &eset_##way,					\
	};								\
	FIXTURE_VARIANT_ADD(owner, way##_passed) {			\
		.ops = &eset_##way,					\
		.passed = true,						\
	}

OWNER(devepoll);
OWNER(devepoll_fadvise);
OWNER(devepoll_mapped);
OWNER(sysepoll);

/* What the other process does with its copy of the set. */
static int act(void *arg, const struct order *order)
{
	struct eset *set = arg;
	int err;

	switch (order->verb) {
	case STRANGER_ADOPT:
		err = eset_adopt(set, set->ops, order->number);
		/* Another user, too. */
		return err ?: setuid(65534) ? -errno : 0;
	case STRANGER_WAIT:
		return eset_wait_one(set, order->data, 0);
	}
	return eset_ctl(set, order->verb, order->number, order->events,
			order->data);
}

/* The owner asks for a last event when its file is closed, if that exists. */
static int add_ours(struct eset *set, int number)
{
	const struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.flags = DEVEPOLL_TELL_CLOSED,
		.fd = number,
		.events = EPOLLIN | EPOLLET,
		.data = OURS,
	};

	if (eset_has(set, REPORTS_STALE))
		return eset_ctl(set, EPOLL_CTL_ADD, number, EPOLLIN | EPOLLET,
				OURS);
	return dep_change(set->fd, &change);
}

FIXTURE_SETUP(owner)
{
	struct eset set = { .ops = variant->ops };

	if (variant->passed)
		ASSERT_EQ(0, stranger_start(&self->other, act, &set));
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	if (variant->passed) {
		ASSERT_EQ(0, stranger_give(&self->other, SET, self->set.fd));
		ASSERT_EQ(0, stranger_does(&self->other, STRANGER_ADOPT, SET,
					   0, 0));
	} else {
		ASSERT_EQ(0, stranger_start(&self->other, act, &self->set));
	}
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	self->kept = fcntl(NUMBER, F_DUPFD_CLOEXEC, 100);
	ASSERT_LE(100, self->kept);
	ASSERT_EQ(0, add_ours(&self->set, NUMBER));
}

FIXTURE_TEARDOWN(owner)
{
	EXPECT_EQ(0, stranger_end(&self->other));
	eset_close(&self->set);
}

#define THEY(verb, events)						\
	stranger_does(&self->other, STRANGER_##verb, NUMBER, events, THEIRS)

/* Nothing was reported yet, and our file is watched. */
#define EXPECT_OURS_STAYS() do {					\
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, OURS, 0));		\
	ASSERT_EQ(0, eventfd_post(self->kept));				\
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, OURS, 0));		\
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, OURS, 0));		\
} while (0)

#define EXPECT_THEIRS_STAYS() do {					\
	ASSERT_EQ(0, THEY(POST, 0));					\
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, THEIRS, 0));	\
	ASSERT_EQ(0, THEY(POST, 0));					\
	EXPECT_EQ(EPOLLIN, THEY(WAIT, 0));				\
} while (0)

TEST_F(owner, keeps_what_a_stranger_removes_by_a_closed_number)
{
	EXPECT_EQ(-EBADF, THEY(DEL, 0));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(-EBADF, THEY(MOD, EPOLLIN));
	EXPECT_EQ(-EBADF, THEY(ADD, EPOLLIN));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(0, eset_del(&self->set, NUMBER));
}

TEST_F(owner, keeps_what_a_stranger_removes_by_a_number_of_another_file)
{
	ASSERT_EQ(0, THEY(NAME, 0));
	EXPECT_EQ(-ENOENT, THEY(DEL, 0));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(0, eset_mod(&self->set, NUMBER, EPOLLIN | EPOLLET));
	EXPECT_EQ(0, eset_del(&self->set, NUMBER));
}

TEST_F(owner, keeps_what_a_stranger_changes_by_a_number_of_another_file)
{
	ASSERT_EQ(0, THEY(NAME, 0));
	EXPECT_EQ(-ENOENT, THEY(MOD, EPOLLIN));
	EXPECT_OURS_STAYS();
	ASSERT_EQ(0, THEY(POST, 0));
	EXPECT_OURS_STAYS();
}

TEST_F(owner, and_a_stranger_watch_a_file_each_under_one_number)
{
	ASSERT_EQ(0, THEY(NAME, 0));
	EXPECT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	EXPECT_OURS_STAYS();
	EXPECT_THEIRS_STAYS();
	EXPECT_EQ(-EEXIST, THEY(ADD, EPOLLIN));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, NUMBER, EPOLLIN));
	/* Each changes its own. */
	EXPECT_EQ(0, THEY(MOD, EPOLLOUT | EPOLLET));
	EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, THEIRS, 0));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(0, THEY(MOD, EPOLLIN | EPOLLET));
	EXPECT_EQ(EPOLLIN, THEY(WAIT, 0));
	/* Each removes its own. */
	EXPECT_EQ(0, eset_del(&self->set, NUMBER));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, NUMBER));
	EXPECT_THEIRS_STAYS();
	EXPECT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, NUMBER,
			      EPOLLIN | EPOLLET, OURS));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, OURS, 0));
	EXPECT_EQ(0, THEY(DEL, 0));
	EXPECT_EQ(-ENOENT, THEY(DEL, 0));
	ASSERT_EQ(0, THEY(POST, 0));
	EXPECT_OURS_STAYS();
}

TEST_F(owner, and_a_stranger_that_closes_lose_their_own_alone)
{
	ASSERT_EQ(0, THEY(NAME, 0));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, THEY(CLOSE, 0));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(-EBADF, THEY(DEL, 0));
	EXPECT_OURS_STAYS();
}

/* What the device reports of a number that its owner has closed. */
#define STALE (eset_has(&self->set, REPORTS_STALE) ? EPOLLIN : -ENOMSG)

TEST_F(owner, removes_by_number_after_its_close)
{
	int gone = eset_has(&self->set, REPORTS_STALE) ? -EBADF : 0;

	ASSERT_EQ(0, THEY(NAME, 0));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(0, THEY(MOD, EPOLLIN | EPOLLET));
	EXPECT_EQ(gone, eset_del(&self->set, NUMBER));
	EXPECT_EQ(-EBADF, eset_del(&self->set, NUMBER));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, OURS, 0));
	EXPECT_THEIRS_STAYS();
}

TEST_F(owner, adds_another_file_under_its_number_beside_a_stranger)
{
	struct epoll_event out[4];
	int n;

	ASSERT_EQ(0, THEY(NAME, 0));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, NUMBER,
			      EPOLLIN | EPOLLET, 42));
	ASSERT_EQ(0, eventfd_post(self->kept));
	ASSERT_EQ(0, eventfd_post(NUMBER));
	ASSERT_EQ(0, THEY(POST, 0));
	n = eset_wait(&self->set, out, 4, 0);
	ASSERT_EQ(3, n);
	EXPECT_EQ(EPOLLIN, events_of(out, n, 42));
	EXPECT_EQ(EPOLLIN, events_of(out, n, THEIRS));
	EXPECT_EQ(eset_has(&self->set, REPORTS_STALE) ? EPOLLIN :
		  DEVEPOLL_CLOSED, events_of(out, n, OURS));
}

/* Its number has two files in the set when that goes. */
TEST_F(owner, set_goes_before_the_files_of_both)
{
	const int number = variant->passed ? SET : self->set.fd;

	ASSERT_EQ(0, THEY(NAME, 0));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, stranger_does(&self->other, STRANGER_CLOSE, number, 0,
				   0));
	eset_close(&self->set);
	self->set = (struct eset){};
	EXPECT_EQ(0, eventfd_post(NUMBER));
	EXPECT_EQ(0, THEY(POST, 0));
}

TEST_F(owner, is_told_of_the_close_of_its_own_file_alone)
{
	if (eset_has(&self->set, REPORTS_STALE))
		SKIP(return, "epoll tells of no close");
	ASSERT_EQ(0, THEY(NAME, 0));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, THEY(NAME, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, OURS, 0));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, THEY(CLOSE, 0));
	EXPECT_EQ(-EBADF, THEY(DEL, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, OURS, 0));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, OURS, 0));
	ASSERT_EQ(0, close(self->kept));
	EXPECT_EQ(DEVEPOLL_CLOSED, eset_wait_one(&self->set, OURS, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, OURS, 0));
}

TEST_F(owner, shares_what_the_number_names_in_both)
{
	ASSERT_EQ(0, stranger_give(&self->other, NUMBER, self->kept));
	EXPECT_EQ(-EEXIST, THEY(ADD, EPOLLIN));
	EXPECT_EQ(0, THEY(MOD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, THEIRS, 0));
	EXPECT_EQ(0, THEY(DEL, 0));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, NUMBER));
}

TEST_F(owner, that_has_gone_leaves_the_removal_to_anybody)
{
	bool stale = eset_has(&self->set, REPORTS_STALE);

	ASSERT_EQ(0, eset_del(&self->set, NUMBER));
	ASSERT_EQ(0, stranger_give(&self->other, NUMBER, self->kept));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(-EBADF, eset_del(&self->set, NUMBER));
	ASSERT_EQ(0, name_file(NUMBER, eventfd_new()));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, NUMBER));
	EXPECT_EQ(-ENOENT, eset_mod(&self->set, NUMBER, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, THEIRS, 0));

	ASSERT_EQ(0, stranger_leave(&self->other));
	/* Their file lives on: a change of another file does not close it. */
	EXPECT_EQ(-ENOENT, eset_mod(&self->set, NUMBER, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, THEIRS, 0));
	EXPECT_EQ(stale ? -ENOENT : 0, eset_del(&self->set, NUMBER));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, NUMBER));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, THEIRS, 0));
}

TEST_F(owner, that_has_gone_leaves_the_removal_by_a_closed_number_too)
{
	bool stale = eset_has(&self->set, REPORTS_STALE);

	ASSERT_EQ(0, eset_del(&self->set, NUMBER));
	ASSERT_EQ(0, stranger_give(&self->other, NUMBER, self->kept));
	ASSERT_EQ(0, THEY(ADD, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, close(NUMBER));
	ASSERT_EQ(0, stranger_leave(&self->other));
	EXPECT_EQ(stale ? -EBADF : 0, eset_del(&self->set, NUMBER));
	EXPECT_EQ(-EBADF, eset_del(&self->set, NUMBER));
}

struct apart {
	struct eset set;
	atomic_bool alone;
	atomic_bool go;
};

static long remove_apart(void *arg)
{
	struct apart *apart = arg;
	int ret = unshare(CLONE_FILES) ? -errno : close(NUMBER);

	atomic_store(&apart->alone, true);
	if (!ret && !await(atomic_load(&apart->go)))
		ret = -ETIMEDOUT;
	if (ret)
		return ret;
	ret = eset_del(&apart->set, NUMBER);
	if (ret != -EBADF)
		return ret;
	ret = name_file(NUMBER, eventfd_new());
	return ret ?: eset_mod(&apart->set, NUMBER, EPOLLIN);
}

TEST_F(owner, is_a_thread_with_a_table_of_its_own)
{
	struct apart apart = { .set = self->set };
	struct task task;

	NEEDS_THREADS();
	ASSERT_EQ(0, task_start(&task, remove_apart, &apart));
	ASSERT_TRUE(await(atomic_load(&apart.alone)));
	atomic_store(&apart.go, true);
	EXPECT_EQ(-ENOENT, task_join(&task));
	EXPECT_OURS_STAYS();
	EXPECT_EQ(0, eset_del(&self->set, NUMBER));
}

/* Files of one number; more are refused, since they are searched. */
#define MOST	64

TEST_F(owner, shares_its_number_with_no_more_than_63_others)
{
	bool bounded = !eset_has(&self->set, REPORTS_STALE);
	struct stranger others[MOST];
	int i, last;

	for (i = 0; i < MOST; i++) {
		ASSERT_EQ(0, stranger_start(&others[i], act, &self->set));
		ASSERT_EQ(0, stranger_does(&others[i], STRANGER_NAME, NUMBER,
					   0, 0));
		last = stranger_does(&others[i], STRANGER_ADD, NUMBER, EPOLLIN,
				     i);
		EXPECT_EQ(i == MOST - 1 && bounded ? -ENOSPC : 0, last);
	}
	for (i = 0; i < MOST - 1; i++) {
		ASSERT_EQ(0, stranger_does(&others[i], STRANGER_POST, NUMBER,
					   0, 0));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, i, 0));
		EXPECT_EQ(0, stranger_does(&others[i], STRANGER_DEL, NUMBER,
					   0, 0));
	}
	EXPECT_EQ(bounded ? 0 : -EEXIST,
		  stranger_does(&others[i++], STRANGER_ADD, NUMBER, EPOLLIN,
				0));
	EXPECT_OURS_STAYS();
	/* The later ones have inherited the earlier ones' channels. */
	while (i--)
		EXPECT_EQ(0, stranger_end(&others[i]));
	EXPECT_OURS_STAYS();
}

/* As after execve(2): the table may be a new one. */
TEST_F(owner, removes_by_number_after_its_table_was_copied)
{
	int shared = eset_has(&self->set, REPORTS_STALE) ? -EBADF : 0;
	pid_t pid;

	/* Like vfork(), but the table of files is shared. */
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, unshare(CLONE_FILES));
	ASSERT_EQ(0, close(NUMBER));
	EXPECT_EQ(shared, eset_del(&self->set, NUMBER));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(128 + SIGKILL, reap(pid));
}

TEST_HARNESS_MAIN
