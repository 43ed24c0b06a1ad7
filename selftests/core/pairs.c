// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of connected files, and what is written, read and passed there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/helpers.h"

int pipe_pair(int fds[2])
{
	return pipe2(fds, O_NONBLOCK | O_CLOEXEC) ? -errno : 0;
}

int unix_pair(int fds[2], int type)
{
	type |= SOCK_NONBLOCK | SOCK_CLOEXEC;
	return socketpair(AF_UNIX, type, 0, fds) ? -errno : 0;
}

int tcp_listener(uint16_t *port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len)) {
		int err = errno;

		close(fd);
		return -err;
	}
	*port = ntohs(addr.sin_port);
	return fd;
}

int tcp_pair(int fds[2])
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	uint16_t port;
	int listener = tcp_listener(&port);
	int ret = 0;

	if (listener < 0)
		return listener;
	addr.sin_port = htons(port);
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fds[1] < 0 ||
	    connect(fds[1], (struct sockaddr *)&addr, sizeof(addr)) ||
	    fcntl(fds[1], F_SETFL, O_NONBLOCK) ||
	    !await(poll_now(listener, POLLIN)))
		ret = -errno;
	fds[0] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fds[0] < 0)
		ret = -errno;
	close(listener);
	return ret;
}

int eventfd_new(void)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int put_byte(int fd)
{
	return write(fd, "x", 1) == 1 ? 0 : -errno;
}

int take_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1 ? 0 : -errno;
}

int fill(int fd)
{
	char buffer[4096];

	memset(buffer, 'x', sizeof(buffer));
	while (write(fd, buffer, sizeof(buffer)) > 0)
		;
	while (write(fd, buffer, 1) > 0)
		;
	return errno == EAGAIN ? 0 : -errno;
}

int empty(int fd)
{
	char buffer[4096];
	ssize_t n;

	do
		n = read(fd, buffer, sizeof(buffer));
	while (n > 0);
	return n == 0 || errno == EAGAIN ? 0 : -errno;
}

int eventfd_post(int fd)
{
	return eventfd_write(fd, 1) ? -errno : 0;
}

int eventfd_take(int fd)
{
	eventfd_t value;

	return eventfd_read(fd, &value) ? -errno : 0;
}

union fd_message {
	struct cmsghdr align;
	char buffer[CMSG_SPACE(sizeof(int))];
};

int send_fd(int socket, int fd)
{
	union fd_message message = { 0 };
	struct iovec iov = { .iov_base = "f", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = message.buffer,
		.msg_controllen = sizeof(message.buffer),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : -errno;
}

int receive_fd(int socket)
{
	union fd_message message = { 0 };
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = message.buffer,
		.msg_controllen = sizeof(message.buffer),
	};
	struct cmsghdr *cmsg;
	int fd;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return -ENOMSG;
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(int));
	return fd;
}
