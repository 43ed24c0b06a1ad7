// SPDX-License-Identifier: GPL-2.0
/*
 * A file that is slow to answer whether it is ready, so that the moment between
 * the last look of a wait and its sleep lasts as long as a test needs: a wait
 * must not sleep through what comes then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "eset.h"
#include "fuse_reply.h"

/* The one file of a FUSE of our own, and the thread that answers for it. */
struct slow_file {
	struct task task;
	int fuse;
	int fd;
	char path[32];
	int anchor;
	uint64_t kh;		/* what the kernel knows it by */
	atomic_uint asked;	/* how often */
	atomic_uint answers;	/* how many of these may be answered */
	atomic_uint revents;	/* what the answer is */
	bool consumes;		/* only the first poll reports an event */
};

static void slow_answer(struct slow_file *slow,
			const struct fuse_in_header *in)
{
	const struct fuse_poll_in *poll = (void *)(in + 1);
	struct fuse_poll_out out = {};
	unsigned int nr;

	slow->kh = poll->kh;
	nr = atomic_fetch_add(&slow->asked, 1) + 1;
	while (atomic_load(&slow->answers) < nr)
		pause_briefly();
	out.revents = slow->consumes ? atomic_exchange(&slow->revents, 0) :
				       atomic_load(&slow->revents);
	fuse_reply(slow->fuse, in->unique, 0, &out, sizeof(out));
}

static long slow_serve(void *arg)
{
	static const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096,
	};
	static const struct fuse_attr_out attr = {
		.attr = { .ino = 1, .mode = S_IFREG | 0666, .nlink = 1 },
	};
	static const struct fuse_open_out open_out;
	static char buf[FUSE_MIN_READ_BUFFER + 4096];
	const struct fuse_in_header *in = (void *)buf;
	struct slow_file *slow = arg;
	int fuse = slow->fuse;

	/* Until the file system goes. */
	while (read(fuse, buf, sizeof(buf)) >= (ssize_t)sizeof(*in)) {
		switch (in->opcode) {
		case FUSE_INIT:
			fuse_reply(fuse, in->unique, 0, &init, sizeof(init));
			break;
		case FUSE_GETATTR:
			fuse_reply(fuse, in->unique, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			fuse_reply(fuse, in->unique, 0, &open_out,
				   sizeof(open_out));
			break;
		case FUSE_POLL:
			slow_answer(slow, in);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		default:
			fuse_reply(fuse, in->unique, -ENOSYS, NULL, 0);
		}
	}
	return 0;
}

/* Wakes the tasks that wait on the file, without a key. */
static int slow_stir(struct slow_file *slow)
{
	struct fuse_notify_poll_wakeup_out out = { .kh = slow->kh };

	return fuse_reply(slow->fuse, 0, FUSE_NOTIFY_POLL, &out, sizeof(out));
}

static int slow_mount(struct slow_file *slow)
{
	char options[128];

	strcpy(slow->path, "/tmp/slow-file-XXXXXX");
	slow->anchor = mkstemp(slow->path);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100000,user_id=0,group_id=0", slow->fuse);
	if (slow->anchor < 0 || mount("test", slow->path, "fuse", 0, options))
		return -errno;
	atomic_store(&slow->answers, -1);
	return task_start(&slow->task, slow_serve, slow);
}

static int slow_open(struct slow_file *slow)
{
	int err = slow_mount(slow);

	if (err)
		return err;
	slow->fd = open(slow->path, O_RDONLY | O_CLOEXEC);
	return slow->fd < 0 ? -errno : 0;
}

static long slow_close(struct slow_file *slow)
{
	long ret;

	close(slow->fd);
	ret = umount2(slow->path, MNT_DETACH) ? -errno :
						task_join(&slow->task);
	close(slow->fuse);
	close(slow->anchor);
	unlink(slow->path);
	return ret;
}

/* From now on it gives no answer, until slow_go_on(). */
static void slow_hold(struct slow_file *slow)
{
	atomic_store(&slow->answers, atomic_load(&slow->asked));
}

static bool slow_is_asked(struct slow_file *slow)
{
	return await(atomic_load(&slow->asked) > atomic_load(&slow->answers));
}

/* That answer says that nothing is ready; later ones say that everything is. */
static void slow_go_on(struct slow_file *slow, unsigned int later)
{
	atomic_fetch_add(&slow->answers, 1);
	if (!later)
		return;
	/* The next question replaces the sleep that should not happen. */
	slow_is_asked(slow);
	atomic_store(&slow->revents, later);
	atomic_store(&slow->answers, -1);
}

FIXTURE(slow) {
	struct eset set;
	struct slow_file slow;
	int event;
};

ESET_VARIANTS(slow);

FIXTURE_SETUP(slow)
{
	if (geteuid())
		SKIP(return, "not root");
	driver("", "fuse");
	self->slow = (struct slow_file){
		.fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC),
	};
	if (self->slow.fuse < 0)
		SKIP(return, "no /dev/fuse");
	ASSERT_EQ(0, slow_open(&self->slow));
	ASSERT_EQ(0, eset_open(&self->set, variant->ops))
		TH_LOG("no %s here", variant->ops->name);
	self->event = eventfd_new();
	ASSERT_EQ(0, eset_add(&self->set, self->slow.fd, EPOLLIN | EPOLLET));
	ASSERT_EQ(0, eset_add(&self->set, self->event, EPOLLIN | EPOLLET));
}

