// SPDX-License-Identifier: GPL-2.0
/*
 * Kinds of files between processes: pipes, queues, and the fds of events,
 * timers, signals, processes and io_uring.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/filetype.h"
#include "core/helpers.h"

int make_peer_write(struct probe *probe)
{
	return put_byte(probe->peer);
}

int make_peer_drain(struct probe *probe)
{
	return empty(probe->peer);
}

int make_peer_close(struct probe *probe)
{
	int ret = close(probe->peer) ? -errno : 0;

	probe->peer = -1;
	return ret;
}

static int open_pipe_read(struct probe *probe)
{
	int fds[2], ret = pipe_pair(fds);

	probe->fd = fds[0];
	probe->peer = fds[1];
	return ret;
}

const struct filetype filetype_pipe_read = {
	.open = open_pipe_read,
	.happenings = {
		{ "a byte comes", make_peer_write, READABLE },
		{ "another byte comes", make_peer_write, READABLE },
		{ "the writer closes", make_peer_close, POLLHUP },
	},
};

static int open_pipe_write(struct probe *probe)
{
	int fds[2], ret = pipe_pair(fds);

	probe->fd = fds[1];
	probe->peer = fds[0];
	return ret ?: fill(probe->fd);
}

const struct filetype filetype_pipe_write = {
	.open = open_pipe_write,
	.happenings = {
		{ "there is room", make_peer_drain, WRITABLE },
		{ "the reader closes", make_peer_close, POLLERR },
	},
};

static int open_fifo(struct probe *probe, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/devepoll-fifo-%d", getpid());
	if (mkfifo(path, 0600))
		return -errno;
	probe->fd = open(path, flags | O_NONBLOCK | O_CLOEXEC);
	probe->peer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	unlink(path);
	return probe->fd < 0 || probe->peer < 0 ? -errno : 0;
}

static int open_fifo_read(struct probe *probe)
{
	return open_fifo(probe, O_RDONLY);
}

const struct filetype filetype_fifo_read = {
	.open = open_fifo_read,
	.happenings = {
		{ "a byte comes", make_peer_write, READABLE },
		{ "the writer closes", make_peer_close, POLLHUP },
	},
};

static int open_fifo_both(struct probe *probe)
{
	return open_fifo(probe, O_RDWR);
}

static int make_full(struct probe *probe)
{
	return fill(probe->fd);
}

static int make_empty(struct probe *probe)
{
	return empty(probe->fd);
}

const struct filetype filetype_fifo_both = {
	.open = open_fifo_both,
	.happenings = {
		{ "a byte comes", make_peer_write, READABLE },
		{ "it is full", make_full, READABLE },
		{ "it is empty", make_empty, WRITABLE },
	},
};

static int open_eventfd(struct probe *probe)
{
	probe->fd = eventfd_new();
	return probe->fd < 0 ? probe->fd : 0;
}

static int make_post(struct probe *probe)
{
	return eventfd_post(probe->fd);
}

static int make_saturation(struct probe *probe)
{
	return eventfd_write(probe->fd, -3ULL) ? -errno : 0;
}

static int make_take(struct probe *probe)
{
	return eventfd_take(probe->fd);
}

const struct filetype filetype_eventfd = {
	.open = open_eventfd,
	.happenings = {
		{ "it is posted", make_post, POLLIN },
		{ "it can hold no more", make_saturation, POLLIN },
		{ "it is read", make_take, POLLOUT },
	},
};

static int open_timerfd(struct probe *probe)
{
	probe->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return probe->fd < 0 ? -errno : 0;
}

static int make_expiry(struct probe *probe)
{
	struct itimerspec soon = { .it_value.tv_nsec = 2000000 };

	return timerfd_settime(probe->fd, 0, &soon, NULL) ? -errno : 0;
}

const struct filetype filetype_timerfd = {
	.open = open_timerfd,
	.happenings = {
		{ "it expires", make_expiry, POLLIN },
		{ "it expires again", make_expiry, POLLIN },
	},
};

static int open_signalfd(struct probe *probe)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	probe->fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	return probe->fd < 0 ? -errno : 0;
}

static int make_signal(struct probe *probe)
{
	return kill(getpid(), SIGUSR2) ? -errno : 0;
}

/* No signal of it is left to the next. */
static void close_signalfd(struct probe *probe)
{
	empty(probe->fd);
}

const struct filetype filetype_signalfd = {
	.open = open_signalfd,
	.close = close_signalfd,
	.happenings = {
		{ "a signal comes", make_signal, POLLIN },
	},
};

static int open_pidfd(struct probe *probe)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	probe->children[0] = fork();
	if (!probe->children[0]) {
		close(fds[1]);
		_exit(take_byte(fds[0]) ? 1 : 0);
	}
	close(fds[0]);
	probe->peer = fds[1];
	probe->fd = syscall(SYS_pidfd_open, probe->children[0], 0);
	return probe->fd < 0 ? -errno : 0;
}

static int make_reaped(struct probe *probe)
{
	return reap(probe->children[0]);
}

const struct filetype filetype_pidfd = {
	.open = open_pidfd,
	.happenings = {
		{ "the process ends", make_peer_write, POLLIN },
		{ "the process is waited for", make_reaped, 0 },
	},
};

static int open_mqueue(struct probe *probe)
{
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	char name[64];

	snprintf(name, sizeof(name), "/devepoll-%d", getpid());
	probe->fd = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK |
			    O_CLOEXEC, 0600, &attr);
	if (probe->fd < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	mq_unlink(name);
	return 0;
}

static int make_message(struct probe *probe)
{
	return mq_send(probe->fd, "message", 8, 0) ? -errno : 0;
}

static int make_received(struct probe *probe)
{
	char buffer[8];

	return mq_receive(probe->fd, buffer, 8, NULL) == 8 ? 0 : -errno;
}

const struct filetype filetype_mqueue = {
	.open = open_mqueue,
	.happenings = {
		{ "a message comes", make_message, READABLE },
		{ "it is full", make_message, 0 },
		{ "a message is taken", make_received, WRITABLE },
	},
};

#define RING_SIZE	4096

static int open_io_uring(struct probe *probe)
{
	struct io_uring_params params = {};
	unsigned int *array;
	char *ring;

	probe->fd = syscall(SYS_io_uring_setup, 2, &params);
	if (probe->fd < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		    probe->fd, IORING_OFF_SQ_RING);
	probe->rings[0] = ring;
	probe->rings[1] = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE,
			       MAP_SHARED, probe->fd, IORING_OFF_SQES);
	if (probe->rings[0] == MAP_FAILED || probe->rings[1] == MAP_FAILED)
		return -errno;
	memset(probe->rings[1], 0, sizeof(struct io_uring_sqe));
	((struct io_uring_sqe *)probe->rings[1])->opcode = IORING_OP_NOP;
	array = (unsigned int *)(ring + params.sq_off.array);
	array[0] = 0;
	array[1] = 0;
	atomic_store((atomic_uint *)(ring + params.sq_off.tail), 1);
	return 0;
}

static int make_completion(struct probe *probe)
{
	return syscall(SYS_io_uring_enter, probe->fd, 1, 0, 0, NULL, 0) == 1 ?
	       0 : -errno;
}

static void close_io_uring(struct probe *probe)
{
	int i;

	for (i = 0; i < 2; i++)
		if (probe->rings[i])
			munmap(probe->rings[i], RING_SIZE);
}

const struct filetype filetype_io_uring = {
	.open = open_io_uring,
	.close = close_io_uring,
	.happenings = {
		{ "an operation completes", make_completion, POLLIN },
	},
	.unannounced = POLLRDNORM,
};
