// SPDX-License-Identifier: GPL-2.0
/* Operations on files of all kinds; file_make.c has the kinds. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "file.h"
#include "settle.h"

#define BYTES_MOST	256
/* No fill takes more steps than this. */
#define STEPS_MOST	4096

static const char bytes[4096];

static bool is_tcp(const struct file *f)
{
	return f->kind == FILE_TCP;
}

/* Counts what a TCP end sends, so that it always fits in the peer's window. */
static bool may_send(struct file *f)
{
	if (!is_tcp(f))
		return true;
	if (f->full || f->queued >= FILE_QUEUED_MOST)
		return false;
	f->queued++;
	return true;
}

static void settle(const struct file *f, int fd, int peer_fd)
{
	if (is_tcp(f))
		settle_tcp(fd, peer_fd);
}

static void timer_set(int fd, bool past)
{
	struct itimerspec when = { .it_value = { .tv_nsec = 1 } };

	if (!past)
		when.it_value.tv_sec = 1L << 32;
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
	if (past)
		settle_timer(fd);
}

static void listener_connect(struct file *f, int fd)
{
	struct sockaddr_un name;
	socklen_t len = sizeof(name);
	int client;

	if (f->nclients == FILE_CLIENTS ||
	    getsockname(fd, (struct sockaddr *)&name, &len))
		return;
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (client < 0)
		return;
	if (connect(client, (struct sockaddr *)&name, len))
		close(client);
	else
		f->clients[f->nclients++] = client;
}

static bool listener_accept(struct file *f, int fd)
{
	int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (conn < 0)
		return false;
	close(conn);
	close(f->clients[0]);
	f->nclients--;
	memmove(f->clients, f->clients + 1,
		f->nclients * sizeof(f->clients[0]));
	return true;
}

static void pty_write(int fd, int peer_fd, unsigned int n)
{
	int waiting = 0;

	/* Far from where a pty holds its writer back. */
	if (peer_fd < 0 || ioctl(peer_fd, FIONREAD, &waiting) ||
	    waiting > 2 * BYTES_MOST)
		return;
	settle_pty_before();
	if (write(fd, bytes, n) > 0)
		settle_pty_after(peer_fd);
}

void file_write(struct file *f, int fd, int peer_fd, unsigned int n)
{
	uint64_t one = 1;

	if (!may_send(f))
		return;
	n = n % BYTES_MOST + 1;
	switch (f->kind) {
	case FILE_PIPE:
	case FILE_FIFO:
		if (write(fd, bytes, n) < 0)
			return;
		break;
	case FILE_STREAM:
	case FILE_DGRAM:
	case FILE_SEQPACKET:
	case FILE_TCP:
		send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case FILE_EVENTFD:
	case FILE_SEMAPHORE:
		if (write(fd, &one, sizeof(one)) < 0)
			return;
		break;
	case FILE_TIMERFD:
		timer_set(fd, true);
		break;
	case FILE_PTY:
	case FILE_PTYPACKET:
		pty_write(fd, peer_fd, n);
		break;
	case FILE_LISTENER:
		listener_connect(f, fd);
		break;
	case FILE_SYSCTL:
		sethostname("epdiff", 6);
		break;
	}
	settle(f, fd, peer_fd);
}

