// SPDX-License-Identifier: GPL-2.0
/*
 * Sets that are open only for reading or only for writing: the first can't be
 * changed, and the second can't be waited on.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/devpoll.h"
#include "core/request.h"

FIXTURE(access) {
	int reader;
	int writer;
	int member;
	struct devepoll_change change;
	struct devepoll_ctl ctl;
	struct devepoll_event out[2];
	struct devepoll_wait_args args;
};

REQUEST_VARIANTS(access);

FIXTURE_SETUP(access)
{
	self->reader = open("/dev/epoll", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->reader) TH_LOG("no /dev/epoll here");
	self->writer = open("/dev/epoll", O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, self->writer);
	self->member = eventfd_new();
	ASSERT_LE(0, self->member);
	self->change = (struct devepoll_change){
		.op = DEVEPOLL_ADD,
		.fd = self->member,
		.events = EPOLLOUT,
		.result = POISON,
	};
	self->ctl = ctl_args(&self->change, 1);
	memset(self->out, 0xa5, sizeof(self->out));
	self->args = wait_args(self->out, 2, 0);
	self->args.nr_tried = POISON;
	self->args.nr_failed = POISON;
}

FIXTURE_TEARDOWN(access)
{
	close(self->reader);
	close(self->writer);
}

#define IS_UNTOUCHED()							\
	do {								\
		EXPECT_EQ(POISON, self->change.result);			\
		EXPECT_EQ(POISON, self->ctl.nr_failed);			\
		EXPECT_EQ(POISON, self->args.nr_tried);			\
		EXPECT_EQ(POISON, self->args.nr_failed);		\
		EXPECT_EQ(0xa5a5a5a5a5a5a5a5, self->out[0].data);	\
	} while (0)

TEST_F(access, for_reading_changes_nothing)
{
	struct devepoll_signal signal = { .signo = SIGRTMIN + 3 };
	struct epoll_event event = { .events = EPOLLIN };
	struct devepoll_stats stats;
	int op;

	EXPECT_EQ(-EBADF, variant->request(self->reader, EP_ALLOC,
					   (void *)10));
	EXPECT_EQ(-EBADF, variant->request(self->reader, EP_FREE, NULL));
	EXPECT_EQ(-EBADF, dep_write_one(self->reader, self->member, POLLIN));
	EXPECT_EQ(-EBADF, variant->request(self->reader, DEVEPOLL_CTL,
					   &self->ctl));
	EXPECT_EQ(-EBADF, variant->request(self->reader, DEVEPOLL_CTL, NULL));
	EXPECT_EQ(-EBADF, variant->request(self->reader, DEVEPOLL_SIGNAL,
					   &signal));
	for (op = EPOLL_CTL_ADD; op <= EPOLL_CTL_MOD; op++)
		EXPECT_EQ(-EBADF, dep_epoll_ctl(self->reader, op, self->member,
						&event));
	self->args.changes = self->ctl.changes;
	self->args.nr_changes = 1;
	self->args.change_size = sizeof(self->change);
	EXPECT_EQ(-EBADF, variant->request(self->reader, DEVEPOLL_WAIT,
					   &self->args));
	IS_UNTOUCHED();
	ASSERT_EQ(0, variant->request(self->reader, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(0, stats.items);
}

TEST_F(access, for_reading_waits_and_asks)
{
	struct pollfd pfd = { .fd = self->member };
	struct evpoll evp = { .ep_timeout = 0 };
	struct epoll_event out;

	EXPECT_EQ(0, variant->request(self->reader, EP_ISPOLLED, &pfd));
	/* It has no mapping. */
	EXPECT_EQ(-EINVAL, variant->request(self->reader, EP_POLL, &evp));
	EXPECT_EQ(0, poll_now(self->reader, POLLIN));
	EXPECT_EQ(0, variant->request(self->reader, DEVEPOLL_WAIT,
				      &self->args));
	EXPECT_EQ(0, dep_epoll_wait(self->reader, &out, 1, 0));
	IS_UNTOUCHED();
}

