// SPDX-License-Identifier: GPL-2.0
/*
 * One signal per fd: threads that take it in any way, and queues that are too
 * short.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/onesig.h"

static volatile sig_atomic_t handled_fd, handled_band;

static void handle(int signo, siginfo_t *info, void *context)
{
	handled_fd = info->si_fd;
	handled_band = info->si_band;
}

static long call_sigsuspend(void *arg)
{
	sigset_t mask;

	sigfillset(&mask);
	sigdelset(&mask, ONESIG_SIGNAL);
	return sigsuspend(&mask) ? -errno : 0;
}

TEST(a_thread_that_handles_it_is_woken)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	int set, fds[2], i;
	struct task task;

	NEEDS_THREADS();
	action.sa_sigaction = handle;
	ASSERT_EQ(0, sigaction(ONESIG_SIGNAL, &action, NULL));
	set = onesig_open(ONESIG_SIGNAL, 0);
	ASSERT_LE(0, set);
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(8, dep_write_one(set, fds[0], POLLIN));
	for (i = 0; i < 10; i++) {
		handled_fd = -1;
		ASSERT_EQ(0, task_start(&task, call_sigsuspend, NULL));
		ASSERT_EQ(0, await_sleep(task.tid, SYS_rt_sigsuspend));
		ASSERT_EQ(0, put_byte(fds[1]));
		EXPECT_EQ(-EINTR, task_join(&task));
		EXPECT_EQ(fds[0], handled_fd);
		EXPECT_EQ(POLLIN, handled_band);
	}
}

static long call_take(void *arg)
{
	siginfo_t info;
	int ret = onesig_take(ONESIG_SIGNAL, &info, SOON_MS);

	return ret < 0 ? ret : info.si_fd;
}

TEST(a_thread_that_waits_for_it_is_woken)
{
	int set, fds[2], i;
	struct task task;

	NEEDS_THREADS();
	set = onesig_open(ONESIG_SIGNAL, 0);
	ASSERT_LE(0, set);
	ASSERT_EQ(0, pipe_pair(fds));
	ASSERT_EQ(8, dep_write_one(set, fds[0], POLLIN));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, task_start(&task, call_take, NULL));
		ASSERT_EQ(0, await_sleep(task.tid, SYS_rt_sigtimedwait));
		ASSERT_EQ(0, put_byte(fds[1]));
		EXPECT_EQ(fds[0], task_join(&task));
	}
}

static long call_read(void *arg)
{
	struct signalfd_siginfo ssi;
	int sfd = *(int *)arg;

	return read(sfd, &ssi, sizeof(ssi)) == sizeof(ssi) ? ssi.ssi_fd :
							     -errno;
}

TEST(a_thread_that_reads_it_from_a_signalfd_is_woken)
{
	int set, sfd, fds[2], i;
	struct task task;
	sigset_t mask;

	NEEDS_THREADS();
	set = onesig_with_pipe(ONESIG_SIGNAL, fds, 0);
	ASSERT_LE(0, set);
	sigemptyset(&mask);
	sigaddset(&mask, ONESIG_SIGNAL);
	sfd = signalfd(-1, &mask, SFD_CLOEXEC);
	ASSERT_LE(0, sfd);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, task_start(&task, call_read, &sfd));
		ASSERT_EQ(0, await_sleep(task.tid, SYS_read));
		ASSERT_EQ(0, put_byte(fds[1]));
		ASSERT_EQ(fds[0], task_join(&task));
	}
	close(sfd);
}

/* More than are sent in one go, by an interrupt and by a worker. */
#define NUMBERS		500

TEST(one_event_is_told_of_all_numbers_of_its_file)
{
	int set, event = eventfd_new(), i, n = 0;
	siginfo_t info;

	ASSERT_EQ(0, raise_fd_limit(NUMBERS + 100));
	set = onesig_open(ONESIG_SIGNAL, 0);
	ASSERT_LE(0, set);
	for (i = 0; i < NUMBERS; i++)
		ASSERT_EQ(8, dep_write_one(set, dup(event), POLLIN));
	ASSERT_EQ(0, eventfd_post(event));
	while (n < NUMBERS &&
	       onesig_take(ONESIG_SIGNAL, &info, SOON_MS) == ONESIG_SIGNAL)
		n++;
	EXPECT_EQ(NUMBERS, n);
	close(set);
}

