// SPDX-License-Identifier: GPL-2.0
/* What signal sets refuse, and which files and users are refused. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fuse_reply.h"
#include "core/limits.h"
#include "core/onesig.h"

TEST(what_is_no_signal_is_refused)
{
	static const int bad[] = {
		0, -1, 65, 1 << 30, SIGKILL, SIGSTOP, SIGCONT, SIGTSTP, SIGTTIN,
		SIGTTOU, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS,
	};
	struct {
		struct devepoll_signal args;
		uint64_t more;
	} large = { .args.signo = ONESIG_SIGNAL, .more = 1 };
	unsigned long request = DEVEPOLL_SIGNAL + (8UL << 16);
	int set = dep_open();
	size_t i;

	ASSERT_LE(0, set);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(-EINVAL, onesig_begin(set, bad[i], 0)) {
			TH_LOG("signal %d", bad[i]);
		}
	EXPECT_EQ(-EINVAL, onesig_begin(set, ONESIG_SIGNAL, 2));
	EXPECT_EQ(-EINVAL, onesig_begin(set, ONESIG_SIGNAL, 1U << 31));
	EXPECT_EQ(-EFAULT, dep_request(set, DEVEPOLL_SIGNAL, (void *)8));
	EXPECT_EQ(-E2BIG, dep_request(set, request, &large));
	EXPECT_EQ(-ENOTTY, dep_request(set, DEVEPOLL_SIGNAL - (4UL << 16),
				       &large));
	/* None of these requests has made it a signal set. */
	EXPECT_EQ(0, dep_alloc(set, 10));
	close(set);

	set = dep_open();
	large.more = 0;
	EXPECT_EQ(0, dep_request(set, request, &large));
	EXPECT_EQ(-EBUSY, onesig_begin(set, ONESIG_SIGNAL, 0));
	close(set);

	/* The other way to add fds. */
	set = dep_open();
	EXPECT_EQ(0, dep_request_by_fadvise(set, DEVEPOLL_SIGNAL, &large));
	EXPECT_EQ(-EBUSY, onesig_begin(set, ONESIG_SIGNAL, 0));
	close(set);
}

/* A change of 2001 adds every file; those of epoll_ctl(2) know no such fd. */
TEST(file_without_poll_is_refused_by_requests_alone)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.events = EPOLLIN,
	};
	int file = open("/proc/self/exe", O_RDONLY);
	struct pollfd pfd = { .fd = file, .events = POLLIN };
	int i, set = onesig_open(ONESIG_SIGNAL, 0);

	ASSERT_LE(0, set);
	change.fd = file;
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-EPERM, dep_change(set, &change));
		/* The second time, it is in the set. */
		ASSERT_EQ(sizeof(pfd), write(set, &pfd, sizeof(pfd)));
	}
	change.op = DEVEPOLL_MOD;
	EXPECT_EQ(-EPERM, dep_change(set, &change));
	close(set);
	close(file);
}

TEST(a_set_is_one_thing_for_good)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD,
		.events = EPOLLIN,
	};
	struct evpoll evp = { .ep_timeout = 0 };
	struct devepoll_event out;
	struct epoll_event epoll_out;
	int fds[2], set, other;

	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	EXPECT_EQ(-EBUSY, dep_alloc(set, 10));
	EXPECT_EQ(-EBUSY, dep_poll(set, &evp));
	EXPECT_EQ(-EBUSY, dep_free(set));
	EXPECT_EQ(-EBUSY, dep_wait(set, &out, 1, 0));
	EXPECT_EQ(-EBUSY, dep_epoll_wait(set, &epoll_out, 1, 0));
	EXPECT_EQ(MAP_FAILED, (void *)dep_map(set, EP_MAP_SIZE(1)));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(MAP_FAILED, (void *)dep_map_events(set, getpagesize()));
	EXPECT_EQ(EBUSY, errno);
	/* A signal set is never readable itself. */
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(0, poll_now(set, POLLIN));
	/* Nor can it contain a set. */
	other = dep_open();
	EXPECT_EQ(0, dep_write_one(set, other, POLLIN));
	change.fd = other;
	EXPECT_EQ(-ELOOP, dep_change(set, &change));
	close(other);

	other = dep_open();
	change.fd = fds[0];
	ASSERT_EQ(0, dep_change(other, &change));
	EXPECT_EQ(-EBUSY, onesig_begin(other, ONESIG_SIGNAL, 0));
	close(other);
	other = dep_open();
	ASSERT_EQ(0, dep_alloc(other, 10));
	EXPECT_EQ(-EBUSY, onesig_begin(other, ONESIG_SIGNAL, 0));
}

TEST(changes_with_results_are_made_too)
{
	struct devepoll_change change = { .events = EPOLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	int set, fds[2], fd = eventfd_new();

	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	change.fd = fd;
	change.op = DEVEPOLL_ADD;
	change.events = EPOLLIN | EPOLLET;
	EXPECT_EQ(0, dep_change(set, &change));
	EXPECT_EQ(-EEXIST, dep_change(set, &change));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fd));
	/* As epoll does, it reports what is ready. */
	change.op = DEVEPOLL_MOD;
	EXPECT_EQ(0, dep_change(set, &change));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fd));

	change.events = EPOLLIN | EPOLLONESHOT;
	EXPECT_EQ(-EINVAL, dep_change(set, &change));
	change.events = EPOLLIN | EPOLLEXCLUSIVE;
	EXPECT_EQ(-EINVAL, dep_change(set, &change));
	change.events = EPOLLIN;
	change.flags = DEVEPOLL_TELL_CLOSED;
	EXPECT_EQ(-EINVAL, dep_change(set, &change));
	change.flags = 0;

	ASSERT_EQ(0, eventfd_post(fd));
	ASSERT_TRUE(await(signal_is_waiting(ONESIG_SIGNAL) == 1));
	change.op = DEVEPOLL_DEL;
	EXPECT_EQ(0, dep_change(set, &change));
	EXPECT_EQ(0, signal_is_waiting(ONESIG_SIGNAL));
	EXPECT_EQ(-ENOENT, dep_change(set, &change));

	EXPECT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(POLLIN, onesig_band(ONESIG_SIGNAL, fd));
	event.events = EPOLLIN | EPOLLONESHOT;
	EXPECT_EQ(-EINVAL, dep_epoll_ctl(set, EPOLL_CTL_MOD, fd, &event));
	EXPECT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_DEL, fd, &event));
}

