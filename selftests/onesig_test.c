// SPDX-License-Identifier: GPL-2.0
/*
 * One signal per fd: what a signal reports, when there is one, and that none is
 * ever lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "onesig.h"

FIXTURE(onesig) {
	int set;
	int event;
	int pipe[2];
	int signo;
};

FIXTURE_VARIANT(onesig) {
	int signo;		/* from SIGRTMIN on, where it is above 100 */
	uint32_t flags;
	bool specific;
};

FIXTURE_VARIANT_ADD(onesig, process) {
	.signo = 103,
};

FIXTURE_VARIANT_ADD(onesig, thread) {
	.signo = 103,
	.flags = DEVEPOLL_SIGNAL_THREAD,
};

/* Of these the kernel itself queues one at most. */
FIXTURE_VARIANT_ADD(onesig, sigio) {
	.signo = SIGIO,
};

FIXTURE_VARIANT_ADD(onesig, sigusr1_thread) {
	.signo = SIGUSR1,
	.flags = DEVEPOLL_SIGNAL_THREAD,
};

/* Its codes have other meanings. */
FIXTURE_VARIANT_ADD(onesig, sigchld) {
	.signo = SIGCHLD,
	.specific = true,
};

FIXTURE_SETUP(onesig)
{
	self->signo = variant->signo > 100 ? variant->signo - 100 + SIGRTMIN :
					     variant->signo;
	self->set = onesig_open(self->signo, variant->flags);
	ASSERT_LE(0, self->set);
	self->event = eventfd_new();
	ASSERT_LE(0, self->event);
	ASSERT_EQ(0, pipe_pair(self->pipe));
	ASSERT_EQ(8, dep_write_one(self->set, self->event, POLLIN));
	ASSERT_EQ(8, dep_write_one(self->set, self->pipe[0], POLLIN));
}

FIXTURE_TEARDOWN(onesig)
{
	close(self->set);
	EXPECT_EQ(0, signal_is_waiting(self->signo));
	close(self->event);
	close(self->pipe[0]);
	close(self->pipe[1]);
}

TEST_F(onesig, tells_fd_band_and_code)
{
	siginfo_t info;

	ASSERT_EQ(0, signal_is_waiting(self->signo));
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	ASSERT_EQ(self->signo, onesig_take(self->signo, &info, SOON_MS));
	EXPECT_EQ(self->signo, info.si_signo);
	EXPECT_EQ(0, info.si_errno);
	EXPECT_EQ(self->pipe[0], info.si_fd);
	EXPECT_EQ(POLLIN, info.si_band);
	EXPECT_EQ(variant->specific ? SI_SIGIO : POLL_IN, info.si_code);
	EXPECT_EQ(0, signal_is_waiting(self->signo));
}

TEST_F(onesig, is_queued_once_for_many_events)
{
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, put_byte(self->pipe[1]));
	ASSERT_EQ(0, eventfd_post(self->event));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, put_byte(self->pipe[1]));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->pipe[0]));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->event));
	EXPECT_EQ(0, signal_is_waiting(self->signo));
}

TEST_F(onesig, comes_again_once_it_was_taken)
{
	int i;

	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, put_byte(self->pipe[1]));
		ASSERT_EQ(POLLIN, onesig_band(self->signo, self->pipe[0]));
		ASSERT_EQ(0, signal_is_waiting(self->signo));
	}
}

TEST_F(onesig, adds_later_bands_to_the_one_that_waits)
{
	siginfo_t info;

	ASSERT_EQ(8, dep_write_one(self->set, self->event, POLLIN | POLLOUT));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(self->signo, onesig_take(self->signo, &info, SOON_MS));
	EXPECT_EQ(self->event, info.si_fd);
	EXPECT_EQ(POLLIN | POLLOUT, info.si_band);
	EXPECT_EQ(0, signal_is_waiting(self->signo));

	/* And the next signal begins with none of them. */
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->event));
}

TEST_F(onesig, tells_what_is_ready_at_the_add)
{
	int event = eventfd_new();

	ASSERT_EQ(0, eventfd_post(event));
	ASSERT_EQ(8, dep_write_one(self->set, event, POLLIN | POLLOUT));
	EXPECT_EQ(POLLIN | POLLOUT, onesig_band(self->signo, event));
	close(event);
}

