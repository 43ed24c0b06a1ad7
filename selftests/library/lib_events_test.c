// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll: the extended interface: changes with results, waits with them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "library/lib_events.h"

#define MSEC	1000000LL

TEST(open_refuses_unknown_flags_and_closes_on_exec_unless_asked)
{
	int set = devepoll_events_open(0);

	EXPECT_EQ(FD_CLOEXEC, fcntl(set, F_GETFD));
	EXPECT_EQ(0, close(set));
	set = devepoll_events_open(DEVEPOLL_NO_CLOEXEC);
	EXPECT_EQ(0, fcntl(set, F_GETFD));
	EXPECT_EQ(0, close(set));
	EXPECT_EQ(-EINVAL, devepoll_events_open(2));
	EXPECT_EQ(-EINVAL, devepoll_events_open(~0U));
}

TEST_F(events, each_change_has_its_own_result)
{
	int there = add_eventfd(self->set, 0, false);
	int fd = eventfd_new();
	int regular = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct devepoll_change changes[] = {
		change_of(DEVEPOLL_ADD, fd, EPOLLIN),
		change_of(DEVEPOLL_ADD, there, EPOLLIN),
		change_of(DEVEPOLL_MOD, there, EPOLLOUT),
		change_of(DEVEPOLL_ADD, regular, EPOLLIN),
		change_of(DEVEPOLL_ADD, 777, EPOLLIN),
		change_of(DEVEPOLL_DEL, 777, 0),
		change_of(9, fd, EPOLLIN),
		change_of(DEVEPOLL_DEL, fd, 0),
		change_of(DEVEPOLL_MOD, fd, EPOLLIN),
	};
	const int expected[] = {
		0, -EEXIST, 0, -EPERM, -EBADF, -EBADF, -EINVAL, 0, -ENOENT,
	};
	unsigned int failed = 0x5a5a5a5a;
	int i;

	EXPECT_EQ(9, devepoll_events_update(self->set, changes, 9, &failed));
	EXPECT_EQ(6, failed);
	for (i = 0; i < 9; i++)
		EXPECT_EQ(expected[i], changes[i].result);

	ASSERT_EQ(1, devepoll_events_wait(self->set, self->out, 64, 0));
	EXPECT_EQ(EPOLLOUT, self->out[0].events);
	EXPECT_EQ(there, self->out[0].fd);
	EXPECT_EQ(0x100000000 + there, self->out[0].data);

	/* The count of failures may be left out. */
	EXPECT_EQ(2, devepoll_events_update(self->set, changes + 4, 2, NULL));
}

TEST_F(events, changes_end_where_memory_does_and_that_is_told)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct devepoll_change *changes;
	unsigned int failed;
	char *map;
	int fd = eventfd_new();

	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(map != MAP_FAILED);
	ASSERT_EQ(0, mprotect(map + page, page, PROT_NONE));
	changes = (struct devepoll_change *)(map + page) - 2;
	changes[0] = change_of(DEVEPOLL_ADD, fd, EPOLLIN);
	changes[1] = change_of(DEVEPOLL_ADD, fd, EPOLLIN);

	EXPECT_EQ(2, devepoll_events_update(self->set, changes, 5, &failed));
	EXPECT_EQ(4, failed);
	EXPECT_EQ(0, changes[0].result);
	EXPECT_EQ(-EEXIST, changes[1].result);
	EXPECT_EQ(-EFAULT, devepoll_events_update(self->set, changes + 2, 3,
						  &failed));
	EXPECT_EQ(3, failed);

	EXPECT_EQ(0, devepoll_events_update_wait(self->set, changes, 5, &failed,
						 self->out, 64, -1));
	EXPECT_EQ(5, failed);
	EXPECT_EQ(-EEXIST, changes[0].result);
}

TEST_F(events, one_change_has_its_result)
{
	const int set = self->set, fd = add_eventfd(set, 7, true);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EEXIST, devepoll_events_change(set, DEVEPOLL_ADD, fd,
						  EPOLLIN, 0, 8));
	EXPECT_EQ(0, devepoll_events_change(set, DEVEPOLL_MOD, fd,
					    EPOLLIN | EPOLLET, DEVEPOLL_TRUST,
					    UINT64_MAX));
	ASSERT_EQ(1, devepoll_events_wait(set, self->out, 64, 0));
	EXPECT_EQ(UINT64_MAX, self->out[0].data);
	EXPECT_EQ(0, devepoll_events_change(set, DEVEPOLL_DEL, fd, 0, 0, 0));
	EXPECT_EQ(-ENOENT, devepoll_events_change(set, DEVEPOLL_DEL, fd, 0, 0,
						  0));
	EXPECT_EQ(0, devepoll_events_change(set, DEVEPOLL_ADD, fd, EPOLLIN,
					    DEVEPOLL_TELL_CLOSED, 9));
	close(fd);
	ASSERT_EQ(1, devepoll_events_wait(set, self->out, 64, 0));
	EXPECT_EQ(DEVEPOLL_CLOSED, self->out[0].events);
	EXPECT_EQ(9, self->out[0].data);
}