FIXTURE_TEARDOWN(slow)
{
	eset_close(&self->set);
	EXPECT_EQ(0, slow_close(&self->slow));
}

TEST_F(slow, file_keeps_no_event_of_another_from_who_waits)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	ASSERT_EQ(0, eventfd_post(self->event));
	slow_go_on(&self->slow, 0);
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(self->event, waiter.out[0].data.u64);
}

TEST_F(slow, file_that_stirs_while_it_is_asked_is_asked_again)
{
	struct ewaiter waiter;

	ASSERT_EQ(0, ewaiter_start(&waiter, &self->set, -1));
	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	ASSERT_EQ(0, slow_stir(&self->slow));
	slow_go_on(&self->slow, EPOLLIN);
	EXPECT_EQ(1, ewaiter_join(&waiter));
	EXPECT_EQ(self->slow.fd, waiter.out[0].data.u64);
}

/* The waiter that wants two sleeps on after one event, but not after both. */
struct wait_for_two {
	int set;
	struct devepoll_event out[4];
};

static long call_wait_for_two(void *arg)
{
	struct wait_for_two *two = arg;
	struct devepoll_wait_args args = {
		.events = address_of(two->out),
		.max_events = 4,
		.min_events = 2,
		.timeout = DEVEPOLL_FOREVER,
	};

	return dep_request(two->set, DEVEPOLL_WAIT, &args);
}

TEST_F(slow, file_keeps_no_event_of_others_from_who_wants_two)
{
	struct wait_for_two two = { .set = self->set.fd };
	int other = eventfd_new();
	struct task task;

	if (self->set.ops != &eset_devepoll)
		SKIP(return, "one way to ask for two");
	ASSERT_EQ(0, eset_add(&self->set, other, EPOLLIN | EPOLLET));
	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_EQ(0, task_start(&task, call_wait_for_two, &two));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_post(other));
	slow_go_on(&self->slow, 0);
	EXPECT_EQ(2, task_join(&task));
}

/* What it reports once, and a call could not hand out at once, is not lost. */
TEST_F(slow, file_that_answers_once_is_reported_to_untouched_memory)
{
	void *out = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct devepoll_wait_args args = {
		.events = address_of(out),
		.max_events = 4,
	};

	int n;

	ASSERT_NE(MAP_FAILED, out);
	self->slow.consumes = true;
	EXPECT_EQ(0, eset_drain(&self->set));
	atomic_store(&self->slow.revents, EPOLLIN);
	ASSERT_EQ(0, slow_stir(&self->slow));
	if (self->set.ops == &eset_sysepoll)
		n = epoll_wait(self->set.fd, out, 4, 0);
	else if (self->set.ops == &eset_devepoll_fadvise)
		n = dep_epoll_wait(self->set.fd, out, 4, 0);
	else
		n = dep_request(self->set.fd, DEVEPOLL_WAIT, &args);
	EXPECT_EQ(1, n);
}

TEST_F(slow, file_that_answers_once_is_reported_to_who_counts)
{
	struct wait_for_two two = { .set = self->set.fd };

	if (self->set.ops != &eset_devepoll)
		SKIP(return, "one way to ask for two");
	self->slow.consumes = true;
	EXPECT_EQ(0, eset_drain(&self->set));
	atomic_store(&self->slow.revents, EPOLLIN);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(2, call_wait_for_two(&two));
}

/* The same in a set of 2001, which posts the answer. */
FIXTURE(slow_2001) {
	struct set set;
	struct slow_file slow;
};

FIXTURE_SETUP(slow_2001)
{
	if (geteuid())
		SKIP(return, "not root");
	driver("", "fuse");
	self->slow = (struct slow_file){
		.fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC),
	};
	if (self->slow.fuse < 0)
		SKIP(return, "no /dev/fuse");
	ASSERT_EQ(0, slow_open(&self->slow));
	ASSERT_EQ(0, set_open(&self->set, &backend_devepoll, 600));
	ASSERT_EQ(0, set_add(&self->set, self->slow.fd, POLLIN));
}

FIXTURE_TEARDOWN(slow_2001)
{
	set_close(&self->set);
	EXPECT_EQ(0, slow_close(&self->slow));
}

TEST_F(slow_2001, file_that_stirs_while_it_is_asked_is_asked_again)
{
	struct waiter waiter;

	ASSERT_EQ(0, waiter_start(&waiter, &self->set, -1));
	slow_hold(&self->slow);
	ASSERT_EQ(0, slow_stir(&self->slow));
	ASSERT_TRUE(slow_is_asked(&self->slow));
	ASSERT_EQ(0, slow_stir(&self->slow));
	slow_go_on(&self->slow, POLLIN);
	EXPECT_EQ(1, waiter_join(&waiter));
	EXPECT_EQ(self->slow.fd, waiter.out[0].fd);
}

TEST_HARNESS_MAIN
