// SPDX-License-Identifier: GPL-2.0
/*
 * Waits that are io_uring commands, and that end because the ring, the
 * thread, the process or the set's fd goes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "uring/uring_end.h"

#define RACES		300
#define ROUNDS		50

TEST_F(uring_end, of_the_ring_ends_its_waits)
{
	NEEDS_WAITS();
	ASSERT_EQ(0, begin_waits(&self->ring, self->set, self->args));
	ASSERT_TRUE(ring_waits(&self->ring));
	ring_close(&self->ring);
	EXPECT_END(self->set, self->event);
}

/* EXPECT_END posts an event, by which a wait that was left would end. */
TEST_F(uring_end, of_the_ring_ends_its_waits_without_an_event)
{
	NEEDS_WAITS();
	ASSERT_EQ(0, begin_waits(&self->ring, self->set, self->args));
	ASSERT_TRUE(ring_waits(&self->ring));
	ring_close(&self->ring);
	ASSERT_EQ(0, close(self->set));
	self->set = -1;
	EXPECT_TRUE(await(module_references() == self->references));
}

TEST_F(uring_end, of_the_ring_leaves_events_to_others)
{
	struct devepoll_event out[2];
	struct ring ring;
	int i;

	NEEDS_WAITS();
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, ring_open(&ring, &ring_plain));
		ASSERT_EQ(0, begin_waits(&ring, self->set, self->args));
		ASSERT_TRUE(ring_waits(&ring));
		ring_close(&ring);
		/* From here on, though its waits may still be there. */
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_EQ(1, dep_wait(self->set, out, 2, 0));
		EXPECT_EQ(42, out[0].data);
	}
	ring_close(&self->ring);
}

TEST_F(uring_end, of_the_ring_leaves_other_rings_alone)
{
	struct ring other;

	NEEDS_WAITS();
	ASSERT_EQ(0, ring_open(&other, &ring_plain));
	ASSERT_EQ(0, ring_request(&other, self->set, DEVEPOLL_WAIT,
				  &self->args[0], 9));
	ASSERT_EQ(0, begin_waits(&self->ring, self->set, self->args));
	ASSERT_TRUE(ring_waits(&self->ring));
	ring_close(&self->ring);
	ASSERT_TRUE(ring_waits(&other));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&other, 9));
	ring_close(&other);
}

TEST_F(uring_end, of_the_ring_loses_no_event)
{
	struct racer racer = { .event = self->event };
	struct devepoll_event out[2];
	struct task task;
	int i, taken, left = 0;

	NEEDS_WAITS();
	for (i = 0; i < RACES / slowness(); i++) {
		memset(self->out, 0xa5, sizeof(self->out));
		ASSERT_EQ(0, ring_request(&self->ring, self->set,
					  DEVEPOLL_WAIT, &self->args[i % 2],
					  i));
		atomic_store(&racer.start, 0);
		ASSERT_EQ(0, task_start(&task, post_when_told, &racer));
		atomic_store(&racer.start, 1);
		ring_close(&self->ring);
		ASSERT_EQ(0, task_join(&task));
		/* Either the wait got it, or it is there. */
		ASSERT_TRUE(await((taken = self->out[i % 2].data == 42) ||
				  (left = dep_wait(self->set, out, 2, 0))))
			TH_LOG("round %d", i);
		EXPECT_EQ(1, taken + left);
		left = 0;
		ASSERT_EQ(0, ring_open(&self->ring, &ring_plain));
	}
	ring_close(&self->ring);
}

TEST_F(uring_end, of_the_fd_leaves_its_waits_alone)
{
	int set = self->set;

	NEEDS_WAITS();
	ASSERT_EQ(0, ring_request(&self->ring, set, DEVEPOLL_WAIT,
				  &self->args[0], 1));
	self->set = -1;
	ASSERT_EQ(0, close(set));
	EXPECT_EQ(self->references + 1, module_references());
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(1, ring_result(&self->ring, 1));
	EXPECT_EQ(42, self->out[0].data);
	ring_close(&self->ring);
}

