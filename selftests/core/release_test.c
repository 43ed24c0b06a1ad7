// SPDX-License-Identifier: GPL-2.0
/*
 * A wait that has the last reference on a closed file, and sleeps on, lets a
 * worker release the file.  A release may take as long as somebody likes: so a
 * person has few such workers, and none that another one would need.  From 6.6
 * on the waiter does it itself.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/epoll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/eset.h"
#include "core/fuse_reply.h"
#include "core/limits.h"

#define NAME		"devepoll-release-test"
/* Workers that one person may occupy, as DEP_FPUT_MOST. */
#define MOST		16
#define FILES		(MOST + 2)
#define HOG		1024

/* A file of the device that we are, and a set of its own with a waiter. */
struct slow {
	struct eset set;
	struct ewaiter waiter;
	int fd;
	int event;		/* ends the wait */
	uint64_t kh;
	atomic_ullong polled;	/* the question that has no answer yet */
	atomic_bool hold;
	atomic_bool released;	/* its release has begun */
};

struct device {
	struct task task;
	int fd;
	atomic_bool ready;
	atomic_bool over;	/* releases are answered */
	atomic_int opened;
	uint64_t releases[FILES];
	struct slow files[FILES];
};

static void device_init_reply(struct device *device, uint64_t unique)
{
	static const struct {
		struct cuse_init_out out;
		char info[sizeof("DEVNAME=" NAME)];
	} init = {
		.out = {
			.major = FUSE_KERNEL_VERSION, .minor = 31,
			.max_read = 4096, .max_write = 4096,
		},
		.info = "DEVNAME=" NAME,
	};

	fuse_reply(device->fd, unique, 0, &init, sizeof(init));
	atomic_store(&device->ready, true);
}

static void answer_poll(struct device *device, uint64_t unique)
{
	struct fuse_poll_out out = {};

	fuse_reply(device->fd, unique, 0, &out, sizeof(out));
}

static void take_poll(struct device *device, const struct fuse_in_header *in)
{
	const struct fuse_poll_in *poll = (void *)(in + 1);
	struct slow *slow = &device->files[poll->fh];

	slow->kh = poll->kh;
	if (atomic_load(&slow->hold))
		atomic_store(&slow->polled, in->unique);
	else
		answer_poll(device, in->unique);
}

static long serve(void *arg)
{
	static char buf[FUSE_MIN_READ_BUFFER + 4096];
	const struct fuse_in_header *in = (void *)buf;
	const struct fuse_release_in *release = (void *)(in + 1);
	struct fuse_open_out open_out = {};
	struct device *device = arg;

	/* Until the device goes. */
	while (read(device->fd, buf, sizeof(buf)) >= (ssize_t)sizeof(*in)) {
		switch (in->opcode) {
		case CUSE_INIT:
			device_init_reply(device, in->unique);
			break;
		case FUSE_OPEN:
			open_out.fh = atomic_fetch_add(&device->opened, 1);
			fuse_reply(device->fd, in->unique, 0, &open_out,
				   sizeof(open_out));
			break;
		case FUSE_POLL:
			take_poll(device, in);
			break;
		case FUSE_RELEASE:
			if (atomic_load(&device->over))
				fuse_reply(device->fd, in->unique, 0, NULL, 0);
			device->releases[release->fh] = in->unique;
			atomic_store(&device->files[release->fh].released,
				     true);
			break;
		case FUSE_INTERRUPT:
			break;
		default:
			fuse_reply(device->fd, in->unique, -ENOSYS, NULL, 0);
		}
	}
	return 0;
}

/* Opens the device as this user, who keeps what this test's root may do. */
static int open_as(uid_t uid)
{
	int fd;

	/* This thread alone: glibc would tell the others, too. */
	if (syscall(SYS_setresuid, uid, 0, 0))
		return -errno;
	fd = open("/dev/" NAME, O_RDONLY | O_CLOEXEC);
	if (syscall(SYS_setresuid, 0, 0, 0))
		return -EPERM;
	return fd < 0 ? -errno : fd;
}

/* A set with a file of this user, which is ready as far as the set knows. */
static int slow_open(struct device *device, int nr, uid_t uid)
{
	struct fuse_notify_poll_wakeup_out stir;
	struct slow *slow = &device->files[nr];
	int ret;

	slow->event = eventfd_new();
	slow->fd = open_as(uid);
	if (slow->fd < 0)
		return slow->fd;
	ret = eset_open(&slow->set, &eset_devepoll) ?:
	      eset_add(&slow->set, slow->event, EPOLLIN) ?:
	      eset_add(&slow->set, slow->fd, EPOLLIN | EPOLLET) ?:
	      eset_drain(&slow->set);
	atomic_store(&slow->hold, true);
	stir.kh = slow->kh;
	return ret ?: fuse_reply(device->fd, 0, FUSE_NOTIFY_POLL, &stir,
				 sizeof(stir));
}

