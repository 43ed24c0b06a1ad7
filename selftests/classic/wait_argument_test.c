// SPDX-License-Identifier: GPL-2.0
/*
 * The argument of EP_POLL: memory that can't be read or written, or that goes
 * during the wait.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "classic/handled.h"

/* EP_POLL's argument, on pages of its own. */
FIXTURE(argument) {
	struct set set;
	int event;
	struct evpoll *evp;
};

FIXTURE_SETUP(argument)
{
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, 600));
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, set_add(&self->set, self->event, POLLIN));
	self->evp = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->evp != MAP_FAILED);
	*self->evp = (struct evpoll) { .ep_timeout = 0, .ep_resoff = -1UL };
}

FIXTURE_TEARDOWN(argument)
{
	set_close(&self->set);
}

TEST_F(argument, that_can_not_be_read_is_a_fault)
{
	EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, NULL));
	EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, (void *)-4096L));
	ASSERT_EQ(0, mprotect(self->evp, getpagesize(), PROT_NONE));
	EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, self->evp));
	ASSERT_EQ(0, munmap(self->evp, getpagesize()));
	EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, self->evp));
}

TEST_F(argument, that_can_not_be_read_loses_no_event)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, NULL));
	EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, (void *)-4096L));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, self->set.resoff);
}

TEST_F(argument, that_can_not_be_written_loses_no_event)
{
	int i, other = eventfd_new();

	ASSERT_LE(0, other);
	ASSERT_EQ(0, set_add(&self->set, other, POLLIN));
	ASSERT_EQ(0, mprotect(self->evp, getpagesize(), PROT_READ));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, self->evp));
	EXPECT_EQ(0, self->evp->ep_timeout);
	EXPECT_EQ(-1UL, self->evp->ep_resoff);
	/* It goes on collecting into the same set. */
	ASSERT_EQ(0, eventfd_post(other));
	EXPECT_EQ(-EFAULT, dep_poll(self->set.fd, self->evp));
	ASSERT_EQ(0, mprotect(self->evp, getpagesize(),
			      PROT_READ | PROT_WRITE));
	EXPECT_EQ(2, dep_poll(self->set.fd, self->evp));
	EXPECT_EQ(0, self->evp->ep_resoff);
	EXPECT_EQ(0, dep_poll(self->set.fd, self->evp));
}

TEST_F(argument, need_not_be_writable_for_a_time_out)
{
	self->evp->ep_timeout = 5;
	ASSERT_EQ(0, mprotect(self->evp, getpagesize(), PROT_READ));
	EXPECT_EQ(0, dep_poll(self->set.fd, self->evp));
	EXPECT_EQ(5, self->evp->ep_timeout);
	EXPECT_EQ(-1UL, self->evp->ep_resoff);
}

TEST_F(argument, keeps_its_time_out_when_events_come)
{
	self->evp->ep_timeout = 12345;
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, dep_poll(self->set.fd, self->evp));
	EXPECT_EQ(12345, self->evp->ep_timeout);
	EXPECT_EQ(0, self->evp->ep_resoff);
}

struct call {
	int fd;
	struct evpoll *evp;
};

static long call_poll(void *arg)
{
	struct call *call = arg;

	return dep_poll(call->fd, call->evp);
}

TEST_F(argument, is_not_written_when_the_wait_is_interrupted)
{
	struct call call = { self->set.fd, self->evp };
	struct task task;

	ASSERT_EQ(0, handle(SIGUSR1, handler, 0));
	self->evp->ep_timeout = -7;
	ASSERT_EQ(0, task_start(&task, call_poll, &call));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_ioctl));
	ASSERT_EQ(0, pthread_kill(task.thread, SIGUSR1));
	EXPECT_EQ(-EINTR, task_join(&task));
	EXPECT_EQ(-7, self->evp->ep_timeout);
	EXPECT_EQ(-1UL, self->evp->ep_resoff);
}

TEST_F(argument, that_goes_during_the_wait_loses_no_event)
{
	struct call call = { self->set.fd, self->evp };
	struct task task;

	self->evp->ep_timeout = -1;
	ASSERT_EQ(0, task_start(&task, call_poll, &call));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_ioctl));
	ASSERT_EQ(0, munmap(self->evp, getpagesize()));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EFAULT, task_join(&task));
	EXPECT_EQ(POLLIN, poll_now(self->set.fd, POLLIN));
	EXPECT_EQ(POLLIN, set_wait_one(&self->set, self->event, 0));
	EXPECT_EQ(0, self->set.resoff);
	EXPECT_EQ(0, set_drain(&self->set));
}

TEST_F(argument, that_goes_wakes_the_next_waiter_for_the_event)
{
	struct waiter waiter;
	struct call call = { self->set.fd, self->evp };
	struct task task;

	/* On one CPU, none is given up because its own is held up. */
	ASSERT_EQ(0, pin_to_cpu(0));
	self->evp->ep_timeout = -1;
	ASSERT_EQ(0, task_start(&task, call_poll, &call));
	ASSERT_EQ(0, await_sleep(task.tid, SYS_ioctl));
	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	ASSERT_EQ(0, munmap(self->evp, getpagesize()));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(-EFAULT, task_join(&task));
	EXPECT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(self->event, waiter.out[0].fd);
}

TEST_HARNESS_MAIN
