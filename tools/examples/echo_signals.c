// SPDX-License-Identifier: GPL-2.0
/*
 * An echo server that gets its events as signals.  At most one signal of each
 * connection is pending, so the signal queue never overflows, and the server
 * needs no second way to find events.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/devepoll.h>

#include "pairs.h"

/* Opens an instance that reports its events to this process as the signal. */
static int open_set(int signo)
{
	struct devepoll_signal args = { .signo = signo };
	int set = open("/dev/epoll", O_RDWR | O_CLOEXEC);

	if (set < 0)
		err(1, "/dev/epoll");
	if (ioctl(set, DEVEPOLL_SIGNAL, &args))
		err(1, "DEVEPOLL_SIGNAL");
	return set;
}

static void watch_all(int set)
{
	struct pollfd *entries = calloc(nr_pairs, sizeof(*entries));
	ssize_t size = nr_pairs * sizeof(*entries);
	int i;

	if (!entries)
		err(1, "%d connections", nr_pairs);
	for (i = 0; i < nr_pairs; i++)
		entries[i] = (struct pollfd){
			.fd = pair_fds[i],
			.events = POLLIN,
		};
	if (write(set, entries, size) != size)
		err(1, "not all connections can be watched");
	free(entries);
}

/*
 * Sends back everything that has arrived, because the next signal reports only
 * later arrivals; 0 if the client has closed its end.
 */
static ssize_t echo_all(int fd)
{
	char buffer[4096];
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		if (write(fd, buffer, n) != n)
			err(1, "write");
	}
	if (n < 0 && errno != EAGAIN)
		err(1, "read");
	return n;
}

int main(int argc, char **argv)
{
	siginfo_t info;
	sigset_t mask;
	int set, left;

	pairs_open(argc, argv, 1000);
	/* Block it before the client starts, whose thread must not take it. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &mask, NULL);

	set = open_set(SIGRTMIN);
	watch_all(set);
	pairs_start_client();
	for (left = nr_pairs; left; ) {
		if (sigwaitinfo(&mask, &info) < 0) {
			if (errno == EINTR)
				continue;
			err(1, "sigwaitinfo");
		}
		/* A close removes the fd and its pending signal. */
		if (!echo_all(info.si_fd)) {
			close(info.si_fd);
			left--;
		}
	}
	return pairs_result("echo_signals");
}
