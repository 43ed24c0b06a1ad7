// SPDX-License-Identifier: GPL-2.0
/*
 * Which file a number means: after close, dup and reuse of numbers, in other
 * processes, and in sets that are passed on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

FIXTURE(identity) {
	struct eset set;
	int event;	/* in the set, edge-triggered */
	int kept;	/* the same file, not in the set */
};

ESET_VARIANTS(identity);

FIXTURE_SETUP(identity)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	self->kept = fcntl(self->event, F_DUPFD_CLOEXEC, 100);
	ASSERT_LE(100, self->kept);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(identity)
{
	eset_close(&self->set);
}

#define STALE (eset_has(&self->set, REPORTS_STALE) ? EPOLLIN : -ENOMSG)

TEST_F(identity, of_a_closed_number_is_gone_though_its_file_lives)
{
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-EBADF, eset_del(&self->set, self->event));
}

TEST_F(identity, of_a_number_closed_while_ready_is_gone)
{
	ASSERT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, close(self->event));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(identity, of_a_closed_number_can_be_removed)
{
	int error = eset_has(&self->set, REPORTS_STALE) ? -EBADF : 0;

	ASSERT_EQ(0, close(self->event));
	EXPECT_EQ(-EBADF, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(-EBADF, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(error, eset_del(&self->set, self->event));
	EXPECT_EQ(-EBADF, eset_del(&self->set, self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(identity, of_a_closed_file_is_gone)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, close(self->kept));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-EBADF, eset_del(&self->set, self->event));
	EXPECT_EQ(0, poll_now(self->set.fd, POLLIN));
}

/* From here on the number names another file. */
static int name_another(int number)
{
	int another = eventfd_new();
	int ret = dup3(another, number, O_CLOEXEC) == number ? 0 : -errno;

	close(another);
	return ret;
}

TEST_F(identity, of_a_number_used_again_is_the_new_file)
{
	ASSERT_EQ(0, name_another(self->event));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOENT, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, self->event,
			      EPOLLIN | EPOLLET, 4711));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, 4711, 0));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, 4711, 0));
}