TEST_F(uring_end, of_the_module_waits_for_them)
{
	NEEDS_WAITS();
	if (geteuid())
		SKIP(return, "not root");
	ASSERT_EQ(0, begin_waits(&self->ring, self->set, self->args));
	ASSERT_EQ(0, close(self->set));
	self->set = -1;
	ASSERT_EQ(-1, syscall(SYS_delete_module, "devepoll", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_LT(self->references, module_references());
	ring_close(&self->ring);
	EXPECT_TRUE(await(module_references() == self->references));
}

struct submitter {
	struct ring *ring;
	int set;
	struct devepoll_wait_args *args;
};

static long submit(void *arg)
{
	struct submitter *s = arg;

	return begin_waits(s->ring, s->set, s->args);
}

/* No task takes events any more: a woken wait passes them on and ends. */
TEST_F(uring_end, of_the_thread_loses_no_event)
{
	struct submitter submitter = {
		.ring = &self->ring, .set = self->set, .args = self->args,
	};
	struct devepoll_event out[2];
	struct io_uring_cqe cqe;
	struct task task;
	int i;

	NEEDS_WAITS();
	ASSERT_EQ(0, task_start(&task, submit, &submitter));
	ASSERT_EQ(0, task_join(&task));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < PENDING; i++) {
		ASSERT_EQ(0, ring_complete(&self->ring, &cqe));
		EXPECT_EQ(-ECANCELED, cqe.res);
	}
	EXPECT_EQ(1, dep_wait(self->set, out, 2, 0));
	EXPECT_TRUE(event_comes_through(self->set, self->event));
	ring_close(&self->ring);
}

/* What becomes of the child, its waits pending. */
enum child_end {
	CHILD_EXITS,
	CHILD_IS_KILLED,
	CHILD_DIES_OF_ITSELF,
	CHILD_EXECUTES,
};

static void child_run(int set, enum child_end end, int told)
{
	struct devepoll_event out[PENDING];
	struct devepoll_wait_args args[PENDING];
	struct ring ring;
	int i;

	for (i = 0; i < PENDING; i++)
		args[i] = wait_args(&out[i], 1, -1);
	if (ring_open(&ring, &ring_plain) || begin_waits(&ring, set, args))
		_exit(1);
	/* If they can't be pending they must leave nothing behind. */
	if (kernel_can_wait() && !ring_waits(&ring))
		_exit(2);
	put_byte(told);
	switch (end) {
	case CHILD_EXITS:
		_exit(0);
	case CHILD_EXECUTES:
		execl("/bin/true", "true", NULL);
		_exit(3);
	case CHILD_DIES_OF_ITSELF:
		abort();
	default:
		pause();
	}
}

static int end_child(int set, enum child_end end)
{
	int fds[2], limit = 10000 * slowness();
	struct pollfd told;
	pid_t pid;

	if (pipe_pair(fds))
		return -errno;
	pid = fork();
	if (pid == 0)
		child_run(set, end, fds[1]);
	close(fds[1]);
	told = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	if (poll(&told, 1, limit) != 1)
		kill(pid, SIGTERM);
	else if (end == CHILD_IS_KILLED)
		kill(pid, SIGKILL);
	close(fds[0]);
	return reap(pid);
}

static const struct {
	enum child_end end;
	int status;
} ends[] = {
	{ CHILD_EXITS, 0 },
	{ CHILD_IS_KILLED, 128 + SIGKILL },
	{ CHILD_DIES_OF_ITSELF, 128 + SIGABRT },
	{ CHILD_EXECUTES, 0 },
};

TEST_F(uring_end, of_the_process_ends_its_waits)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		EXPECT_EQ(ends[i].status, end_child(self->set, ends[i].end))
			TH_LOG("end %u", i);
		EXPECT_TRUE(event_comes_through(self->set, self->event));
	}
	ring_close(&self->ring);
}

TEST_HARNESS_MAIN