/* A wake-up that does not say what happened: the file is polled. */
TEST_F(onesig, tells_a_hang_up_unasked)
{
	siginfo_t info;

	close(self->pipe[1]);
	ASSERT_EQ(self->signo, onesig_take(self->signo, &info, SOON_MS));
	EXPECT_EQ(self->pipe[0], info.si_fd);
	EXPECT_EQ(POLLHUP, info.si_band);
	EXPECT_EQ(variant->specific ? SI_SIGIO : POLL_HUP, info.si_code);
}

TEST_F(onesig, goes_when_its_fd_is_removed)
{
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, eventfd_post(self->event));
		ASSERT_TRUE(await(signal_is_waiting(self->signo) == 1));
		ASSERT_EQ(8, dep_write_one(self->set, self->event, POLLREMOVE));
		EXPECT_TRUE(onesig_is_silent(self->signo));
		ASSERT_EQ(0, eventfd_take(self->event));
		ASSERT_EQ(8, dep_write_one(self->set, self->event, POLLIN));
	}
	/* Alone, not with that of another fd. */
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_EQ(8, dep_write_one(self->set, self->event, POLLREMOVE));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->pipe[0]));
	/* The other's signal, already taken, is no reason to keep this one. */
	ASSERT_EQ(0, eventfd_take(self->event));
	ASSERT_EQ(8, dep_write_one(self->set, self->event, POLLIN));
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(signal_is_waiting(self->signo) == 1));
	ASSERT_EQ(8, dep_write_one(self->set, self->event, POLLREMOVE));
	EXPECT_TRUE(onesig_is_silent(self->signo));
}

TEST_F(onesig, goes_when_its_file_is_closed)
{
	ASSERT_EQ(0, eventfd_post(self->event));
	ASSERT_TRUE(await(signal_is_waiting(self->signo) == 1));
	close(self->event);
	EXPECT_TRUE(onesig_is_silent(self->signo));
	/* With another one of the same number. */
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	self->event = eventfd_new();
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->pipe[0]));
	ASSERT_EQ(0, eventfd_post(self->event));
	EXPECT_TRUE(onesig_is_silent(self->signo));
}

TEST_F(onesig, stays_while_a_duplicate_is_open)
{
	int copy = dup(self->event);

	ASSERT_EQ(0, eventfd_post(copy));
	close(self->event);
	EXPECT_TRUE(await(signal_is_waiting(self->signo) == 1));
	ASSERT_EQ(0, eventfd_post(copy));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->event));
	ASSERT_EQ(0, eventfd_post(copy));
	ASSERT_TRUE(await(signal_is_waiting(self->signo) == 1));
	close(copy);
	EXPECT_TRUE(onesig_is_silent(self->signo));
	self->event = -1;
}

TEST_F(onesig, goes_with_the_set)
{
	int fds[100], i;

	for (i = 0; i < 100; i++) {
		fds[i] = eventfd_new();
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(8, dep_write_one(self->set, fds[i], POLLIN));
		ASSERT_EQ(0, eventfd_post(fds[i]));
	}
	EXPECT_TRUE(await(signal_is_waiting(self->signo) == 1));
	close(self->set);
	EXPECT_TRUE(onesig_is_silent(self->signo));
	self->set = -1;
	for (i = 0; i < 100; i++)
		close(fds[i]);
}

TEST_F(onesig, can_be_read_from_a_signalfd)
{
	struct signalfd_siginfo ssi;
	sigset_t mask;
	int sfd;

	sigemptyset(&mask);
	sigaddset(&mask, self->signo);
	sfd = signalfd(-1, &mask, SFD_NONBLOCK);
	ASSERT_LE(0, sfd);
	EXPECT_EQ(0, poll_now(sfd, POLLIN));
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	ASSERT_TRUE(await(poll_now(sfd, POLLIN) == POLLIN));
	memset(&ssi, 0xa5, sizeof(ssi));
	ASSERT_EQ(sizeof(ssi), read(sfd, &ssi, sizeof(ssi)));
	EXPECT_EQ(self->signo, ssi.ssi_signo);
	EXPECT_EQ(self->pipe[0], ssi.ssi_fd);
	EXPECT_EQ(POLLIN, ssi.ssi_band);
	EXPECT_EQ(-1, read(sfd, &ssi, sizeof(ssi)));
	close(sfd);
}

