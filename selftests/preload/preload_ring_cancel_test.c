// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of a preloaded program with DEVEPOLL_RING=1 that are canceled: in a
 * wait, and in a close of the set.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "kselftest_harness.h"

#include "preload/preload_ring.h"
#include "preload/trapped_call.h"

static void *wait_canceled(void *arg)
{
	struct epoll_event out;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	epoll_wait(*(int *)arg, &out, 1, 0);
	return NULL;
}

/* Is a thread that starts with this canceled? */
static bool is_canceled(void *(*start)(void *arg), int *set)
{
	pthread_t thread;
	void *ret = NULL;

	return !pthread_create(&thread, NULL, start, set) &&
	       !pthread_join(thread, &ret) && ret == PTHREAD_CANCELED;
}

TEST_F(preload_ring, wait_is_a_cancellation_point)
{
	NEEDS_THREADS();
	ASSERT_EQ(0, eventfd_post(self->edge));
	EXPECT_TRUE(is_canceled(wait_canceled, &self->set));
	EXPECT_EQ(self->edge, ready(self->set));
}

#ifdef __LP64__
#define SYS_MAP		SYS_mmap
#else
#define SYS_MAP		SYS_mmap2
#endif

/* The handler's own call has it, and is let through. */
#define LET_THROUGH	MAP_NORESERVE

/* From here on, a call of this thread that maps over others raises SIGSYS. */
static int trap_fixed_maps(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_MAP, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[3])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_FIXED | LET_THROUGH),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_FIXED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 7, .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return -errno;
	return 0;
}

static volatile sig_atomic_t traps;

/* The ring is being dropped: cancels the thread, and makes the call. */
static void cancel_in_call(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	long ret;

	(void)signo;
	(void)info;
	traps++;
	pthread_cancel(pthread_self());
	ret = syscall(SYS_MAP, trapped_arg(uc, 0), trapped_arg(uc, 1),
		      trapped_arg(uc, 2), trapped_arg(uc, 3) | LET_THROUGH,
		      trapped_arg(uc, 4), trapped_arg(uc, 5));
	trapped_return(context, ret);
}

static void *close_canceled(void *arg)
{
	if (trap_fixed_maps())
		return NULL;
	close(*(int *)arg);
	return NULL;
}

/* Otherwise, no set that gets this number would have a ring again. */
TEST_F(preload_ring, canceled_close_leaves_no_ring_held)
{
	struct sigaction action = {
		.sa_sigaction = cancel_in_call,
		.sa_flags = SA_SIGINFO,
	};
	int set;

	NEEDS_THREADS();
	ASSERT_EQ(2, mappings());
	ASSERT_EQ(0, sigaction(SIGSYS, &action, NULL));
	/* The first cancellation loads a library, and so maps, too. */
	ASSERT_TRUE(is_canceled(wait_canceled, &self->set));
	EXPECT_TRUE(is_canceled(close_canceled, &self->set));
	EXPECT_EQ(1, traps);
	EXPECT_EQ(0, mappings());
	/* A thread that is canceled when it calls close() closes nothing. */
	EXPECT_EQ(-ENOMSG, ready(self->set));
	ASSERT_EQ(0, close(self->set));
	set = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_EQ(self->set, set);
	EXPECT_EQ(2, mappings());
	ASSERT_EQ(0, add(set, self->edge, EDGE));
	EXPECT_TRUE(needs_no_call(set, self->edge));
}

TEST_HARNESS_MAIN
