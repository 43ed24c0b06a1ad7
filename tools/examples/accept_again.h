/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a server does when accept(2) fails: it has a spare descriptor, to be
 * given up for a moment when descriptors run out.
 */
#ifndef EXAMPLES_ACCEPT_AGAIN_H
#define EXAMPLES_ACCEPT_AGAIN_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static inline int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Accepts a connection and drops it, because its edge is not reported again. */
static inline bool shed(int listen_fd, int *spare, unsigned long *refused)
{
	int fd;

	close(*spare);
	fd = accept(listen_fd, NULL, NULL);
	if (fd >= 0) {
		++*refused;
		close(fd);
	}
	*spare = open_spare();
	return fd >= 0;
}

/* After a failed accept: does it make sense to try again at once? */
static inline bool accept_again(int listen_fd, int *spare,
				unsigned long *refused)
{
	switch (errno) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return shed(listen_fd, spare, refused);
	case EAGAIN:
	case EBADF:
	case EINVAL:
	case ENOTSOCK:
		return false;
	default:
		/* That connection failed before it was accepted. */
		return true;
	}
}

#endif /* EXAMPLES_ACCEPT_AGAIN_H */