TEST_F(identity, of_a_number_used_again_never_yields_old_events)
{
	ASSERT_EQ(0, eventfd_post(self->kept));
	ASSERT_EQ(0, name_another(self->event));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(identity, of_a_number_used_again_is_removed_by_number)
{
	int error = eset_has(&self->set, REPORTS_STALE) ? -ENOENT : 0;

	ASSERT_EQ(0, name_another(self->event));
	EXPECT_EQ(error, eset_del(&self->set, self->event));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
}

static int name_no_file_to_watch(int number)
{
	int regular = memfd_create("devepoll-identity", MFD_CLOEXEC);
	int ret = dup3(regular, number, O_CLOEXEC) == number ? 0 : -errno;

	close(regular);
	return ret;
}

TEST_F(identity, of_a_number_that_names_no_file_to_watch_is_removed)
{
	bool stale = eset_has(&self->set, REPORTS_STALE);

	ASSERT_EQ(0, name_no_file_to_watch(self->event));
	EXPECT_EQ(-EPERM, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(stale ? -EPERM : 0, eset_del(&self->set, self->event));
	EXPECT_EQ(-EPERM, eset_del(&self->set, self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(identity, of_a_number_that_names_the_set_is_removed)
{
	bool stale = eset_has(&self->set, REPORTS_STALE);

	ASSERT_EQ(self->event, dup3(self->set.fd, self->event, O_CLOEXEC));
	EXPECT_EQ(stale ? -EINVAL : 0, eset_del(&self->set, self->event));
	EXPECT_EQ(-EINVAL, eset_del(&self->set, self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(identity, of_a_number_that_names_its_file_again_lives_on)
{
	ASSERT_EQ(0, name_another(self->event));
	ASSERT_EQ(self->event, dup3(self->kept, self->event, O_CLOEXEC));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, eset_del(&self->set, self->event));
}

TEST_F(identity, of_many_files_on_one_number_is_never_mixed_up)
{
	int i, stale, number = self->event;

	for (i = 0; i < 500; i++) {
		ASSERT_EQ(0, eventfd_post(number));
		ASSERT_EQ(0, close(number));
		if (i & 1) {
			ASSERT_EQ(0, close(self->kept));
			self->kept = -1;
			ASSERT_EQ(0, eset_drain(&self->set));
		}
		ASSERT_EQ(number, eventfd_new());
		if (self->kept < 0)
			self->kept = fcntl(number, F_DUPFD_CLOEXEC, 100);
		ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_ADD, number,
				      EPOLLIN | EPOLLET, 1000 + i));
		stale = eset_drain(&self->set);
		if (!eset_has(&self->set, REPORTS_STALE))
			ASSERT_EQ(0, stale);
		ASSERT_EQ(0, eventfd_post(number));
		ASSERT_EQ(EPOLLIN, eset_wait_one(&self->set, 1000 + i, 0));
	}
}

/* Does something in a child; its exit status is 0 if that returns true. */
#define in_child(condition)						\
	({								\
		pid_t child_pid = fork();				\
									\
		if (!child_pid)						\
			_exit((condition) ? 0 : 1);			\
		child_pid < 0 ? -errno : reap(child_pid);		\
	})

TEST_F(identity, is_the_same_in_a_child)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(0, in_child(eset_wait_one(&self->set, self->event, 0) ==
			      EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, in_child(eset_mod(&self->set, self->event, EPOLLIN) == 0));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, in_child(eset_del(&self->set, self->event) == 0));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
}

TEST_F(identity, in_a_child_outlives_the_number_here)
{
	int go[2];
	pid_t pid;

	ASSERT_EQ(0, pipe2(go, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		take_byte(go[0]);
		_exit(eset_wait_one(&self->set, self->event, 0) == EPOLLIN ?
		      0 : 1);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	ASSERT_EQ(0, put_byte(go[1]));
	EXPECT_EQ(0, reap(pid));
}

/* The grandchild goes on when the process that added has ended. */
TEST_F(identity, outlives_the_process_that_added)
{
	int go[2], answer[2], event = eventfd_new(), verdict = -1;
	pid_t pid;

	ASSERT_EQ(0, pipe2(go, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(answer, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		int ret = eset_add(&self->set, event, EPOLLIN | EPOLLET);

		if (fork())
			_exit(ret ? 1 : 0);
		take_byte(go[0]);
		ret = eset_wait_one(&self->set, event, 10000);
		_exit(write(answer[1], &ret, sizeof(ret)) < 0);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, reap(pid));
	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(0, put_byte(go[1]));
	ASSERT_EQ(sizeof(verdict), read(answer[0], &verdict, sizeof(verdict)));
	EXPECT_EQ(EPOLLIN, verdict);
}

/* Its end counts at once, though it was found alive just before. */
TEST_F(identity, passes_here_at_the_end_of_the_process_that_added)
{
	int go[2], added[2];
	pid_t pid;

	ASSERT_EQ(0, eset_del(&self->set, self->event));
	ASSERT_EQ(0, pipe2(go, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(added, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		int ret = eset_add(&self->set, self->event, EPOLLIN | EPOLLET);

		put_byte(added[1]);
		take_byte(go[0]);
		_exit(ret ? 1 : 0);
	}
	ASSERT_LT(0, pid);
	take_byte(added[0]);
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, put_byte(go[1]));
	ASSERT_EQ(0, reap(pid));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	EXPECT_EQ(STALE, eset_wait_one(&self->set, self->event, 0));
}

struct apart {
	struct eset set;
	int number;
	atomic_bool alone;
	atomic_bool go;
};

static long wait_apart(void *arg)
{
	struct apart *apart = arg;
	int ret = unshare(CLONE_FILES) ? -errno : 0;

	atomic_store(&apart->alone, true);
	if (!ret && !await(atomic_load(&apart->go)))
		ret = -ETIMEDOUT;
	return ret ?: eset_wait_one(&apart->set, apart->number, 0);
}

/* A thread with a file table of its own counts as another process. */
TEST_F(identity, in_another_table_outlives_the_number_here)
{
	struct apart apart = { .set = self->set, .number = self->event };
	struct task task;

	ASSERT_EQ(0, task_start(&task, wait_apart, &apart));
	ASSERT_TRUE(await(atomic_load(&apart.alone)));
	ASSERT_EQ(0, close(self->event));
	ASSERT_EQ(0, eventfd_post(self->kept));
	atomic_store(&apart.go, true);
	EXPECT_EQ(EPOLLIN, task_join(&task));
}

TEST_F(identity, of_what_another_process_added_is_known_here)
{
	int go[2], done[2];
	pid_t pid;

	ASSERT_EQ(0, pipe2(go, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(done, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		int own = fcntl(eventfd_new(), F_DUPFD_CLOEXEC, 900);

		if (eset_add(&self->set, own, EPOLLIN | EPOLLET) ||
		    eventfd_post(own) || put_byte(done[1]))
			_exit(1);
		_exit(take_byte(go[0]) ? 2 : 0);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, take_byte(done[0]));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, 900, 0));
	ASSERT_EQ(0, put_byte(go[1]));
	ASSERT_EQ(0, reap(pid));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&self->set, 900, 0));
}

TEST_HARNESS_MAIN
