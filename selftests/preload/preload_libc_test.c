// SPDX-License-Identifier: GPL-2.0
/*
 * libdevepoll-preload.so: what it leaves to the C library, or does as that
 * does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <ucontext.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/fadvise_filter.h"
#include "core/helpers.h"
#include "core/other_node.h"
#include "preload/preloaded.h"
#include "preload/trapped_call.h"

/* --- Functions of the C library that are called --- */

static volatile sig_atomic_t traps;
static void *volatile trapped;

/* Notes where the call was made, which then has done nothing and succeeds. */
static void note_call(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	traps++;
	trapped = info->si_call_addr;
	trapped_return(context, 0);
}

/* From here on, this call raises SIGSYS; 0 or -errno. */
static int trap_call(unsigned int nr)
{
	struct sigaction action = {
		.sa_sigaction = note_call,
		.sa_flags = SA_SIGINFO,
	};

	if (sigaction(SIGSYS, &action, NULL))
		return -errno;
	return filter_call(nr, SECCOMP_RET_TRAP);
}

/* On i386, the C library makes its calls in the vDSO. */
static bool was_trapped_outside_of_preload(int times)
{
	Dl_info where;

	return traps == times && (!dladdr(trapped, &where) ||
			      !strstr(where.dli_fname, "libdevepoll"));
}

FIXTURE(call) {
	int epoll;
};

FIXTURE_VARIANT(call)
{
	unsigned int nr;
	int (*call)(int fd);
	int times;
};

#define CALL_TIMES(name, number, nr_times)				\
	FIXTURE_VARIANT_ADD(call, name) {				\
		.nr = number,						\
		.call = by_##name,					\
		.times = nr_times,					\
	}
#define CALL(name, number)	CALL_TIMES(name, number, 1)

static int by_close(int fd)
{
	return close(fd);
}

static int by_dup2(int fd)
{
	return dup2(fd, 100);
}

static int by_dup3(int fd)
{
	return dup3(fd, 100, 0);
}

static int by_close_range(int fd)
{
	return close_range(fd, fd, 0);
}

static int by_closefrom(int fd)
{
	closefrom(fd);
	return 0;
}

static int by_epoll_wait(int fd)
{
	struct epoll_event out;

	return epoll_wait(fd, &out, 1, -1);
}

static int by_epoll_pwait(int fd)
{
	struct epoll_event out;

	return epoll_pwait(fd, &out, 1, -1, NULL);
}

static int by_epoll_pwait_with_mask(int fd)
{
	struct epoll_event out;
	sigset_t mask;

	sigemptyset(&mask);
	return epoll_pwait(fd, &out, 1, -1, &mask);
}

static int by_epoll_pwait2(int fd)
{
	struct epoll_event out;

	return epoll_pwait2(fd, &out, 1, NULL, NULL);
}

CALL(close, SYS_close);
#ifdef SYS_dup2
CALL(dup2, SYS_dup2);
#else
CALL(dup2, SYS_dup3);
#endif
CALL(dup3, SYS_dup3);
CALL(close_range, SYS_close_range);
/* Before the descriptor that the library keeps, and behind it. */
CALL_TIMES(closefrom, SYS_close_range, 2);
/* Of a set of epoll. */
CALL(epoll_wait, SYS_epoll_wait);
CALL(epoll_pwait, SYS_epoll_pwait);
CALL(epoll_pwait_with_mask, SYS_epoll_pwait);
CALL(epoll_pwait2, SYS_epoll_pwait2);

FIXTURE_SETUP(call)
{
	self->epoll = epoll_by_libc();
	ASSERT_TRUE(works(self->epoll));
}

FIXTURE_TEARDOWN(call)
{
}

TEST_F(call, is_made_by_the_c_library)
{
	ASSERT_EQ(0, trap_call(variant->nr));
	EXPECT_EQ(0, variant->call(self->epoll));
	EXPECT_TRUE(was_trapped_outside_of_preload(variant->times));
}

/* --- Sets of epoll --- */

/* Calls that fail in each way that a set of the device could fail, too. */
static bool fails_as_epoll_does(int epoll)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct epoll_event out;

	return add(epoll, 999, EPOLLIN) == -EBADF &&
	       add(epoll, epoll, EPOLLIN) == -EINVAL &&
	       add(epoll, file, EPOLLIN) == -EPERM && !close(file) &&
	       epoll_wait(epoll, &out, 0, 0) == -1 && errno == EINVAL;
}

TEST(set_of_epoll_that_failed_is_not_taken_for_the_device)
{
	int epoll = epoll_by_libc();

	EXPECT_TRUE(works(epoll));
	EXPECT_TRUE(fails_as_epoll_does(epoll));
	ASSERT_EQ(0, trap_call(SYS_FADVISE));
	ASSERT_EQ(0, trap_call(SYS_ioctl));
	EXPECT_TRUE(works(epoll));
	EXPECT_EQ(0, traps);
}

/* --- Programs with filters of the calls that they do not make --- */

/* Newer architectures have one call to create a set, and one to wait. */
#ifdef SYS_epoll_create

FIXTURE(creation) { };

FIXTURE_VARIANT(creation)
{
	unsigned int other;
	int (*create)(void);
};

#define CREATION(name, number)						\
	FIXTURE_VARIANT_ADD(creation, name) {				\
		.other = number,					\
		.create = name,						\
	}

static int by_epoll_create(void)
{
	return epoll_create(1);
}

static int by_epoll_create1(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

static int by_number_of_epoll_create(void)
{
	return syscall(SYS_epoll_create, 1);
}

static int by_number_of_epoll_create1(void)
{
	return syscall(SYS_epoll_create1, 0);
}

CREATION(by_epoll_create, SYS_epoll_create1);
CREATION(by_epoll_create1, SYS_epoll_create);
CREATION(by_number_of_epoll_create, SYS_epoll_create1);
CREATION(by_number_of_epoll_create1, SYS_epoll_create);

FIXTURE_SETUP(creation)
{
	/* Not even by the descriptor that the library keeps. */
	ASSERT_EQ(0, other_node(99, 0666));
}

FIXTURE_TEARDOWN(creation)
{
}

TEST_F(creation, makes_no_other_call)
{
	int set;

	ASSERT_EQ(0, refuse_call(variant->other, EPERM));
	set = variant->create();
	EXPECT_TRUE(is_set_of_epoll(set));
	EXPECT_TRUE(works(set));
}

/* The number is not known, that of a set of epoll, and that of the device. */
TEST(wait_without_a_mask_makes_no_other_call)
{
	int epoll = epoll_by_libc(), set = epoll_create1(0), i;
	int sets[] = { epoll, dup(epoll), dup2(epoll, set) };
	struct epoll_event out;

	ASSERT_TRUE(works(sets[1]));
	ASSERT_EQ(0, refuse_call(SYS_epoll_wait, EPERM));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, epoll_pwait(sets[i], &out, 1, 0, NULL));
	ASSERT_EQ(0, refuse_call(SYS_epoll_pwait, EACCES));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(-EPERM, ready(sets[i]));
}
#endif

TEST_HARNESS_MAIN
