// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the interest list, one at a time: the result of each, and what it
 * leaves untouched.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

/* How long a race goes on, and how far a slow kernel gets in that time. */
#define RACE_NS		(400 * NSEC_PER_MSEC)
#define LEAST_ROUNDS	20

FIXTURE(ctl) {
	struct eset set;
	int event;
};

ESET_VARIANTS(ctl);

FIXTURE_SETUP(ctl)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(ctl)
{
	eset_close(&self->set);
}

TEST_F(ctl, adds_once)
{
	EXPECT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLOUT));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(ctl, adds_once_whatever_is_asked_for)
{
	EXPECT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event,
				    EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(-EINVAL, eset_add(&self->set, self->event,
				    EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT));
	ASSERT_EQ(0, eset_del(&self->set, self->event));
	EXPECT_EQ(0, eset_add(&self->set, self->event,
			      EPOLLIN | EPOLLEXCLUSIVE));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(ctl, adds_what_another_set_has)
{
	struct eset other;
	int others[8], i;

	ASSERT_EQ(0, eset_open(&other, variant->ops));
	ASSERT_EQ(0, eset_add(&other, self->event, EPOLLIN));
	for (i = 0; i < 8; i++) {
		others[i] = eventfd_new();
		ASSERT_EQ(0, eset_add(&self->set, others[i], EPOLLIN));
	}
	EXPECT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(-EEXIST, eset_add(&self->set, others[i], EPOLLIN));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eset_del(&other, self->event));
	EXPECT_EQ(-EEXIST, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(-ENOMSG, eset_wait_one(&other, self->event, 0));
	eset_close(&other);
}

TEST_F(ctl, changes_and_removes_only_members)
{
	EXPECT_EQ(-ENOENT, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
	EXPECT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, eset_mod(&self->set, self->event, EPOLLOUT));
	EXPECT_EQ(0, eset_del(&self->set, self->event));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
	EXPECT_EQ(-ENOENT, eset_mod(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
}

TEST_F(ctl, takes_another_number_of_the_same_file)
{
	int duplicate = dup(self->event);
	struct epoll_event out[4];
	int n;

	ASSERT_LE(0, duplicate);
	EXPECT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, eset_add(&self->set, duplicate, EPOLLIN | EPOLLOUT));
	ASSERT_EQ(0, eventfd_post(self->event));
	n = eset_wait(&self->set, out, 4, 0);
	ASSERT_EQ(2, n);
	EXPECT_EQ(EPOLLIN, events_of(out, n, self->event));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, events_of(out, n, duplicate));
	EXPECT_EQ(0, eset_del(&self->set, self->event));
	EXPECT_EQ(EPOLLIN | EPOLLOUT, eset_wait_one(&self->set, duplicate, 0));
}

TEST_F(ctl, takes_the_numbers_0_to_2)
{
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(i, dup2(self->event, i));
		EXPECT_EQ(0, eset_add(&self->set, i, EPOLLOUT));
		EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, i, 0));
		EXPECT_EQ(0, eset_del(&self->set, i));
	}
}

TEST_F(ctl, takes_a_very_large_number)
{
	int number, wanted;

	raise_fd_limit(200000);
	wanted = getdtablesize() - 1;
	number = fcntl(self->event, F_DUPFD_CLOEXEC, wanted);
	ASSERT_EQ(wanted, number);
	EXPECT_EQ(-ENOENT, eset_del(&self->set, number));
	EXPECT_EQ(0, eset_add(&self->set, number, EPOLLOUT));
	EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, number, 0));
	EXPECT_EQ(0, eset_del(&self->set, number));
	EXPECT_EQ(0, eset_drain(&self->set));
}

