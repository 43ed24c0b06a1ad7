// SPDX-License-Identifier: GPL-2.0
/* Files of every type, and what happens to them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "fuzz.h"

#define SIGNAL_OF_FD	SIGUSR2
#define NOTIFIED	"/dev/shm"

static int make_set(int fds[2], const char *path, uint16_t x)
{
	static const int modes[] = { O_RDWR, O_RDWR, O_RDONLY, O_WRONLY };

	(void)fds;
	return open(path, modes[x >> 10 & 3] |
		    (x & 1 ? O_CLOEXEC : 0) | (x & 2 ? O_NONBLOCK : 0));
}

static int make_tcp(int fds[2])
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC |
			      SOCK_NONBLOCK, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (!bind(listener, (struct sockaddr *)&addr, len) &&
	    !listen(listener, 1) &&
	    !getsockname(listener, (struct sockaddr *)&addr, &len)) {
		connect(fd, (struct sockaddr *)&addr, len);
		fds[1] = accept4(listener, NULL, NULL,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);
	}
	close(listener);
	return fd;
}

static int make_listener(void)
{
	struct sockaddr_un any = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	/* No name: the kernel finds one that is free. */
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&any,
			     sizeof(any.sun_family)))
		listen(fd, 2);
	return fd;
}

static int make_pty(int fds[2])
{
	int unlock = 0, fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK |
				  O_CLOEXEC);

	if (fd >= 0 && !ioctl(fd, TIOCSPTLCK, &unlock))
		fds[1] = ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_NONBLOCK |
			       O_CLOEXEC);
	return fd;
}

static int make_pair(int fds[2], int type)
{
	int bytes = 4096, err;

	err = type ? socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
				fds) : pipe2(fds, O_NONBLOCK | O_CLOEXEC);
	if (!err && type)
		setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &bytes,
			   sizeof(bytes));
	if (!err && !type)
		fcntl(fds[1], F_SETPIPE_SZ, bytes);
	return err ? -1 : fds[0];
}

static int make_signalfd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL_OF_FD);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int make_inotify(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd >= 0)
		inotify_add_watch(fd, NOTIFIED, IN_ALL_EVENTS);
	return fd;
}

static int make_fanotify(void)
{
	int fd = fanotify_init(FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY);

	if (fd >= 0)
		fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, NOTIFIED);
	return fd;
}

static int make_queue(void)
{
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = 16 };
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/fuzz.%d", gettid());
	fd = mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attr);
	mq_unlink(name);
	return fd;
}

static int make_pressure(void)
{
	static const char trigger[] = "some 150000 1000000";
	int fd = open("/proc/pressure/cpu", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && write(fd, trigger, sizeof(trigger)) < 0)
		return fd;
	return fd;
}

/* What is there already, and polled in its own way, or not at all. */
static int make_path(unsigned int which)
{
	static const char *const paths[] = {
		"/proc/self/mounts", "/proc/sys/kernel/hostname", "/dev/null",
		"/dev/random", "/dev/kmsg", "/proc/self/exe", "/", "/dev/shm",
		"/sys/kernel/tracing/trace_pipe", "/proc/kmsg", "/dev/tty",
		"/dev/net/tun",
	};
	unsigned int i = which % (sizeof(paths) / sizeof(paths[0]));

	return open(paths[i], (i == 6 ? O_PATH : O_RDONLY) | O_NONBLOCK |
		    O_NOCTTY | O_CLOEXEC);
}

static int make_file(int fds[2], const struct op *op)
{
	switch (op->y % 24) {
	case 0:
	case 1:
	case 2:
		return make_set(fds, "/dev/epoll", op->x);
	case 3:
		return make_set(fds, "/dev/poll", op->x);
	case 4:
		return epoll_create1(EPOLL_CLOEXEC);
	case 5:
		return eventfd(op->z & 3, EFD_NONBLOCK | EFD_CLOEXEC);
	case 6:
		return eventfd(1, EFD_NONBLOCK | EFD_SEMAPHORE);
	case 7:
		return make_pair(fds, 0);
	case 8:
		return make_pair(fds, SOCK_STREAM);
	case 9:
		return make_pair(fds, SOCK_DGRAM);
	case 10:
		return make_pair(fds, SOCK_SEQPACKET);
	case 11:
		return make_listener();
	case 12:
		return make_tcp(fds);
	case 13:
		return socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	case 14:
		return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	case 15:
		return make_signalfd();
	case 16:
		return make_inotify();
	case 17:
		return make_pty(fds);
	case 18:
		return syscall(SYS_pidfd_open, op->z & 1 ? getppid() : getpid(),
			       0);
	case 19:
		return make_pressure();
	case 20:
		return make_fanotify();
	case 21:
		return make_queue();
	case 22:
		if (op->z & 1)
			return syscall(SYS_userfaultfd, O_NONBLOCK | 1);
		return socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK,
			      NETLINK_KOBJECT_UEVENT);
	default:
		return make_path(op->z);
	}
}

long do_open(struct actor *a, const struct op *op)
{
	int fds[2] = { -1, -1 };
	int fd = make_file(fds, op);
	bool set = op->y % 24 < 5;

	(void)a;
	if (fds[1] >= 0)
		slot_put(fds[1], op->fd + 1);
	return slot_put(fd, set ? op->set : op->fd);
}

long do_close(struct actor *a, const struct op *op)
{
	int fd = slot_fd(op->y & 1 ? op->set : op->fd);

	(void)a;
	/* Not what belongs to the fuzzer. */
	if (fd < SLOT_FIRST)
		return -EBADF;
	return op->y & 8 ? close_range(fd, fd + op->z, 0) : close(fd);
}

long do_dup(struct actor *a, const struct op *op)
{
	(void)a;
	return slot_put(dup(slot_fd(op->y & 1 ? op->set : op->fd)), op->z);
}

static void notify(void)
{
	int fd = open(NOTIFIED "/fuzz", O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	close(fd);
	unlink(NOTIFIED "/fuzz");
}

long do_poke(struct actor *a, const struct op *op)
{
	struct itimerspec soon = {
		.it_value.tv_nsec = 1 + op->x % 1024 * 1000L,
		.it_interval.tv_nsec = op->z & 1 ? 100000 : 0,
	};
	struct sockaddr any = { .sa_family = AF_UNSPEC };
	static const char text[4096];
	int fd = slot_fd(op->fd), tries = 64;
	uint64_t one = 1;

	(void)a;
	switch (op->y % 10) {
	case 0:
		return write(fd, &one, sizeof(one));
	case 1:
		return write(fd, text, op->x % sizeof(text));
	case 2:
		return send(fd, text, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL);
	case 3:
		return timerfd_settime(fd, 0, &soon, NULL);
	case 4:
		return shutdown(fd, op->x % 3);
	case 5:
		return kill(getpid(), SIGNAL_OF_FD);
	case 6:
		notify();
		return 0;
	case 7:
		return connect(fd, &any, sizeof(any));
	case 8:
		return slot_put(accept4(fd, NULL, NULL, SOCK_NONBLOCK), op->z);
	default:
		/* An eventfd takes any number of zeros. */
		while (tries-- && write(fd, text, sizeof(text)) > 0)
			;
		return 0;
	}
}

long do_read(struct actor *a, const struct op *op)
{
	char text[4096];
	int fd = slot_fd(op->fd), tries = 64;
	ssize_t n;

	(void)a;
	n = read(fd, text, op->x % sizeof(text));
	while (op->y & 1 && tries-- && read(fd, text, sizeof(text)) > 0)
		;
	return n;
}
