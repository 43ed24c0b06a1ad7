// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: this program calls epoll, and runs on the device.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <linux/time_types.h>

#include "kselftest_harness.h"

#include "door_filter.h"
#include "helpers.h"
#include "preloaded.h"

/* Counted, and made by the C library. */
extern void *__libc_malloc(size_t size);
static atomic_int allocations;

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

TEST(sets_are_of_the_device)
{
	int set = epoll_create1(EPOLL_CLOEXEC);

	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_TRUE(works(set));
	EXPECT_EQ(0, close(set));
	set = epoll_create(1);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_TRUE(works(set));
	EXPECT_EQ(0, close(set));
}

TEST(set_that_is_made_before_any_constructor_works)
{
	EXPECT_TRUE(is_set_of_the_device(early_set));
	EXPECT_EQ(EARLY_ERRNO, early_errno);
	EXPECT_TRUE(early_works);
	EXPECT_TRUE(works(early_set));
}

TEST(calls_by_number_reach_the_device)
{
	struct epoll_event event = { .events = EPOLLIN }, out;
	const struct __kernel_timespec now = { 0 };
	int fd = eventfd_new();
	sigset_t mask;
	long set;

	sigemptyset(&mask);
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_epoll_create, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, syscall(SYS_epoll_create1, 1));
	EXPECT_EQ(EINVAL, errno);
	set = syscall(SYS_epoll_create, 1);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_EQ(0, close(set));

	set = syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_EQ(FD_CLOEXEC, fcntl(set, F_GETFD));
	event.data.fd = fd;
	EXPECT_EQ(0, syscall(SYS_epoll_ctl, set, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(0, syscall(SYS_epoll_wait, set, &out, 1, 0));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, syscall(SYS_epoll_wait, set, &out, 1, -1));
	EXPECT_EQ(fd, out.data.fd);
	EXPECT_EQ(1, syscall(SYS_epoll_pwait, set, &out, 1, -1, NULL, 8));
	EXPECT_EQ(1, syscall(SYS_epoll_pwait, set, &out, 1, -1, &mask, 8));
	EXPECT_EQ(1, syscall(SYS_epoll_pwait2, set, &out, 1, NULL, &mask, 8));
	EXPECT_EQ(1, syscall(SYS_epoll_pwait2, set, &out, 1, &now, NULL, 0));
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_epoll_pwait, set, &out, 1, -1, &mask, 4));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, close(set));
}

TEST(other_calls_by_number_pass_with_six_arguments)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("six", MFD_CLOEXEC);
	char *map;
#ifdef SYS_mmap2
	long nr = SYS_mmap2, offset = 1;
#else
	long nr = SYS_mmap, offset = page;
#endif

	ASSERT_EQ(0, ftruncate(fd, 2 * page));
	ASSERT_EQ(1, pwrite(fd, "x", 1, page));
	errno = 12345;
	map = (char *)syscall(nr, NULL, page, (long)PROT_READ, (long)MAP_SHARED,
			      (long)fd, offset);
	EXPECT_EQ(12345, errno);
	ASSERT_TRUE(map != MAP_FAILED);
	EXPECT_EQ('x', *map);

	EXPECT_EQ(getpid(), syscall(SYS_getpid));
	EXPECT_EQ(-1, syscall(SYS_close, -1));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, syscall(100000));
	EXPECT_EQ(ENOSYS, errno);
}

TEST(child_of_fork_goes_on_with_the_set)
{
	int set = epoll_create1(0);
	int fd = eventfd_new();
	pid_t child;

	ASSERT_EQ(0, add(set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(fd));
	child = fork();
	if (child == 0)
		_exit(ready(set) != fd || eventfd_take(fd) || !works(set) ||
		      !works(epoll_create1(0)) || eventfd_post(fd));
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(fd, ready(set));
	ASSERT_EQ(0, eventfd_take(fd));
	EXPECT_TRUE(works(set));
}

TEST(duplicates_of_a_set_are_one)
{
	int set = epoll_create1(0);
	int fd = eventfd_new();
	int copies[4], i;

	ASSERT_EQ(0, add(set, fd, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(fd));
	copies[0] = dup(set);
	copies[1] = dup2(set, 200);
	copies[2] = dup3(set, 201, O_CLOEXEC);
	copies[3] = fcntl(set, F_DUPFD, 1500);
	ASSERT_EQ(0, close(set));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(fd, ready(copies[i]));
		EXPECT_EQ(0, close(copies[i]));
		EXPECT_EQ(-EBADF, ready(copies[i]));
	}
}

TEST(closefrom_leaves_nothing_behind)
{
	int set = epoll_create1(0);
	int fd = eventfd_new();

	ASSERT_EQ(0, add(set, fd, EPOLLIN));
	closefrom(3);
	EXPECT_EQ(-EBADF, ready(set));
	EXPECT_EQ(-EBADF, add(set, 0, EPOLLIN));
	set = epoll_create1(0);
	EXPECT_EQ(3, set);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_TRUE(works(set));
}

TEST(number_that_names_another_file_is_no_set)
{
	struct epoll_event out;
	int set = epoll_create1(0);
	int fds[2], sockets[2];

	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(0, unix_pair(sockets, SOCK_STREAM));
	ASSERT_TRUE(works(set));
	ASSERT_EQ(set, dup2(fds[0], set));
	EXPECT_EQ(-EINVAL, ready(set));
	EXPECT_EQ(-EINVAL, add(set, fds[1], EPOLLIN));
	ASSERT_EQ(set, dup2(sockets[0], set));
	EXPECT_EQ(-EINVAL, ready(set));
	errno = 0;
	EXPECT_EQ(-1, epoll_pwait(set, &out, 1, 0, NULL));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(-1, epoll_pwait2(set, &out, 1, NULL, NULL));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, close(set));
	EXPECT_EQ(-EBADF, ready(set));
}