/* The set gives memory of removed numbers back, all but the last one's. */
TEST_F(ctl, takes_a_number_again_whatever_was_removed_since)
{
	const int far = 19000;
	int i, fds[5];

	ASSERT_EQ(0, raise_fd_limit(20000));
	/* A set of no more than a few numbers needs no memory for them. */
	for (i = 0; i < 5; i++) {
		fds[i] = eventfd_new();
		ASSERT_EQ(0, eset_add(&self->set, fds[i], EPOLLIN));
	}
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, eset_del(&self->set, fds[i]));
	ASSERT_EQ(far, dup3(self->event, far, O_CLOEXEC));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, eset_add(&self->set, far, EPOLLOUT));
		EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, far, 0));
		ASSERT_EQ(0, eset_del(&self->set, far));
		ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLOUT));
		EXPECT_EQ(EPOLLOUT, eset_wait_one(&self->set, self->event, 0));
		ASSERT_EQ(0, eset_del(&self->set, self->event));
	}
	EXPECT_EQ(-ENOENT, eset_del(&self->set, far));
	EXPECT_EQ(0, eset_drain(&self->set));
}

/* A thread that makes one file ready until it is told to stop. */
struct poster {
	int fd;
	atomic_bool stop;
	struct task task;
};

static long post_all_the_time(void *arg)
{
	struct poster *poster = arg;

	while (!atomic_load(&poster->stop))
		eventfd_post(poster->fd);
	return 0;
}

static long wait_all_the_time(void *arg)
{
	struct poster *waiter = arg;
	struct eset *set = (void *)(waiter + 1);
	struct epoll_event out[4];

	while (!atomic_load(&waiter->stop))
		eset_wait(set, out, 4, 0);
	return 0;
}

TEST_F(ctl, removal_has_taken_effect_when_it_returns)
{
	struct {
		struct poster poster;
		struct eset set;
	} waiter = { .set = self->set };
	struct poster poster = { .fd = self->event };
	struct epoll_event out[4];
	uint64_t end;
	int i;

	ASSERT_EQ(0, task_start(&poster.task, post_all_the_time, &poster));
	ASSERT_EQ(0, task_start(&waiter.poster.task, wait_all_the_time,
				&waiter));
	end = now_ns() + RACE_NS;
	for (i = 0; i < LEAST_ROUNDS || now_ns() < end; i++) {
		ASSERT_EQ(0, eset_add(&self->set, self->event,
				      EPOLLIN | (i & 1 ? EPOLLET : 0)));
		if (i & 2)
			ASSERT_LE(0, eset_wait(&self->set, out, 4, 0));
		ASSERT_EQ(0, eset_del(&self->set, self->event));
		ASSERT_EQ(0, eset_wait(&self->set, out, 4, 0))
			TH_LOG("round %d", i);
	}
	atomic_store(&poster.stop, true);
	atomic_store(&waiter.poster.stop, true);
	EXPECT_EQ(0, task_join(&poster.task));
	EXPECT_EQ(0, task_join(&waiter.poster.task));
}

TEST_F(ctl, change_has_taken_effect_when_it_returns)
{
	struct poster poster = { .fd = self->event };
	struct epoll_event out[4];
	uint64_t i, end;
	int n;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ASSERT_EQ(0, task_start(&poster.task, post_all_the_time, &poster));
	end = now_ns() + RACE_NS;
	for (i = 0; i < LEAST_ROUNDS || now_ns() < end; i++) {
		ASSERT_EQ(0, eset_ctl(&self->set, EPOLL_CTL_MOD, self->event,
				      EPOLLIN | (i & 1 ? EPOLLET : 0), i));
		n = eset_wait(&self->set, out, 4, 0);
		ASSERT_LE(0, n);
		if (n)
			ASSERT_EQ(i, out[0].data.u64);
		eventfd_take(self->event);
	}
	atomic_store(&poster.stop, true);
	EXPECT_EQ(0, task_join(&poster.task));
}

TEST_F(ctl, change_wakes_who_polls_the_set)
{
	struct task task;
	int i;

	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eset_add(&self->set, self->event, 0));
	/* The second time, the file has been asked for EPOLLIN before. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, task_start(&task, poll_for_input, &self->set.fd));
		ASSERT_EQ(0, await_sleep(task.tid, SYS_poll));
		ASSERT_EQ(0, eset_mod(&self->set, self->event,
				      EPOLLIN | EPOLLONESHOT));
		EXPECT_EQ(POLLIN, task_join(&task));
		EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	}
}

/* Called directly: libraries hide bits of the kernel's answer. */
static long raw_fcntl(int fd, int cmd, long arg)
{
	return syscall(SYS_fcntl, fd, cmd, arg);
}