/* Its wake-ups come under the lock that sending a signal takes. */
TEST_F(onesig, survives_a_signalfd_in_the_set)
{
	sigset_t mask;
	int sfd, i;

	sigemptyset(&mask);
	sigaddset(&mask, self->signo);
	sigaddset(&mask, SIGRTMIN + 6);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	sfd = signalfd(-1, &mask, SFD_NONBLOCK);
	ASSERT_EQ(8, dep_write_one(self->set, sfd, POLLIN));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, kill(getpid(), SIGRTMIN + 6));
		ASSERT_EQ(0, put_byte(self->pipe[1]));
		ASSERT_EQ(POLLIN, onesig_band(self->signo, self->pipe[0]));
	}
	close(sfd);
}

TEST_F(onesig, is_not_queued_while_it_is_ignored)
{
	struct devepoll_stats stats;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, self->signo);
	ASSERT_NE(SIG_ERR, signal(self->signo, SIG_IGN));
	ASSERT_EQ(0, sigprocmask(SIG_UNBLOCK, &mask, NULL));
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	EXPECT_EQ(0, signal_is_waiting(self->signo));
	/* Nobody was woken to throw it away, either. */
	ASSERT_EQ(0, dep_request(self->set, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(0, stats.events);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	ASSERT_NE(SIG_ERR, signal(self->signo, SIG_DFL));
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->pipe[0]));
	/* Ignoring the signal discards pending ones. */
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	ASSERT_NE(SIG_ERR, signal(self->signo, SIG_IGN));
	ASSERT_NE(SIG_ERR, signal(self->signo, SIG_DFL));
	EXPECT_EQ(0, signal_is_waiting(self->signo));
	ASSERT_EQ(0, put_byte(self->pipe[1]));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, self->pipe[0]));
}

/* The kernel drops such a signal without waking anyone, and so do we. */
TEST(is_not_queued_while_the_default_ignores_it)
{
	struct devepoll_stats stats;
	siginfo_t info;
	sigset_t mask;
	int set, fds[2];

	set = onesig_with_pipe(SIGURG, fds, 0);
	ASSERT_LE(0, set);
	sigemptyset(&mask);
	sigaddset(&mask, SIGURG);
	ASSERT_EQ(0, sigprocmask(SIG_UNBLOCK, &mask, NULL));
	ASSERT_EQ(0, put_byte(fds[1]));
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &mask, NULL));
	EXPECT_EQ(-EAGAIN, onesig_take(SIGURG, &info, 0));
	/* Signals are taken in the order in which they were sent. */
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(POLLIN, onesig_band(SIGURG, fds[0]));
	ASSERT_EQ(0, dep_request(set, DEVEPOLL_STATS, &stats));
	EXPECT_EQ(1, stats.events);
}

/*
 * Sockets claim bits that they don't have, so they are polled for these, which
 * may report the others once more.
 */
TEST_F(onesig, tells_of_sockets)
{
	long band;
	int fds[2];

	ASSERT_EQ(0, tcp_pair(fds));
	ASSERT_EQ(8, dep_write_one(self->set, fds[0],
				   POLLIN | POLLPRI | POLLRDHUP));
	EXPECT_EQ(0, signal_is_waiting(self->signo));
	ASSERT_EQ(0, put_byte(fds[1]));
	EXPECT_EQ(POLLIN, onesig_band(self->signo, fds[0]));
	ASSERT_EQ(0, take_byte(fds[0]));
	ASSERT_EQ(0, shutdown(fds[1], SHUT_WR));
	do {
		band = onesig_band(self->signo, fds[0]);
		ASSERT_LT(0, band);
		EXPECT_EQ(0, band & ~(POLLIN | POLLRDHUP));
	} while (!(band & POLLRDHUP));
	close(fds[0]);
	close(fds[1]);
}

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

/* How many files were reported; each is counted once. */
static int count_told(int signo, int fds[][2])
{
	static char told[65536];
	siginfo_t info;
	int n = 0;

	memset(told, 0, sizeof(told));
	while (onesig_take(signo, &info, 0) == signo) {
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
	EXPECT_EQ(LOAD_FILES, count_told(ONESIG_SIGNAL, fds));
	EXPECT_EQ(0, signal_is_waiting(SIGIO));
	close(set);
}

TEST(much_is_lost_by_f_setsig_under_the_same_load)
{
	static int fds[LOAD_FILES][2];
	sigset_t mask;
	int i;

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
	EXPECT_GE(LOAD_PENDING, count_told(ONESIG_SIGNAL, fds));
	EXPECT_TRUE(await(signal_is_waiting(SIGIO) == 1));
}

TEST_HARNESS_MAIN
