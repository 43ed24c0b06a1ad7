// SPDX-License-Identifier: GPL-2.0
/*
 * Page sets that an io_uring worker got, by EP_POLL through the fadvise entry:
 * its process reads them, and lives on when the worker ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "uring/uring_ring.h"

#define ROOM	600
/* A ring's worker may begin to wait later than a thread that came after it. */
#define TRIES	5
#define HALF	(EP_MAP_SIZE(ROOM) / 2)

/* A thread that hands EP_POLL in, and stays until it is told to leave. */
struct submitter {
	struct set set;
	struct task task;
	struct ring ring;
	struct evpoll evp;
	atomic_bool begun;
	atomic_bool leave;
};

static int submit(struct submitter *submitter)
{
	struct io_uring_sqe *sqe;
	int ret;

	submitter->evp = (struct evpoll) { .ep_timeout = -1, .ep_resoff = -1 };
	ret = ring_open(&submitter->ring, &ring_plain);
	if (ret)
		return ret;
	sqe = io_uring_get_sqe(&submitter->ring.uring);
	if (!sqe)
		return -EBUSY;
	io_uring_prep_fadvise(sqe, submitter->set.fd,
			      address_of(&submitter->evp), 0, EP_POLL);
	sqe->user_data = 1;
	ret = ring_submit(&submitter->ring);
	if (!ret && !await(ring_waits(&submitter->ring)))
		ret = -ETIMEDOUT;
	return ret;
}

static long submitter_call(void *arg)
{
	struct submitter *submitter = arg;
	int ret = submit(submitter);

	atomic_store(&submitter->begun, true);
	while (!ret && !atomic_load(&submitter->leave))
		pause_briefly();
	return ret;
}

static bool is_completed(struct submitter *submitter)
{
	return io_uring_cq_ready(&submitter->ring.uring);
}

FIXTURE(ring_reader) {
	struct set set;
	int a;
	int b;
	struct waiter waiter;
	struct submitter *submitter;
};

FIXTURE_VARIANT(ring_reader) {
	bool leader_ends;
};

FIXTURE_VARIANT_ADD(ring_reader, with_its_first_thread) {
	.leader_ends = false,
};

FIXTURE_VARIANT_ADD(ring_reader, without_its_first_thread) {
	.leader_ends = true,
};

FIXTURE_SETUP(ring_reader)
{
	ASSERT_LE(2, cpus_online()) TH_LOG("threads need two CPUs");
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, ROOM));
	self->a = eventfd_new();
	self->b = eventfd_new();
	ASSERT_EQ(0, set_add(&self->set, self->a, POLLIN));
	ASSERT_EQ(0, set_add(&self->set, self->b, POLLIN));
	self->submitter = calloc(1, sizeof(*self->submitter));
	ASSERT_NE(NULL, self->submitter);
	self->submitter->set = self->set;
}

FIXTURE_TEARDOWN(ring_reader)
{
	set_close(&self->set);
	free(self->submitter);
}

TEST_F(ring_reader, goes_on_when_its_worker_ends)
{
	struct submitter *submitter = self->submitter;
	char copy[HALF], *pages;
	int tries;

	ASSERT_EQ(0, task_start(&submitter->task, submitter_call, submitter));
	ASSERT_TRUE(await(atomic_load(&submitter->begun)));
	for (tries = 0; tries < TRIES; tries++) {
		ASSERT_EQ(0, waiter_start(&self->waiter, &self->set, -1));
		ASSERT_EQ(0, eventfd_post(self->a));
		ASSERT_TRUE(await(is_completed(submitter) ||
				  atomic_load(&self->waiter.task.done)));
		if (is_completed(submitter))
			break;
		ASSERT_EQ(1, waiter_join(&self->waiter));
		ASSERT_EQ(0, eventfd_take(self->a));
	}
	ASSERT_EQ(1, ring_result(&submitter->ring, 1));
	/* Each result before came in the other page set. */
	ASSERT_EQ(tries % 2 ? HALF : 0, submitter->evp.ep_resoff);
	pages = (char *)self->set.map + submitter->evp.ep_resoff;
	memcpy(copy, pages, HALF);

	/* The workers of a thread end with it. */
	ASSERT_TRUE(process_has_workers());
	atomic_store(&submitter->leave, true);
	ASSERT_EQ(0, task_join(&submitter->task));
	ASSERT_TRUE(await(!process_has_workers()));
	ASSERT_EQ(0, eventfd_post(self->b));
	EXPECT_TRUE(waiter_stays(&self->waiter));
	ASSERT_EQ(0, eventfd_post(self->a));
	EXPECT_TRUE(waiter_stays(&self->waiter));
	EXPECT_EQ(0, memcmp(copy, pages, HALF));

	/* A call of any thread shows that the page set is no longer read. */
	EXPECT_EQ(2, set_wait(&self->set, self->waiter.out, 2, 0));
	EXPECT_EQ(tries % 2 ? 0 : HALF, self->set.resoff);
	EXPECT_EQ(0, set_drain(&self->set));
	ASSERT_EQ(0, eventfd_post(self->b));
	EXPECT_EQ(1, waiter_join(&self->waiter));
	EXPECT_EQ(self->b, self->waiter.out[0].fd);
	ring_close(&submitter->ring);
}

/* A thread of another process, which reports by a pipe how far it is. */
struct other {
	struct submitter *submitter;
	int said;
};

static void other_says(struct other *other, int what)
{
	if (write(other->said, &what, sizeof(what)) != sizeof(what))
		_exit(1);
}

static void *other_call(void *arg)
{
	struct other *other = arg;

	other_says(other, submit(other->submitter));
	other_says(other, ring_result(&other->submitter->ring, 1));
	for (;;)
		pause();
	return NULL;
}

/* The process: its first thread exits, or stays with the other one. */
static void other_process(struct other *other, bool leader_ends)
{
	pthread_t thread;

	if (!leader_ends)
		other_call(other);
	if (pthread_create(&thread, NULL, other_call, other))
		_exit(1);
	/* Not by pthread_exit(): this thread is the test's own. */
	syscall(SYS_exit, 0);
}

static int other_said(int fd)
{
	int what;

	return read(fd, &what, sizeof(what)) == sizeof(what) ? what : -EPIPE;
}

static bool is_zombie(pid_t pid)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f) {
		found = fgets(line, sizeof(line), f) && strstr(line, ") Z ");
		fclose(f);
	}
	return found;
}

TEST_F(ring_reader, ends_with_its_process)
{
	struct other other = { .submitter = self->submitter };
	int fds[2], status, said = 0, tries;
	pid_t pid;

	ASSERT_EQ(0, pipe(fds));
	other.said = fds[1];
	for (tries = 0; tries < TRIES; tries++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			other_process(&other, variant->leader_ends);
		ASSERT_EQ(0, other_said(fds[0]));
		if (variant->leader_ends)
			ASSERT_TRUE(await(is_zombie(pid)));
		ASSERT_EQ(0, waiter_start(&self->waiter, &self->set, -1));
		ASSERT_EQ(0, eventfd_post(self->a));
		said = other_said(fds[0]);
		if (said == 1)
			break;
		ASSERT_EQ(1, waiter_join(&self->waiter));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, eventfd_take(self->a));
	}
	ASSERT_EQ(1, said);

	ASSERT_EQ(0, eventfd_post(self->b));
	EXPECT_TRUE(waiter_stays(&self->waiter));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(1, waiter_join(&self->waiter));
	EXPECT_EQ(self->b, self->waiter.out[0].fd);
	close(fds[0]);
	close(fds[1]);
}

TEST_HARNESS_MAIN