/*
 * A wait polls the file, which is closed meanwhile; then it sleeps.  0 or
 * -errno.
 */
static int close_asked(struct device *device, int nr)
{
	struct slow *slow = &device->files[nr];
	int ret = ewaiter_launch(&slow->waiter, &slow->set, 1, -1);

	if (!ret && !await(atomic_load(&slow->polled)))
		ret = -ETIMEDOUT;
	if (ret)
		return ret;
	close(slow->fd);
	if (atomic_load(&slow->released))
		return -EPROTO;
	atomic_store(&slow->hold, false);
	answer_poll(device, atomic_load(&slow->polled));
	return 0;
}

static bool is_released(struct device *device, int nr)
{
	return await(atomic_load(&device->files[nr].released));
}

/* What the wait returned, which is 1, or -errno. */
static long end_wait(struct device *device, int nr)
{
	struct slow *slow = &device->files[nr];

	return eventfd_post(slow->event) ?: ewaiter_join(&slow->waiter);
}

FIXTURE(release) {
	struct device device;
	int nr;
};

FIXTURE_SETUP(release)
{
	struct device *device = &self->device;

	NEEDS_THREADS();
	if (geteuid())
		SKIP(return, "not root");
	driver("", "fuse");
	driver("", "cuse");
	device->fd = open("/dev/cuse", O_RDWR | O_CLOEXEC);
	if (device->fd < 0)
		SKIP(return, "no /dev/cuse");
	ASSERT_EQ(0, task_start(&device->task, serve, device));
	ASSERT_TRUE(await(atomic_load(&device->ready)));
	ASSERT_TRUE(await(!access("/dev/" NAME, F_OK)));
	/* He has as many workers as he may have. */
	for (self->nr = 0; self->nr < MOST; self->nr++) {
		ASSERT_EQ(0, slow_open(device, self->nr, HOG));
		ASSERT_EQ(0, close_asked(device, self->nr));
		ASSERT_TRUE(is_released(device, self->nr));
	}
}

FIXTURE_TEARDOWN(release)
{
	struct device *device = &self->device;
	int i;

	if (device->fd < 0)
		return;
	atomic_store(&device->over, true);
	for (i = 0; i < self->nr; i++)
		if (atomic_load(&device->files[i].released))
			fuse_reply(device->fd, device->releases[i], 0, NULL, 0);
	for (i = 0; i < self->nr; i++) {
		EXPECT_EQ(1, end_wait(device, i));
		eset_close(&device->files[i].set);
		close(device->files[i].event);
	}
	EXPECT_EQ(0, write_number("/sys/class/cuse/" NAME "/abort", 1));
	EXPECT_EQ(0, task_join(&device->task));
	close(device->fd);
}

static int release_one_more(struct device *device, int *nr, uid_t uid)
{
	int ret = slow_open(device, *nr, uid) ?: close_asked(device, *nr);

	*nr += !ret;
	return ret;
}

TEST_F(release, of_a_file_of_root_waits_for_no_other_person)
{
	ASSERT_EQ(0, release_one_more(&self->device, &self->nr, 0));
	EXPECT_TRUE(is_released(&self->device, MOST));
}

TEST_F(release, of_a_file_of_a_user_waits_for_no_other_person)
{
	ASSERT_EQ(0, release_one_more(&self->device, &self->nr, HOG + 32));
	EXPECT_TRUE(is_released(&self->device, MOST));
	ASSERT_EQ(0, release_one_more(&self->device, &self->nr, HOG + 1));
	EXPECT_TRUE(is_released(&self->device, MOST + 1));
}

static bool waiters_release(void)
{
	int major = 0, minor = 0;
	struct utsname name;

	if (!uname(&name))
		sscanf(name.release, "%d.%d", &major, &minor);
	return major > 6 || (major == 6 && minor >= 6);
}

TEST_F(release, of_one_file_more_of_a_person_waits_for_the_end_of_the_call)
{
	struct device *device = &self->device;

	if (waiters_release())
		SKIP(return, "no worker releases a file for a waiter");
	ASSERT_EQ(0, release_one_more(device, &self->nr, HOG));
	ASSERT_EQ(0, task_await_sleep(&device->files[MOST].waiter.task,
				      SYS_ioctl));
	/* A worker would have released the one before. */
	ASSERT_EQ(0, release_one_more(device, &self->nr, 0));
	ASSERT_TRUE(is_released(device, MOST + 1));
	EXPECT_FALSE(atomic_load(&device->files[MOST].released));
	ASSERT_EQ(0, eventfd_post(device->files[MOST].event));
	EXPECT_TRUE(is_released(device, MOST));
}

TEST_HARNESS_MAIN