TEST_F(events, one_bad_change_is_refused)
{
	const int set = self->set, fd = add_eventfd(set, 7, true);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, devepoll_events_change(set, 0, fd, EPOLLIN, 0, 0));
	EXPECT_EQ(-EINVAL, devepoll_events_change(set, 4, fd, EPOLLIN, 0, 0));
	EXPECT_EQ(-EINVAL, devepoll_events_change(set, 65537, fd, EPOLLIN, 0,
						  0));
	EXPECT_EQ(-EINVAL, devepoll_events_change(set, DEVEPOLL_MOD, fd,
						  EPOLLIN, 4, 0));
	EXPECT_EQ(-EINVAL, devepoll_events_change(set, DEVEPOLL_MOD, fd,
						  EPOLLIN, 65536, 0));
	EXPECT_EQ(-EINVAL, devepoll_events_change(set, DEVEPOLL_DEL, fd, 0,
						  DEVEPOLL_TRUST, 0));
	EXPECT_EQ(-EINVAL, devepoll_events_change(set, DEVEPOLL_MOD, fd,
						  1U << 26, 0, 0));
	EXPECT_EQ(-EBADF, devepoll_events_change(set, DEVEPOLL_ADD, -1,
						 EPOLLIN, 0, 0));
	EXPECT_EQ(-EBADF, devepoll_events_change(-1, DEVEPOLL_ADD, fd, EPOLLIN,
						 0, 0));
	EXPECT_EQ(-ENOTTY, devepoll_events_change(fd, DEVEPOLL_ADD, fd,
						  EPOLLIN, 0, 0));
	close(fd);
}

TEST_F(events, bad_arguments_are_refused)
{
	struct devepoll_change change = change_of(DEVEPOLL_ADD, 0, EPOLLIN);
	unsigned int failed = 0;
	int set = self->set;

	ASSERT_LE(0, add_eventfd(set, 0, true));
	EXPECT_EQ(-EINVAL, devepoll_events_update(set, &change, 0, &failed));
	EXPECT_EQ(-EFAULT, devepoll_events_update(set, NULL, 1, &failed));
	EXPECT_EQ(1, failed);
	EXPECT_EQ(-EINVAL, devepoll_events_update(set, &change, UINT_MAX,
						  NULL));
	EXPECT_EQ(-EINVAL, devepoll_events_wait(set, self->out, 0, 0));
	EXPECT_EQ(-EINVAL, devepoll_events_wait(set, self->out, UINT_MAX, 0));
	EXPECT_EQ(-EFAULT, devepoll_events_wait(set, NULL, 1, 0));
	EXPECT_EQ(-EFAULT, devepoll_events_update_wait(set, NULL, 1, &failed,
						       self->out, 1, 0));
	EXPECT_EQ(-EFAULT, devepoll_events_harvest(set, NULL));
	EXPECT_EQ(-EFAULT, devepoll_events_stats(set, NULL));
	/* To fadvise64(2) it is unknown advice. */
	EXPECT_EQ(fadvise_param() == 'N' ? -ENOTTY : -EINVAL,
		  devepoll_events_request(set, _IO('P', 0x7f), NULL));
	EXPECT_EQ(-ENOTTY, devepoll_events_request(set, _IOR('P', 0x7f, int),
						   NULL));
	/* EPIOCGPARAMS, which the fadvise entry does not take. */
	EXPECT_EQ(-EFAULT, devepoll_events_request(set, _IOR(0x8a, 2, uint64_t),
						   NULL));
	EXPECT_EQ(-EINVAL, devepoll_events_take(NULL, 0));
	EXPECT_EQ(-EFAULT, devepoll_events_map(set, NULL, 1, 1));
	devepoll_events_unmap(NULL, 1);

	/* No event was lost. */
	EXPECT_EQ(1, devepoll_events_wait(set, self->out, 64, 0));
}