/* By the C library itself, as from a part that is linked statically. */
static int epoll_by_libc(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	int (*create1)(int flags) = libc ? dlsym(libc, "epoll_create1") : NULL;

	return create1 ? create1(0) : -1;
}

TEST(epolls_own_set_works_under_any_number)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0);
	int epoll = epoll_by_libc();
	int in_set = eventfd_new();
	int in_epoll = eventfd_new();
	int i, fd, number = 300;

	ASSERT_TRUE(is_set_of_epoll(epoll));
	ASSERT_TRUE(works(epoll));
	ASSERT_EQ(0, add(set, in_set, EPOLLIN));
	ASSERT_EQ(0, add(epoll, in_epoll, EPOLLIN));
	ASSERT_EQ(0, eventfd_post(in_set));
	ASSERT_EQ(0, eventfd_post(in_epoll));
	for (i = 0; i < 3; i++) {
		/* The first call is a wait, or a change that the two refuse. */
		ASSERT_EQ(number, dup2(set, number));
		if (i != 1)
			EXPECT_EQ(in_set, ready(number));
		EXPECT_EQ(-EEXIST, add(number, in_set, EPOLLIN));
		EXPECT_EQ(-EPERM, add(number, open("/proc/self/exe", O_RDONLY),
				      EPOLLIN));
		ASSERT_EQ(number, dup2(epoll, number));
		if (i != 1)
			EXPECT_EQ(in_epoll, ready(number));
		EXPECT_EQ(-EEXIST, add(number, in_epoll, EPOLLIN));
		EXPECT_EQ(in_epoll, ready(number));

		/* Removed by its closed number from the one of them alone. */
		ASSERT_EQ(number, dup2(set, number));
		fd = eventfd_new();
		ASSERT_EQ(0, add(set, fd, EPOLLIN));
		ASSERT_LE(0, dup(fd));
		ASSERT_EQ(number, dup2(epoll, number));
		ASSERT_EQ(in_epoll, ready(number));
		ASSERT_EQ(number, dup2(set, number));
		ASSERT_EQ(0, close(fd));
		EXPECT_EQ(0, epoll_ctl(number, EPOLL_CTL_DEL, fd, &event));
		EXPECT_EQ(-1, epoll_ctl(number, EPOLL_CTL_DEL, fd, &event));
		EXPECT_EQ(EBADF, errno);
	}
}

#define THREADS	4
#define ROUNDS	200

static long make_and_use_sets(void *arg)
{
	long wrong = 0;
	int i, set;

	for (i = 0; i < ROUNDS; i++) {
		set = i % 2 ? epoll_create1(0) : *(int *)arg;
		wrong += !is_set_of_the_device(set);
		if (i % 2)
			wrong += !works(set) || close(set) != 0;
	}
	return wrong;
}

TEST(threads_make_and_use_sets)
{
	struct task tasks[THREADS];
	int set = epoll_create1(0);
	int i;

	NEEDS_THREADS();
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, task_start(&tasks[i], make_and_use_sets, &set));
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(0, task_join(&tasks[i]));
	EXPECT_TRUE(works(set));
}

TEST(no_memory_is_allocated)
{
	int epoll = epoll_by_libc();
	int before, set;
	char *volatile some;

	before = allocations;
	some = malloc(1);
	free(some);
	EXPECT_EQ(before + 1, allocations);

	before = allocations;
	set = epoll_create1(0);
	EXPECT_TRUE(works(set));
	EXPECT_EQ(-EBADF, ready(-1));
	EXPECT_TRUE(works(epoll));
	EXPECT_EQ(before, allocations);
}

FIXTURE(door) { };

FIXTURE_VARIANT(door)
{
	int error;
};

FIXTURE_VARIANT_ADD(door, eperm) {
	.error = EPERM,
};

FIXTURE_VARIANT_ADD(door, enosys) {
	.error = ENOSYS,
};

FIXTURE_SETUP(door)
{
}

FIXTURE_TEARDOWN(door)
{
}

TEST_F(door, device_is_used_where_a_filter_refuses_it)
{
	int epoll = epoll_by_libc();
	int set;

	ASSERT_EQ(0, refuse_the_door(variant->error));
	set = epoll_create1(0);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_TRUE(works(set));
	EXPECT_TRUE(works(epoll));
	EXPECT_EQ(-EPERM, add(set, open("/proc/self/exe", O_RDONLY), EPOLLIN));
}

TEST_HARNESS_MAIN