TEST_F(access, for_reading_maps_but_makes_no_memory)
{
	void *map = dep_map_events(self->reader, getpagesize());

	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EACCES, errno);
	map = dep_map(self->reader, EP_MAP_SIZE(10));
	EXPECT_EQ(MAP_FAILED, map);
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(access, for_writing_does_not_wait)
{
	struct pollfd pfd = { .fd = self->member, .revents = -1 };
	struct evpoll evp = { .ep_timeout = -1, .ep_resoff = -1UL };
	struct epoll_event out = { .data.u64 = POISON };

	EXPECT_EQ(-EBADF, variant->request(self->writer, EP_POLL, &evp));
	EXPECT_EQ(-EBADF, variant->request(self->writer, EP_ISPOLLED, &pfd));
	self->args.timeout = DEVEPOLL_FOREVER;
	EXPECT_EQ(-EBADF, variant->request(self->writer, DEVEPOLL_WAIT,
					   &self->args));
	EXPECT_EQ(-EBADF, variant->request(self->writer, DEVEPOLL_WAIT, NULL));
	EXPECT_EQ(-EBADF, dep_epoll_wait(self->writer, &out, 1, -1));
	EXPECT_EQ(-EBADF, dep_take(self->writer, 0, 1, -1));
	IS_UNTOUCHED();
	EXPECT_EQ(-1UL, evp.ep_resoff);
	EXPECT_EQ(-1, pfd.revents);
	EXPECT_EQ(POISON, out.data.u64);
	EXPECT_EQ(MAP_FAILED, (void *)dep_map_events(self->writer,
						     getpagesize()));
	EXPECT_EQ(EACCES, errno);
	ASSERT_EQ(0, dep_alloc(self->writer, 10));
	EXPECT_EQ(MAP_FAILED, (void *)dep_map(self->writer, EP_MAP_SIZE(10)));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(access, for_writing_changes_the_set)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct devepoll_stats stats;

	EXPECT_EQ(1, variant->request(self->writer, DEVEPOLL_CTL, &self->ctl));
	EXPECT_EQ(0, self->change.result);
	EXPECT_EQ(0, dep_epoll_ctl(self->writer, EPOLL_CTL_MOD, self->member,
				   &event));
	ASSERT_EQ(0, variant->request(self->writer, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(1, stats.items);
	EXPECT_EQ(0, dep_epoll_ctl(self->writer, EPOLL_CTL_DEL, self->member,
				   NULL));
	EXPECT_EQ(-EBUSY, dep_alloc(self->writer, 10));
}

TEST_F(access, for_writing_is_not_told_what_is_ready)
{
	struct epoll_event event = { .events = EPOLLIN }, out;
	int outer = epoll_create1(EPOLL_CLOEXEC), set = dep_open();

	ASSERT_LE(0, outer);
	ASSERT_LE(0, set);
	self->change.events = EPOLLOUT;
	ASSERT_EQ(1, variant->request(self->writer, DEVEPOLL_CTL, &self->ctl));
	EXPECT_EQ(POLLERR, poll_now(self->writer, POLLIN));
	ASSERT_EQ(0, epoll_ctl(outer, EPOLL_CTL_ADD, self->writer, &event));
	EXPECT_EQ(1, epoll_wait(outer, &out, 1, 0));
	EXPECT_EQ(EPOLLERR, out.events);
	EXPECT_EQ(-EPERM, dep_epoll_ctl(set, EPOLL_CTL_ADD, self->writer,
					&event));
	EXPECT_EQ(0, dep_epoll_ctl(set, EPOLL_CTL_ADD, self->reader, &event));
	EXPECT_EQ(0, close(set));
	EXPECT_EQ(0, close(outer));
}

TEST_F(access, for_writing_is_enough_for_signals)
{
	struct devepoll_signal signal = { .signo = SIGRTMIN + 3 };
	siginfo_t info;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGRTMIN + 3);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	ASSERT_EQ(0, variant->request(self->writer, DEVEPOLL_SIGNAL, &signal));
	ASSERT_EQ(8, dep_write_one(self->writer, self->member, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->member));
	EXPECT_EQ(SIGRTMIN + 3, sigwaitinfo(&mask, &info));
	EXPECT_EQ(self->member, info.si_fd);
}

/* So isatty(3) says of a set what it says of any other file. */
TEST_F(access, has_no_say_in_requests_that_there_are_not)
{
	static const unsigned long requests[] = {
		TCGETS, _IO('P', 0), _IO('P', 2), _IO('P', 0x11),
		_IOR('P', 1, char), _IOW('P', 4, struct pollfd),
		_IOR('P', 0x10, struct devepoll_ctl), _IO(0xd0, 4),
	};
	const int fds[] = {
		self->reader, self->writer, open(DP_NODE, O_RDONLY | O_CLOEXEC),
		open(DP_NODE, O_WRONLY | O_CLOEXEC),
	};
	unsigned int i, fd;
	char arg[64];

	for (fd = 0; fd < ARRAY_SIZE(fds); fd++) {
		for (i = 0; fds[fd] >= 0 && i < ARRAY_SIZE(requests); i++) {
			EXPECT_EQ(-ENOTTY, dp_ioctl(fds[fd], requests[i], arg))
				TH_LOG("request %lx of open %u", requests[i],
				       fd);
		}
	}
	EXPECT_EQ(0, isatty(self->writer));
	EXPECT_EQ(ENOTTY, errno);
	/* Those of the other node, too. */
	EXPECT_EQ(-ENOTTY, dp_ioctl(self->writer, DP_SOLARIS_POLL, arg));
	EXPECT_EQ(-ENOTTY, dp_ioctl(self->writer, DP_SOLARIS_ISPOLLED, arg));
	if (fds[2] >= 0) {
		EXPECT_EQ(-ENOTTY, dp_ioctl(fds[2], DEVEPOLL_CTL, arg));
		EXPECT_EQ(-ENOTTY, dp_ioctl(fds[2], DEVEPOLL_SIGNAL, arg));
		EXPECT_EQ(-ENOTTY, dp_ioctl(fds[3], DEVEPOLL_WAIT, arg));
		EXPECT_EQ(-ENOTTY, dp_ioctl(fds[3], DEVEPOLL_RING_WAIT, arg));
	}
	close(fds[2]);
	close(fds[3]);
}

/* The same for /dev/poll, in both of its faces. */
TEST(access_to_dev_poll_is_by_mode)
{
	struct pollfd entry = { .fd = eventfd_new(), .revents = -1 };
	struct pollfd out = { -1, -1, -1 };
	int reader = open(DP_NODE, O_RDONLY | O_CLOEXEC);
	int writer = open(DP_NODE, O_WRONLY | O_CLOEXEC);
	enum dp_face face;

	if (reader < 0 && errno == ENOENT)
		SKIP(return, "no /dev/poll here");
	ASSERT_LE(0, reader);
	ASSERT_LE(0, writer);
	EXPECT_EQ(-EBADF, dp_set(reader, entry.fd, POLLOUT));
	EXPECT_EQ(-EBADF, dp_ioctl(reader, DP_ALLOC, (void *)10));
	EXPECT_EQ(-EBADF, dp_ioctl(reader, DP_FREE, NULL));
	EXPECT_EQ(0, dp_ispolled(DP_LINUX, reader, &entry));
	EXPECT_EQ(0, dp_wait(DP_LINUX, reader, &out, 1, 0));

	EXPECT_EQ(8, dp_set(writer, entry.fd, POLLOUT));
	for (face = DP_LINUX; face <= DP_SOLARIS; face++) {
		EXPECT_EQ(-EBADF, dp_wait(face, writer, &out, 1, -1));
		EXPECT_EQ(-EBADF, dp_ispolled(face, writer, &entry));
	}
	EXPECT_EQ(-EBADF, dp_ioctl(writer, DP_SOLARIS_PPOLL, NULL));
	EXPECT_EQ(-1, out.fd);
	EXPECT_EQ(-1, entry.revents);
	EXPECT_EQ(0, dp_ioctl(writer, DP_ALLOC, (void *)10));
	EXPECT_EQ(0, close(reader));
	EXPECT_EQ(0, close(writer));
}

TEST_HARNESS_MAIN
