// SPDX-License-Identifier: GPL-2.0
/* Kinds of files to watch: unix sockets. */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/filetype.h"
#include "core/helpers.h"

static int open_unix(struct probe *probe, int type)
{
	int fds[2], ret = unix_pair(fds, type);

	probe->fd = fds[0];
	probe->peer = fds[1];
	return ret;
}

static int open_unix_stream(struct probe *probe)
{
	return open_unix(probe, SOCK_STREAM);
}

const struct filetype filetype_unix_stream = {
	.open = open_unix_stream,
	.happenings = {
		{ "data comes", make_peer_write, READABLE },
		{ "the peer shuts down", make_peer_shutdown, POLLRDHUP },
		{ "the peer closes", make_peer_close, POLLHUP },
	},
};

static int open_unix_stream_room(struct probe *probe)
{
	int ret = open_unix(probe, SOCK_STREAM);

	return ret ?: fill(probe->fd);
}

const struct filetype filetype_unix_stream_room = {
	.open = open_unix_stream_room,
	.happenings = {
		{ "there is room", make_peer_drain, WRITABLE },
		{ "the peer closes", make_peer_close, POLLHUP },
	},
};

static int open_unix_dgram(struct probe *probe)
{
	return open_unix(probe, SOCK_DGRAM);
}

const struct filetype filetype_unix_dgram = {
	.open = open_unix_dgram,
	.happenings = {
		{ "a datagram comes", make_peer_write, READABLE },
		{ "another datagram comes", make_peer_write, READABLE },
	},
};

static int make_crowd(struct probe *probe)
{
	int ret;

	do
		ret = put_byte(probe->fd);
	while (!ret);
	return ret == -EAGAIN ? 0 : ret;
}

static int open_unix_dgram_room(struct probe *probe)
{
	int ret = open_unix(probe, SOCK_DGRAM);

	return ret ?: make_crowd(probe);
}

const struct filetype filetype_unix_dgram_room = {
	.open = open_unix_dgram_room,
	.happenings = {
		{ "there is room", make_peer_drain, WRITABLE },
		{ "it is full again", make_crowd, 0 },
		{ "there is room again", make_peer_drain, WRITABLE },
	},
};

/* To a peer that is not connected back: its queue wakes us only if told to. */
static int open_unix_dgram_server(struct probe *probe)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(addr);

	probe->fd = new_socket(AF_UNIX, SOCK_DGRAM);
	probe->peer = new_socket(AF_UNIX, SOCK_DGRAM);
	if (bind(probe->peer, (struct sockaddr *)&addr, sizeof(sa_family_t)) ||
	    getsockname(probe->peer, (struct sockaddr *)&addr, &len) ||
	    connect(probe->fd, (struct sockaddr *)&addr, len))
		return -errno;
	return make_crowd(probe);
}

const struct filetype filetype_unix_dgram_server = {
	.open = open_unix_dgram_server,
	.happenings = {
		{ "there is room", make_peer_drain, WRITABLE },
		{ "it is full again", make_crowd, 0 },
		{ "there is room again", make_peer_drain, WRITABLE },
	},
};

static int open_unix_listener(struct probe *probe)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	/* An abstract name of the kernel's choice. */
	probe->fd = new_socket(AF_UNIX, SOCK_STREAM);
	probe->peer = new_socket(AF_UNIX, SOCK_STREAM);
	if (bind(probe->fd, (struct sockaddr *)&addr, sizeof(sa_family_t)) ||
	    listen(probe->fd, 4))
		return -errno;
	return 0;
}

static int make_unix_incoming(struct probe *probe)
{
	struct sockaddr_un addr;
	socklen_t len = sizeof(addr);

	if (getsockname(probe->fd, (struct sockaddr *)&addr, &len) ||
	    connect(probe->peer, (struct sockaddr *)&addr, len))
		return -errno;
	return 0;
}

const struct filetype filetype_unix_listener = {
	.open = open_unix_listener,
	.happenings = {
		{ "a connection comes", make_unix_incoming, READABLE },
	},
};
