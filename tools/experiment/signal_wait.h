/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wait for one queued signal that says which fd is ready for what.
 */
#ifndef EXPERIMENT_SIGNAL_WAIT_H
#define EXPERIMENT_SIGNAL_WAIT_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

/* Returns the signal, 0 after @timeout milliseconds, or a negative errno. */
static inline int signal_wait(const sigset_t *signals, struct pollfd *event,
			      int timeout)
{
	struct timespec ts = {
		.tv_sec = timeout / 1000,
		.tv_nsec = timeout % 1000 * 1000000L,
	};
	siginfo_t info;
	int sig;

	sig = timeout < 0 ? sigwaitinfo(signals, &info) :
			    sigtimedwait(signals, &info, &ts);
	if (sig < 0)
		return errno == EAGAIN ? 0 : -errno;
	event->fd = info.si_fd;
	event->revents = info.si_band;
	return sig;
}

#endif /* EXPERIMENT_SIGNAL_WAIT_H */