/* All calls on a file that is not a set. */
static int calls_give(int fd, int error)
{
	struct devepoll_change change = change_of(DEVEPOLL_ADD, 0, EPOLLIN);
	struct devepoll_wait_args args = { .max_events = 1 };
	struct devepoll_part part;
	struct devepoll_event out;
	struct devepoll_features features;
	struct devepoll_stats stats;
	unsigned int failed;
	int wrong = 0;

	args.events = (uintptr_t)&out;
	wrong += devepoll_events_update(fd, &change, 1, &failed) != error;
	wrong += devepoll_events_change(fd, DEVEPOLL_ADD, 0, EPOLLIN, 0, 0) !=
		 error;
	wrong += devepoll_events_wait(fd, &out, 1, 0) != error;
	wrong += devepoll_events_update_wait(fd, &change, 1, &failed, &out, 1,
					     0) != error;
	wrong += devepoll_events_harvest(fd, &args) != error;
	wrong += devepoll_events_map(fd, &part, 1, 1) != error;
	/* These work on a set of 2001 too, or check something else first. */
	if (error == -EBUSY)
		return wrong;
	wrong += devepoll_events_stats(fd, &stats) != error;
	wrong += devepoll_events_features(fd, &features) != error;
	part = (struct devepoll_part){ .fd = fd, .max_events = 1 };
	wrong += devepoll_events_take(&part, 0) != error;
	return wrong;
}

TEST(what_is_no_set_is_told_by_its_error)
{
	struct devepoll *old;
	int fds[2], sockets[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, unix_pair(sockets, SOCK_STREAM));
	EXPECT_EQ(0, calls_give(-1, -EBADF));
	EXPECT_EQ(0, calls_give(777, -EBADF));
	EXPECT_EQ(0, calls_give(open("/", O_PATH), -EBADF));
	EXPECT_EQ(0, calls_give(fds[0], -ENOTTY));
	EXPECT_EQ(0, calls_give(sockets[0], -ENOTTY));
	EXPECT_EQ(0, calls_give(open("/proc/self/exe", O_RDONLY), -ENOTTY));
	EXPECT_EQ(0, calls_give(open("/dev/null", O_RDWR), -ENOTTY));
	EXPECT_EQ(0, calls_give(epoll_create1(0), -ENOTTY));

	ASSERT_EQ(0, devepoll_open(&old, NULL, 1, 0));
	EXPECT_EQ(0, calls_give(devepoll_fd(old), -EBUSY));
	EXPECT_EQ(0, devepoll_close(old));
}

TEST_F(events, features_are_told)
{
	struct devepoll_features features = {};

	ASSERT_EQ(0, devepoll_events_features(self->set, &features));
	EXPECT_EQ(DEVEPOLL_ABI, features.abi);
	EXPECT_EQ(DEVEPOLL_MAX_CHANGES, features.max_changes);
	EXPECT_EQ(-EFAULT, devepoll_events_features(self->set, NULL));
}

/* The parameter is written while the program runs, if it may. */
TEST_F(events, fadvise_may_be_turned_off_and_on_at_any_time)
{
	struct epoll_event event = { .events = EPOLLIN }, out;
	int fd = eventfd_new(), other = eventfd_new(), i;
	struct devepoll_features features;
	char before = fadvise_param();

	if (set_fadvise_param('N'))
		SKIP(return, "can't write the parameter");
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(0, set_fadvise_param(i & 1 ? 'Y' : 'N'));
		EXPECT_EQ(0, devepoll_epoll_ctl(self->set, EPOLL_CTL_ADD, fd,
						&event));
		EXPECT_EQ(-1, devepoll_epoll_ctl(self->set, EPOLL_CTL_ADD,
						 self->set, &event));
		EXPECT_EQ(EINVAL, errno);
		ASSERT_EQ(0, eventfd_post(fd));
		EXPECT_EQ(1, devepoll_epoll_wait(self->set, &out, 1, -1));
		EXPECT_EQ(-1, devepoll_epoll_wait(self->set, &out, 0, -1));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(1, devepoll_events_wait(self->set, self->out, 4, -1));
		EXPECT_EQ(-EINVAL, devepoll_events_wait(self->set, self->out,
							0, -1));
		EXPECT_EQ(0, devepoll_events_features(self->set, &features));
		EXPECT_EQ(i & 1, !!(features.features &
				    DEVEPOLL_FEATURE_FADVISE));
		/* Other fds are reported as always. */
		EXPECT_EQ(-ENOTTY, devepoll_events_wait(other, self->out, 4,
							0));
		EXPECT_EQ(-1, devepoll_epoll_wait(other, &out, 1, 0));
		EXPECT_EQ(EINVAL, errno);
		EXPECT_EQ(0, devepoll_epoll_ctl(self->set, EPOLL_CTL_DEL, fd,
						NULL));
		ASSERT_EQ(0, eventfd_take(fd));
	}
	EXPECT_EQ(0, set_fadvise_param(before));
}

