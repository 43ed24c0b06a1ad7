// SPDX-License-Identifier: GPL-2.0
/*
 * The files that are watched: many of one kind.
 */
#define _GNU_SOURCE
#include "files.h"

#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_eventfd(int fds[2])
{
	fds[0] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	fds[1] = fds[0];
	return fds[0];
}

static int open_pipe(int fds[2])
{
	return pipe2(fds, O_NONBLOCK | O_CLOEXEC);
}

static int open_unix(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			  0, fds);
}

/* A connection over the loopback, on which nothing waits to be sent. */
static int open_tcp(int fds[2])
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	static int listener = -1;
	const int on = 1;

	if (listener < 0) {
		listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (listener < 0 || listen(listener, 16))
			return -1;
	}
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fds[1] < 0 ||
	    getsockname(listener, (struct sockaddr *)&addr, &len) ||
	    connect(fds[1], (struct sockaddr *)&addr, sizeof(addr)) ||
	    setsockopt(fds[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		return -1;
	fds[0] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return fds[0];
}

static int (*const openers[])(int fds[2]) = {
	[EVENTFDS] = open_eventfd,
	[PIPES] = open_pipe,
	[UNIX_SOCKETS] = open_unix,
	[TCP_SOCKETS] = open_tcp,
};

static enum kind chosen = EVENTFDS;

void files_choose(enum kind kind)
{
	chosen = kind;
}

struct files *files_open(int n)
{
	struct files *files = calloc(1, sizeof(*files));
	int i, fds[2];

	if (!files)
		err(1, "calloc");
	files->n = n;
	files->in = calloc(n, sizeof(int));
	files->out = calloc(n, sizeof(int));
	if (!files->in || !files->out)
		err(1, "calloc");
	for (i = 0; i < n; i++) {
		if (openers[chosen](fds) < 0)
			err(1, "file %d of %d", i, n);
		files->in[i] = fds[0];
		files->out[i] = fds[1];
	}
	return files;
}

void files_close(struct files *files)
{
	int i;

	for (i = 0; i < files->n; i++) {
		if (files->out[i] != files->in[i])
			close(files->out[i]);
		close(files->in[i]);
	}
	free(files->in);
	free(files->out);
	free(files);
}

/* An eventfd takes nothing shorter. */
void files_signal(const struct files *files, int i)
{
	uint64_t one = 1;

	if (write(files->out[i], &one, sizeof(one)) != sizeof(one))
		err(1, "writing to a file");
}

void files_clear(const struct files *files, int i)
{
	uint64_t value;

	if (read(files->in[i], &value, sizeof(value)) != sizeof(value))
		err(1, "reading from a file");
}
