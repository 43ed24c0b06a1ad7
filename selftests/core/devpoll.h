/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of /dev/poll, in either face: their results, or -errno. */
#ifndef SELFTESTS_DEVPOLL_H
#define SELFTESTS_DEVPOLL_H

#include <errno.h>
#include <fcntl.h>
#include <linux/devpoll.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DP_NODE "/dev/poll"

enum dp_face { DP_LINUX, DP_SOLARIS };

/* The argument as programs written for Solaris declare it. */
struct sun_dvpoll {
	struct pollfd *dp_fds;
	nfds_t dp_nfds;
	int dp_timeout;
	sigset_t *dp_setp;
};

static inline int dp_open(void)
{
	int fd = open(DP_NODE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static inline int dp_ioctl(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

static inline long dp_write(int fd, const void *entries, size_t size)
{
	ssize_t ret = write(fd, entries, size);

	return ret < 0 ? -errno : ret;
}

static inline long dp_set(int fd, int watched, short events)
{
	struct pollfd entry = { .fd = watched, .events = events };

	return dp_write(fd, &entry, sizeof(entry));
}

static inline int dp_wait(enum dp_face face, int fd, struct pollfd *out,
			  long room, int ms)
{
	struct dvpoll dvp = {
		.dp_fds = out, .dp_nfds = room, .dp_timeout = ms,
	};
	struct sun_dvpoll sun = {
		.dp_fds = out, .dp_nfds = room, .dp_timeout = ms,
		/* DP_POLL does not look at it. */
		.dp_setp = (sigset_t *)(uintptr_t)1,
	};

	if (face == DP_LINUX)
		return dp_ioctl(fd, DP_POLL, &dvp);
	return dp_ioctl(fd, DP_SOLARIS_POLL, &sun);
}

static inline int dp_ispolled(enum dp_face face, int fd, struct pollfd *entry)
{
	return dp_ioctl(fd, face == DP_LINUX ? DP_ISPOLLED :
			DP_SOLARIS_ISPOLLED, entry);
}

/* One event at most: its revents, 0 for none, or -errno. */
static inline int dp_wait_one(enum dp_face face, int fd, int watched, int ms)
{
	struct pollfd out[2] = { { -1, -1, -1 }, { -1, -1, -1 } };
	int n = dp_wait(face, fd, out, 2, ms);

	if (n <= 0)
		return n;
	return n == 1 && out[0].fd == watched ?
	       (unsigned short)out[0].revents : -EBADMSG;
}

#endif /* SELFTESTS_DEVPOLL_H */