TEST_F(events, change_that_fails_keeps_the_wait_from_sleeping)
{
	struct devepoll_change changes[2];
	unsigned int failed = 9;
	int fd = eventfd_new();

	changes[0] = change_of(DEVEPOLL_ADD, fd, EPOLLIN);
	changes[1] = change_of(DEVEPOLL_ADD, fd, EPOLLIN);
	EXPECT_EQ(0, devepoll_events_update_wait(self->set, changes, 2, &failed,
						 self->out, 64, -1));
	EXPECT_EQ(1, failed);

	/* A change that does not fail is made before the wait. */
	ASSERT_EQ(0, eventfd_post(fd));
	changes[0] = change_of(DEVEPOLL_MOD, fd, EPOLLIN | EPOLLOUT);
	EXPECT_EQ(1, devepoll_events_update_wait(self->set, changes, 1, &failed,
						 self->out, 64, -1));
	EXPECT_EQ(0, failed);
	EXPECT_EQ(EPOLLIN | EPOLLOUT, self->out[0].events);

	failed = 9;
	EXPECT_EQ(1, devepoll_events_update_wait(self->set, NULL, 0, &failed,
						 self->out, 64, -1));
	EXPECT_EQ(0, failed);
}

TEST_F(events, wait_lasts_so_many_nanoseconds)
{
	uint64_t begin = now_ns();

	EXPECT_EQ(0, devepoll_events_wait(self->set, self->out, 1, 0));
	EXPECT_EQ(0, devepoll_events_wait(self->set, self->out, 1, 3 * MSEC));
	EXPECT_LE(3 * MSEC, now_ns() - begin);
}

struct wait_call {
	int set;
	struct devepoll_wait_args args;
	struct devepoll_event out[8];
};

static long wait_by_library(void *arg)
{
	struct wait_call *call = arg;

	call->args.events = (uintptr_t)call->out;
	call->args.max_events = 8;
	return devepoll_events_harvest(call->set, &call->args);
}

TEST_F(events, wait_waits_for_as_many_as_are_asked_for)
{
	struct wait_call call = {
		.set = self->set,
		.args = { .min_events = 2, .timeout = DEVEPOLL_FOREVER },
	};
	struct task task;
	int fds[2];

	fds[0] = add_eventfd(self->set, 0, false);
	fds[1] = add_eventfd(self->set, 0, false);
	ASSERT_EQ(0, task_start(&task, wait_by_library, &call));
	ASSERT_EQ(0, await_sleep(task.tid, fadvise_param() == 'N' ?
				 SYS_ioctl : SYS_fadvise64));
	ASSERT_EQ(0, eventfd_post(fds[0]));
	EXPECT_FALSE(task.done);
	ASSERT_EQ(0, eventfd_post(fds[1]));
	EXPECT_EQ(2, task_join(&task));
}

TEST_F(events, wait_ends_at_a_point_in_time)
{
	struct wait_call call = {
		.set = self->set,
		.args = { .flags = DEVEPOLL_WAIT_ABSTIME },
	};
	uint64_t end = now_ns() + 5 * MSEC;

	call.args.timeout = end;
	EXPECT_EQ(0, wait_by_library(&call));
	EXPECT_LE(end, now_ns());
	/* A deadline that has passed does not sleep. */
	EXPECT_EQ(0, wait_by_library(&call));
}

TEST_F(events, calls_of_both_headers_work_side_by_side)
{
	struct devepoll_stats stats;
	struct epoll_event event;
	int fd = add_eventfd(self->set, 0, true);
	struct wait_call call = {
		.set = self->set,
		.args = {
			.events = (uintptr_t)&event,
			.max_events = 1,
			.flags = DEVEPOLL_WAIT_EPOLL,
		},
	};

	EXPECT_EQ(1, devepoll_events_harvest(self->set, &call.args));
	EXPECT_EQ(0x100000000 + fd, event.data.u64);

	memset(&stats, 0x5a, sizeof(stats));
	EXPECT_EQ(0, devepoll_events_stats(self->set, &stats));
	EXPECT_EQ(1, stats.items);
	EXPECT_EQ(1, stats.adds);
	EXPECT_EQ(1, stats.harvests);
	EXPECT_EQ(1, stats.events);
}

TEST_HARNESS_MAIN
