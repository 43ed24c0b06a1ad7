// SPDX-License-Identifier: GPL-2.0
/* Creation of each kind of file. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "file.h"
#include "settle.h"

/* Small, so that filling takes few steps. */
#define PIPE_BYTES	4096
#define UNIX_BYTES	4096
#define TCP_BYTES	65536
#define TCP_SEGMENT	1024
#define LISTENER_BACKLOG 2

static int make_pipe(int fds[2])
{
	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC))
		return -1;
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

/* A pipe that one file both reads and writes. */
static int make_fifo(int fds[2])
{
	char path[] = "/tmp/epdiff.XXXXXX";
	char name[64];

	fds[1] = -1;
	if (!mkdtemp(path))
		return -1;
	strcpy(name, path);
	strcat(name, "/fifo");
	fds[0] = -1;
	if (!mkfifo(name, 0600)) {
		fds[0] = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		unlink(name);
	}
	rmdir(path);
	if (fds[0] < 0)
		return -1;
	fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

static int make_unix(int fds[2], int type)
{
	int bytes = UNIX_BYTES;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds))
		return -1;
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	return 0;
}

static int tcp_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int bytes = TCP_BYTES, segment = TCP_SEGMENT, one = 1;

	/* Sizes that are given stay as they are, whatever the kernel learns. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	bytes *= 2;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static int make_tcp(int fds[2])
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int listener = tcp_socket();

	fds[0] = tcp_socket();
	fds[1] = -1;
	if (listener >= 0 && fds[0] >= 0 &&
	    !bind(listener, (struct sockaddr *)&addr, len) &&
	    !listen(listener, 1) &&
	    !getsockname(listener, (struct sockaddr *)&addr, &len) &&
	    !connect(fds[0], (struct sockaddr *)&addr, len))
		fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	if (fds[1] < 0) {
		close(fds[0]);
		return -1;
	}
	settle_tcp(fds[0], fds[1]);
	return 0;
}

static int make_pty(int fds[2], int packet)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK |
			  O_CLOEXEC);
	struct termios raw;
	int unlock = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock))
		return -1;
	fds[0] = master;
	fds[1] = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_NONBLOCK |
		       O_CLOEXEC);
	if (fds[1] < 0 || tcgetattr(fds[1], &raw))
		return -1;
	cfmakeraw(&raw);
	tcsetattr(fds[1], TCSANOW, &raw);
	ioctl(master, TIOCPKT, &packet);
	settle_pty_made(fds[0], fds[1]);
	return 0;
}

static int make_listener(int fds[2])
{
	struct sockaddr_un any = { .sun_family = AF_UNIX };

	fds[1] = -1;
	fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fds[0] < 0)
		return -1;
	/* No name: the kernel finds one that is free. */
	if (bind(fds[0], (struct sockaddr *)&any, sizeof(any.sun_family)))
		return -1;
	return listen(fds[0], LISTENER_BACKLOG);
}

static int make_single(int fds[2], int fd)
{
	fds[0] = fd;
	fds[1] = -1;
	return fd < 0 ? -1 : 0;
}

static int make_sysctl(int fds[2])
{
	int i;

	for (i = 0; i < 2; i++)
		fds[i] = open("/proc/sys/kernel/hostname",
			      O_RDONLY | O_CLOEXEC);
	return fds[0] < 0 || fds[1] < 0 ? -1 : 0;
}

int file_make(unsigned int kind, int fds[2])
{
	switch (kind) {
	case FILE_PIPE:
		return make_pipe(fds);
	case FILE_FIFO:
		return make_fifo(fds);
	case FILE_STREAM:
		return make_unix(fds, SOCK_STREAM);
	case FILE_DGRAM:
		return make_unix(fds, SOCK_DGRAM);
	case FILE_SEQPACKET:
		return make_unix(fds, SOCK_SEQPACKET);
	case FILE_TCP:
		return make_tcp(fds);
	case FILE_EVENTFD:
		return make_single(fds, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	case FILE_SEMAPHORE:
		return make_single(fds, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC |
						EFD_SEMAPHORE));
	case FILE_TIMERFD:
		return make_single(fds, timerfd_create(CLOCK_MONOTONIC,
						       TFD_NONBLOCK |
						       TFD_CLOEXEC));
	case FILE_PTY:
		return make_pty(fds, 0);
	case FILE_PTYPACKET:
		return make_pty(fds, 1);
	case FILE_LISTENER:
		return make_listener(fds);
	case FILE_SYSCTL:
		return make_sysctl(fds);
	case FILE_REGULAR:
		return make_single(fds, open("/proc/self/exe",
					     O_RDONLY | O_CLOEXEC));
	case FILE_PATH:
		return make_single(fds, open("/", O_PATH | O_CLOEXEC));
	default:
		return make_single(fds, epoll_create1(EPOLL_CLOEXEC));
	}
}

static const struct {
	const char *name;
	bool pair;
} kinds[FILE_KINDS] = {
	[FILE_PIPE] = { "pipe", true },
	[FILE_FIFO] = { "fifo", false },
	[FILE_STREAM] = { "stream", true },
	[FILE_DGRAM] = { "dgram", true },
	[FILE_SEQPACKET] = { "seqpacket", true },
	[FILE_TCP] = { "tcp", true },
	[FILE_EVENTFD] = { "eventfd", false },
	[FILE_SEMAPHORE] = { "semaphore", false },
	[FILE_TIMERFD] = { "timerfd", false },
	[FILE_PTY] = { "pty", true },
	[FILE_PTYPACKET] = { "ptypacket", true },
	[FILE_LISTENER] = { "listener", false },
	[FILE_SYSCTL] = { "sysctl", false },
	[FILE_REGULAR] = { "regular", false },
	[FILE_PATH] = { "path", false },
	[FILE_EPOLL] = { "epoll", false },
};

const char *file_kind_name(unsigned int kind)
{
	return kind < FILE_KINDS ? kinds[kind].name : "?";
}

int file_kind_find(const char *name)
{
	int i;

	for (i = 0; i < FILE_KINDS; i++) {
		if (!strcmp(kinds[i].name, name))
			return i;
	}
	return -1;
}

bool file_kind_is_pair(unsigned int kind)
{
	return kinds[kind].pair;
}
