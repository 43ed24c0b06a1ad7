// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark on sys_epoll.
 */
#include <sys/epoll.h>

#define call_create1	epoll_create1
#define call_ctl	epoll_ctl
#define call_wait	epoll_wait
#include "backend_epoll.h"

const struct backend backend_sysepoll = {
	.name = "sys_epoll",
	SET_OPERATIONS,
};

const struct backend backend_sysepoll_level = {
	.name = "sys_epoll, level-triggered",
	LEVEL_OPERATIONS,
};
