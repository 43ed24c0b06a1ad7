/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signal sets, and taking the signals that come.
 */
#ifndef SELFTESTS_ONESIG_H
#define SELFTESTS_ONESIG_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "core/eset.h"

/* A signal that nothing else uses. */
#define ONESIG_SIGNAL	(SIGRTMIN + 3)

/* Makes a set signal the caller; 0 or -errno. */
static inline int onesig_begin(int set, int signo, uint32_t flags)
{
	struct devepoll_signal args = { .signo = signo, .flags = flags };

	return dep_request(set, DEVEPOLL_SIGNAL, &args);
}

/* Blocks the signal and opens a set that sends it; the fd or -errno. */
static inline int onesig_open(int signo, uint32_t flags)
{
	sigset_t mask;
	int fd, err;

	sigemptyset(&mask);
	sigaddset(&mask, signo);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	fd = dep_open();
	if (fd < 0)
		return fd;
	err = onesig_begin(fd, signo, flags);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* Takes a signal, poisoning @info first; its number, or -errno. */
static inline int onesig_take(int signo, siginfo_t *info, int ms)
{
	struct timespec timeout = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * NSEC_PER_MSEC,
	};
	sigset_t mask;
	int ret;

	memset(info, 0xa5, sizeof(*info));
	sigemptyset(&mask);
	sigaddset(&mask, signo);
	ret = sigtimedwait(&mask, info, &timeout);
	return ret < 0 ? -errno : ret;
}

/* How long a signal that must come may take. */
#define SOON_MS	(10000 * slowness())

/* The band of the next signal if it is of this fd, or -errno. */
static inline long onesig_band(int signo, int fd)
{
	siginfo_t info;
	int ret = onesig_take(signo, &info, SOON_MS);

	if (ret != signo)
		return ret < 0 ? ret : -EPROTO;
	return info.si_fd == fd ? info.si_band : -ENOMSG;
}

static inline int signal_is_waiting(int signo)
{
	sigset_t set;

	return sigpending(&set) ? -errno : sigismember(&set, signo);
}

/* A signal set of the caller with one pipe; the set, or -errno. */
static inline int onesig_with_pipe(int signo, int fds[2], uint32_t flags)
{
	int set = onesig_open(signo, flags);
	int err;

	if (set < 0)
		return set;
	err = pipe_pair(fds);
	if (!err && dep_write_one(set, fds[0], POLLIN) != 8)
		err = -EPROTO;
	return err ? err : set;
}

/*
 * No signal of the fd is pending.  A standard signal may still be: somebody
 * else may have sent it, so it is left there without information.
 */
static inline bool onesig_is_silent(int signo)
{
	siginfo_t info;

	if (signo < SIGRTMIN && signal_is_waiting(signo) == 1 &&
	    (onesig_take(signo, &info, 0) != signo ||
	     info.si_code != SI_USER || info.si_pid))
		return false;
	return signal_is_waiting(signo) == 0;
}

#endif /* SELFTESTS_ONESIG_H */
