// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: this program calls epoll, and runs on the device.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/time_types.h>

#include "kselftest_harness.h"

#include "core/helpers.h"
#include "preload/preloaded.h"

/* Counted here, and made by the C library. */
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
#ifdef SYS_epoll_create
	EXPECT_EQ(-1, syscall(SYS_epoll_create, 0));
	EXPECT_EQ(EINVAL, errno);
	set = syscall(SYS_epoll_create, 1);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_EQ(0, close(set));
	errno = 0;
#endif
	EXPECT_EQ(-1, syscall(SYS_epoll_create1, 1));
	EXPECT_EQ(EINVAL, errno);

	set = syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
	EXPECT_TRUE(is_set_of_the_device(set));
	EXPECT_EQ(FD_CLOEXEC, fcntl(set, F_GETFD));
	event.data.fd = fd;
	EXPECT_EQ(0, syscall(SYS_epoll_ctl, set, EPOLL_CTL_ADD, fd, &event));
	EXPECT_EQ(0, syscall(SYS_epoll_wait, set, &out, 1, 0, NULL, 8));
	ASSERT_EQ(0, eventfd_post(fd));
	EXPECT_EQ(1, syscall(SYS_epoll_wait, set, &out, 1, -1, NULL, 8));
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

TEST(sizes_and_times_by_number_are_taken_as_epoll_takes_them)
{
	/* On 32 bits the upper half of the nanoseconds is padding. */
	const struct __kernel_timespec time = { .tv_nsec = 0x5a5a5a5a00000001 };
	int sets[] = { epoll_create1(0), epoll_by_libc() };
	struct epoll_event out;
	sigset_t mask;
	int i;

	sigemptyset(&mask);
	ASSERT_TRUE(is_set_of_the_device(sets[0]));
	ASSERT_TRUE(is_set_of_epoll(sets[1]));
	for (i = 0; i < 2; i++) {
		errno = 0;
		EXPECT_EQ(sizeof(long) == 8 ? -1 : 0,
			  syscall(SYS_epoll_pwait2, sets[i], &out, 1, &time,
				  NULL, 8));
		EXPECT_EQ(sizeof(long) == 8 ? EINVAL : 0, errno);
#ifdef __LP64__
		errno = 0;
		EXPECT_EQ(-1, syscall(SYS_epoll_pwait, sets[i], &out, 1, 0,
				      &mask, 0x100000008));
		EXPECT_EQ(EINVAL, errno);
#endif
		errno = 0;
		EXPECT_EQ(-1, syscall(SYS_epoll_pwait, sets[i], &out, 1, 0, 8,
				      4));
		EXPECT_EQ(EINVAL, errno);
	}
}

#ifndef __LP64__
/* What epoll_pwait2() is in a program that is compiled with _TIME_BITS=64. */
extern int __epoll_pwait2_time64(int epfd, struct epoll_event *events,
				 int maxevents,
				 const struct __kernel_timespec *timeout,
				 const sigset_t *sigmask);

TEST(program_with_64_bit_time_waits_on_the_device)
{
	struct __kernel_timespec time = { .tv_nsec = 0x5a5a5a5a00000001 };
	int sets[] = { epoll_create1(0), epoll_by_libc() };
	int i, fd = eventfd_new();
	struct epoll_event out;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, __epoll_pwait2_time64(sets[i], &out, 1, &time,
						   NULL));
		ASSERT_EQ(0, add(sets[i], fd, EPOLLIN));
	}
	ASSERT_EQ(0, eventfd_post(fd));
	time.tv_sec = 0x100000000;
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(1, __epoll_pwait2_time64(sets[i], &out, 1, &time,
						   NULL));
		EXPECT_EQ(fd, out.data.fd);
		EXPECT_EQ(1, __epoll_pwait2_time64(sets[i], &out, 1, NULL,
						   NULL));
	}
}
#endif

/* Elsewhere a register has the address to which the child returns. */
#if defined(__x86_64__) || defined(__i386__)
#define CLONED	42

static void run_as_clone(void)
{
	_exit(CLONED);
}

/*
 * The child returns from the call with a stack that has only what the C
 * library's syscall() takes from it: on i386, four registers first.
 */
TEST(child_by_clone_begins_on_a_stack_of_its_own)
{
	static _Alignas(16) void *stack[1024];
	void **top = &stack[1000];
	long child;

	top[sizeof(long) == 8 ? 0 : 4] = run_as_clone;
	child = syscall(SYS_clone, CLONE_VM | SIGCHLD, top, NULL, NULL, NULL);
	ASSERT_LT(0, child);
	EXPECT_EQ(CLONED, reap(child));
}
#endif

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
		/* The first call is a wait, or a change that both refuse. */
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

		/* Its closed number removes it from one of the two only. */
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

TEST(set_is_none_for_epolls_own_calls)
{
	int (*wait)(int epfd, struct epoll_event *events, int maxevents,
		    int timeout) = function_of_libc("epoll_wait");
	int set = epoll_create1(0);
	struct epoll_event out;

	ASSERT_TRUE(!!wait);
	errno = 0;
	EXPECT_EQ(-1, wait(set, &out, 1, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(works(set));
}

#define THREADS	4
#define ROUNDS	40

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

TEST_HARNESS_MAIN