/*
 * More files than the queue of signals may hold: nothing is lost.  F_SETSIG,
 * under the same load, loses most.
 */
#define LOAD_FILES	1000
#define LOAD_PENDING	32

static int load_pipes(int fds[][2])
{
	int i, err;

	err = raise_fd_limit(2 * LOAD_FILES + 100);
	for (i = 0; !err && i < LOAD_FILES; i++)
		err = pipe_pair(fds[i]);
	return err;
}

static int limit_pending(void)
{
	struct rlimit limit = { LOAD_PENDING, LOAD_PENDING };

	return setrlimit(RLIMIT_SIGPENDING, &limit) ? -errno : 0;
}

/*
 * True if all signals are sent, or the last one is being sent.  A worker sends
 * some once a processor has used up its time for waking, as it also does while
 * the host has taken it away from the guest.
 */
static bool all_is_sent(int set)
{
	struct devepoll_stats stats;

	return !dep_request(set, DEVEPOLL_STATS, &stats) && !stats.ready;
}

/* How many files are reported, each by one signal; @sure of them must be. */
static int count_told(int signo, int sure)
{
	static char told[65536];
	siginfo_t info;
	int n = 0;

	memset(told, 0, sizeof(told));
	while (onesig_take(signo, &info, n < sure ? SOON_MS : 0) == signo) {
		if (info.si_fd < 0 || (size_t)info.si_fd >= sizeof(told) ||
		    told[info.si_fd]++ || !(info.si_band & POLLIN))
			return -EPROTO;
		n++;
	}
	return n;
}

TEST(nothing_is_lost_when_the_queue_is_too_short)
{
	static int fds[LOAD_FILES][2];
	int set, i;

	ASSERT_EQ(0, load_pipes(fds));
	set = onesig_open(ONESIG_SIGNAL, 0);
	ASSERT_LE(0, set);
	for (i = 0; i < LOAD_FILES; i++)
		ASSERT_EQ(8, dep_write_one(set, fds[i][0], POLLIN));
	ASSERT_EQ(0, limit_pending());
	for (i = 0; i < 3 * LOAD_FILES; i++)
		ASSERT_EQ(0, put_byte(fds[i % LOAD_FILES][1]));
	ASSERT_TRUE(await(all_is_sent(set)));
	EXPECT_EQ(LOAD_FILES, count_told(ONESIG_SIGNAL, LOAD_FILES));
	EXPECT_EQ(0, signal_is_waiting(SIGIO));
	close(set);
}

TEST(much_is_lost_by_f_setsig_under_the_same_load)
{
	static int fds[LOAD_FILES][2];
	sigset_t mask;
	int i, told;

	ASSERT_EQ(0, load_pipes(fds));
	sigemptyset(&mask);
	sigaddset(&mask, ONESIG_SIGNAL);
	sigaddset(&mask, SIGIO);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	for (i = 0; i < LOAD_FILES; i++) {
		ASSERT_EQ(0, fcntl(fds[i][0], F_SETOWN, getpid()));
		ASSERT_EQ(0, fcntl(fds[i][0], F_SETSIG, ONESIG_SIGNAL));
		ASSERT_EQ(0, fcntl(fds[i][0], F_SETFL, O_ASYNC | O_NONBLOCK));
	}
	ASSERT_EQ(0, limit_pending());
	for (i = 0; i < LOAD_FILES; i++)
		ASSERT_EQ(0, put_byte(fds[i][1]));
	told = count_told(ONESIG_SIGNAL, 0);
	EXPECT_LE(0, told);
	EXPECT_GE(LOAD_PENDING, told);
	EXPECT_TRUE(await(signal_is_waiting(SIGIO) == 1));
}

TEST_HARNESS_MAIN
