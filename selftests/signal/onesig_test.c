// SPDX-License-Identifier: GPL-2.0
/*
 * One signal per fd: what a signal reports, and when there is one.
 */
#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "core/onesig.h"

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
	/* With PREEMPT_RT one may come later, and a standard signal stays. */
	if (!is_realtime() || self->signo >= SIGRTMIN)
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

TEST_F(onesig, tells_urgent_data_and_errors_by_code)
{
	siginfo_t info;
	int tcp[2];

	ASSERT_EQ(0, tcp_pair(tcp));
	ASSERT_EQ(8, dep_write_one(self->set, tcp[0], POLLPRI));
	ASSERT_EQ(1, send(tcp[1], "!", 1, MSG_OOB));
	ASSERT_EQ(self->signo, onesig_take(self->signo, &info, SOON_MS));
	EXPECT_EQ(tcp[0], info.si_fd);
	EXPECT_EQ(POLLPRI, info.si_band);
	EXPECT_EQ(variant->specific ? SI_SIGIO : POLL_PRI, info.si_code);
	/* It may have come once more already. */
	ASSERT_EQ(8, dep_write_one(self->set, tcp[0], POLLREMOVE));

	ASSERT_EQ(8, dep_write_one(self->set, self->pipe[1], POLLERR));
	ASSERT_EQ(0, close(self->pipe[0]));
	self->pipe[0] = -1;
	ASSERT_EQ(self->signo, onesig_take(self->signo, &info, SOON_MS));
	EXPECT_EQ(self->pipe[1], info.si_fd);
	EXPECT_EQ(POLLERR, info.si_band);
	EXPECT_EQ(variant->specific ? SI_SIGIO : POLL_ERR, info.si_code);
	close(tcp[0]);
	close(tcp[1]);
}

TEST_F(onesig, is_queued_once_for_many_events)
{
	int i;

	if (is_realtime())
		SKIP(return, "with PREEMPT_RT a thread sends, later");
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

	if (is_realtime())
		SKIP(return, "with PREEMPT_RT a thread sends, later");
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

	if (is_realtime())
		SKIP(return, "with PREEMPT_RT a thread sends, later");
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

	if (is_realtime())
		SKIP(return, "with PREEMPT_RT a thread sends, later");
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

TEST_HARNESS_MAIN
