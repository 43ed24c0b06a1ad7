/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files whose close shows elsewhere: at a peer, or by a name that is free again.
 */
#ifndef SELFTESTS_LATE_H
#define SELFTESTS_LATE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/helpers.h"

/* A watched file, and where its close shows. */
struct late_file {
	int fd;
	int peer;
	struct sockaddr_storage name;
	socklen_t size;
};

/* Opens one, ready for output; has its close taken effect? */
struct late_kind {
	int (*open)(struct late_file *file);
	bool (*is_closed)(struct late_file *file);
};

static inline int late_open_pair(struct late_file *file)
{
	int fds[2];

	if (unix_pair(fds, SOCK_STREAM))
		return -1;
	file->fd = fds[0];
	file->peer = fds[1];
	return 0;
}

static inline int late_open_pipe(struct late_file *file)
{
	int fds[2];

	if (pipe_pair(fds))
		return -1;
	/* The end that is written is the ready one. */
	file->fd = fds[1];
	file->peer = fds[0];
	return 0;
}

static inline bool late_peer_has_end(struct late_file *file)
{
	char byte;

	return read(file->peer, &byte, 1) == 0;
}

static inline int late_open_named(struct late_file *file)
{
	const struct sockaddr *name = (struct sockaddr *)&file->name;

	file->fd = socket(name->sa_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	return bind(file->fd, name, file->size);
}

static inline int late_open_udp(struct late_file *file)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&file->name;

	file->size = sizeof(*in);
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = 0;
	if (late_open_named(file))
		return -1;
	return getsockname(file->fd, (struct sockaddr *)in, &file->size);
}

static inline int late_open_unix(struct late_file *file)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&file->name;

	/* A name that is no file. */
	un->sun_family = AF_UNIX;
	un->sun_path[0] = '\0';
	snprintf(un->sun_path + 1, 32, "late-%d", getpid());
	file->size = offsetof(struct sockaddr_un, sun_path) + 33;
	return late_open_named(file);
}

static inline bool late_name_is_free(struct late_file *file)
{
	int fd = socket(file->name.ss_family, SOCK_DGRAM, 0);
	bool is_free;

	is_free = !bind(fd, (struct sockaddr *)&file->name, file->size);
	close(fd);
	return is_free;
}

static const struct late_kind late_kinds[] = {
	{ late_open_pair, late_peer_has_end },
	{ late_open_udp, late_name_is_free },
	{ late_open_unix, late_name_is_free },
	{ late_open_pipe, late_peer_has_end },
};

#endif /* SELFTESTS_LATE_H */