void file_fill(struct file *f, int fd, int peer_fd)
{
	uint64_t most = UINT64_MAX - 1;
	int i;

	if (is_tcp(f) && peer_fd < 0)
		return;
	switch (f->kind) {
	case FILE_PIPE:
	case FILE_FIFO:
		for (i = 0; i < STEPS_MOST; i++) {
			if (write(fd, bytes, sizeof(bytes)) < 0)
				break;
		}
		break;
	case FILE_STREAM:
	case FILE_DGRAM:
	case FILE_SEQPACKET:
	case FILE_TCP:
		errno = 0;
		for (i = 0; i < STEPS_MOST; i++) {
			if (send(fd, bytes, sizeof(bytes),
				 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
				break;
		}
		f->full = is_tcp(f) && errno == EAGAIN;
		break;
	case FILE_EVENTFD:
	case FILE_SEMAPHORE:
		if (write(fd, &most, sizeof(most)) < 0)
			return;
		break;
	case FILE_TIMERFD:
		timer_set(fd, false);
		break;
	}
	settle(f, fd, peer_fd);
}

/* Reads once.  Return: whether there may be more. */
static bool read_once(struct file *f, int fd, unsigned int n)
{
	char buf[4096];

	switch (f->kind) {
	case FILE_LISTENER:
		return listener_accept(f, fd);
	case FILE_STREAM:
	case FILE_DGRAM:
	case FILE_SEQPACKET:
	case FILE_TCP:
		return recv(fd, buf, n, MSG_DONTWAIT) > 0;
	case FILE_EVENTFD:
	case FILE_SEMAPHORE:
	case FILE_TIMERFD:
		return read(fd, buf, 8) > 0;
	default:
		return read(fd, buf, n) > 0;
	}
}

void file_read(struct file *f, struct file *peer, int fd, int peer_fd,
	       unsigned int n)
{
	int waiting = 0;

	if (f->kind >= FILE_KINDS_POLLABLE)
		return;
	/* A part of it would leave it to timers when the rest comes. */
	if (is_tcp(f) && peer->full) {
		file_drain(f, peer, fd, peer_fd);
		return;
	}
	read_once(f, fd, n % BYTES_MOST + 1);
	settle(f, fd, peer_fd);
	if (is_tcp(f) && !ioctl(fd, FIONREAD, &waiting) && !waiting)
		peer->queued = 0;
}

/* Whether a filled TCP end has more to send than its peer has room for. */
static bool has_unsent(int fd)
{
	int unsent = 0;

	return fd >= 0 && !ioctl(fd, TIOCOUTQ, &unsent) && unsent > 0;
}

void file_drain(struct file *f, struct file *peer, int fd, int peer_fd)
{
	/* A semaphore would take as many reads as it has been filled with. */
	int most = f->kind == FILE_SEMAPHORE ? 8 : STEPS_MOST;
	int i;

	if (f->kind >= FILE_KINDS_POLLABLE)
		return;
	for (i = 0; i < most; i++) {
		while (i++ < most && read_once(f, fd, sizeof(bytes)))
			;
		settle(f, fd, peer_fd);
		if (!is_tcp(f) || !peer->full || !has_unsent(peer_fd))
			break;
	}
	if (peer != f) {
		peer->full = false;
		peer->queued = 0;
	}
}

void file_urgent(struct file *f, int fd, int peer_fd)
{
	if (!may_send(f))
		return;
	switch (f->kind) {
	case FILE_STREAM:
	case FILE_TCP:
		send(fd, "!", 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case FILE_PTYPACKET:
		/* The master is told that the slave's output is flushed. */
		if (f->end == 1)
			tcflush(fd, TCOFLUSH);
		break;
	}
	settle(f, fd, peer_fd);
}

void file_shut(struct file *f, int fd, int peer_fd, int how)
{
	static const int hows[] = { SHUT_RD, SHUT_WR, SHUT_RDWR };

	switch (f->kind) {
	case FILE_STREAM:
	case FILE_DGRAM:
	case FILE_SEQPACKET:
	case FILE_TCP:
	case FILE_LISTENER:
		if (file_may_end(f))
			shutdown(fd, hows[(unsigned int)how % 3]);
	}
	settle(f, fd, peer_fd);
}

bool file_may_end(const struct file *f)
{
	return !f->full;
}

void file_ended(struct file *f, struct file *peer, int peer_fd)
{
	int i;

	for (i = 0; i < f->nclients; i++)
		close(f->clients[i]);
	f->nclients = 0;
	if (peer != f)
		peer->full = false;
	settle(f, -1, peer_fd);
}
