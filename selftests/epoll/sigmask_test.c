// SPDX-License-Identifier: GPL-2.0
/*
 * A signal mask that is in force while a call waits.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"

static atomic_int handled;
/* SIGUSR2's state in the handler of SIGUSR1 */
static atomic_bool blocked_meanwhile;

static void handler(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	atomic_store(&blocked_meanwhile, sigismember(&now, SIGUSR2));
	atomic_fetch_add(&handled, 1);
}

static bool is_blocked(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, sig);
}

static sigset_t mask_of(int sig)
{
	sigset_t mask;

	sigemptyset(&mask);
	if (sig)
		sigaddset(&mask, sig);
	return mask;
}

FIXTURE(sigmask) {
	struct eset set;
	int event;
};

ESET_VARIANTS(sigmask);

FIXTURE_SETUP(sigmask)
{
	struct sigaction action = { .sa_handler = handler };

	atomic_store(&handled, 0);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, sigaction(SIGUSR2, &action, NULL));
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(sigmask)
{
	eset_close(&self->set);
}

/* A wait without limit, or with time-out 0, under a mask. */
struct masked {
	struct eset set;
	sigset_t before;	/* of the thread */
	sigset_t mask;
	struct timespec *timeout;
	struct task task;
	struct epoll_event out[2];
	bool usr1_after;
	bool usr2_after;
};

static long masked_call(void *arg)
{
	struct masked *m = arg;
	long ret;

	pthread_sigmask(SIG_SETMASK, &m->before, NULL);
	ret = eset_pwait2(&m->set, m->out, 2, m->timeout, &m->mask);
	m->usr1_after = is_blocked(SIGUSR1);
	m->usr2_after = is_blocked(SIGUSR2);
	return ret;
}

static int masked_start(struct masked *m, const struct eset *set, int before,
			int mask)
{
	int ret;

	m->set = *set;
	m->before = mask_of(before);
	m->mask = mask_of(mask);
	m->timeout = NULL;
	ret = task_start(&m->task, masked_call, m);
	return ret ?: await_sleep(m->task.tid, set->ops->pwait2_syscall);
}

TEST_F(sigmask, lets_a_blocked_signal_in)
{
	struct masked m;

	ASSERT_EQ(0, masked_start(&m, &self->set, SIGUSR1, 0));
	ASSERT_EQ(0, pthread_kill(m.task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&m.task));
	EXPECT_EQ(1, atomic_load(&handled));
	EXPECT_TRUE(m.usr1_after);
	EXPECT_FALSE(m.usr2_after);
}

TEST_F(sigmask, is_in_force_in_the_handler)
{
	struct masked m;

	ASSERT_EQ(0, masked_start(&m, &self->set, SIGUSR1, SIGUSR2));
	ASSERT_EQ(0, pthread_kill(m.task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&m.task));
	EXPECT_EQ(1, atomic_load(&handled));
	EXPECT_TRUE(atomic_load(&blocked_meanwhile));
	EXPECT_TRUE(m.usr1_after);
	EXPECT_FALSE(m.usr2_after);
}

TEST_F(sigmask, keeps_a_signal_out_until_the_wait_is_over)
{
	struct masked m;

	ASSERT_EQ(0, masked_start(&m, &self->set, 0, SIGUSR1));
	ASSERT_EQ(0, pthread_kill(m.task.thread, SIGUSR1));
	EXPECT_TRUE(sleeps_in(m.task.tid, self->set.ops->pwait2_syscall));
	EXPECT_EQ(0, atomic_load(&handled));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&m.task));
	EXPECT_EQ(self->event, m.out[0].data.u64);
	EXPECT_EQ(1, atomic_load(&handled));
	EXPECT_FALSE(m.usr1_after);
}

TEST_F(sigmask, is_taken_back_after_an_event)
{
	struct masked m;

	ASSERT_EQ(0, masked_start(&m, &self->set, SIGUSR1, SIGUSR2));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, task_join(&m.task));
	EXPECT_TRUE(m.usr1_after);
	EXPECT_FALSE(m.usr2_after);
	EXPECT_EQ(0, atomic_load(&handled));
}

