// SPDX-License-Identifier: GPL-2.0
/*
 * The operations of the benchmark on /dev/epoll with the calls of epoll, as in
 * a program that is linked with the library or preloads it.
 */
#include <devepoll_epoll.h>

#define call_create1	devepoll_epoll_create1
#define call_ctl	devepoll_epoll_ctl
#define call_wait	devepoll_epoll_wait
#include "backend_epoll.h"

const struct backend backend_fadvise = {
	.name = "/dev/epoll by epoll's calls",
	SET_OPERATIONS,
};

const struct backend backend_fadvise_level = {
	.name = "/dev/epoll by epoll's calls, level-triggered",
	LEVEL_OPERATIONS,
};
