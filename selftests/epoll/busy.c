// SPDX-License-Identifier: GPL-2.0
/*
 * Busy polling of network devices.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/helpers.h"
#include "epoll/busy.h"

/* What QEMU's user network calls its guest; the server is in tools/guest. */
#define OUR_ADDRESS	"10.0.2.15"
#define SERVER_ADDRESS	"10.0.2.100"
#define SERVER_PORT	7
#define CARD		"eth0"

int busy_set(int fd, const struct busy_params *params)
{
	return ioctl(fd, SET_BUSY_PARAMS, params) ? -errno : 0;
}

int busy_get(int fd, struct busy_params *params)
{
	return ioctl(fd, GET_BUSY_PARAMS, params) ? -errno : 0;
}

static void address_is(struct sockaddr *to, const char *address, uint16_t port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	inet_pton(AF_INET, address, &in.sin_addr);
	memcpy(to, &in, sizeof(in));
}

/* Sets the card up, as often as it is called. */
static int card_up(void)
{
	struct ifreq request = { .ifr_name = CARD };
	int fd, ret;

	if (!if_nametoindex(CARD) && driver("", "virtio_net"))
		return -ENODEV;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	address_is(&request.ifr_addr, OUR_ADDRESS, 0);
	ret = ioctl(fd, SIOCSIFADDR, &request);
	if (!ret) {
		address_is(&request.ifr_addr, "255.255.255.0", 0);
		ret = ioctl(fd, SIOCSIFNETMASK, &request);
	}
	if (!ret)
		ret = ioctl(fd, SIOCGIFFLAGS, &request);
	request.ifr_flags |= IFF_UP;
	if (!ret)
		ret = ioctl(fd, SIOCSIFFLAGS, &request);
	ret = ret ? -errno : 0;
	close(fd);
	return ret;
}

static int server_connect(int fd)
{
	const struct timeval limit = { .tv_sec = 10 };
	struct sockaddr server;

	address_is(&server, SERVER_ADDRESS, SERVER_PORT);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    connect(fd, &server, sizeof(server)))
		return -errno;
	return put_byte(fd) ?: take_byte(fd);
}

int busy_connect(void)
{
	int fd, ret = card_up();

	if (ret)
		return ret;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = server_connect(fd);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

long busy_packets(void)
{
	char names[8192], values[8192], *name, *value, *at, *with;
	FILE *f = fopen("/proc/net/netstat", "re");
	long found = -ENOENT;

	if (!f)
		return -errno;
	while (found < 0 && fgets(names, sizeof(names), f) &&
	       fgets(values, sizeof(values), f)) {
		name = strtok_r(names, "\n ", &at);
		value = strtok_r(values, "\n ", &with);
		while (name && value && strcmp(name, "BusyPollRxPackets")) {
			name = strtok_r(NULL, "\n ", &at);
			value = strtok_r(NULL, "\n ", &with);
		}
		if (name && value)
			found = atol(value);
	}
	fclose(f);
	return found;
}