TEST_F(ctl, shows_the_flags_of_epoll_fds)
{
	EXPECT_EQ(O_RDWR, raw_fcntl(self->set.fd, F_GETFL, 0));
	ASSERT_EQ(0, raw_fcntl(self->set.fd, F_SETFL, O_RDWR | O_NONBLOCK));
	EXPECT_EQ(O_RDWR | O_NONBLOCK, raw_fcntl(self->set.fd, F_GETFL, 0));
	EXPECT_EQ(FD_CLOEXEC, raw_fcntl(self->set.fd, F_GETFD, 0));
}

/* The kernel compares only the files of epoll's own sets. */
TEST_F(ctl, is_nothing_to_kcmp)
{
	struct kcmp_epoll_slot slot = {
		.efd = self->set.fd,
		.tfd = self->event,
	};
	pid_t me = getpid();
	long ret;

	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	ret = syscall(SYS_kcmp, me, me, KCMP_EPOLL_TFD, self->event, &slot);
	if (ret < 0 && errno == ENOSYS)
		SKIP(return, "no kcmp in this kernel");
	if (eset_has(&self->set, TAKES_TURNS)) {
		EXPECT_EQ(-1, ret);
		EXPECT_EQ(EINVAL, errno);
	} else {
		EXPECT_EQ(0, ret);
	}
}

FIXTURE(argument) {
	struct eset set;
	int event;
};

FIXTURE_VARIANT(argument) {
	const struct eset_ops *ops;
};

FIXTURE_VARIANT_ADD(argument, devepoll_fadvise) {
	.ops = &eset_devepoll_fadvise,
};

FIXTURE_VARIANT_ADD(argument, sysepoll) {
	.ops = &eset_sysepoll,
};

FIXTURE_SETUP(argument)
{
	ASSERT_EQ(0, eset_open(&self->set, variant->ops));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(argument)
{
	eset_close(&self->set);
}

static int raw_ctl(struct eset *set, int op, int fd, struct epoll_event *event)
{
	if (set->ops != &eset_sysepoll)
		return dep_epoll_ctl(set->fd, op, fd, event);
	return epoll_ctl(set->fd, op, fd, event) ? -errno : 0;
}

TEST_F(argument, is_not_read_by_a_removal)
{
	EXPECT_EQ(-ENOENT, raw_ctl(&self->set, EPOLL_CTL_DEL, self->event,
				   NULL));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, raw_ctl(&self->set, EPOLL_CTL_DEL, self->event, NULL));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(0, raw_ctl(&self->set, EPOLL_CTL_DEL, self->event,
			     (void *)1));
}

TEST_F(argument, that_cannot_be_read_changes_nothing)
{
	char *edge = mmap(NULL, 2 * getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct epoll_event *half;

	ASSERT_TRUE(edge != MAP_FAILED);
	ASSERT_EQ(0, munmap(edge + getpagesize(), getpagesize()));
	half = (void *)(edge + getpagesize() - sizeof(*half) / 2);
	EXPECT_EQ(-EFAULT, raw_ctl(&self->set, EPOLL_CTL_ADD, self->event,
				   NULL));
	EXPECT_EQ(-EFAULT, raw_ctl(&self->set, EPOLL_CTL_ADD, self->event,
				   half));
	EXPECT_EQ(-ENOENT, eset_del(&self->set, self->event));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN));
	EXPECT_EQ(-EFAULT, raw_ctl(&self->set, EPOLL_CTL_MOD, self->event,
				   NULL));
	/* It is checked before the fd is. */
	EXPECT_EQ(-EFAULT, raw_ctl(&self->set, EPOLL_CTL_MOD, -1, half));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
}

TEST_F(argument, is_not_written)
{
	struct epoll_event event = { EPOLLIN, { .u64 = 7 } }, before = event;

	EXPECT_EQ(0, raw_ctl(&self->set, EPOLL_CTL_ADD, self->event, &event));
	EXPECT_EQ(0, memcmp(&event, &before, sizeof(event)));
	EXPECT_EQ(-EEXIST, raw_ctl(&self->set, EPOLL_CTL_ADD, self->event,
				   &event));
	EXPECT_EQ(0, memcmp(&event, &before, sizeof(event)));
}

TEST_HARNESS_MAIN