TEST_F(sigmask, is_taken_back_after_a_time_out)
{
	struct timespec brief = { .tv_nsec = 1000000 };
	struct masked m = {
		.set = self->set,
		.before = mask_of(SIGUSR1),
		.mask = mask_of(SIGUSR2),
		.timeout = &brief,
	};

	EXPECT_EQ(0, masked_call(&m));
	EXPECT_TRUE(m.usr1_after);
	EXPECT_FALSE(m.usr2_after);
	brief.tv_nsec = 0;
	EXPECT_EQ(0, masked_call(&m));
	EXPECT_TRUE(m.usr1_after);
	EXPECT_FALSE(m.usr2_after);
}

TEST_F(sigmask, lets_in_what_is_pending_at_once)
{
	struct masked m = {
		.set = self->set,
		.before = mask_of(SIGUSR1),
		.mask = mask_of(0),
	};

	pthread_sigmask(SIG_SETMASK, &m.before, NULL);
	ASSERT_EQ(0, raise(SIGUSR1));
	EXPECT_EQ(-EINTR, masked_call(&m));
	EXPECT_EQ(1, atomic_load(&handled));
	EXPECT_TRUE(m.usr1_after);
}

TEST_F(sigmask, prefers_an_event_to_a_pending_signal)
{
	struct masked m = {
		.set = self->set,
		.before = mask_of(SIGUSR1),
		.mask = mask_of(0),
	};

	pthread_sigmask(SIG_SETMASK, &m.before, NULL);
	ASSERT_EQ(0, raise(SIGUSR1));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, masked_call(&m));
	/* The signal stays pending behind its mask. */
	EXPECT_EQ(0, atomic_load(&handled));
	EXPECT_TRUE(m.usr1_after);
	EXPECT_EQ(-EINTR, masked_call(&m));
	EXPECT_EQ(1, atomic_load(&handled));
}

TEST_F(sigmask, cannot_keep_kill_out)
{
	sigset_t all;
	pid_t pid;

	sigfillset(&all);
	pid = fork();
	if (!pid) {
		struct epoll_event out;

		eset_pwait2(&self->set, &out, 1, NULL, &all);
		_exit(1);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, await_sleep(pid, self->set.ops->pwait2_syscall));
	ASSERT_EQ(0, kill(pid, SIGTERM));
	ASSERT_TRUE(sleeps_in(pid, self->set.ops->pwait2_syscall));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(128 + SIGKILL, reap(pid));
}

FIXTURE(bad_mask) {
	struct eset set;
	int event;
};

FIXTURE_SETUP(bad_mask)
{
	ASSERT_EQ(0, eset_open(&self->set, &eset_devepoll))
		TH_LOG("no /dev/epoll here");
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eventfd_post(self->event));
}

FIXTURE_TEARDOWN(bad_mask)
{
	EXPECT_EQ(EPOLLIN, eset_wait_one(&self->set, self->event, 0));
	eset_close(&self->set);
}

static int wait_with_mask(int fd, const void *mask, uint32_t size)
{
	struct devepoll_event out;
	struct devepoll_wait_args args = {
		.events = address_of(&out),
		.max_events = 1,
		.sigmask = address_of(mask),
		.sigsetsize = size,
	};

	return dep_request(fd, DEVEPOLL_WAIT, &args);
}

TEST_F(bad_mask, of_a_wrong_size_is_refused)
{
	static const uint32_t sizes[] = { 0, 1, 4, 7, 9, 16, 128, UINT32_MAX };
	sigset_t mask = mask_of(0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT_EQ(-EINVAL, wait_with_mask(self->set.fd, &mask,
						  sizes[i]))
			TH_LOG("size %u", sizes[i]);
	}
}

TEST_F(bad_mask, in_bad_memory_is_refused)
{
	char *hole = mmap(NULL, getpagesize(), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(hole != MAP_FAILED);
	EXPECT_EQ(-EFAULT, wait_with_mask(self->set.fd, hole, 8));
	EXPECT_EQ(-EFAULT, wait_with_mask(self->set.fd, hole - 4, 8));
	EXPECT_EQ(-EFAULT, wait_with_mask(self->set.fd, (void *)1, 8));
	EXPECT_FALSE(is_blocked(SIGUSR1));
}

TEST_HARNESS_MAIN
