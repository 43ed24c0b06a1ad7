// SPDX-License-Identifier: GPL-2.0
/*
 * Kinds of sockets, and what can happen to each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "core/filetype.h"
#include "core/helpers.h"

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port),
	};
}

int new_socket(int family, int type)
{
	return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static int connect_to(int fd, int port)
{
	struct sockaddr_in addr = loopback(port);

	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    errno == EINPROGRESS)
		return 0;
	return -errno;
}

/* Binds it to a port of the system's choice, which it returns. */
static int bind_to_any(int fd)
{
	struct sockaddr_in addr = loopback(0);
	socklen_t len = sizeof(addr);

	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len))
		return -errno;
	return ntohs(addr.sin_port);
}

static int open_tcp_data(struct probe *probe)
{
	int fds[2], ret = tcp_pair(fds);

	probe->fd = fds[0];
	probe->peer = fds[1];
	return ret;
}

static int make_urgent(struct probe *probe)
{
	return send(probe->peer, "u", 1, MSG_OOB) == 1 ? 0 : -errno;
}

int make_peer_shutdown(struct probe *probe)
{
	return shutdown(probe->peer, SHUT_WR) ? -errno : 0;
}

static int make_shutdown(struct probe *probe)
{
	return shutdown(probe->fd, SHUT_WR) ? -errno : 0;
}

const struct filetype filetype_tcp_data = {
	.open = open_tcp_data,
	.happenings = {
		{ "data comes", make_peer_write, READABLE },
		{ "urgent data comes", make_urgent, POLLPRI },
		{ "the peer sends FIN", make_peer_shutdown, POLLRDHUP },
		{ "both have sent FIN", make_shutdown, POLLHUP },
	},
};

/* One reading may not open the window far enough. */
static int make_tcp_drained(struct probe *probe)
{
	return await((empty(probe->peer), poll_now(probe->fd, POLLOUT))) ?
	       0 : -ETIMEDOUT;
}

/* Has the peer acknowledged all that was sent? */
static bool is_settled(int fd)
{
	int queued, unsent;

	return !ioctl(fd, SIOCOUTQ, &queued) &&
	       !ioctl(fd, SIOCOUTQNSD, &unsent) && queued == unsent;
}

/* What is in flight would free some room again: until it stays full. */
static int make_tcp_full(struct probe *probe)
{
	return await((fill(probe->fd), is_settled(probe->fd) &&
		      !poll_now(probe->fd, POLLOUT))) ? 0 : -ETIMEDOUT;
}

static int open_tcp_room(struct probe *probe)
{
	int ret = open_tcp_data(probe);

	return ret ?: make_tcp_full(probe);
}

const struct filetype filetype_tcp_room = {
	.open = open_tcp_room,
	.happenings = {
		{ "there is room", make_tcp_drained, WRITABLE },
		{ "it is full again", make_tcp_full, 0 },
		{ "there is room again", make_tcp_drained, WRITABLE },
	},
};

static int make_reset(struct probe *probe)
{
	struct linger linger = { .l_onoff = 1 };

	if (setsockopt(probe->peer, SOL_SOCKET, SO_LINGER, &linger,
		       sizeof(linger)))
		return -errno;
	return make_peer_close(probe);
}

const struct filetype filetype_tcp_reset = {
	.open = open_tcp_data,
	.happenings = {
		{ "the peer resets", make_reset,
		  POLLERR | POLLHUP | POLLRDHUP | READABLE },
	},
};

static int open_tcp_connect(struct probe *probe)
{
	uint16_t port;

	probe->peer = tcp_listener(&port);
	probe->port = port;
	probe->fd = new_socket(AF_INET, SOCK_STREAM);
	if (probe->peer < 0)
		return probe->peer;
	return probe->fd < 0 ? -errno : 0;
}

static int make_connection(struct probe *probe)
{
	return connect_to(probe->fd, probe->port);
}

const struct filetype filetype_tcp_connect = {
	.open = open_tcp_connect,
	.happenings = {
		{ "it is connected", make_connection, WRITABLE },
	},
};

static int open_tcp_refused(struct probe *probe)
{
	int ret = open_tcp_connect(probe);

	return ret ?: make_peer_close(probe);
}

const struct filetype filetype_tcp_refused = {
	.open = open_tcp_refused,
	.happenings = {
		{ "it is refused", make_connection, POLLERR | POLLHUP },
	},
};

static int open_tcp_listener(struct probe *probe)
{
	uint16_t port;

	probe->fd = tcp_listener(&port);
	probe->port = port;
	probe->peer = new_socket(AF_INET, SOCK_STREAM);
	if (probe->fd < 0)
		return probe->fd;
	return probe->peer < 0 ? -errno : 0;
}

static int make_incoming(struct probe *probe)
{
	return connect_to(probe->peer, probe->port);
}

const struct filetype filetype_tcp_listener = {
	.open = open_tcp_listener,
	.happenings = {
		{ "a connection comes", make_incoming, READABLE },
	},
};

static int open_udp(struct probe *probe)
{
	int ret;

	probe->fd = new_socket(AF_INET, SOCK_DGRAM);
	probe->peer = new_socket(AF_INET, SOCK_DGRAM);
	ret = bind_to_any(probe->fd);
	return ret < 0 ? ret : connect_to(probe->peer, ret);
}

const struct filetype filetype_udp = {
	.open = open_udp,
	.happenings = {
		{ "a datagram comes", make_peer_write, READABLE },
		{ "another datagram comes", make_peer_write, READABLE },
	},
};

/* A socket that sends to a port where nobody listens any more. */
static int open_udp_error(struct probe *probe)
{
	int ret = open_udp(probe);
	int swap = probe->fd;

	probe->fd = probe->peer;
	probe->peer = swap;
	return ret ?: make_peer_close(probe);
}

static int make_datagram(struct probe *probe)
{
	return put_byte(probe->fd);
}

const struct filetype filetype_udp_error = {
	.open = open_udp_error,
	.happenings = {
		{ "its datagram is refused", make_datagram, POLLERR },
	},
};

static int open_netlink(struct probe *probe)
{
	probe->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
			   NETLINK_ROUTE);
	return probe->fd < 0 ? -errno : 0;
}

static int make_netlink_answer(struct probe *probe)
{
	struct {
		struct nlmsghdr header;
		struct rtgenmsg message;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.message.rtgen_family = AF_UNSPEC,
	};

	return send(probe->fd, &request, sizeof(request), 0) > 0 ? 0 : -errno;
}

const struct filetype filetype_netlink = {
	.open = open_netlink,
	.happenings = {
		{ "an answer comes", make_netlink_answer, READABLE },
	},
};

static int open_packet(struct probe *probe)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex("lo"),
	};

	probe->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
			   htons(ETH_P_IP));
	if (probe->fd < 0)
		return errno == EAFNOSUPPORT ? -EOPNOTSUPP : -errno;
	probe->peer = new_socket(AF_INET, SOCK_DGRAM);
	if (bind(probe->fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -errno;
	return connect_to(probe->peer, 9);
}

const struct filetype filetype_packet = {
	.open = open_packet,
	.happenings = {
		{ "a packet passes", make_peer_write, READABLE },
	},
};