/* A file whose owner answers every question but one: whether it is ready. */
struct fuse_owner {
	struct task task;
	int fd;
	atomic_bool ready;
	atomic_bool asked;
};

#define CUSE_NAME	"devepoll-test"

static long fuse_serve(void *arg)
{
	static const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096,
	};
	static const struct {
		struct cuse_init_out out;
		char info[sizeof("DEVNAME=" CUSE_NAME)];
	} cuse_init = {
		.out = {
			.major = FUSE_KERNEL_VERSION, .minor = 31,
			.max_read = 4096, .max_write = 4096,
		},
		.info = "DEVNAME=" CUSE_NAME,
	};
	static const struct fuse_attr_out attr = {
		.attr = { .ino = 1, .mode = S_IFREG | 0666, .nlink = 1 },
	};
	static const struct fuse_open_out open_out;
	static char buf[FUSE_MIN_READ_BUFFER + 4096];
	const struct fuse_in_header *in = (void *)buf;
	struct fuse_owner *owner = arg;

	/* Until the file system, or the device, goes. */
	while (read(owner->fd, buf, sizeof(buf)) >= (ssize_t)sizeof(*in)) {
		switch (in->opcode) {
		case FUSE_INIT:
			fuse_reply(owner->fd, in->unique, 0, &init,
				   sizeof(init));
			break;
		case CUSE_INIT:
			/* The device is there when this returns. */
			fuse_reply(owner->fd, in->unique, 0, &cuse_init,
				   sizeof(cuse_init));
			owner->ready = true;
			break;
		case FUSE_GETATTR:
			fuse_reply(owner->fd, in->unique, 0, &attr,
				   sizeof(attr));
			break;
		case FUSE_OPEN:
			fuse_reply(owner->fd, in->unique, 0, &open_out,
				   sizeof(open_out));
			break;
		case FUSE_POLL:
			owner->asked = true;
			fuse_reply(owner->fd, in->unique, -ENOSYS, NULL, 0);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		default:
			fuse_reply(owner->fd, in->unique, -ENOSYS, NULL, 0);
		}
	}
	return 0;
}

/* What a signal set returns; -EPROTO if it polls the file, or others do not. */
static int add_for_signals(struct fuse_owner *owner, int fd)
{
	struct devepoll_change change = {
		.op = DEVEPOLL_ADD, .fd = fd, .events = EPOLLIN,
	};
	int set = onesig_open(ONESIG_SIGNAL, 0), other = dep_open();
	int ret = dep_change(set, &change);

	if (owner->asked || dep_change(other, &change) || !owner->asked)
		ret = -EPROTO;
	close(other);
	close(set);
	return ret;
}

/* A worker that polls for everybody must not wait for a program's answer. */
TEST(a_file_of_fuse_is_not_asked_for_signals)
{
	char options[128], path[] = "/tmp/onesig-fuse-XXXXXX";
	struct fuse_owner owner = { .fd = -1 };
	int fd, anchor;

	NEEDS_THREADS();
	if (geteuid())
		SKIP(return, "not root");
	driver("", "fuse");
	owner.fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (owner.fd < 0)
		SKIP(return, "no /dev/fuse");
	anchor = mkstemp(path);
	ASSERT_LE(0, anchor);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100000,user_id=0,group_id=0", owner.fd);
	ASSERT_EQ(0, mount("test", path, "fuse", 0, options));
	ASSERT_EQ(0, task_start(&owner.task, fuse_serve, &owner));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);

	EXPECT_EQ(-EPERM, add_for_signals(&owner, fd));
	close(fd);
	EXPECT_EQ(0, umount2(path, MNT_DETACH));
	EXPECT_EQ(0, task_join(&owner.task));
	close(owner.fd);
	close(anchor);
	unlink(path);
}

TEST(a_device_of_cuse_is_not_asked_for_signals)
{
	struct fuse_owner owner = { .fd = -1 };
	int fd;

	NEEDS_THREADS();
	if (geteuid())
		SKIP(return, "not root");
	driver("", "fuse");
	driver("", "cuse");
	owner.fd = open("/dev/cuse", O_RDWR | O_CLOEXEC);
	if (owner.fd < 0)
		SKIP(return, "no /dev/cuse");
	ASSERT_EQ(0, task_start(&owner.task, fuse_serve, &owner));
	while (!owner.ready)
		sched_yield();
	fd = open("/dev/" CUSE_NAME, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);

	EXPECT_EQ(-EPERM, add_for_signals(&owner, fd));
	close(fd);
	EXPECT_EQ(0, write_number("/sys/class/cuse/" CUSE_NAME "/abort", 1));
	EXPECT_EQ(0, task_join(&owner.task));
	close(owner.fd);
}

TEST_HARNESS_MAIN
