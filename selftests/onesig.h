/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signal sets, and taking the signals that come.
 */
#ifndef SELFTESTS_ONESIG_H
#define SELFTESTS_ONESIG_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "eset.h"

/* One that nothing else uses. */
#define ONESIG_SIGNAL	(SIGRTMIN + 3)

/* Makes a set one that tells the caller by a signal; 0 or -errno. */
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

/* The band of the next one if it is of this fd, or -errno. */
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

#endif /* SELFTESTS_ONESIG_H */
