// SPDX-License-Identifier: GPL-2.0
/* The files of the stress program: making, filling and emptying them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

#include "torture/stress.h"

static const char * const kind_names[FILE_KINDS] = {
	[FILE_EVENTFD]		= "eventfd",
	[FILE_PIPE]		= "pipe",
	[FILE_FIFO]		= "fifo",
	[FILE_UNIX_STREAM]	= "unix stream",
	[FILE_UNIX_DGRAM]	= "unix datagram",
	[FILE_TCP]		= "tcp",
	[FILE_UDP]		= "udp",
	[FILE_PTY]		= "pty",
	[FILE_TIMERFD]		= "timerfd",
	[FILE_SIGNALFD]		= "signalfd",
	[FILE_INOTIFY]		= "inotify",
	[FILE_EPOLL]		= "epoll",
	[FILE_DEVEPOLL]		= "devepoll",
	[FILE_NULL]		= "null",
};

const char *file_kind_name(enum file_kind kind)
{
	return kind_names[kind];
}

static int make_single(int fd, int fds[2])
{
	if (fd < 0)
		return -errno;
	fds[0] = fd;
	fds[1] = fd;
	return 0;
}

static int make_fifo(int fds[2])
{
	static atomic_uint serial;
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/tmp/stress-fifo-%d-%u", getpid(),
		 atomic_fetch_add(&serial, 1));
	if (mkfifo(path, 0600))
		return -errno;
	ret = make_single(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC), fds);
	unlink(path);
	return ret;
}

static int make_signalfd(int fds[2])
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, STRESS_SIGNAL);
	return make_single(signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC),
			   fds);
}

static int make_inotify(int fds[2])
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd >= 0)
		inotify_add_watch(fd, "/tmp", IN_CREATE | IN_DELETE);
	return make_single(fd, fds);
}

static int make_pty(int fds[2])
{
	int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	struct termios raw;
	char name[64];
	int err;

	fds[1] = posix_openpt(flags);
	if (fds[1] < 0)
		return -errno;
	if (unlockpt(fds[1]) || ptsname_r(fds[1], name, sizeof(name)))
		goto err_master;
	fds[0] = open(name, flags);
	if (fds[0] < 0)
		goto err_master;
	if (!tcgetattr(fds[0], &raw)) {
		cfmakeraw(&raw);
		tcsetattr(fds[0], TCSANOW, &raw);
	}
	return 0;

err_master:
	err = -errno;
	close(fds[1]);
	return err;
}

static bool becomes_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 1000) == 1;
}

/* A bound socket and one that is connected to it. */
static int make_bound(int type, int fds[2])
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int err;

	fds[0] = socket(AF_INET, type, 0);
	if (fds[0] < 0)
		return -errno;
	fds[1] = socket(AF_INET, type, 0);
	if (fds[1] < 0)
		goto err_first;
	if (bind(fds[0], (struct sockaddr *)&addr, len) ||
	    getsockname(fds[0], (struct sockaddr *)&addr, &len))
		goto err_second;
	if (type & SOCK_STREAM && listen(fds[0], 1))
		goto err_second;
	if (connect(fds[1], (struct sockaddr *)&addr, len) &&
	    errno != EINPROGRESS)
		goto err_second;
	return 0;

err_second:
	err = -errno;
	close(fds[1]);
	errno = -err;
err_first:
	err = -errno;
	close(fds[0]);
	return err;
}

/* A connection over the loopback device. */
static int make_tcp(int flags, int fds[2])
{
	int err = make_bound(SOCK_STREAM | flags, fds);
	int listener = fds[0];

	if (err)
		return err;
	fds[0] = -1;
	if (becomes_ready(listener, POLLIN))
		fds[0] = accept4(listener, NULL, NULL, flags);
	close(listener);
	if (fds[0] >= 0)
		return 0;
	close(fds[1]);
	return -ECONNREFUSED;
}

int file_make(enum file_kind kind, int fds[2])
{
	int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;

	switch (kind) {
	case FILE_EVENTFD:
		return make_single(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), fds);
	case FILE_PIPE:
		return pipe2(fds, O_NONBLOCK | O_CLOEXEC) ? -errno : 0;
	case FILE_FIFO:
		return make_fifo(fds);
	case FILE_UNIX_STREAM:
		return socketpair(AF_UNIX, SOCK_STREAM | flags, 0, fds) ?
		       -errno : 0;
	case FILE_UNIX_DGRAM:
		return socketpair(AF_UNIX, SOCK_DGRAM | flags, 0, fds) ?
		       -errno : 0;
	case FILE_TCP:
		return make_tcp(flags, fds);
	case FILE_UDP:
		return make_bound(SOCK_DGRAM | flags, fds);
	case FILE_PTY:
		return make_pty(fds);
	case FILE_TIMERFD:
		return make_single(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC |
						  TFD_NONBLOCK), fds);
	case FILE_SIGNALFD:
		return make_signalfd(fds);
	case FILE_INOTIFY:
		return make_inotify(fds);
	case FILE_EPOLL:
		return make_single(epoll_create1(EPOLL_CLOEXEC), fds);
	case FILE_DEVEPOLL:
		return make_single(open("/dev/epoll", O_RDWR | O_CLOEXEC), fds);
	case FILE_NULL:
		return make_single(open("/dev/null", O_RDWR | O_CLOEXEC), fds);
	default:
		return -EINVAL;
	}
}

bool file_post(enum file_kind kind, int fd)
{
	struct itimerspec soon = { .it_value.tv_nsec = 1 };
	uint64_t one = 1;

	switch (kind) {
	case FILE_EVENTFD:
		return write(fd, &one, sizeof(one)) == sizeof(one);
	case FILE_TIMERFD:
		return !timerfd_settime(fd, 0, &soon, NULL);
	case FILE_SIGNALFD:
		return !kill(getpid(), STRESS_SIGNAL);
	default:
		return write(fd, "x", 1) == 1;
	}
}

unsigned int file_drain(enum file_kind kind, int fd)
{
	struct signalfd_siginfo info;
	unsigned int posts = 0;
	uint64_t value;
	char buf[64];
	ssize_t n;

	switch (kind) {
	case FILE_EVENTFD:
		n = read(fd, &value, sizeof(value));
		return n == sizeof(value) ? value : 0;
	case FILE_TIMERFD:
		return read(fd, &value, sizeof(value)) == sizeof(value);
	case FILE_SIGNALFD:
		while (read(fd, &info, sizeof(info)) == sizeof(info))
			posts++;
		return posts;
	default:
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			posts += n;
		return posts;
	}
}
