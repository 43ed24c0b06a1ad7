// SPDX-License-Identifier: GPL-2.0
/*
 * An echo server that is told by signals: one of each connection waits at most,
 * so the queue of signals never overflows and no other way of looking for
 * events has to stand by.
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

/* Opens a set whose events come to this process as the signal. */
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
 * Sends back all that has come, since a signal tells of what comes after it was
 * taken; 0 when the client has closed its end.
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
	/* Before the client starts: its thread must not take them. */
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
		/* The set forgets what is closed, and so does the queue. */
		if (!echo_all(info.si_fd)) {
			close(info.si_fd);
			left--;
		}
	}
	return pairs_result("echo_signals");
}
