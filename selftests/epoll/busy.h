/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Busy polling of network devices: the parameters as epoll's files have them
 * since Linux 6.9, and a connection through an emulated network card.
 */
#ifndef SELFTESTS_BUSY_H
#define SELFTESTS_BUSY_H

#include <stdint.h>
#include <sys/ioctl.h>

/* struct epoll_params, which older headers don't have */
struct busy_params {
	uint32_t usecs;
	uint16_t budget;
	uint8_t prefer;
	uint8_t pad;
};

#define SET_BUSY_PARAMS	_IOW(0x8a, 0x01, struct busy_params)
#define GET_BUSY_PARAMS	_IOR(0x8a, 0x02, struct busy_params)

/* 0 or -errno. */
int busy_set(int fd, const struct busy_params *params);
int busy_get(int fd, struct busy_params *params);

/*
 * A TCP connection to an echo server behind the network card of tools/guest, of
 * which a byte has come back, so that the socket knows the card; or -errno:
 * -ENODEV if there is no card, or no driver for it.
 */
int busy_connect(void);

/* How many packets were received by busy polling so far, or -errno. */
long busy_packets(void);

#endif /* SELFTESTS_BUSY_H */
